//! What happened, for ever. State is the fold of facts; nothing else changes it.

use std::collections::BTreeSet;

use protocol::client::ReplyBody;
use protocol::ride::{Instruction, Reason, RideState};
use protocol::robot::Digest;
use protocol::{ClientId, ElevatorId, Fence, Landing, OrderId, RobotId, Timestamp, ZoneId};
use serde::{Deserialize, Serialize};

use crate::claim::ClaimFact;
use crate::input::OperatorAction;
use crate::rental::RentalFact;
use crate::series::SeriesFact;
use crate::turn::TurnFact;

/// A fact, tagged with the workflow that it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// About one ride.
    Ride(RideFact),
    /// About one elevator.
    Elevator(ElevatorFact),
    /// About a zone or the whole site.
    Site(SiteFact),
    /// About an order of an application, whatever its workflow.
    Answer(AnswerFact),
    /// About a series of numbers.
    Series(SeriesFact),
    /// About the tickets of a department.
    Turn(TurnFact),
    /// About claims and their pools.
    Claim(ClaimFact),
    /// About rentals and their devices.
    Rental(RentalFact),
}

/// About an order of an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFact {
    /// It was accepted and answered; a repetition gets the same answer.
    Given {
        /// The order.
        order: OrderId,
        /// Whose.
        client: ClientId,
        /// What makes a repetition the same order.
        digest: Digest,
        /// The answer.
        body: ReplyBody,
        /// When.
        at: Timestamp,
    },
    /// The order id is free again, after the retention.
    Forgotten {
        /// The order.
        order: OrderId,
    },
}

/// About one ride.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RideFact {
    /// An order was accepted.
    Admitted {
        /// The order.
        order: OrderId,
        /// Whose.
        robot: RobotId,
        /// What makes a repetition the same order.
        digest: Digest,
        /// Where the ride starts.
        from: Landing,
        /// Where it ends.
        to: Landing,
        /// The elevators that may be given; empty = any.
        elevators: BTreeSet<ElevatorId>,
        /// 0 to 9.
        priority: u8,
        /// Give up if still queued then.
        expires_at: Option<Timestamp>,
        /// Whether the robot says that it is not at the door.
        away: bool,
        /// When.
        at: Timestamp,
    },
    /// A ride went on to what robots see next.
    Moved {
        /// The order.
        order: OrderId,
        /// The new sequence number.
        seq: u64,
        /// The state.
        state: RideState,
        /// In HOLD: the state before.
        held_from: Option<RideState>,
        /// What the robot shall do. `enter` makes *may be inside* true (law 2).
        instruction: Instruction,
        /// Why.
        reason: Option<Reason>,
        /// When.
        at: Timestamp,
    },
    /// The robot's last word about the door: `true` = it is not there.
    Away {
        /// The order.
        order: OrderId,
        /// Not at the door.
        away: bool,
    },
    /// *May be inside* became true by a claim of the robot, or false by what was seen.
    Inside {
        /// The order.
        order: OrderId,
        /// May be inside.
        inside: bool,
    },
    /// The robot's last word about being in a car.
    InCar {
        /// The order.
        order: OrderId,
        /// It says that it is in a car.
        in_car: bool,
    },
    /// The robot said something of where it is that the presence signal does not bear out yet.
    Claimed {
        /// The order.
        order: OrderId,
        /// What.
        claim: Claim,
    },
    /// What robots are told about the last ride of a robot is dropped, an hour after its end.
    Archived {
        /// The order.
        order: OrderId,
    },
    /// The order id is free again, after the retention.
    Forgotten {
        /// The order.
        order: OrderId,
    },
}

/// Which word of the robot a presence signal does not bear out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// `entered`.
    Entered,
    /// `cancel_enter`.
    CancelEnter {
        /// Queue again.
        again: bool,
    },
    /// `exited`.
    Exited,
}

/// What must be seen before an elevator that is kept back is free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptUntil {
    /// Every door closed.
    Shut,
    /// Every door closed, or open and empty by a presence signal (after an exit).
    ShutOrEmpty,
    /// The hall call cleared and the car not open there.
    CallCleared {
        /// The landing of the call.
        landing: Landing,
        /// Which way it went on from there.
        up: bool,
    },
    /// Nothing but a mode that serves robots (and, after fire, `site resume`).
    ModeNormal,
}

/// About one elevator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElevatorFact {
    /// It was given to an order.
    Granted {
        /// The elevator.
        elevator: ElevatorId,
        /// The order.
        order: OrderId,
        /// The robot.
        robot: RobotId,
        /// The new fence.
        fence: Fence,
        /// When.
        at: Timestamp,
    },
    /// Its order is at its end or queued again, but it stays with its owner until this is seen.
    KeptBack {
        /// The elevator.
        elevator: ElevatorId,
        /// What must be seen.
        until: KeptUntil,
    },
    /// It has no owner any more.
    Freed {
        /// The elevator.
        elevator: ElevatorId,
    },
    /// An operator must look at it.
    Blocked {
        /// The elevator.
        elevator: ElevatorId,
        /// Why.
        reason: Reason,
        /// It is about a robot that may be in the car unasked.
        occupant: bool,
        /// When.
        at: Timestamp,
    },
    /// An operator looked at it.
    Unblocked {
        /// The elevator.
        elevator: ElevatorId,
    },
    /// An operator took it out of use, or gave it back.
    Maintenance {
        /// The elevator.
        elevator: ElevatorId,
        /// Out of use.
        on: bool,
    },
    /// Its fence was raised above one that others have seen.
    FenceRaised {
        /// The elevator.
        elevator: ElevatorId,
        /// The new highest fence.
        fence: Fence,
    },
    /// Nothing that is known of it counts until it is read (restored data).
    MustBeRead {
        /// The elevator.
        elevator: ElevatorId,
        /// Whether that stands.
        on: bool,
    },
}

/// About a zone or the whole site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteFact {
    /// A fire is latched.
    Fire {
        /// The zone.
        zone: ZoneId,
        /// When.
        at: Timestamp,
    },
    /// The fire is over.
    FireEnded {
        /// The zone.
        zone: ZoneId,
    },
    /// No grants.
    Suspended {
        /// The zone.
        zone: ZoneId,
        /// When.
        at: Timestamp,
    },
    /// Grants again.
    Resumed {
        /// The zone.
        zone: ZoneId,
    },
    /// An operator acted.
    Operator {
        /// Who.
        operator: String,
        /// Why.
        reason: String,
        /// What.
        action: OperatorAction,
        /// When.
        at: Timestamp,
    },
}

impl ElevatorFact {
    /// The elevator that the fact is about.
    #[must_use]
    pub fn elevator(&self) -> &ElevatorId {
        match self {
            Self::Granted { elevator, .. }
            | Self::KeptBack { elevator, .. }
            | Self::Freed { elevator }
            | Self::Blocked { elevator, .. }
            | Self::Unblocked { elevator }
            | Self::Maintenance { elevator, .. }
            | Self::FenceRaised { elevator, .. }
            | Self::MustBeRead { elevator, .. } => elevator,
        }
    }
}
