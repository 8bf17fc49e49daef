//! What pools there are.

use std::collections::BTreeSet;

use protocol::client::Label;
use protocol::{LabelValue, PoolId, ResourceId};

/// Whether a resource can be taken back by time alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceClass {
    /// It can: a seat, a licence, an account.
    Logical,
    /// It moves or holds something, and must be seen stopped first: a robot, a vehicle.
    Physical,
}

/// What becomes of a request that finds a pool full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhenFull {
    /// It is refused.
    Refuse,
    /// It waits for a place.
    Wait,
    /// It is served by another pool.
    Spare(PoolId),
}

/// How many resources of a pool claims with one label may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// The label.
    pub label: Label,
    /// Its value; `None` = each by itself.
    pub value: Option<LabelValue>,
    /// At most so many.
    pub limit: u64,
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    /// Its id.
    pub id: PoolId,
    /// Its places, until an operator changes them.
    pub capacity: u64,
    /// Its resources.
    pub resources: BTreeSet<ResourceId>,
    /// Its resources are whatever is asked for.
    pub any_id: bool,
    /// Whether its resources can be taken back by time alone.
    pub class: ResourceClass,
    /// What becomes of a request that finds it full.
    pub when_full: WhenFull,
    /// Whether a claim waits for an approver.
    pub approval: bool,
    /// From one heartbeat to the next at most, where a claim does not say.
    pub heartbeat_ms: u64,
    /// How long a holder may initialise a resource.
    pub init_ms: u64,
    /// Its quotas.
    pub quotas: Vec<Quota>,
}
