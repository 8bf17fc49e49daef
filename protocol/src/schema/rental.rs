//! What is said of rentals, and by and to devices.

use schemars::Schema;
use serde_json::{Value, json};

use crate::client::{AskKind, RentalReason, RentalState};
use crate::device::{DeviceAction, DeviceEventKind, DeviceState, DeviceWord};
use crate::elevator::Health;
use crate::limits::{
    CONTROLLER_DETAIL_BYTES_MAX, DETAIL_BYTES_MAX, HOLD_RENTAL_S_MAX, TOKEN_BYTES_MAX,
};
use crate::schema::part::{
    Fields, counter, flag, id, integer, message, moment, seconds, text, words,
};

/// The fields of a request about rentals; of any other kind none.
pub(super) fn asked(kind: AskKind, head: Fields) -> Fields {
    match kind {
        AskKind::RentalReserve => head
            .required("device_id", id())
            .required("user_id", id())
            .optional("hold_s", integer(1, HOLD_RENTAL_S_MAX.into())),
        AskKind::RentalStart => head
            .required("device_id", id())
            .required("user_id", id())
            .optional("rental_id", id())
            .optional("token", text(TOKEN_BYTES_MAX)),
        // One of the two must be there.
        AskKind::RentalEnd => head
            .required("rental_id", id())
            .optional("token", text(TOKEN_BYTES_MAX))
            .optional("user_id", id()),
        AskKind::RentalCancel => head
            .required("rental_id", id())
            .required("token", text(TOKEN_BYTES_MAX)),
        AskKind::ClaimAcquire
        | AskKind::ClaimReady
        | AskKind::ClaimFailed
        | AskKind::ClaimApprove
        | AskKind::ClaimRefuse
        | AskKind::ClaimHeartbeat
        | AskKind::ClaimRelease
        | AskKind::SeriesNext
        | AskKind::SeriesVoid
        | AskKind::TurnTake
        | AskKind::TurnCall => head,
    }
}

/// The fields of an answer about a rental.
pub(super) fn answered(head: Fields) -> Fields {
    head.written("rental_id", id())
        .written("token", json!({ "type": "string" }))
        .written("state", words::<RentalState>())
        .written("expires_at", moment())
        .written("expires_in_s", seconds())
        .written("metered_s", seconds())
}

pub(super) fn rental_state(head: Fields) -> Schema {
    let why = Fields::default()
        .required("code", words::<RentalReason>())
        .required("detail", text(DETAIL_BYTES_MAX))
        .object();
    head.required("rental_id", id())
        .required("order_id", id())
        .required("device_id", id())
        .required("state", words::<RentalState>())
        .required("metered_s", seconds())
        .required("refunded", flag())
        .written("reason", why)
        .message(
            "rental.state",
            "What became of a rental: clients/{client}/reply, QoS 1.",
        )
}

pub(super) fn device_event() -> Schema {
    let events = |is_state: bool| -> Value {
        let all = DeviceEventKind::ALL.iter();
        let all = all.filter(|kind| (**kind == DeviceEventKind::State) == is_state);
        let kinds: Vec<Value> = all.map(|kind| json!(kind.as_str())).collect();
        json!({ "enum": kinds })
    };
    let of = |is_state: bool| {
        let whole = Fields::default()
            .required("message_id", id())
            .required("timestamp", moment())
            .required("event", events(is_state))
            .required("boot_id", id())
            .required("seq", counter(0))
            .optional("command_id", id())
            .optional("order_id", id())
            .optional("detail", text(CONTROLLER_DETAIL_BYTES_MAX));
        let word = words::<DeviceWord>();
        if is_state {
            whole.required("device_state", word).object()
        } else {
            whole.optional("device_state", word).object()
        }
    };
    message(
        "device.event",
        "What a device did, or how it stands: devices/{device}/event, QoS 1.",
        json!({ "anyOf": [of(true), of(false)] }),
    )
}

pub(super) fn device_command(head: Fields) -> Schema {
    head.required("command_id", id())
        .written("order_id", id())
        .required("sequence", counter(0))
        .required("fence", counter(0))
        .required("command", words::<DeviceAction>())
        .required("expires_at", moment())
        .required("expires_in_s", seconds())
        .required(
            "signature",
            json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
        )
        .message(
            "device.command",
            "What a device shall do: devices/{device}/command, QoS 1.",
        )
}

pub(super) fn device_state(head: Fields) -> Schema {
    head.required("device_id", id())
        .required("state", words::<DeviceState>())
        .required("version", counter(1))
        .required("fence", counter(0))
        .required("health", words::<Health>())
        .written("observed_at", moment())
        .message(
            "device.state",
            "A device as the gateway knows it: devices/{device}/state, QoS 1, retained.",
        )
}
