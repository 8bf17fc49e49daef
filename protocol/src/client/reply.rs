//! What applications are told.

use serde::{Deserialize, Serialize, Serializer};

use super::AskKind;
use super::rental::{OnTheWire, RentalBody};
use crate::code::Code;
use crate::id::{ClaimId, MessageId, OrderId, ResourceId, SeriesId, UserId};
use crate::ride::ReplyResult;
use crate::time::{Date, Seconds, Timestamp};
use crate::word::words;

/// The `type` of a reply to a request whose own could not be read.
const UNREADABLE: &str = "client.reply";

words! {
    /// Where a claim stands.
    ClaimState {
        /// The pool is full; it waits for a place.
        Waiting = "WAITING",
        /// It has a place and waits for an approver.
        PendingApproval = "PENDING_APPROVAL",
        /// Its holder initialises the resource.
        Initialising = "INITIALISING",
        /// Its holder has the resource.
        Ready = "READY",
        /// Given back.
        Released = "RELEASED",
        /// Its lease, its deadline or its wait has ended.
        Expired = "EXPIRED",
        /// An approver refused it.
        Refused = "REFUSED",
        /// Its holder is gone, and the physical resource was not seen stopped.
        Quarantine = "QUARANTINE",
    }
}

words! {
    /// Why a claim is in its state.
    ClaimReason {
        /// No place became free within `wait_s`.
        CapacityFull = "CAPACITY_FULL",
        /// No heartbeat within the lease.
        LeaseEnded = "LEASE_ENDED",
        /// Neither `claim.ready` nor `claim.failed` within the pool's `init_s`.
        InitTimeout = "INIT_TIMEOUT",
        /// The holder said `claim.failed`.
        InitFailed = "INIT_FAILED",
        /// The approver said no.
        RefusedByApprover = "REFUSED_BY_APPROVER",
        /// The device was seen stopped, or an operator said so.
        Stopped = "STOPPED",
    }
}

/// Why a claim is in its state, in a word and in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimWhy {
    /// The word.
    pub code: ClaimReason,
    /// One English sentence, at most 256 bytes.
    #[serde(serialize_with = "crate::text::serialize_detail")]
    pub detail: String,
}

/// `claim.state`: what became of a claim after its first reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimView {
    /// The claim.
    pub claim_id: ClaimId,
    /// The order that made it.
    pub order_id: OrderId,
    /// Its resource; null while it waits.
    pub resource_id: Option<ResourceId>,
    /// The state.
    pub state: ClaimState,
    /// When its lease or its deadline ends, for people.
    pub expires_at: Option<Timestamp>,
    /// How long until then, for machines.
    pub expires_in_s: Option<Seconds>,
    /// From 1, while it waits.
    pub queue_position: Option<u32>,
    /// Why it is in its state.
    pub reason: Option<ClaimWhy>,
}

/// The one answer to a request of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientReply {
    /// What was asked for; `None` where that could not be read.
    pub kind: Option<AskKind>,
    /// When the message arrived at the gateway.
    pub received_at: Timestamp,
    /// The message that is answered, where its id could be read.
    pub in_reply_to: Option<MessageId>,
    /// The order, where its id could be read.
    pub order_id: Option<OrderId>,
    /// The answer.
    pub result: ReplyResult,
    /// Why it was rejected.
    pub code: Option<Code>,
    /// One English sentence that names the field and the value, at most 256 bytes.
    pub detail: Option<String>,
    /// When to try again.
    pub retry_after_s: Option<Seconds>,
    /// The fields of what was asked for.
    pub body: ReplyBody,
}

impl ClientReply {
    /// Its `type`.
    #[must_use]
    pub fn kind_word(&self) -> &'static str {
        match self.kind {
            Some(AskKind::ClaimAcquire) => "claim.acquire.reply",
            Some(AskKind::ClaimReady) => "claim.ready.reply",
            Some(AskKind::ClaimFailed) => "claim.failed.reply",
            Some(AskKind::ClaimApprove) => "claim.approve.reply",
            Some(AskKind::ClaimRefuse) => "claim.refuse.reply",
            Some(AskKind::ClaimHeartbeat) => "claim.heartbeat.reply",
            Some(AskKind::ClaimRelease) => "claim.release.reply",
            Some(AskKind::RentalReserve) => "rental.reserve.reply",
            Some(AskKind::RentalStart) => "rental.start.reply",
            Some(AskKind::RentalEnd) => "rental.end.reply",
            Some(AskKind::RentalCancel) => "rental.cancel.reply",
            Some(AskKind::SeriesNext) => "series.next.reply",
            Some(AskKind::SeriesVoid) => "series.void.reply",
            Some(AskKind::TurnTake) => "turn.take.reply",
            Some(AskKind::TurnCall) => "turn.call.reply",
            None => UNREADABLE,
        }
    }
}

/// What a reply adds, by the workflow of the request; all null in a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyBody {
    /// Nothing.
    None,
    /// About a claim.
    Claim(ClaimBody),
    /// About a rental.
    Rental(RentalBody),
    /// About a number.
    Series(SeriesBody),
    /// About a turn.
    Turn(TurnBody),
}

impl ReplyBody {
    /// The fields of a rejection.
    #[must_use]
    pub fn empty(kind: Option<AskKind>) -> Self {
        match kind {
            None => Self::None,
            Some(
                AskKind::ClaimAcquire
                | AskKind::ClaimReady
                | AskKind::ClaimFailed
                | AskKind::ClaimApprove
                | AskKind::ClaimRefuse
                | AskKind::ClaimHeartbeat
                | AskKind::ClaimRelease,
            ) => Self::Claim(ClaimBody::default()),
            Some(
                AskKind::RentalReserve
                | AskKind::RentalStart
                | AskKind::RentalEnd
                | AskKind::RentalCancel,
            ) => Self::Rental(RentalBody::default()),
            Some(AskKind::SeriesNext | AskKind::SeriesVoid) => Self::Series(SeriesBody::default()),
            Some(AskKind::TurnTake | AskKind::TurnCall) => Self::Turn(TurnBody::default()),
        }
    }
}

/// What a reply says of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimBody {
    /// The claim.
    pub claim_id: Option<ClaimId>,
    /// Its resource.
    pub resource_id: Option<ResourceId>,
    /// Its state.
    pub state: Option<ClaimState>,
    /// When its lease or its deadline ends, for people.
    pub expires_at: Option<Timestamp>,
    /// How long until then, for machines.
    pub expires_in_s: Option<Seconds>,
    /// From 1, while it waits.
    pub queue_position: Option<u32>,
}

/// What a reply says of a number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesBody {
    /// The series that the number is of.
    pub series: Option<SeriesId>,
    /// The number.
    pub number: Option<u64>,
    /// Both as they stand on a label: `AA|1`.
    pub id: Option<String>,
}

impl SeriesBody {
    /// A number of a series.
    #[must_use]
    pub fn of(series: &SeriesId, number: u64) -> Self {
        Self {
            series: Some(series.clone()),
            number: Some(number),
            id: Some(format!("{series}|{number}")),
        }
    }
}

/// What a reply says of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnBody {
    /// The day of the ticket.
    pub date: Option<Date>,
    /// Its number, from 1 on each day.
    pub number: Option<u64>,
    /// How many wait before it; in the answer to `turn.take`.
    pub ahead: Option<u32>,
    /// Whose turn it is; in the answer to `turn.call`.
    pub user_id: Option<UserId>,
}

/// A body's fields as the wire has them, without a name around them.
pub(crate) struct Fields<'a>(pub(crate) &'a ReplyBody);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Nothing {}
        match self.0 {
            ReplyBody::None => Nothing {}.serialize(to),
            ReplyBody::Claim(body) => body.serialize(to),
            ReplyBody::Rental(body) => OnTheWire::from(body).serialize(to),
            ReplyBody::Series(body) => body.serialize(to),
            ReplyBody::Turn(body) => body.serialize(to),
        }
    }
}
