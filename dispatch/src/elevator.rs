//! What is kept of elevators and zones.

use protocol::ride::Reason;
use protocol::{Fence, OrderId, RobotId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::fact::KeptUntil;

/// Who has an elevator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The order.
    pub order: OrderId,
    /// The robot.
    pub robot: RobotId,
    /// The fence of the grant.
    pub fence: Fence,
    /// Since when.
    pub since: Timestamp,
}

/// Why an operator must look at an elevator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Why.
    pub reason: Reason,
    /// A robot may be in the car unasked.
    pub occupant: bool,
    /// Since when.
    pub since: Timestamp,
}

/// What is kept of an elevator.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Elevator {
    /// The highest fence given so far.
    pub fence: Fence,
    /// Who has it.
    pub owner: Option<Owner>,
    /// Its order is done with it, but this must be seen first.
    pub kept: Option<KeptUntil>,
    /// An operator must look at it.
    pub block: Option<Block>,
    /// An operator took it out of use.
    pub maintenance: bool,
    /// Nothing that is known of it counts until it is read.
    pub must_be_read: bool,
    /// The last order that was done with it, and its fence.
    pub last_left: Option<(OrderId, Fence)>,
}

/// What is kept of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Zone {
    /// A fire is latched since.
    pub fire: Option<Timestamp>,
    /// Suspended by an operator since.
    pub suspended: Option<Timestamp>,
}

impl Elevator {
    /// The owner's order is done with it.
    pub(crate) fn note_left(&mut self) {
        if let Some(owner) = &self.owner {
            self.last_left = Some((owner.order.clone(), owner.fence));
        }
    }
}
