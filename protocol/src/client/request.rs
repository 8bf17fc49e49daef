//! Requests of applications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::rental::{CancelRental, EndRental, Reserve, StartRental};
use crate::id::{
    ApproverId, ClaimId, ClientId, DepartmentId, DeskId, LabelValue, MessageId, OrderId, OwnerId,
    PoolId, ResourceId, SeriesId, UserId,
};
use crate::robot::Digest;
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// What an application asks for: the `type` of its request.
    AskKind {
        /// One resource of a pool.
        ClaimAcquire = "claim.acquire",
        /// The resource is initialised.
        ClaimReady = "claim.ready",
        /// The resource could not be initialised.
        ClaimFailed = "claim.failed",
        /// A claim that waits for approval is approved.
        ClaimApprove = "claim.approve",
        /// A claim that waits for approval is refused.
        ClaimRefuse = "claim.refuse",
        /// The holder lives.
        ClaimHeartbeat = "claim.heartbeat",
        /// The holder gives the resource back.
        ClaimRelease = "claim.release",
        /// A device, locked for the holder of a token.
        RentalReserve = "rental.reserve",
        /// The device is started.
        RentalStart = "rental.start",
        /// The device is given back.
        RentalEnd = "rental.end",
        /// The device is not wanted.
        RentalCancel = "rental.cancel",
        /// The next number of a series.
        SeriesNext = "series.next",
        /// A number is not used.
        SeriesVoid = "series.void",
        /// A ticket of a department.
        TurnTake = "turn.take",
        /// The department's next ticket.
        TurnCall = "turn.call",
    }
}

words! {
    /// What quotas count by.
    Label {
        /// A user.
        User = "user",
        /// A department.
        Department = "department",
        /// A project.
        Project = "project",
        /// A tenant.
        Tenant = "tenant",
        /// A line of business.
        Line = "line",
    }
}

/// The labels of a claim.
pub type Labels = BTreeMap<Label, LabelValue>;

/// `clients/{client}/request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRequest {
    /// Correlates the reply.
    pub message_id: MessageId,
    /// When the application made it.
    pub timestamp: Timestamp,
    /// The order; only a heartbeat has none.
    pub order_id: Option<OrderId>,
    /// What it asks for.
    pub ask: Ask,
}

/// What an application asks for, with its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// `claim.acquire`.
    ClaimAcquire(Acquire),
    /// `claim.ready`.
    ClaimReady(ByOwner),
    /// `claim.failed`.
    ClaimFailed(ByOwner),
    /// `claim.approve`.
    ClaimApprove(ByApprover),
    /// `claim.refuse`.
    ClaimRefuse(ByApprover),
    /// `claim.heartbeat`.
    ClaimHeartbeat(ByOwner),
    /// `claim.release`.
    ClaimRelease(ByOwner),
    /// `rental.reserve`.
    RentalReserve(Reserve),
    /// `rental.start`.
    RentalStart(StartRental),
    /// `rental.end`.
    RentalEnd(EndRental),
    /// `rental.cancel`.
    RentalCancel(CancelRental),
    /// `series.next`.
    SeriesNext(NextNumber),
    /// `series.void`.
    SeriesVoid(VoidNumber),
    /// `turn.take`.
    TurnTake(TakeTurn),
    /// `turn.call`.
    TurnCall {
        /// The department.
        department: DepartmentId,
        /// The desk that is free.
        desk_id: DeskId,
    },
}

/// `claim.acquire`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquire {
    /// The pool.
    pub pool: PoolId,
    /// The resource; `None` = any.
    pub resource_id: Option<ResourceId>,
    /// Who will hold it.
    pub owner_id: OwnerId,
    /// What quotas count by.
    pub labels: Labels,
    /// Seconds from one heartbeat to the next at most; `None` = the pool's.
    pub lease_s: Option<u32>,
    /// Seconds to wait for a place where the pool lets one wait; `None` = the longest.
    pub wait_s: Option<u32>,
    /// The resource is to be initialised by its holder first.
    pub init: bool,
}

/// What the holder of a claim says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByOwner {
    /// The claim.
    pub claim_id: ClaimId,
    /// Who holds it.
    pub owner_id: OwnerId,
}

/// What an approver says of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByApprover {
    /// The claim.
    pub claim_id: ClaimId,
    /// Who approves or refuses.
    pub approver_id: ApproverId,
}

/// `series.next`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextNumber {
    /// The series; a full one goes on with the next.
    pub series: SeriesId,
    /// The attributes of the row that bears the number, as compact JSON with sorted keys.
    pub device: String,
}

/// `series.void`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidNumber {
    /// The series.
    pub series: SeriesId,
    /// The number.
    pub number: u64,
    /// Why, at most 256 bytes.
    pub reason: String,
}

/// `turn.take`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeTurn {
    /// The department.
    pub department: DepartmentId,
    /// Whose turn it will be.
    pub user_id: UserId,
}

impl Ask {
    /// Its `type`.
    #[must_use]
    pub fn kind(&self) -> AskKind {
        match self {
            Self::ClaimAcquire(_) => AskKind::ClaimAcquire,
            Self::ClaimReady(_) => AskKind::ClaimReady,
            Self::ClaimFailed(_) => AskKind::ClaimFailed,
            Self::ClaimApprove(_) => AskKind::ClaimApprove,
            Self::ClaimRefuse(_) => AskKind::ClaimRefuse,
            Self::ClaimHeartbeat(_) => AskKind::ClaimHeartbeat,
            Self::ClaimRelease(_) => AskKind::ClaimRelease,
            Self::RentalReserve(_) => AskKind::RentalReserve,
            Self::RentalStart(_) => AskKind::RentalStart,
            Self::RentalEnd(_) => AskKind::RentalEnd,
            Self::RentalCancel(_) => AskKind::RentalCancel,
            Self::SeriesNext(_) => AskKind::SeriesNext,
            Self::SeriesVoid(_) => AskKind::SeriesVoid,
            Self::TurnTake(_) => AskKind::TurnTake,
            Self::TurnCall { .. } => AskKind::TurnCall,
        }
    }
}

impl ClientRequest {
    /// What makes two requests with one order id the same order: client, type and every field but
    /// `message_id` and `timestamp`. The first 16 bytes of a SHA-256.
    #[must_use]
    pub fn digest(&self, client: &ClientId) -> Digest {
        let mut hash = Sha256::new();
        hash.update(client.as_str().as_bytes());
        hash.update(b"\n");
        // Serializing fails for keys that are no texts only; labels are words.
        hash.update(serde_json::to_vec(&self.ask).unwrap_or_default());
        let whole: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Digest(half)
    }
}
