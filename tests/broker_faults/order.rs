//! Acknowledgements of the gateway: in the order of delivery, and what is not acknowledged comes
//! again and has its effect once (AT-GW-03, AT-GW-04; T-STACK-01 to T-STACK-03; M1, M2, M6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::broker::{BOTH, Broker, Kind, site};
use crate::fleet::Fleet;
use crate::support::proxy::{PUBACK, PUBLISH};
use crate::support::{Client, Fate, Gateway, Mosquitto, Passing, Proxy, Way};
use crate::{count, seen, side_by_side};

const IN: &str = "gw-1-in";
/// For the answers of a few hundred robots.
const PATIENCE: Duration = Duration::from_secs(60);

fn ids(came: &[Passing], way: Way, kind: u8) -> Vec<u16> {
    let wanted = came.iter().filter(|packet| packet.is(IN, way, kind));
    wanted.map(Passing::id).collect()
}

/// Each order was accepted once, whatever else was answered to repetitions. An answer may come
/// twice; then it is the same message.
#[track_caller]
pub(crate) fn assert_accepted_once(fleet: &Fleet) {
    for (order, answers) in fleet.answers() {
        let is = |result: &'static str| move |reply: &&Value| reply["result"] == result;
        let accepted: BTreeSet<&str> = answers
            .iter()
            .filter(is("accepted"))
            .filter_map(|reply| reply["message_id"].as_str())
            .collect();
        // The one that said `accepted` may have been lost with a connection.
        assert!(accepted.len() <= 1, "{order}: {answers:?}");
        let right = answers
            .iter()
            .filter(|reply| is("accepted")(reply) || is("duplicate")(reply));
        assert_eq!(right.count(), answers.len(), "{order}: {answers:?}");
    }
}

#[test]
fn at_gw_03_acknowledgements_leave_in_the_order_of_delivery() {
    let n = count(2_000, 10_000);
    // Done with at once, beside what waits for the disk: 100,000 messages in the long form.
    let junk_pairs = count(100, 45_000);
    for kind in BOTH {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let _gateway = Gateway::start(&site);
        let fleet = Fleet::start(broker.port());
        let junk = Client::connect_to(broker.port(), "junk");
        fleet.ask(0..n);
        for _ in 0..junk_pairs {
            junk.publish("hallcall/v1/demo/elevators/EL001/event", false, "no JSON");
            junk.publish("hallcall/v1/demo/robots/R0/ride/event", false, "no JSON");
        }
        let patience = PATIENCE * u32::try_from(1 + (n + 2 * junk_pairs) / 5_000).unwrap();
        fleet.wait_all(patience);
        let (delivered, acked) = proxy.look_for(patience, "the last acknowledgement", |came| {
            let delivered = ids(came, Way::ToClient, PUBLISH);
            let acked = ids(came, Way::ToBroker, PUBACK);
            let all = delivered.len() >= n + 2 * junk_pairs;
            (all && delivered.len() == acked.len()).then_some((delivered, acked))
        });
        assert_eq!(delivered, acked);
        assert_eq!(proxy.connections(IN), 1, "the broker cut nothing");
        assert_accepted_once(&fleet);
        let acked = acked.len();
        seen(
            "PUBACK order",
            kind,
            format!("{acked} in order, 0 disconnects"),
        );
    }
}

#[test]
fn what_the_broker_lets_wait_unacknowledged_is_its_window_and_all_goes_on() {
    side_by_side([20, 200], |window| {
        let broker = Mosquitto::start_with(&format!("max_inflight_messages {window}"));
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let _gateway = Gateway::start(&site);
        proxy.look("our ONLINE to be heard and acknowledged", |came| {
            let heard = ids(came, Way::ToClient, PUBLISH);
            (!heard.is_empty() && heard == ids(came, Way::ToBroker, PUBACK)).then_some(())
        });
        let before = ids(&proxy.came(), Way::ToClient, PUBLISH).len();
        proxy.stall(IN, Way::ToBroker);
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        fleet.ask(0..window + 100);
        // All are heard and answered whose PUBACK waits here, and no more come.
        fleet.wait_answers(PATIENCE, window - 1);
        fleet.wait_taken(PATIENCE, window + 100);
        let waiting = ids(&proxy.came(), Way::ToClient, PUBLISH).len() - before;
        assert!(
            (window - 1..=window).contains(&waiting),
            "{waiting} of {window}"
        );
        proxy.go_on(IN);
        fleet.wait_all(PATIENCE);
        assert_accepted_once(&fleet);
        assert_eq!(fleet.repeats(), 0, "nobody asked twice");
        let what = format!("{waiting} delivered, then all {} answered", window + 100);
        seen(
            "our PUBACKs held, window of the broker",
            (Kind::Mosquitto, window),
            what,
        );
    });
}

#[test]
fn at_gw_04_a_hundred_unacknowledged_come_again_and_have_one_effect() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let _gateway = Gateway::start(&site);
        let lost = Arc::new(AtomicUsize::new(0));
        let seen_lost = Arc::clone(&lost);
        proxy.rule(move |packet| {
            if packet.is(IN, Way::ToBroker, PUBACK) && packet.connection == 1 {
                seen_lost.fetch_add(1, Ordering::Relaxed);
                return Fate::Drop;
            }
            Fate::Pass
        });
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        fleet.ask(0..95);
        fleet.wait_answers(PATIENCE, 90);
        proxy.cut(IN);
        let again = proxy.look("the redelivery", |came| {
            let second = came
                .iter()
                .filter(|packet| packet.is(IN, Way::ToClient, PUBLISH) && packet.connection == 2);
            let again: Vec<&Passing> = second.collect();
            (again.len() >= 95).then(|| again.into_iter().cloned().collect::<Vec<_>>())
        });
        if kind == Kind::Mosquitto {
            // The other one gives them new ids and no flag (facts of rumqttd).
            assert!(again.iter().filter(|packet| packet.is_again()).count() >= 90);
        }
        // Each is answered again: a robot may hear two answers, of which the second says so.
        let mut replies = BTreeMap::new();
        fleet.wait_all(PATIENCE);
        let deadline = std::time::Instant::now() + PATIENCE;
        while replies.values().filter(|count| **count >= 2).count() < 90 {
            assert!(std::time::Instant::now() < deadline, "{replies:?}");
            replies = fleet
                .answers()
                .into_iter()
                .map(|(order, answers)| (order, answers.len()))
                .collect();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_accepted_once(&fleet);
        let what = format!(
            "{} PUBACKs lost, {} came again, each once",
            lost.load(Ordering::Relaxed),
            again.len()
        );
        seen("reconnect with 100 unacknowledged", kind, what);
    });
}
