//! What happened in a world, for those who read it as a story.

use dispatch::{Fact, OperatorAnswer};
use protocol::hardware::{Command, Report};
use protocol::{ElevatorId, Outgoing, RobotId, RobotMessage};

use crate::car::CarEvent;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Tale {
    /// A gateway process started.
    Started,
    /// The gateway is cut off from nothing any more: ingest is subscribed.
    Ready,
    /// The gateway process is gone; of its last batches so many were lost.
    Crashed {
        /// Batches that had not been synced.
        lost: usize,
    },
    /// The gateway process ended by itself.
    Ended(String),
    /// The gateway wrote facts down.
    Facts(Vec<Fact>),
    /// The gateway published something.
    Said(Outgoing),
    /// The gateway sent a command.
    Sent(Command),
    /// The fence gate stopped a command.
    Dropped(Command, String),
    /// The gateway answered an operator.
    Answered(Result<OperatorAnswer, String>),
    /// A controller's word reached the gateway.
    Reported(ElevatorId, Report),
    /// Something happened to a car.
    Car(ElevatorId, CarEvent),
    /// A robot said something.
    Robot(RobotId, RobotMessage),
}
