//! Commands to an elevator and observations of it, whatever wire they travel on.
//!
//! Drivers translate between these and a maker's own words; the core knows only these.

use serde::{Deserialize, Serialize};

use crate::floor::{FloorLabel, Landing, Side};
use crate::id::{CommandId, ElevatorId, Fence, OrderId};
use crate::word::words;

words! {
    /// What a door was seen to do (`wire.md` section 6).
    Door {
        /// Fully open.
        Open = "open",
        /// Fully closed.
        Closed = "closed",
        /// On its way open.
        Opening = "opening",
        /// On its way closed.
        Closing = "closing",
        /// Not known.
        Unknown = "unknown",
    }
}

words! {
    /// What the car was seen to do (`wire.md` section 6).
    Motion {
        /// Moving up.
        Up = "up",
        /// Moving down.
        Down = "down",
        /// Standing, level with a floor.
        Stopped = "stopped",
        /// Not known.
        Unknown = "unknown",
    }
}

words! {
    /// The mode of an elevator (`wire.md` section 6).
    Mode {
        /// Serves everybody.
        Normal = "normal",
        /// Claimed for robots.
        Robot = "robot",
        /// An attendant drives it.
        Attendant = "attendant",
        /// A technician has it.
        Maintenance = "maintenance",
        /// Fire recall or fire service.
        Fire = "fire",
        /// Another emergency, such as an earthquake.
        Emergency = "emergency",
        /// Switched off.
        OutOfService = "out_of_service",
        /// The signal cannot be read.
        Unknown = "unknown",
    }
}

impl Mode {
    /// Whether commands other than `query` and `release` may be sent (law 7).
    #[must_use]
    pub fn serves_robots(self) -> bool {
        matches!(self, Self::Normal | Self::Robot)
    }
}

words! {
    /// The direction of a hall call.
    Direction {
        /// Upwards.
        Up = "up",
        /// Downwards.
        Down = "down",
    }
}

/// One thing that a controller shall do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Say all that there is to see.
    Query,
    /// Switch the robot mode on.
    Claim,
    /// Call the car to a landing.
    HallCall {
        /// Where to.
        landing: Landing,
        /// Which way the ride goes on from there.
        direction: Direction,
    },
    /// Withdraw a hall call.
    CancelCall {
        /// The landing of the call.
        landing: Landing,
        /// The direction of the call.
        direction: Direction,
    },
    /// Send the car to a landing.
    CarCall {
        /// Where to.
        landing: Landing,
    },
    /// Open the door; only for a car that stands level.
    OpenDoor {
        /// The landing that the car stands at.
        landing: Landing,
    },
    /// Keep the door open.
    HoldDoor {
        /// The landing that the car stands at.
        landing: Landing,
        /// For how long, in milliseconds from its receipt.
        hold_ms: u64,
    },
    /// Close the door and end what holds it.
    CloseDoor {
        /// The landing that the car stands at.
        landing: Landing,
    },
    /// Robot mode off; ends our holds.
    Release,
}

impl Action {
    /// The word on the wire (`wire.md` section 6).
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Claim => "claim",
            Self::HallCall { .. } => "hall_call",
            Self::CancelCall { .. } => "cancel_call",
            Self::CarCall { .. } => "car_call",
            Self::OpenDoor { .. } => "open_door",
            Self::HoldDoor { .. } => "hold_door",
            Self::CloseDoor { .. } => "close_door",
            Self::Release => "release",
        }
    }

    /// Whether it is allowed in every mode (law 7): `query` and `release` are.
    #[must_use]
    pub fn is_allowed_in_any_mode(&self) -> bool {
        match self {
            Self::Query | Self::Release => true,
            Self::Claim
            | Self::HallCall { .. }
            | Self::CancelCall { .. }
            | Self::CarCall { .. }
            | Self::OpenDoor { .. }
            | Self::HoldDoor { .. }
            | Self::CloseDoor { .. } => false,
        }
    }
}

/// One command to one elevator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The elevator.
    pub elevator_id: ElevatorId,
    /// Names the effect: a re-send of the same effect carries the same id.
    pub command_id: CommandId,
    /// The owner's fence, or the elevator's highest where there is no owner.
    pub fence: Fence,
    /// An opaque label for the records of both sides.
    pub order_id: Option<OrderId>,
    /// What to do.
    pub action: Action,
    /// Milliseconds from its release by the core until it must not be sent any more.
    pub expires_in_ms: u64,
}

/// How far a command has come, as its driver tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The bytes left; the answer comes as a later report.
    Sent,
    /// The controller took it. Not proof of any effect.
    Accepted,
    /// The controller says that it is finished. Not proof of any effect either.
    Done,
    /// The controller refused it or could not do it.
    Failed {
        /// What the controller said.
        detail: String,
    },
    /// No answer: it may have been done or not.
    Unknown {
        /// What went wrong.
        detail: String,
    },
    /// It never left: a higher fence was seen, or it was too old.
    Dropped {
        /// Why.
        detail: String,
    },
}

/// A call that a controller shows as registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Call {
    /// A call at a landing.
    Hall {
        /// The floor.
        floor: FloorLabel,
        /// The side, where the controller tells it.
        side: Option<Side>,
        /// The direction, where the controller tells it.
        direction: Option<Direction>,
    },
    /// A call in the car.
    Car {
        /// The floor.
        floor: FloorLabel,
        /// The side, where the controller tells it.
        side: Option<Side>,
    },
}

/// All that an elevator shows at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The floor that the car is level with or passes; `None` where it cannot be told.
    pub floor: Option<FloorLabel>,
    /// The front door.
    pub front: Door,
    /// The rear door, where the car has one.
    pub rear: Option<Door>,
    /// What the car does.
    pub motion: Motion,
    /// The mode; `Unknown` where the signal is missing.
    pub mode: Mode,
    /// The presence signal; `None` where there is none.
    pub occupied: Option<bool>,
    /// Load in percent of the rated load, a hint only.
    pub load_pct: Option<u8>,
    /// The registered calls; `None` where they cannot be read.
    pub calls: Option<Vec<Call>>,
    /// A fault that the controller reports; `None` while there is none.
    pub fault: Option<String>,
}

impl Reading {
    /// The door of a side; `Closed` for a rear door that the car does not have.
    #[must_use]
    pub fn door(&self, side: Side) -> Door {
        match side {
            Side::Front => self.front,
            Side::Rear => self.rear.unwrap_or(Door::Closed),
        }
    }

    /// Every door is closed (`ride.md` section 0, SHUT).
    #[must_use]
    pub fn is_shut(&self) -> bool {
        Side::ALL
            .iter()
            .all(|side| self.door(*side) == Door::Closed)
    }

    /// The car stands at the landing with its door open (`ride.md` section 0, OPEN).
    #[must_use]
    pub fn is_open_at(&self, landing: &Landing) -> bool {
        self.motion == Motion::Stopped
            && self.floor.as_ref() == Some(&landing.floor)
            && self.door(landing.side) == Door::Open
    }
}

/// What an unasked event of a controller says: only the fields that it carried.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Change {
    /// The floor.
    pub floor: Option<FloorLabel>,
    /// The front door.
    pub front: Option<Door>,
    /// The rear door.
    pub rear: Option<Door>,
    /// What the car does.
    pub motion: Option<Motion>,
    /// The mode.
    pub mode: Option<Mode>,
    /// The presence signal.
    pub occupied: Option<bool>,
    /// A fault.
    pub fault: Option<String>,
}

/// What a driver has to say about one elevator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// A whole snapshot. `asked_ms` is when, on the gateway's monotonic clock, the `query` or poll
    /// left that it answers; `None` for one that nobody asked for.
    Reading {
        /// The snapshot.
        reading: Reading,
        /// When it was asked for.
        asked_ms: Option<u64>,
    },
    /// Something changed; it only causes a query, or takes a permission away.
    Change(Change),
    /// How far a command has come.
    Outcome {
        /// The command.
        command_id: CommandId,
        /// How far.
        outcome: Outcome,
    },
    /// A message that moves nothing: not newer, of an unknown command, of an old connection.
    Stale {
        /// Why.
        detail: String,
    },
    /// The way to the controller opened or closed. On opening, all that was known is old.
    Link {
        /// Whether it is open.
        up: bool,
    },
    /// The controller's clock differs from ours by more than a minute.
    Clock {
        /// How far it is ahead of ours, in milliseconds.
        ahead_ms: i64,
    },
}
