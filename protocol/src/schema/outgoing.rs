//! What the gateway writes. Every named field is there, null where it has no value.

use schemars::Schema;
use serde_json::{Value, json};

use crate::code::{AlarmCode, Code, ReasonCode};
use crate::elevator::Health;
use crate::floor::Side;
use crate::hardware::{Direction, Door, Mode, Motion};
use crate::limits::{ALARMS_MAX, DETAIL_BYTES_MAX, ELEVATORS_MAX, FLOORS_MAX, ZONES_MAX};
use crate::ops::{Presence, Severity, SuspensionCode};
use crate::ride::{Instruction, ReplyResult, RideState};
use crate::robot::ConnectionState;
use crate::schema::part::{
    Fields, counter, flag, floor, id, integer, list, moment, seconds, text, words,
};

/// What every message of the gateway carries. `kind` is its `type`.
fn headed(kind: &str) -> Fields {
    Fields::default()
        .required("type", json!({ "const": kind }))
        .required("message_id", id())
        .required("timestamp", moment())
        .required("source", json!({ "type": "string" }))
}

pub(super) fn ride_reply() -> Schema {
    headed("ride.reply")
        .required("received_at", moment())
        .written("in_reply_to", id())
        .written("order_id", id())
        .required("result", words::<ReplyResult>())
        .written("code", words::<Code>())
        .written("detail", text(DETAIL_BYTES_MAX))
        .written("retry_after_s", seconds())
        .written("state", words::<RideState>())
        .written("seq", counter(1))
        .written("instruction", words::<Instruction>())
        .written("valid_s", seconds())
        .written("elevator_id", id())
        .written("fence", counter(0))
        .written("floor", floor())
        .written("side", words::<Side>())
        .written("queue_position", integer(1, u32::MAX.into()))
        .written("eta_s", seconds())
        .message(
            "ride.reply",
            "The one answer to a request, event or cancel: robots/{robot}/ride/reply, QoS 1.",
        )
}

pub(super) fn ride_state() -> Schema {
    let landing = Fields::default()
        .required("floor", floor())
        .required("side", words::<Side>())
        .object();
    let reason = Fields::default()
        .required("code", words::<ReasonCode>())
        .required("detail", text(DETAIL_BYTES_MAX))
        .object();
    headed("ride.state")
        .required("order_id", id())
        .required("robot_id", id())
        .required("seq", counter(1))
        .required("state", words::<RideState>())
        .written("held_from", words::<RideState>())
        .required("instruction", words::<Instruction>())
        .written("valid_s", seconds())
        .written("elevator_id", id())
        .written("bank_id", id())
        .written("fence", counter(0))
        .required("from", landing.clone())
        .required("to", landing)
        .written("floor", floor())
        .written("side", words::<Side>())
        .written("queue_position", integer(1, u32::MAX.into()))
        .written("eta_s", seconds())
        .written("deadline", moment())
        .written("deadline_s", seconds())
        .written("reason", reason)
        .message(
            "ride.state",
            "The robot's current or last ride, whole: robots/{robot}/ride/state, QoS 1, retained. \
             It tells where the ride stands and is never permission to move.",
        )
}

pub(super) fn elevator_state() -> Schema {
    let doors = Fields::default()
        .required("front", words::<Door>())
        .optional("rear", words::<Door>())
        .object();
    let owner = Fields::default()
        .required("robot_id", id())
        .required("fence", counter(0))
        .required("since", moment())
        .object();
    headed("elevator.state")
        .required("elevator_id", id())
        .written("bank_id", id())
        .written("floor", floor())
        .required("doors", doors)
        .required("motion", words::<Motion>())
        .required("mode", words::<Mode>())
        .written("occupied", flag())
        .required("health", words::<Health>())
        .written("health_reason", text(DETAIL_BYTES_MAX))
        .written("owner", owner)
        .required("fence", counter(0))
        .required("busy", flag())
        .required("queue_length", integer(0, u32::MAX.into()))
        .written("observed_at", moment())
        .message(
            "elevator.state",
            "An elevator as the gateway knows it: elevators/{elevator}/state, QoS 1, retained.",
        )
}

pub(super) fn elevator_command() -> Schema {
    let commands = json!({ "enum": [
        "query", "claim", "hall_call", "cancel_call", "car_call", "open_door", "hold_door",
        "close_door", "release",
    ] });
    headed("elevator.command")
        .required("elevator_id", id())
        .written("order_id", id())
        .required("command_id", id())
        .required("fence", counter(0))
        .required("command", commands)
        .written("floor", floor())
        .written("side", words::<Side>())
        .written("direction", words::<Direction>())
        .written("hold_s", seconds())
        .required("expires_at", moment())
        .required("expires_in_s", seconds())
        .message(
            "elevator.command",
            "To a controller on MQTT: elevators/{elevator}/command, QoS 1, never retained.",
        )
}

pub(super) fn ops_alarm() -> Schema {
    alarm(headed("ops.alarm")).message(
        "ops.alarm",
        "An alarm raised, repeated or cleared: ops/alarm, QoS 1.",
    )
}

pub(super) fn ops_alarms() -> Schema {
    headed("ops.alarms")
        .required(
            "alarms",
            list(ALARMS_MAX, alarm(Fields::default()).object()),
        )
        .message(
            "ops.alarms",
            "All open alarms: ops/alarms, QoS 1, retained.",
        )
}

fn alarm(fields: Fields) -> Fields {
    fields
        .required("alarm_id", json!({ "type": "string" }))
        .required("severity", words::<Severity>())
        .required("code", words::<AlarmCode>())
        .written("elevator_id", id())
        .written("order_id", id())
        .required("raised_at", moment())
        .written("cleared_at", moment())
        .required("detail", text(DETAIL_BYTES_MAX))
}

pub(super) fn site() -> Schema {
    let suspension = Fields::default()
        .required("code", words::<SuspensionCode>())
        .required("zones", list(ZONES_MAX, id()))
        .required("since", moment())
        .object();
    headed("site")
        .required(
            "versions",
            json!({ "type": "array", "items": { "type": "string" } }),
        )
        .required("gateway", id())
        .written("suspended", suspension)
        .required("lease_s", seconds())
        .required("status_s", seconds())
        .required("floors", list(FLOORS_MAX, site_floor()))
        .required("elevators", list(ELEVATORS_MAX, site_elevator()))
        .message("site", "What there is: site, QoS 1, retained.")
}

fn site_floor() -> Value {
    Fields::default()
        .required("label", floor())
        .required("index", integer(0, u32::MAX.into()))
        .required("sides", list(Side::ALL.len(), words::<Side>()))
        .object()
}

fn site_elevator() -> Value {
    Fields::default()
        .required("id", id())
        .written("bank_id", id())
        .required("zone", id())
        .required("floors", list(FLOORS_MAX, floor()))
        .required("presence", words::<Presence>())
        .required("hold_max_s", seconds())
        .object()
}

pub(super) fn gateway_connection() -> Schema {
    headed("gateway.connection")
        .required("connection_state", words::<ConnectionState>())
        .required("instance", id())
        .message(
            "gateway.connection",
            "The gateway's presence, and its will: gateways/{gateway}/connection, QoS 1, retained.",
        )
}
