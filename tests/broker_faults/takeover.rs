//! Somebody else uses our client ids (T-STACK-17, M9): another gateway that lives means exit 6, a
//! stranger does not.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::broker::{BOTH, Broker, site};
use crate::fleet::Fleet;
use crate::order::assert_accepted_once;
use crate::support::{Client, Gateway, Message, Proxy, wait_for};
use crate::{seen, side_by_side};

/// A fight goes on for so long.
const FIGHT: Duration = Duration::from_secs(6);
/// The longest wait between two connections, and time for the answers.
const PATIENCE: Duration = Duration::from_secs(40);

/// The stranger connects again at once whenever it is thrown out.
fn fight(ours: &str, is_alarmed: bool) {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        let watch = Client::connect_to(broker.port(), "watch");
        watch.subscribe("hallcall/v1/demo/#");
        let before = proxy.connections(ours);
        let begun = Instant::now();
        {
            let _stranger = Client::connect_to(broker.port(), ours);
            wait_for("the end of the fight", || {
                (begun.elapsed() > FIGHT).then_some(())
            });
        }
        let rounds = proxy.connections(ours) - before;
        assert!(!gateway.has_ended(), "{}", gateway.log());
        // 0.2 s, 0.4 s, ... each at least half: 0.1 + 0.2 + 0.4 + 0.8 + 1.6 + 3.2 > 6.
        assert!((1..=6).contains(&rounds), "{rounds} connections");
        // It says so to whoever looks after it, and goes on once the stranger has gone.
        let alarm = |message: &Message| message.text("code") == "BROKER_LOST";
        if is_alarmed {
            watch.hear("the alarm", |message| {
                message.topic.ends_with("ops/alarm") && alarm(message)
            });
        }
        assert!(
            gateway
                .log()
                .contains("does another client use our client id")
        );
        let fleet = Fleet::start(broker.port());
        fleet.ask(0..20);
        fleet.wait_all(PATIENCE);
        assert_accepted_once(&fleet);
        assert!(!gateway.has_ended(), "{}", gateway.log());
        let what = format!(
            "{rounds} connections in {} s, no exit, served after",
            FIGHT.as_secs()
        );
        seen(&format!("a stranger takes {ours}"), kind, what);
    });
}

#[test]
fn a_stranger_who_takes_one_of_our_client_ids_is_waited_for() {
    let ids = [("gw-1-in", true), ("gw-1-out", false)];
    side_by_side(ids, |(ours, is_alarmed)| fight(ours, is_alarmed));
}

#[test]
fn another_gateway_that_lives_ends_with_6_and_the_first_serves_on() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let (ours, theirs) = (site(broker.port()), site(broker.port()));
        let mut first = Gateway::start(&ours);
        let mut second = Gateway::spawn(&theirs);
        assert_eq!(second.wait().code(), Some(6), "{}", second.log());
        let fleet = Fleet::start(broker.port());
        fleet.ask(0..5);
        fleet.wait_all(PATIENCE);
        let results = |answers: &Vec<Value>| answers[0]["result"] == "accepted";
        assert!(fleet.answers().values().all(results));
        assert!(!first.has_ended(), "{}", first.log());
        seen(
            "a second gateway",
            kind,
            "exit 6 of the second, the first serves",
        );
    });
}
