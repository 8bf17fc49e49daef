//! What applications say and are told.

use schemars::Schema;
use serde_json::{Value, json};

use super::rental;
use crate::client::{AskKind, ClaimReason, ClaimState, Label, ReplyBody};
use crate::code::Code;
use crate::limits::{
    DETAIL_BYTES_MAX, DEVICE_BYTES_MAX, LEASE_S_MAX, LEASE_S_MIN, REASON_BYTES_MAX, WAIT_S_MAX,
};
use crate::ride::ReplyResult;
use crate::schema::part::{
    Fields, counter, flag, id, integer, message, moment, seconds, text, words,
};

pub(super) fn client_request() -> Schema {
    let types: Vec<Value> = AskKind::ALL.iter().map(|kind| request(*kind)).collect();
    message(
        "client.request",
        "An application asks for a place, a rental, a number or a turn: clients/{client}/request, QoS 1.",
        json!({ "anyOf": types }),
    )
}

fn request(kind: AskKind) -> Value {
    let head = Fields::default()
        .required("message_id", id())
        .required("timestamp", moment())
        .required("type", json!({ "const": kind.as_str() }));
    let head = match kind {
        AskKind::ClaimHeartbeat => head,
        AskKind::ClaimAcquire
        | AskKind::ClaimReady
        | AskKind::ClaimFailed
        | AskKind::ClaimApprove
        | AskKind::ClaimRefuse
        | AskKind::ClaimRelease
        | AskKind::RentalReserve
        | AskKind::RentalStart
        | AskKind::RentalEnd
        | AskKind::RentalCancel
        | AskKind::SeriesNext
        | AskKind::SeriesVoid
        | AskKind::TurnTake
        | AskKind::TurnCall => head.required("order_id", id()),
    };
    let whole = match kind {
        AskKind::ClaimAcquire => head
            .required("pool", id())
            .optional("resource_id", id())
            .required("owner_id", id())
            .optional("labels", labels())
            .optional("lease_s", integer(LEASE_S_MIN.into(), LEASE_S_MAX.into()))
            .optional("wait_s", integer(0, WAIT_S_MAX.into()))
            .optional("init", flag()),
        AskKind::ClaimReady
        | AskKind::ClaimFailed
        | AskKind::ClaimHeartbeat
        | AskKind::ClaimRelease => head.required("claim_id", id()).required("owner_id", id()),
        AskKind::ClaimApprove | AskKind::ClaimRefuse => head
            .required("claim_id", id())
            .required("approver_id", id()),
        AskKind::RentalReserve
        | AskKind::RentalStart
        | AskKind::RentalEnd
        | AskKind::RentalCancel => rental::asked(kind, head),
        AskKind::SeriesNext => head.required("series", id()).optional("device", device()),
        AskKind::SeriesVoid => head
            .required("series", id())
            .required("number", counter(0))
            .required("reason", text(REASON_BYTES_MAX)),
        AskKind::TurnTake => head.required("department", id()).required("user_id", id()),
        AskKind::TurnCall => head.required("department", id()).required("desk_id", id()),
    };
    whole.object()
}

fn labels() -> Value {
    Label::ALL
        .iter()
        .fold(Fields::default(), |fields, label| {
            fields.optional(label.as_str(), id())
        })
        .object()
}

fn device() -> Value {
    let mut device = Fields::default()
        .optional("name", text(DEVICE_BYTES_MAX))
        .optional("model", text(DEVICE_BYTES_MAX))
        .object();
    device["description"] = json!(format!("At most {DEVICE_BYTES_MAX} bytes as compact JSON."));
    device
}

pub(super) fn client_reply() -> Schema {
    let kinds = AskKind::ALL.iter().map(|kind| Some(*kind));
    let types: Vec<Value> = kinds.chain([None]).map(reply).collect();
    message(
        "client.reply",
        "The answer to an application: clients/{client}/reply, QoS 1.",
        json!({ "anyOf": types }),
    )
}

fn reply(kind: Option<AskKind>) -> Value {
    let word = kind.map_or_else(|| "client.reply".to_owned(), |kind| format!("{kind}.reply"));
    let head = headed(json!({ "const": word }))
        .required("received_at", moment())
        .written("in_reply_to", id())
        .written("order_id", id())
        .required("result", words::<ReplyResult>())
        .written("code", words::<Code>())
        .written("detail", text(DETAIL_BYTES_MAX))
        .written("retry_after_s", seconds());
    let whole = match ReplyBody::empty(kind) {
        ReplyBody::None => head,
        ReplyBody::Claim(_) => place(head)
            .written("claim_id", id())
            .written("state", words::<ClaimState>()),
        ReplyBody::Rental(_) => rental::answered(head),
        ReplyBody::Series(_) => head
            .written("series", id())
            .written("number", counter(0))
            .written("id", json!({ "type": "string" })),
        ReplyBody::Turn(_) => head
            .written("date", json!({ "type": "string", "format": "date" }))
            .written("number", counter(1))
            .written("ahead", counter(0))
            .written("user_id", id()),
    };
    whole.object()
}

pub(super) fn claim_state() -> Schema {
    let why = Fields::default()
        .required("code", words::<ClaimReason>())
        .required("detail", text(DETAIL_BYTES_MAX))
        .object();
    place(headed(json!({ "const": "claim.state" })))
        .required("claim_id", id())
        .required("order_id", id())
        .required("state", words::<ClaimState>())
        .written("reason", why)
        .message(
            "claim.state",
            "What became of a claim after its first reply: clients/{client}/reply, QoS 1.",
        )
}

fn place(fields: Fields) -> Fields {
    fields
        .written("resource_id", id())
        .written("expires_at", moment())
        .written("expires_in_s", seconds())
        .written("queue_position", counter(1))
}

/// What the gateway puts on every message.
pub(super) fn headed(kind: Value) -> Fields {
    Fields::default()
        .required("type", kind)
        .required("message_id", id())
        .required("timestamp", moment())
        .required("source", json!({ "type": "string" }))
}
