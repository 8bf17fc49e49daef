//! A claim as it is kept, and as a row of the allocation table.

use protocol::client::{ClaimReason, ClaimState, ClaimWhy, Labels};
use protocol::{ClaimId, ClientId, OrderId, OwnerId, PoolId, ResourceId, Seconds, Timestamp};
use serde::{Deserialize, Serialize};

/// A claim that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquisition {
    /// Its id.
    pub claim: ClaimId,
    /// How many claims were made when it was, itself included: who waits does so in this order.
    pub number: u64,
    /// The order that made it.
    pub order: OrderId,
    /// Whose order.
    pub client: ClientId,
    /// The pool that it has a place of, or waits for.
    pub pool: PoolId,
    /// The resource that it asked for.
    pub wanted: Option<ResourceId>,
    /// Its resource; `None` while it waits.
    pub resource: Option<ResourceId>,
    /// Who holds it.
    pub owner: OwnerId,
    /// What quotas count by.
    pub labels: Labels,
    /// From one heartbeat to the next at most.
    pub lease_ms: u64,
    /// Its holder initialises the resource first.
    pub init: bool,
    /// Where it stands.
    pub state: ClaimState,
    /// Why.
    pub why: Option<ClaimWhy>,
    /// When it got its resource, or began to wait.
    pub since: Timestamp,
    /// When its wait ends.
    pub wait_until: Option<Timestamp>,
    /// It changed since its first answer.
    pub changed: bool,
}

/// A claim, live or past: a row of the allocation table (R-REG-025).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRow {
    /// The claim.
    pub claim_id: ClaimId,
    /// Its pool.
    pub pool: PoolId,
    /// Its resource.
    pub resource_id: Option<ResourceId>,
    /// Who holds it, or held it.
    pub owner_id: OwnerId,
    /// 1 = taken, 0 = given back.
    pub status: u8,
    /// Where it stands, or how it ended.
    pub state: ClaimState,
    /// When it got its resource, or began to wait.
    pub occupy_time: Timestamp,
    /// When it ended.
    pub release_time: Option<Timestamp>,
    /// When its holder was heard last.
    pub last_heartbeat: Timestamp,
    /// How long its lease, its deadline or its wait still lasts.
    pub expires_in_s: Option<Seconds>,
    /// The order that made it.
    pub order_id: OrderId,
    /// The application.
    pub client_id: ClientId,
    /// What quotas count by.
    pub labels: Labels,
    /// Why it is in its state.
    pub reason: Option<ClaimReason>,
}

impl Acquisition {
    /// The row of a claim that has not ended.
    pub(super) fn row(&self, heard_at: Timestamp) -> ClaimRow {
        ClaimRow {
            claim_id: self.claim.clone(),
            pool: self.pool.clone(),
            resource_id: self.resource.clone(),
            owner_id: self.owner.clone(),
            status: 1,
            state: self.state,
            occupy_time: self.since,
            release_time: None,
            last_heartbeat: heard_at,
            expires_in_s: None,
            order_id: self.order.clone(),
            client_id: self.client.clone(),
            labels: self.labels.clone(),
            reason: self.why.as_ref().map(|why| why.code),
        }
    }

    /// The row of one that ended at `at`.
    pub(super) fn row_of_past(&self, heard_at: Timestamp, at: Timestamp) -> ClaimRow {
        ClaimRow {
            status: 0,
            release_time: Some(at),
            ..self.row(heard_at)
        }
    }
}
