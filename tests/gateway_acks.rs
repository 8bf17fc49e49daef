//! What a broker sees of acknowledgements: never before all is durable, in the order received, on
//! the connection that brought the message (T-STACK-01 to T-STACK-03; facts of rumqttc: manual
//! acknowledgements made in an outage go out on the next connection).

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod support;

use support::{Came, Client, Gateway, Mosquitto, Packet, PlayedBroker, Robot, Site, request};

const IN: &str = "gw-1-in";

fn site(broker: &PlayedBroker) -> Site {
    let lines = format!("broker = \"mqtt://127.0.0.1:{}\"", broker.port());
    Site::with_broker(&lines).elevator("EL001")
}

fn topic(robot: &str) -> String {
    format!("hallcall/v1/demo/robots/{robot}/ride/request")
}

/// The packet ids acknowledged on one connection of the ingest, in order.
fn acked(came: &[Came], connection: usize) -> Vec<u16> {
    came.iter()
        .filter(|came| came.client == IN && came.connection == connection)
        .filter_map(|came| match came.packet {
            Packet::PubAck { id } => Some(id),
            Packet::Connect | Packet::Subscribe | Packet::Publish { .. } | Packet::Gone => None,
        })
        .collect()
}

#[test]
fn what_is_acknowledged_survives_a_kill_at_that_moment() {
    for round in 0..5 {
        let broker = PlayedBroker::start();
        let site = site(&broker);
        let mut gateway = Gateway::start(&site);
        let order = format!("T-{round}");
        broker.deliver(
            IN,
            7,
            &topic("R001"),
            &request("m-1", &order, "1F", "6F").to_string(),
        );
        broker.wait("the PUBACK", |came| came.packet == Packet::PubAck { id: 7 });
        gateway.kill();

        // The same data with a real broker: the order is known.
        let mosquitto = Mosquitto::start();
        let site = site.move_to(&mosquitto);
        let _gateway = Gateway::start(&site);
        let robot = Robot::connect(&mosquitto, "R001");
        let reply = robot.request("m-2", &order, "1F", "6F");
        assert_eq!(reply["result"], "duplicate");
    }
}

#[test]
fn acknowledgements_leave_in_the_order_received_whatever_the_messages_are() {
    let broker = PlayedBroker::start();
    let site = site(&broker);
    let _gateway = Gateway::start(&site);
    let elevator = "hallcall/v1/demo/elevators/EL001/event";
    for round in 0..50_u16 {
        let id = 1 + round * 5;
        let robot = format!("R{round}");
        let order = format!("T-{round}");
        let wish = request("m-1", &order, "1F", "6F").to_string();
        broker.deliver(IN, id, &topic(&robot), &wish);
        broker.deliver(IN, id + 1, "hallcall/v1/demo/robots/no id/status", "{}");
        broker.deliver(IN, id + 2, &topic(&robot), "no JSON");
        broker.deliver(IN, id + 3, elevator, "no JSON");
        broker.deliver(IN, id + 4, &topic(&robot), &wish);
    }
    let ids = broker.look("250 acknowledgements", |came| {
        let ids = acked(came, 1);
        (ids.len() == 250).then_some(ids)
    });
    assert_eq!(ids, (1..=250).collect::<Vec<u16>>());
}

#[test]
fn more_than_the_inbox_holds_is_acknowledged_and_answered_nothing_dropped() {
    let broker = PlayedBroker::start();
    let site = site(&broker);
    let _gateway = Gateway::start(&site);
    for n in 1..=5_000_u16 {
        let wish = request("m-1", &format!("T-{n}"), "1F", "6F").to_string();
        broker.deliver(IN, n, &topic(&format!("R{n}")), &wish);
    }
    let ids = broker.look("5,000 acknowledgements", |came| {
        let ids = acked(came, 1);
        (ids.len() == 5_000).then_some(ids)
    });
    assert_eq!(ids, (1..=5_000).collect::<Vec<u16>>());
    let is_reply = |came: &&Came| match &came.packet {
        Packet::Publish { topic, .. } => topic.ends_with("/ride/reply"),
        Packet::Connect | Packet::Subscribe | Packet::PubAck { .. } | Packet::Gone => false,
    };
    broker.look("5,000 replies", |came| {
        (came.iter().filter(is_reply).count() == 5_000).then_some(())
    });
}

#[test]
fn an_acknowledgement_never_leaves_on_the_next_connection() {
    let broker = PlayedBroker::start();
    let site = site(&broker);
    let _gateway = Gateway::start(&site);
    // Each that ends soon is waited longer after: 6 s for these.
    for connection in 1..=6_usize {
        let subscribed = |came: &Came| {
            came.client == IN && came.connection == connection && came.packet == Packet::Subscribe
        };
        broker.wait("the subscription", subscribed);
        // The first message of each connection has a number of its own, which must be the first
        // that is acknowledged on it.
        let id = u16::try_from(connection).unwrap() * 100;
        let robot = format!("R{connection}");
        let order = format!("T-{connection}");
        let wish = request("m-1", &order, "1F", "6F").to_string();
        broker.deliver(IN, id, &topic(&robot), &wish);
        let first = broker.look("an acknowledgement", |came| {
            acked(came, connection).first().copied()
        });
        assert_eq!(first, id);
        for n in 1..=40 {
            broker.deliver(IN, id + n, &topic(&robot), &wish);
        }
        broker.cut(IN);
    }
}

#[test]
fn unacknowledged_messages_come_again_and_are_absorbed() {
    // The same against a real broker: the gateway is killed under load, nothing is lost, nothing is
    // done twice (AT-LIFT-05).
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let listener = Client::connect(&broker, "listener");
    listener.subscribe("hallcall/v1/demo/robots/+/ride/reply");
    for n in 0..300 {
        let wish = request("m-1", &format!("T-{n}"), "1F", "6F").to_string();
        listener.publish(&topic(&format!("R{n}")), false, wish);
        if n % 100 == 50 {
            gateway.kill();
            gateway = Gateway::start(&site);
        }
    }
    for n in 0..300 {
        let order = format!("T-{n}");
        let reply = listener.hear(&order, |message| message.text("order_id") == order);
        assert!(
            ["accepted", "duplicate"].contains(&reply.text("result")),
            "{}",
            reply.body
        );
    }
}

#[test]
fn a_word_of_an_earlier_instance_that_waited_in_the_session_proves_nothing() {
    // What an instance said that was killed comes again to the next one, unretained, because it was
    // not acknowledged. Only what comes after our own word has come back was said after it.
    let presence = "hallcall/v1/demo/gateways/gw-1/connection";
    let broker = PlayedBroker::start();
    let site = site(&broker);
    let mut gateway = Gateway::start(&site);
    let is_ours = |came: &Came| match &came.packet {
        Packet::Publish { topic, payload } if topic == presence => Some(payload.clone()),
        Packet::Publish { .. }
        | Packet::Connect
        | Packet::Subscribe
        | Packet::PubAck { .. }
        | Packet::Gone => None,
    };
    let ours = broker.look("our ONLINE", |came| came.iter().find_map(is_ours));
    let other = serde_json::json!({ "message_id": "x-1", "timestamp": support::now(),
        "connection_state": "ONLINE", "instance": "earlier" });
    broker.deliver(IN, 1, presence, &other.to_string());
    broker.wait("the PUBACK", |came| came.packet == Packet::PubAck { id: 1 });
    let wish = request("m-1", "T-1", "1F", "6F").to_string();
    broker.deliver(IN, 2, &topic("R001"), &wish);
    broker.wait("the PUBACK", |came| came.packet == Packet::PubAck { id: 2 });
    assert!(!gateway.has_ended(), "{}", gateway.log());

    broker.deliver(IN, 3, presence, &ours);
    broker.deliver(IN, 4, presence, &other.to_string());
    assert_eq!(gateway.wait().code(), Some(6), "{}", gateway.log());
}
