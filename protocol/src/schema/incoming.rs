//! What the gateway reads.

use schemars::Schema;
use serde_json::{Value, json};

use crate::elevator::ControllerEvent;
use crate::floor::Side;
use crate::hardware::{Direction, Door, Mode, Motion};
use crate::limits::{
    CALLS_MAX, CONTROLLER_DETAIL_BYTES_MAX, ETA_S_MAX, HOLD_S_DEFAULT, HOLD_S_MAX, MAP_BYTES_MAX,
    PRIORITY_DEFAULT, PRIORITY_MAX, REASON_BYTES_MAX, REQUEST_ELEVATORS_MAX,
};
use crate::robot::{ConnectionState, RobotEvent};
use crate::schema::part::{
    Fields, counter, flag, floor, id, integer, list, message, moment, number, text, words,
};

fn stamped() -> Fields {
    Fields::default()
        .required("message_id", id())
        .required("timestamp", moment())
}

pub(super) fn ride_request() -> Schema {
    let mut priority = integer(0, PRIORITY_MAX.into());
    priority["default"] = json!(PRIORITY_DEFAULT);
    let mut dry_run = flag();
    dry_run["default"] = json!(false);
    stamped()
        .required("order_id", id())
        .required("from", place())
        .required("to", place())
        .optional("elevators", list(REQUEST_ELEVATORS_MAX, id()))
        .optional("priority", priority)
        .optional("at_door", flag())
        .optional("eta_s", integer(0, ETA_S_MAX.into()))
        .optional("expires_at", moment())
        .optional("dry_run", dry_run)
        .message(
            "ride.request",
            "A robot asks for a ride: robots/{robot}/ride/request, QoS 1.",
        )
}

fn place() -> Value {
    Fields::default()
        .required("floor", floor())
        .optional("side", words::<Side>())
        .object()
}

pub(super) fn ride_event() -> Schema {
    let events = RobotEvent::all(false, HOLD_S_DEFAULT).map(|event| event.word());
    let mut hold_s = integer(1, HOLD_S_MAX.into());
    hold_s["default"] = json!(HOLD_S_DEFAULT);
    stamped()
        .required("order_id", id())
        .required("event", json!({ "enum": events }))
        .optional("fence", counter(0))
        .optional("elevator_id", id())
        .optional("hold_s", hold_s)
        .optional("again", flag())
        .message(
            "ride.event",
            "What a robot did, or asks: robots/{robot}/ride/event, QoS 1. Without fence only query \
             and at_door are taken once the ride has one.",
        )
}

pub(super) fn ride_cancel() -> Schema {
    stamped()
        .required("order_id", id())
        .required("reason", text(REASON_BYTES_MAX))
        .message(
            "ride.cancel",
            "A robot gives its ride up: robots/{robot}/ride/cancel, QoS 1.",
        )
}

pub(super) fn robot_status() -> Schema {
    let battery = json!({ "type": "number", "minimum": 0, "maximum": 100 });
    let position = Fields::default()
        .required("x", number())
        .required("y", number())
        .required("map", text(MAP_BYTES_MAX))
        .object();
    stamped()
        .optional("floor", floor())
        .optional("at_door", flag())
        .optional("eta_s", integer(0, ETA_S_MAX.into()))
        .optional("battery_pct", battery)
        .optional("position", position)
        .optional("in_car", flag())
        .message(
            "robot.status",
            "A robot's heartbeat: robots/{robot}/status, QoS 0 or 1.",
        )
}

pub(super) fn robot_connection() -> Schema {
    stamped()
        .required("connection_state", words::<ConnectionState>())
        .message(
            "robot.connection",
            "A robot's presence, and its will: robots/{robot}/connection, QoS 1, retained.",
        )
}

pub(super) fn elevator_event() -> Schema {
    let doors = Fields::default()
        .required("front", words::<Door>())
        .optional("rear", words::<Door>())
        .object();
    let call = Fields::default()
        .required("kind", json!({ "enum": ["hall", "car"] }))
        .required("floor", floor())
        .optional("side", words::<Side>())
        .optional("direction", words::<Direction>())
        .object();
    let mut event = stamped()
        .required("event", words::<ControllerEvent>())
        .optional("boot_id", id())
        .optional("seq", counter(0))
        .optional("command_id", id())
        .optional("floor", floor())
        .optional("side", words::<Side>())
        .optional("door", words::<Door>())
        .optional("doors", doors)
        .optional("motion", words::<Motion>())
        .optional("mode", words::<Mode>())
        .optional("occupied", flag())
        .optional("load_pct", integer(0, u8::MAX.into()))
        .optional("calls", list(CALLS_MAX, call))
        .optional("detail", text(CONTROLLER_DETAIL_BYTES_MAX))
        .object();
    event["allOf"] = json!([
        when(&["accepted", "done", "failed"], present(&["command_id"])),
        when(&["state"], present(&["motion", "mode"])),
        when(
            &["state"],
            json!({ "anyOf": [present(&["door"]), present(&["doors"])] })
        ),
    ]);
    message(
        "elevator.event",
        "What a controller answers and observes: elevators/{elevator}/event, QoS 1.",
        event,
    )
}

/// What holds for some of the events only.
fn when(events: &[&str], then: Value) -> Value {
    json!({ "if": { "properties": { "event": { "enum": events } } }, "then": then })
}

/// Fields that are there and not null.
fn present(names: &[&str]) -> Value {
    let not_null = json!({ "not": { "type": "null" } });
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), not_null.clone()))
        .collect();
    json!({ "required": names, "properties": properties })
}
