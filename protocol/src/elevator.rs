//! Elevator state, and the words of controllers that speak MQTT (`wire.md` section 6).

use serde::{Deserialize, Serialize};

use crate::floor::{FloorLabel, Side};
use crate::hardware::{Call, Command, Door, Mode, Motion};
use crate::id::{BankId, CommandId, ElevatorId, Fence, InstanceId, MessageId, RobotId};
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// Whether the gateway can rely on what it knows of an elevator.
    Health {
        /// Read lately and fit.
        Ok = "ok",
        /// No reading for `reading_fresh_s`.
        Stale = "stale",
        /// No reading for `silent_s`.
        Offline = "offline",
        /// An operator must look at it.
        Unknown = "unknown",
        /// An operator took it out of use.
        Maintenance = "maintenance",
    }
}

/// The doors of a car.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doors {
    /// The front door.
    pub front: Door,
    /// The rear door, where the car has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rear: Option<Door>,
}

/// Who has an elevator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerView {
    /// The robot.
    pub robot_id: RobotId,
    /// The fence of its grant.
    pub fence: Fence,
    /// Since when.
    pub since: Timestamp,
}

/// `elevators/{e}/state`: the elevator as the gateway knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElevatorView {
    /// The elevator.
    pub elevator_id: ElevatorId,
    /// Its bank.
    pub bank_id: Option<BankId>,
    /// The floor that the car is level with or passes.
    pub floor: Option<FloorLabel>,
    /// Its doors.
    pub doors: Doors,
    /// What the car does.
    pub motion: Motion,
    /// The mode.
    pub mode: Mode,
    /// The presence signal.
    pub occupied: Option<bool>,
    /// Whether this can be relied on.
    pub health: Health,
    /// Why not: a code of a reason or an alarm and a sentence, at most 256 bytes.
    #[serde(serialize_with = "crate::text::serialize_optional_detail")]
    pub health_reason: Option<String>,
    /// Who has it.
    pub owner: Option<OwnerView>,
    /// The highest fence given so far.
    pub fence: Fence,
    /// Whether a command is under way.
    pub busy: bool,
    /// Queued rides that this elevator could serve.
    pub queue_length: u32,
    /// When it was read last.
    pub observed_at: Option<Timestamp>,
}

/// `elevators/{e}/command`: to a controller that speaks MQTT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElevatorCommand {
    /// The command.
    pub command: Command,
    /// When it must not be done any more, for people; machines use `expires_in_s`.
    pub expires_at: Timestamp,
}

words! {
    /// What a controller's event is about.
    ControllerEvent {
        /// The command of `command_id` was taken.
        Accepted = "accepted",
        /// The command of `command_id` is finished.
        Done = "done",
        /// The command of `command_id` was refused or could not be done.
        Failed = "failed",
        /// The car arrived.
        Arrived = "arrived",
        /// The door is open.
        DoorOpen = "door_open",
        /// The door is closed.
        DoorClosed = "door_closed",
        /// The car moves.
        Moving = "moving",
        /// Something is broken.
        Fault = "fault",
        /// A whole snapshot.
        State = "state",
    }
}

/// `elevators/{e}/event`: a controller's answers and observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElevatorEvent {
    /// The sender's id of the message.
    pub message_id: MessageId,
    /// The controller's clock.
    pub timestamp: Timestamp,
    /// What it is about.
    pub event: ControllerEvent,
    /// The controller's boot; a new one starts `seq` anew.
    pub boot_id: Option<InstanceId>,
    /// Grows by one per boot.
    pub seq: Option<u64>,
    /// The command that is answered.
    pub command_id: Option<CommandId>,
    /// The floor.
    pub floor: Option<FloorLabel>,
    /// The side that `door` is about; absent = the one side of the car.
    pub side: Option<Side>,
    /// The door of `side`.
    pub door: Option<Door>,
    /// Both doors, in a `state`.
    pub doors: Option<Doors>,
    /// What the car does.
    pub motion: Option<Motion>,
    /// The mode.
    pub mode: Option<Mode>,
    /// The presence signal.
    pub occupied: Option<bool>,
    /// Load in percent.
    pub load_pct: Option<u8>,
    /// The registered calls.
    pub calls: Option<Vec<Call>>,
    /// A text, at most 256 bytes.
    pub detail: Option<String>,
}
