use protocol::Envelope;

use super::filter::matches;
use super::{Arrival, ModelBroker};

fn envelope(topic: &str, payload: &str, retain: bool) -> Envelope {
    Envelope {
        topic: topic.into(),
        payload: payload.into(),
        retain,
        qos: 1,
    }
}

/// (client, payload, packet, retained) of the messages that arrive.
fn arriving(broker: &mut ModelBroker) -> Vec<(String, String, u64, bool)> {
    let mut all = Vec::new();
    while let Some(arrival) = broker.turn(1_000_000) {
        if let Arrival::Message {
            client,
            envelope,
            packet,
            retained,
            ..
        } = arrival
        {
            all.push((
                client.to_string(),
                String::from_utf8(envelope.payload.clone()).unwrap(),
                packet,
                retained,
            ));
        }
    }
    all
}

fn got(client: &str, payload: &str, packet: u64, retained: bool) -> (String, String, u64, bool) {
    (client.to_owned(), payload.to_owned(), packet, retained)
}

#[test]
fn filters_take_what_mqtt_says() {
    assert!(matches("a/+/c", "a/b/c") && matches("a/#", "a/b/c") && matches("a/b", "a/b"));
    assert!(!matches("a/+", "a/b/c") && !matches("a/b/c", "a/b") && !matches("a/+/d", "a/b/c"));
}

#[test]
fn a_message_takes_two_hops_and_its_publisher_learns_of_it() {
    let mut broker = ModelBroker::new(5);
    broker.connect("robot", true, None);
    broker.connect("gateway", false, None);
    broker.subscribe(0, "gateway", "t/#");
    broker.publish(0, "robot", 7, envelope("t/x", "hello", false));
    assert_eq!(broker.turn(9), None);
    let mut seen = Vec::new();
    while let Some(arrival) = broker.turn(10) {
        seen.push(arrival);
    }
    assert!(seen.contains(&Arrival::Published {
        client: "robot".into(),
        epoch: 1,
        id: 7
    }));
    assert_eq!(seen.len(), 2);
}

#[test]
fn what_was_not_acknowledged_comes_again_to_a_persistent_session() {
    let mut broker = ModelBroker::new(1);
    broker.connect("robot", true, None);
    broker.connect("gateway", false, None);
    broker.subscribe(0, "gateway", "t");
    for payload in ["a", "b", "c"] {
        broker.publish(0, "robot", 0, envelope("t", payload, false));
    }
    assert_eq!(arriving(&mut broker).len(), 3);
    broker.acknowledge(10, "gateway", 1, 1);
    assert_eq!(arriving(&mut broker), []);
    broker.disconnect(20, "gateway", false);
    assert_eq!(broker.connect("gateway", false, None), Some((2, true)));
    broker.resume(30, "gateway");
    let again = [got("gateway", "b", 4, false), got("gateway", "c", 5, false)];
    assert_eq!(arriving(&mut broker), again);
}

#[test]
fn retained_words_and_wills_reach_who_comes_later() {
    let mut broker = ModelBroker::new(1);
    broker.connect("robot", true, Some(envelope("c", "broken", true)));
    broker.publish(0, "robot", 0, envelope("c", "online", true));
    arriving(&mut broker);
    broker.disconnect(5, "robot", false);
    broker.connect("late", true, None);
    broker.subscribe(6, "late", "+");
    assert_eq!(arriving(&mut broker), [got("late", "broken", 1, true)]);
}

#[test]
fn a_broker_that_forgets_knows_no_session_and_no_retained_word() {
    let mut broker = ModelBroker::new(1);
    broker.connect("gateway", false, None);
    broker.publish(0, "gateway", 0, envelope("c", "online", true));
    arriving(&mut broker);
    broker.go_down(true);
    assert_eq!(broker.connect("gateway", false, None), None);
    broker.come_up();
    assert_eq!(broker.connect("gateway", false, None), Some((2, false)));
    assert_eq!(broker.retained("c"), None);
}
