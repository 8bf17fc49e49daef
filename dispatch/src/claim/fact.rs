//! What happened to claims, for ever.

use protocol::client::{ClaimState, ClaimWhy};
use protocol::{ClaimId, PoolId, ResourceId, Timestamp};
use serde::{Deserialize, Serialize};

use super::acquisition::Acquisition;

/// About claims and the pools that they are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimFact {
    /// A request was accepted: it has a resource, or waits for one.
    Made(Box<Acquisition>),
    /// One that waited got a resource.
    Placed {
        /// The claim.
        claim: ClaimId,
        /// Its resource.
        resource: ResourceId,
        /// Its state.
        state: ClaimState,
        /// When.
        at: Timestamp,
    },
    /// A claim went on to another state; in a terminal one its resource is free.
    Moved {
        /// The claim.
        claim: ClaimId,
        /// Its state.
        state: ClaimState,
        /// Why.
        why: Option<ClaimWhy>,
        /// When its holder was heard last.
        heard_at: Timestamp,
        /// When.
        at: Timestamp,
    },
    /// An operator changed a pool's capacity.
    Capacity {
        /// The pool.
        pool: PoolId,
        /// Its places from then on.
        capacity: u64,
        /// When.
        at: Timestamp,
    },
}
