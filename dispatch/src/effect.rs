//! What a step wants done. Nothing of it may be seen before the step's facts are durable.

use protocol::client::ClaimState;
use protocol::device::{DeviceCommand, DeviceView};
use protocol::elevator::ElevatorView;
use protocol::hardware::Command;
use protocol::ride::RideView;
use protocol::{
    ClaimId, ClientId, Code, CommandId, DeviceId, OrderId, Outgoing, OwnerId, PoolId, ResourceId,
};
use serde::Serialize;

use crate::claim::{ClaimRow, PoolView};
use crate::fact::Fact;
use crate::rental::RentalRow;
use crate::series::SeriesView;
use crate::turn::TurnView;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Publish a message.
    Say(Outgoing),
    /// Send a command, through the fence gate.
    Command(Command),
    /// Sign a command to a device and send it.
    Device(Box<DeviceCommand>),
    /// Write into the log.
    Note(Note),
    /// Answer an operator.
    Answer {
        /// The ticket of the request.
        ticket: u64,
        /// The answer; an error says what is missing.
        answer: Result<OperatorAnswer, String>,
    },
}

/// Something that the log tells (R-REG-047).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A claim got its resource.
    Acquired {
        /// The claim.
        claim: ClaimId,
        /// The pool.
        pool: PoolId,
        /// The resource.
        resource: ResourceId,
        /// Who holds it.
        owner: OwnerId,
        /// Places that are taken.
        used: u64,
        /// Places.
        capacity: u64,
    },
    /// A claim ended.
    Released {
        /// The claim.
        claim: ClaimId,
        /// The pool.
        pool: PoolId,
        /// The resource; `None` where it still waited.
        resource: Option<ResourceId>,
        /// Who held it.
        owner: OwnerId,
        /// How it ended.
        state: ClaimState,
        /// Places that are taken.
        used: u64,
        /// Places.
        capacity: u64,
    },
    /// Somebody wants to release what another holds.
    NotOwner {
        /// The claim.
        claim: ClaimId,
        /// The resource.
        resource: Option<ResourceId>,
        /// Who holds it.
        owner: OwnerId,
        /// Who wants to release it.
        caller: OwnerId,
        /// The application.
        client: ClientId,
    },
    /// A heartbeat came for what is not held any more, or by another.
    HeartbeatRefused {
        /// The claim.
        claim: ClaimId,
        /// Who says to hold it.
        owner: OwnerId,
        /// The application.
        client: ClientId,
        /// Why it was refused.
        code: Code,
    },
    /// A device did not do what it was told.
    DeviceRefused {
        /// The device.
        device: DeviceId,
        /// The command.
        command: Option<CommandId>,
        /// The order.
        order: Option<OrderId>,
    },
    /// A sweep took claims back from holders that were silent.
    Cleaned {
        /// How many.
        count: u64,
    },
}

/// An answer to an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorAnswer {
    /// Done; one sentence.
    Done(String),
    /// Elevators.
    Elevators(Vec<ElevatorView>),
    /// Orders.
    Orders(Vec<RideView>),
    /// Series.
    Series(Vec<SeriesView>),
    /// Departments.
    Turns(Vec<TurnView>),
    /// Pools.
    Pools(Vec<PoolView>),
    /// Claims.
    Claims(Vec<ClaimRow>),
    /// Rentals.
    Rentals(Vec<RentalRow>),
    /// Devices.
    Devices(Vec<DeviceView>),
}

/// What one step yields: facts to keep, then effects to release once they are durable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effects {
    /// To be appended, all or none.
    pub facts: Vec<Fact>,
    /// To be done afterwards, in this order.
    pub effects: Vec<Effect>,
}

impl Effects {
    /// Forgets all, for the next step.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.effects.clear();
    }
}
