//! What a robot is told: replies and ride states (`wire.md` sections 3 and 4).

use serde::{Deserialize, Serialize};

use crate::code::{Code, ReasonCode};
use crate::floor::{FloorLabel, Landing, Side};
use crate::id::{BankId, ElevatorId, Fence, MessageId, OrderId, RobotId};
use crate::time::{Seconds, Timestamp};
use crate::word::words;

words! {
    /// Where a ride stands.
    RideState {
        /// Not granted.
        Queued = "QUEUED",
        /// An elevator is this order's alone; it is being read.
        Granted = "GRANTED",
        /// Hall call placed.
        WaitingHallCall = "WAITING_HALL_CALL",
        /// The car stands open at the start.
        ElevatorArrived = "ELEVATOR_ARRIVED",
        /// Confirmed inside.
        RobotEntered = "ROBOT_ENTERED",
        /// Under way.
        Running = "RUNNING",
        /// The car stands open at the target.
        TargetArrived = "TARGET_ARRIVED",
        /// Out, confirmed: terminal.
        RobotExited = "ROBOT_EXITED",
        /// Something is wrong while the robot may be inside.
        Hold = "HOLD",
        /// Given up: terminal.
        Cancelled = "CANCELLED",
        /// Not granted in time: terminal.
        Expired = "EXPIRED",
        /// Failed: terminal.
        Failed = "FAILED",
    }
}

impl RideState {
    /// Whether the order has come to its end.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::RobotExited | Self::Cancelled | Self::Expired | Self::Failed => true,
            Self::Queued
            | Self::Granted
            | Self::WaitingHallCall
            | Self::ElevatorArrived
            | Self::RobotEntered
            | Self::Running
            | Self::TargetArrived
            | Self::Hold => false,
        }
    }
}

words! {
    /// What the robot shall do.
    Instruction {
        /// Wait where you are.
        Wait = "wait",
        /// Go near the door.
        Approach = "approach",
        /// You may cross inwards.
        Enter = "enter",
        /// Stay inside whatever the door does.
        Ride = "ride",
        /// Be outside by the open door.
        Exit = "exit",
        /// Cross no threshold either way.
        Stay = "stay",
        /// Leave the door area.
        Clear = "clear",
    }
}

words! {
    /// How a request, event or cancel was answered.
    ReplyResult {
        /// Taken.
        Accepted = "accepted",
        /// Known already.
        Duplicate = "duplicate",
        /// Refused.
        Rejected = "rejected",
    }
}

/// Why a ride is in its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The code.
    pub code: ReasonCode,
    /// One English sentence, at most 256 bytes.
    #[serde(serialize_with = "crate::text::serialize_detail")]
    pub detail: String,
}

/// `ride/reply`: the one answer to a request, event or cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RideReply {
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
    #[serde(serialize_with = "crate::text::serialize_optional_detail")]
    pub detail: Option<String>,
    /// When to try again.
    pub retry_after_s: Option<Seconds>,
    /// The state of the ride.
    pub state: Option<RideState>,
    /// The ride's sequence number.
    pub seq: Option<u64>,
    /// What the robot shall do.
    pub instruction: Option<Instruction>,
    /// How long a permission lasts, with `enter` and `exit` only.
    pub valid_s: Option<Seconds>,
    /// The elevator.
    pub elevator_id: Option<ElevatorId>,
    /// The fence of the grant.
    pub fence: Option<Fence>,
    /// The floor that the instruction concerns.
    pub floor: Option<FloorLabel>,
    /// The side that the instruction concerns.
    pub side: Option<Side>,
    /// From 1, while queued.
    pub queue_position: Option<u32>,
    /// Estimate until the grant (queued) or the arrival.
    pub eta_s: Option<Seconds>,
}

/// `ride/state`: the robot's current or last ride, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RideView {
    /// The order.
    pub order_id: OrderId,
    /// The robot.
    pub robot_id: RobotId,
    /// Grows with each change of state, instruction, elevator or deadline.
    pub seq: u64,
    /// The state.
    pub state: RideState,
    /// In `HOLD`: the state before.
    pub held_from: Option<RideState>,
    /// What the robot shall do.
    pub instruction: Instruction,
    /// How long a permission lasts, with `enter` and `exit` only.
    pub valid_s: Option<Seconds>,
    /// The elevator.
    pub elevator_id: Option<ElevatorId>,
    /// The bank of the elevator.
    pub bank_id: Option<BankId>,
    /// The fence of the grant.
    pub fence: Option<Fence>,
    /// Where the ride starts.
    pub from: Landing,
    /// Where it ends.
    pub to: Landing,
    /// The floor that the instruction concerns; null in `QUEUED` and terminal states.
    pub floor: Option<FloorLabel>,
    /// The side that the instruction concerns.
    pub side: Option<Side>,
    /// From 1, while queued.
    pub queue_position: Option<u32>,
    /// Estimate until the grant (queued) or the arrival.
    pub eta_s: Option<Seconds>,
    /// When the state's deadline passes, for people.
    pub deadline: Option<Timestamp>,
    /// How long until then, for machines.
    pub deadline_s: Option<Seconds>,
    /// Why the ride is in its state.
    pub reason: Option<Reason>,
}
