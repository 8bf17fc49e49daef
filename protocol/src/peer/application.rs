//! What the gateway tells an application, read back.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::client::{AskKind, ClaimView, ClientReply, RentalView, ReplyBody};
use crate::code::Code;
use crate::id::{MessageId, OrderId};
use crate::ride::ReplyResult;
use crate::time::{Seconds, Timestamp};

/// What comes on an application's reply topic.
pub(super) enum Told {
    /// A reply.
    Reply(Box<ClientReply>),
    /// `claim.state`.
    Claim(Box<ClaimView>),
    /// `rental.state`.
    Rental(Box<RentalView>),
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct ReplyHead {
    received_at: Timestamp,
    in_reply_to: Option<MessageId>,
    order_id: Option<OrderId>,
    result: ReplyResult,
    code: Option<Code>,
    detail: Option<String>,
    retry_after_s: Option<Seconds>,
}

/// Reads a payload.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(payload: &[u8]) -> Result<Told, serde_json::Error> {
    let Head { kind } = body(payload)?;
    if kind == "claim.state" {
        return Ok(Told::Claim(Box::new(body(payload)?)));
    }
    if kind == "rental.state" {
        return Ok(Told::Rental(Box::new(body(payload)?)));
    }
    let head: ReplyHead = body(payload)?;
    let kind = match kind.as_str() {
        "client.reply" => None,
        word => {
            let asked = word.strip_suffix(".reply");
            let known = AskKind::ALL
                .iter()
                .find(|kind| Some(kind.as_str()) == asked);
            Some(*known.ok_or_else(|| serde_json::Error::custom(format!("type {word:?}")))?)
        }
    };
    let body = match ReplyBody::empty(kind) {
        ReplyBody::None => ReplyBody::None,
        ReplyBody::Claim(_) => ReplyBody::Claim(body(payload)?),
        // Without its token, which only the application itself reads.
        ReplyBody::Rental(_) => ReplyBody::Rental(body(payload)?),
        ReplyBody::Series(_) => ReplyBody::Series(body(payload)?),
        ReplyBody::Turn(_) => ReplyBody::Turn(body(payload)?),
    };
    Ok(Told::Reply(Box::new(ClientReply {
        kind,
        received_at: head.received_at,
        in_reply_to: head.in_reply_to,
        order_id: head.order_id,
        result: head.result,
        code: head.code,
        detail: head.detail,
        retry_after_s: head.retry_after_s,
        body,
    })))
}

fn body<T: DeserializeOwned>(payload: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(payload)
}
