//! The JSON Schemas: every message has one, the examples keep it, and it takes and refuses what the
//! reader takes and refuses.

mod site;

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

/// Whether a value keeps a schema. Knows the keywords that the schemas use and panics at any other,
/// so that none is passed over.
fn keeps(schema: &Value, value: &Value) -> bool {
    let keywords = schema.as_object().expect("a schema is an object");
    keywords
        .iter()
        .all(|(keyword, rule)| match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "format" => {
                rule.is_string() || keyword == "default"
            }
            "type" => is_of_type(rule.as_str().expect("one type"), value),
            "const" => rule == value,
            "enum" => rule.as_array().expect("a list").contains(value),
            "minimum" => value
                .as_f64()
                .is_none_or(|n| n >= rule.as_f64().expect("a number")),
            "maximum" => value
                .as_f64()
                .is_none_or(|n| n <= rule.as_f64().expect("a number")),
            "maxLength" => value
                .as_str()
                .is_none_or(|s| s.chars().count() as u64 <= size(rule)),
            "maxItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 <= size(rule)),
            "pattern" => value
                .as_str()
                .is_none_or(|s| matches(rule.as_str().expect("a pattern"), s)),
            "items" => value
                .as_array()
                .is_none_or(|list| list.iter().all(|item| keeps(rule, item))),
            "required" => value.as_object().is_none_or(|object| {
                let names = rule.as_array().expect("a list");
                names
                    .iter()
                    .all(|name| object.contains_key(name.as_str().expect("a name")))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                let rules = rule.as_object().expect("an object");
                rules
                    .iter()
                    .all(|(name, rule)| object.get(name).is_none_or(|v| keeps(rule, v)))
            }),
            "anyOf" => rule
                .as_array()
                .expect("a list")
                .iter()
                .any(|rule| keeps(rule, value)),
            "allOf" => rule
                .as_array()
                .expect("a list")
                .iter()
                .all(|rule| keeps(rule, value)),
            "not" => !keeps(rule, value),
            "if" => !keeps(rule, value) || keeps(&keywords["then"], value),
            "then" => true,
            unknown => panic!("a keyword that this test does not know: {unknown}"),
        })
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("no JSON type: {unknown}"),
    }
}

fn size(rule: &Value) -> u64 {
    rule.as_u64().expect("a size")
}

/// The two patterns of `wire.md` section 1.
fn matches(pattern: &str, text: &str) -> bool {
    let (marks, bytes_max) = match pattern {
        "^[A-Za-z0-9_.:-]{1,64}$" => ("_.:-", 64),
        "^[A-Za-z0-9_-]{1,8}$" => ("_-", 8),
        unknown => panic!("a pattern that wire.md does not have: {unknown}"),
    };
    (1..=bytes_max).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
}

/// The example of each message: `wire.md` where it has one, else by its text.
fn examples() -> Vec<(&'static str, Value)> {
    let alarm = json!({"type":"ops.alarm","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
        "source":"gateway/gw-1","alarm_id":"al-1","severity":"critical","code":"BUS_LOST","elevator_id":null,
        "order_id":null,"raised_at":"2026-11-30T10:00:00.000Z","cleared_at":null,"detail":"bus b1 is silent"});
    vec![
        (
            "ride.request",
            json!({"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1",
            "from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},
            "elevators":["EL001","EL002"],"priority":5,"at_door":false,"eta_s":20,"expires_at":null,"dry_run":false}),
        ),
        (
            "ride.event",
            json!({"message_id":"m-2","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1",
            "event":"hold_door","fence":17,"elevator_id":"EL001","hold_s":60}),
        ),
        (
            "ride.cancel",
            json!({"message_id":"m-3","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1","reason":"no need"}),
        ),
        (
            "robot.status",
            json!({"message_id":"m-4","timestamp":"2026-11-30T10:00:00.000Z","floor":"1F","at_door":true,
            "eta_s":0,"battery_pct":87.5,"position":{"x":1.5,"y":-2,"map":"hall"},"in_car":false}),
        ),
        (
            "robot.connection",
            json!({"message_id":"m-5","timestamp":"2026-11-30T10:00:00.000Z","connection_state":"ONLINE"}),
        ),
        (
            "elevator.event",
            json!({"message_id":"c-1","timestamp":"2026-11-30T10:00:00.000Z","event":"state","boot_id":"b-7",
            "seq":12,"command_id":"q-1","floor":"1F","doors":{"front":"open","rear":"closed"},"motion":"stopped","mode":"normal",
            "occupied":null,"calls":[{"kind":"hall","floor":"6F","side":"front","direction":"down"},{"kind":"car","floor":"2F"}]}),
        ),
        (
            "ride.reply",
            json!({"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "received_at":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","in_reply_to":"m-1","order_id":"T-1",
            "result":"accepted","code":null,"detail":null,"retry_after_s":null,"state":"QUEUED","seq":1,"instruction":"wait",
            "valid_s":null,"elevator_id":null,"fence":null,"floor":null,"side":null,"queue_position":1,"eta_s":40}),
        ),
        (
            "ride.state",
            json!({"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1",
            "order_id":"T-1","robot_id":"R001","seq":4,"state":"ELEVATOR_ARRIVED","held_from":null,"instruction":"enter",
            "valid_s":5,"elevator_id":"EL001","bank_id":null,"fence":17,"from":{"floor":"1F","side":"front"},
            "to":{"floor":"6F","side":"front"},"floor":"1F","side":"front","queue_position":null,"eta_s":null,
            "deadline":"2026-11-30T10:00:42.000Z","deadline_s":60,"reason":null}),
        ),
        (
            "elevator.state",
            json!({"type":"elevator.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","elevator_id":"EL001","bank_id":"A","floor":"1F","doors":{"front":"open"},"motion":"stopped",
            "mode":"normal","occupied":null,"health":"ok","health_reason":null,
            "owner":{"robot_id":"R001","fence":17,"since":"2026-11-30T10:00:00.000Z"},"fence":17,"busy":true,"queue_length":3,
            "observed_at":"2026-11-30T10:00:00.000Z"}),
        ),
        (
            "elevator.command",
            json!({"type":"elevator.command","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","elevator_id":"EL001","order_id":"T-1","command_id":"k-1","fence":17,"command":"hall_call",
            "floor":"1F","side":"front","direction":"up","hold_s":null,"expires_at":"2026-11-30T10:00:05.000Z","expires_in_s":5}),
        ),
        ("ops.alarm", alarm.clone()),
        (
            "ops.alarms",
            json!({"type":"ops.alarms","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","alarms":[alarm]}),
        ),
        (
            "site",
            json!({"type":"site","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1",
            "versions":["v1"],"gateway":"gw-1","suspended":{"code":"FIRE_MODE","zones":["main"],"since":"2026-11-30T10:00:00.000Z"},
            "lease_s":30,"status_s":10,"floors":[{"label":"1F","index":0,"sides":["front","rear"]}],
            "elevators":[{"id":"EL001","bank_id":null,"zone":"main","floors":["1F"],"presence":"none","hold_max_s":10}]}),
        ),
        (
            "gateway.connection",
            json!({"type":"gateway.connection","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","connection_state":"OFFLINE","instance":"i-1"}),
        ),
    ]
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
    for (name, example) in examples().into_iter().skip(6) {
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
