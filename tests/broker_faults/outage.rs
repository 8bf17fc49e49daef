//! A long outage, and thousands of messages after it (law 5; T-STACK-04; AT-GW-02). The hour itself
//! is on the virtual clock: `dispatch/src/edge/outbox/tests.rs`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::broker::{BOTH, Broker, site};
use crate::fleet::Fleet;
use crate::order::assert_accepted_once;
use crate::support::proxy::PUBLISH;
use crate::support::{Client, Fate, Gateway, Passing, Proxy, Way, now, request, wait_for};
use crate::{count, seen, side_by_side};

const OUT: &str = "gw-1-out";
const MIB: u64 = 1024 * 1024;

#[test]
fn what_waited_in_the_session_is_answered_once_and_memory_is_bounded() {
    // No more than leave within the minute that a reply is worth saying, on a slow machine too.
    let n = count(5_000, 20_000);
    let patience = Duration::from_secs(60 + n as u64 / 200);
    for kind in BOTH {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let gateway = Gateway::start(&site);
        let before = gateway.resident();
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        proxy.part();
        fleet.ask(0..n);
        fleet.wait_taken(patience, n);
        proxy.restore();
        let begun = Instant::now();
        fleet.wait_all(patience);
        let took = begun.elapsed();
        assert_accepted_once(&fleet);
        assert_eq!(fleet.repeats(), 0, "each asked once");
        // Not more than a few KiB for each order that it now knows, and what waits on the way.
        let grown = gateway.resident().saturating_sub(before);
        let bound = 64 * MIB + 4_096 * n as u64;
        assert!(grown <= bound, "{} MiB", grown / MIB);
        let what = format!("{n} answered {took:.1?} after it, {} MiB more", grown / MIB);
        seen("outage with a long queue", kind, what);
    }
}

/// What the egress said on its newest connection.
fn said(proxy: &Proxy) -> Vec<Passing> {
    let newest = proxy.connections(OUT);
    let came = proxy.came().into_iter();
    came.filter(|packet| packet.connection == newest && packet.is(OUT, Way::ToBroker, PUBLISH))
        .collect()
}

#[test]
fn after_an_outage_only_the_newest_state_and_no_old_command_is_said() {
    const ROBOTS: usize = 50;
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let _gateway = Gateway::start(&site);
        let robots = Client::connect_to(broker.port(), "robots");
        robots.subscribe("hallcall/v1/demo/robots/+/ride/#");
        // Only the way out is gone: what is heard goes on to have effects.
        proxy.rule(|packet| {
            if packet.client == OUT {
                Fate::Cut
            } else {
                Fate::Pass
            }
        });
        let parted = Instant::now();
        let base = "hallcall/v1/demo/robots";
        for n in 0..ROBOTS {
            let order = format!("T-{n}");
            let wish = request(&format!("a-{n}"), &order, "1F", "6F").to_string();
            robots.publish(&format!("{base}/R{n}/ride/request"), false, wish);
            let cancel = json!({ "message_id": format!("b-{n}"), "timestamp": now(),
                "order_id": order, "reason": "a test" });
            robots.publish(
                &format!("{base}/R{n}/ride/cancel"),
                false,
                cancel.to_string(),
            );
        }
        // valid_s = 1.5: every query that was made early is worth nothing by the end.
        wait_for("some seconds of outage", || {
            (parted.elapsed() > Duration::from_secs(5)).then_some(())
        });
        robots.forget();
        proxy.no_rule();
        for n in 0..ROBOTS {
            for message in ["a", "b"] {
                let id = format!("{message}-{n}");
                robots.hear(&id, |reply| reply.text("in_reply_to") == id);
            }
            robots.hear("the newest state", |state| {
                state.topic == format!("{base}/R{n}/ride/state")
                    && state.text("state") == "CANCELLED"
            });
        }
        let said = said(&proxy);
        let mut words: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for packet in &said {
            let body = serde_json::from_str(&packet.payload()).unwrap_or(Value::Null);
            words.entry(packet.topic()).or_default().push(body);
        }
        for n in 0..ROBOTS {
            let states = &words[&format!("{base}/R{n}/ride/state")];
            assert_eq!(
                states.len(),
                1,
                "of QUEUED and CANCELLED the newest: {states:?}"
            );
            assert_eq!(words[&format!("{base}/R{n}/ride/reply")].len(), 2);
        }
        let commands = words.remove("hallcall/v1/demo/elevators/EL001/command");
        let commands = commands.unwrap_or_default();
        let lives = |command: &Value| command["expires_in_s"].as_f64().unwrap() > 0.0;
        assert!(commands.iter().all(lives), "{commands:?}");
        // Polled every 0.5 s for more than 5 s; those of the last 1.5 s may be sent.
        let first = said[0].at;
        let soon = said.iter().filter(|packet| {
            packet.topic().ends_with("/command")
                && packet.at.duration_since(first) < Duration::from_millis(100)
        });
        let sent = soon.count();
        assert!(sent <= 4, "{sent} queries at once");
        let what = format!("{ROBOTS} newest states of 100, 100 replies, {sent} fresh queries");
        seen("egress away for 5 s", kind, what);
    });
}

#[test]
fn a_link_that_comes_and_goes_loses_nothing() {
    let rounds = count(6, 40);
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        let fleet = Fleet::start(broker.port());
        let patience = Duration::from_secs(60);
        for round in 0..rounds {
            fleet.ask(round * 50..round * 50 + 50);
            fleet.wait_answers(patience, round * 50 + 10);
            for client in [["gw-1-in", OUT], ["gw-1-in", "gw-1-in"], [OUT, OUT]][round % 3] {
                proxy.cut(client);
            }
        }
        fleet.wait_all(patience);
        assert_accepted_once(&fleet);
        assert!(!gateway.has_ended(), "{}", gateway.log());
        let cuts = proxy.connections("gw-1-in") + proxy.connections(OUT) - 2;
        let what = format!(
            "{} answered over {cuts} reconnects, {} repeats",
            rounds * 50,
            fleet.repeats()
        );
        seen("connections cut again and again", kind, what);
    });
}
