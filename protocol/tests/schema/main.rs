//! The JSON Schemas: every message has one, the examples keep it, and it takes and refuses what the
//! reader takes and refuses.

mod examples;
mod keeps;
#[path = "../site/mod.rs"]
mod site;

use examples::examples;
use keeps::keeps;
use protocol::schema::schemas;
use serde_json::{Value, json};
use site::{CANCEL, CONNECTION, CONTROLLER, EVENT, REQUEST, STATUS, deliver};

fn schema(name: &str) -> Value {
    let (_, schema) = schemas()
        .into_iter()
        .find(|(known, _)| *known == name)
        .expect("a schema of that name");
    schema.to_value()
}

#[test]
fn every_message_of_the_wire_has_a_schema_that_its_example_keeps() {
    let names: Vec<&str> = schemas().into_iter().map(|(name, _)| name).collect();
    let examples = examples();
    assert_eq!(
        names,
        examples.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    for (name, example) in examples {
        let schema = schema(name);
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["title"], name);
        assert!(keeps(&schema, &example), "{name}");
    }
}

/// Takes away each field in turn: what is missed, by `wire.md`.
#[test]
fn the_required_fields_are_those_of_the_wire() {
    for (name, required) in [
        ("ride.request", "from message_id order_id timestamp to"),
        ("ride.event", "event message_id order_id timestamp"),
        ("ride.cancel", "message_id order_id reason timestamp"),
        ("robot.status", "message_id timestamp"),
        ("robot.connection", "connection_state message_id timestamp"),
        (
            "elevator.event",
            "doors event message_id mode motion timestamp",
        ),
        (
            "client.request",
            "message_id order_id owner_id pool timestamp type",
        ),
        (
            "device.event",
            "boot_id device_state event message_id seq timestamp",
        ),
    ] {
        let schema = schema(name);
        let (_, example) = examples()
            .into_iter()
            .find(|(known, _)| *known == name)
            .expect("one");
        let fields = example.as_object().expect("an object");
        let mut missed: Vec<&str> = Vec::new();
        for field in fields.keys() {
            let mut without = fields.clone();
            without.remove(field);
            if !keeps(&schema, &Value::Object(without)) {
                missed.push(field);
            }
        }
        missed.sort_unstable();
        assert_eq!(missed.join(" "), required, "{name}");
    }
    for (name, example) in examples().into_iter().skip(8) {
        for field in example.as_object().expect("an object").keys() {
            let mut without = example.clone();
            without.as_object_mut().expect("an object").remove(field);
            assert!(
                !keeps(&schema(name), &without),
                "{name} is written without {field}"
            );
        }
    }
}

/// A change to an example, and whether schema and reader take the result.
#[test]
fn schema_and_reader_agree() {
    let long = "x".repeat(257);
    let ids: Vec<String> = (0..33).map(|n| format!("EL{n}")).collect();
    let (call, door) = (json!({"kind":"car","floor":"1"}), json!("open"));
    for (name, field, value, taken) in [
        ("ride.request", "message_id", json!("x".repeat(64)), true),
        ("ride.request", "message_id", json!("x".repeat(65)), false),
        ("ride.request", "message_id", json!("m 1"), false),
        ("ride.request", "message_id", json!(""), false),
        ("ride.request", "message_id", json!(null), false),
        ("ride.request", "from", json!({"floor":"1F"}), true),
        (
            "ride.request",
            "from",
            json!({"floor":"1F","side":null,"x":1}),
            true,
        ),
        (
            "ride.request",
            "from",
            json!({"floor":"1F","side":"left"}),
            false,
        ),
        ("ride.request", "from", json!({"floor":"123456789"}), false),
        ("ride.request", "from", json!({}), false),
        ("ride.request", "from", json!("1F"), false),
        ("ride.request", "elevators", json!(null), true),
        ("ride.request", "elevators", json!(ids[..32]), true),
        ("ride.request", "elevators", json!(ids), false),
        ("ride.request", "elevators", json!([1]), false),
        ("ride.request", "priority", json!(0), true),
        ("ride.request", "priority", json!(9), true),
        ("ride.request", "priority", json!(10), false),
        ("ride.request", "priority", json!(-1), false),
        ("ride.request", "priority", json!(5.5), false),
        ("ride.request", "priority", json!("5"), false),
        ("ride.request", "eta_s", json!(86_400), true),
        ("ride.request", "eta_s", json!(86_401), false),
        ("ride.request", "dry_run", json!(1), false),
        ("ride.request", "anything", json!({"else":[1]}), true),
        ("ride.event", "event", json!("leave"), false),
        ("ride.event", "fence", json!(u64::MAX), true),
        ("ride.event", "fence", json!(-1), false),
        ("ride.event", "fence", json!(null), true),
        ("ride.event", "hold_s", json!(1), true),
        ("ride.event", "hold_s", json!(0), false),
        ("ride.event", "hold_s", json!(61), false),
        ("ride.event", "again", json!("yes"), false),
        ("ride.cancel", "reason", json!("x".repeat(256)), true),
        ("ride.cancel", "reason", json!(long), false),
        ("ride.cancel", "reason", json!(null), false),
        ("robot.status", "battery_pct", json!(100), true),
        ("robot.status", "battery_pct", json!(100.5), false),
        ("robot.status", "position", json!({"x":0,"y":0}), false),
        (
            "robot.status",
            "position",
            json!({"x":0,"y":0,"map":"x".repeat(65)}),
            false,
        ),
        ("robot.status", "position", json!(null), true),
        (
            "robot.connection",
            "connection_state",
            json!("online"),
            false,
        ),
        (
            "robot.connection",
            "connection_state",
            json!("CONNECTIONBROKEN"),
            true,
        ),
        ("elevator.event", "event", json!("arrived"), true),
        ("elevator.event", "event", json!("stopped"), false),
        ("elevator.event", "command_id", json!(null), true),
        ("elevator.event", "mode", json!("auto"), false),
        ("elevator.event", "mode", json!(null), false),
        ("elevator.event", "motion", json!(null), false),
        ("elevator.event", "doors", json!(null), false),
        ("elevator.event", "doors", json!({"rear":"open"}), false),
        ("elevator.event", "door", door, true),
        ("elevator.event", "load_pct", json!(255), true),
        ("elevator.event", "load_pct", json!(256), false),
        (
            "elevator.event",
            "calls",
            json!(vec![call.clone(); 512]),
            true,
        ),
        ("elevator.event", "calls", json!(vec![call; 513]), false),
        (
            "elevator.event",
            "calls",
            json!([{"kind":"cab","floor":"1"}]),
            false,
        ),
        ("elevator.event", "detail", json!(long), false),
    ] {
        let (_, mut message) = examples()
            .into_iter()
            .find(|(n, _)| *n == name)
            .expect("one");
        message[field] = value;
        agree(name, &message, taken);
    }
}

#[test]
fn schema_and_reader_agree_on_what_an_event_of_a_controller_needs() {
    let head = json!({"message_id":"c-1","timestamp":"2026-11-30T10:00:00Z"});
    for (fields, taken) in [
        (json!({"event":"accepted","command_id":"k-1"}), true),
        (json!({"event":"accepted"}), false),
        (json!({"event":"done","command_id":null}), false),
        (json!({"event":"failed"}), false),
        (json!({"event":"moving"}), true),
        (
            json!({"event":"state","door":"open","motion":"up","mode":"normal"}),
            true,
        ),
        (
            json!({"event":"state","doors":{"front":"open"},"motion":"up","mode":"normal"}),
            true,
        ),
        (
            json!({"event":"state","motion":"up","mode":"normal"}),
            false,
        ),
        (
            json!({"event":"state","door":null,"motion":"up","mode":"normal"}),
            false,
        ),
        (
            json!({"event":"state","door":"open","mode":"normal"}),
            false,
        ),
        (json!({"event":"state","door":"open","motion":"up"}), false),
    ] {
        let mut message = head.clone();
        let fields = fields.as_object().expect("an object").clone();
        message.as_object_mut().expect("an object").extend(fields);
        agree("elevator.event", &message, taken);
    }
}

fn agree(name: &str, message: &Value, taken: bool) {
    let topic = match name {
        "ride.request" => REQUEST,
        "ride.event" => EVENT,
        "ride.cancel" => CANCEL,
        "robot.status" => STATUS,
        "robot.connection" => CONNECTION,
        "elevator.event" => CONTROLLER,
        unknown => panic!("not read: {unknown}"),
    };
    assert_eq!(
        keeps(&schema(name), message),
        taken,
        "the schema of {name}: {message:.300}"
    );
    let decoded = deliver(topic, message.to_string());
    let is_taken = matches!(decoded, protocol::Decoded::Message(_));
    assert_eq!(is_taken, taken, "the reader of {name}: {decoded:?}");
}
