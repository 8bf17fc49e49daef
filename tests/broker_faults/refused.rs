//! A broker that refuses, says nothing, or has gone without a word (T-STACK-05; M9; facts of
//! rumqttc: a SUBACK that refuses must be looked at).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::broker::{BOTH, Broker, Kind, site};
use crate::fleet::Fleet;
use crate::support::proxy::SUBACK;
use crate::support::{Client, Fate, Gateway, Message, Proxy, Way, wait_for};
use crate::{seen, side_by_side};

const IN: &str = "gw-1-in";
const OUT: &str = "gw-1-out";
const PRESENCE: &str = "hallcall/v1/demo/gateways/gw-1/connection";
const CONNACK: u8 = 2;
/// Two keep-alives of 10 s, and the way back.
const PATIENCE: Duration = Duration::from_secs(40);

fn is_online(message: &Message) -> bool {
    message.topic == PRESENCE && message.text("connection_state") == "ONLINE"
}

#[track_caller]
fn serves(broker: &Broker) {
    let fleet = Fleet::start(broker.port());
    fleet.ask(0..10);
    fleet.wait_all(PATIENCE);
}

#[test]
fn a_refused_subscription_is_named_tried_again_and_nobody_is_online() {
    // One of the seven filters, and all.
    side_by_side([2..3, 0..7], |refused| {
        let broker = Broker::start(Kind::Mosquitto);
        let proxy = Proxy::start(broker.port());
        let range = refused.clone();
        proxy.rule(move |packet| {
            if !packet.is(IN, Way::ToClient, SUBACK) {
                return Fate::Pass;
            }
            let mut body = packet.body.clone();
            body[2 + range.start..2 + range.end].fill(0x80);
            Fate::Instead(body)
        });
        let watch = Client::connect_to(broker.port(), "watch");
        watch.subscribe(PRESENCE);
        let site = site(proxy.port());
        let mut gateway = Gateway::spawn(&site);
        wait_for("three tries", || (proxy.connections(IN) >= 3).then_some(()));
        assert!(
            !watch.heard().iter().any(is_online),
            "nobody hears what robots say"
        );
        assert!(!gateway.has_ended(), "{}", gateway.log());
        let filter = ["ride/request", "", "ride/cancel"][refused.start];
        let words = format!("the broker does not let us read hallcall/v1/demo/robots/+/{filter}");
        assert!(gateway.log().contains(&words), "{}", gateway.log());
        proxy.no_rule();
        watch.hear("ONLINE", is_online);
        serves(&broker);
        let fault = format!("SUBACK 0x80 for {} of 7", refused.len());
        seen(
            &fault,
            Kind::Mosquitto,
            "named in the log, tried again, not ONLINE until granted",
        );
    });
}

#[test]
fn a_refused_or_unanswered_connection_is_tried_again() {
    side_by_side(
        [
            ("CONNACK 5", Fate::Instead(vec![0, 5]), "NotAuthorized"),
            ("CONNACK 3", Fate::Instead(vec![0, 3]), "ServiceUnavailable"),
            ("no CONNACK", Fate::Drop, "imeout"),
        ],
        |(fault, fate, words)| {
            let broker = Broker::start(Kind::Mosquitto);
            let proxy = Proxy::start(broker.port());
            let tries = Arc::new(AtomicUsize::new(0));
            let (counted, silent) = (Arc::clone(&tries), fate == Fate::Drop);
            proxy.rule(move |packet| {
                if packet.way == Way::ToClient && packet.kind() == CONNACK {
                    counted.fetch_add(1, Ordering::Relaxed);
                    return fate.clone();
                }
                Fate::Pass
            });
            let site = site(proxy.port());
            let mut gateway = Gateway::spawn(&site);
            let wanted = if silent { 2 } else { 6 };
            let begun = Instant::now();
            wait_for("some tries", || {
                (tries.load(Ordering::Relaxed) >= wanted).then_some(())
            });
            // Two connections, each after 0.1 s, 0.2 s and so on: six tries are three of each.
            assert!(silent || begun.elapsed() >= Duration::from_millis(300));
            assert!(!gateway.has_ended(), "{}", gateway.log());
            let log = gateway.log();
            assert!(log.contains(words), "{words:?} is not in {log}");
            proxy.no_rule();
            serves(&broker);
            seen(
                fault,
                Kind::Mosquitto,
                "named in the log, tried again, served after",
            );
        },
    );
}

#[test]
fn a_connection_that_is_half_open_is_noticed_within_two_keep_alives() {
    side_by_side(
        BOTH.into_iter().flat_map(|kind| [(kind, IN), (kind, OUT)]),
        |(kind, client)| {
            let broker = Broker::start(kind);
            let proxy = Proxy::start(broker.port());
            let site = site(proxy.port());
            let mut gateway = Gateway::start(&site);
            let watch = Client::connect_to(broker.port(), "watch");
            watch.subscribe(PRESENCE);
            watch.hear("ONLINE", is_online);
            watch.forget();
            let begun = Instant::now();
            proxy.stall(client, Way::ToBroker);
            proxy.stall(client, Way::ToClient);
            let again = proxy.look_for(PATIENCE, "another connection", |came| {
                let second = |packet: &&crate::support::Passing| {
                    packet.client == client && packet.connection == 2
                };
                came.iter().find(second).map(|packet| packet.at)
            });
            let took = again.duration_since(begun);
            // 10 s to the next ping, 10 s without an answer; a PUBACK is missed after 10 s.
            assert!(took <= Duration::from_secs(22), "{took:?}");
            // Either way robots are told: by us, or by the will.
            watch.hear("CONNECTIONBROKEN", |message| {
                message.text("connection_state") == "CONNECTIONBROKEN"
            });
            watch.hear("ONLINE again", is_online);
            serves(&broker);
            assert!(!gateway.has_ended(), "{}", gateway.log());
            let what = format!(
                "noticed after {:.0} s, CONNECTIONBROKEN and ONLINE, served",
                took.as_secs_f64()
            );
            seen(&format!("half-open {client}"), kind, what);
        },
    );
}
