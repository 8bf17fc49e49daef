//! JSON Schema (draft 2020-12) of every message, for those who build robots, controllers and tools.
//!
//! The schemas say what [`crate::decode()`] takes and what [`crate::Outgoing::encode`] writes. The
//! wire is stricter where a schema has no word for it: integers have no fraction and no exponent,
//! texts are bounded in bytes, no key comes twice, and a message is at most 16 KiB.

mod application;
mod incoming;
mod outgoing;
mod part;
mod rental;

use schemars::Schema;

/// The schema of every message under its `type` (`wire.md` section 2): first what the gateway
/// reads, then what it writes.
#[must_use]
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("ride.request", incoming::ride_request()),
        ("ride.event", incoming::ride_event()),
        ("ride.cancel", incoming::ride_cancel()),
        ("robot.status", incoming::robot_status()),
        ("robot.connection", incoming::robot_connection()),
        ("elevator.event", incoming::elevator_event()),
        ("client.request", application::client_request()),
        ("device.event", rental::device_event()),
        ("ride.reply", outgoing::ride_reply()),
        ("ride.state", outgoing::ride_state()),
        ("elevator.state", outgoing::elevator_state()),
        ("elevator.command", outgoing::elevator_command()),
        ("ops.alarm", outgoing::ops_alarm()),
        ("ops.alarms", outgoing::ops_alarms()),
        ("site", outgoing::site()),
        ("gateway.connection", outgoing::gateway_connection()),
        ("client.reply", application::client_reply()),
        ("claim.state", application::claim_state()),
        ("rental.state", rental::rental_state(headed("rental.state"))),
        (
            "device.command",
            rental::device_command(headed("device.command")),
        ),
        ("device.state", rental::device_state(headed("device.state"))),
    ]
}

fn headed(kind: &str) -> part::Fields {
    application::headed(serde_json::json!({ "const": kind }))
}
