//! AT-GW-05: what cannot be used is answered where there is somebody to answer, acknowledged, and
//! stops nothing.

use serde_json::{Value, json};

use crate::broker::{BOTH, Broker, site};
use crate::support::proxy::{PUBACK, PUBLISH};
use crate::support::{Gateway, Message, Passing, Proxy, Robot, Way, now, request};
use crate::{seen, side_by_side};

const IN: &str = "gw-1-in";

/// A request with another value in one place.
fn with(message: &str, key: &str, value: Value) -> String {
    let mut body = request(message, &format!("T-{message}"), "1F", "6F");
    body[key] = value;
    body.to_string()
}

#[test]
fn at_gw_05_what_cannot_be_used_is_answered_acknowledged_and_stops_nothing() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        // Unreadable ones are answered once a second for each topic, so each has its own robot.
        let table = [
            ("m-1", "{\"message_id\":\"m-1\",".to_owned(), "MALFORMED"),
            ("m-2", with("m-2", "priority", json!("high")), "MALFORMED"),
            (
                "m-3",
                with("m-3", "elevators", json!(["EL404"])),
                "UNKNOWN_ELEVATOR",
            ),
            (
                "m-4",
                with("m-4", "padding", json!("x".repeat(20_000))),
                "TOO_LARGE",
            ),
            ("m-5", with("m-5", "order_id", Value::Null), "MALFORMED"),
            ("m-6", with("m-6", "message_id", Value::Null), "MALFORMED"),
            (
                "m-7",
                with("m-7", "to", json!({ "floor": "99F" })),
                "UNKNOWN_FLOOR",
            ),
        ];
        for (n, (message, payload, code)) in table.iter().enumerate() {
            let robot = Robot::connect_to(broker.port(), &format!("R{n}"));
            robot.send("ride/request", payload);
            let is_answer = |heard: &Message| heard.topic.ends_with("/ride/reply");
            let reply = robot.client().hear(message, is_answer).body;
            assert_eq!(reply["result"], "rejected", "{payload}: {reply}");
            assert_eq!(reply["code"], *code, "{payload}: {reply}");
        }
        // Nobody is there to answer.
        let robot = Robot::connect_to(broker.port(), "R-x");
        for (topic, payload) in [
            ("elevators/EL404/event", "{}"),
            ("elevators/EL001/event", "[[[["),
            ("robots/no id/status", "{}"),
            ("gateways/gw-1/connection", "\"ONLINE\""),
        ] {
            let topic = format!("hallcall/v1/demo/{topic}");
            robot.client().publish(&topic, false, payload);
        }
        let event = json!({ "message_id": "m-9", "timestamp": now(), "order_id": "T-404",
            "event": "dance", "fence": null });
        robot.send("ride/event", &event.to_string());
        assert_eq!(robot.reply("m-9")["code"], "MALFORMED");
        assert_eq!(
            robot.request("m-8", "T-8", "1F", "6F")["result"],
            "accepted"
        );
        let acked = proxy.look("every acknowledgement", |came| {
            let ids = |way, kind| -> Vec<u16> {
                let wanted = came.iter().filter(|packet| packet.is(IN, way, kind));
                wanted.map(Passing::id).collect()
            };
            let (heard, acked) = (ids(Way::ToClient, PUBLISH), ids(Way::ToBroker, PUBACK));
            (heard == acked).then_some(acked.len())
        });
        assert_eq!(proxy.connections(IN), 1);
        assert!(!gateway.has_ended(), "{}", gateway.log());
        seen(
            "bad messages",
            kind,
            format!("7 kinds answered, {acked} acknowledged, served on"),
        );
    });
}
