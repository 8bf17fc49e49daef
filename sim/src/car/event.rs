//! What happens to a car, and what may be broken in it.

use protocol::hardware::{Direction, Door, Mode};
use protocol::{FloorLabel, Landing, RobotId, Side};

/// Something that happened to a car.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CarEvent {
    /// A call was registered.
    Called {
        /// Where to.
        landing: Landing,
        /// The direction of a hall call; `None` for a call in the car.
        hall: Option<Direction>,
    },
    /// A call went out: served, withdrawn, or put out by the mode.
    CallCleared {
        /// Where to.
        landing: Landing,
        /// The direction of a hall call; `None` for a call in the car.
        hall: Option<Direction>,
    },
    /// It left a floor.
    Departed {
        /// Which.
        floor: FloorLabel,
        /// Upwards.
        up: bool,
    },
    /// While it moves, another floor became the nearest.
    Passed {
        /// Which.
        floor: FloorLabel,
    },
    /// It stands level with a floor.
    Arrived {
        /// Which.
        floor: FloorLabel,
    },
    /// A door went on.
    Door {
        /// Which.
        side: Side,
        /// To what.
        door: Door,
    },
    /// The mode changed.
    Mode(Mode),
    /// A robot stands on the threshold.
    InDoorway {
        /// Who.
        robot: RobotId,
    },
    /// A robot left the threshold to the side that it came from.
    OffDoorway {
        /// Who.
        robot: RobotId,
    },
    /// A robot is inside.
    Entered {
        /// Who.
        robot: RobotId,
        /// Where.
        floor: FloorLabel,
    },
    /// A robot is outside.
    Left {
        /// Who.
        robot: RobotId,
        /// Where.
        floor: FloorLabel,
    },
    /// A robot crossed, or ran against, a threshold whose door was not open, or was not there.
    CrossedUnopened {
        /// Who.
        robot: RobotId,
        /// What the door did.
        door: Door,
        /// Whether the car stood at that landing.
        level: bool,
    },
    /// The car left while a robot stood on the threshold.
    MovedFromDoorway {
        /// Who.
        robot: RobotId,
    },
}

/// A door that does not do what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoorStuck {
    /// It does not close any more.
    Open,
    /// It does not open any more.
    Closed,
}

/// What is broken in a car.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CarFaults {
    /// The doors.
    pub door: Option<DoorStuck>,
    /// So many times a door opens again instead of closing.
    pub reopens: u32,
    /// The car does not leave, or stands between two floors.
    pub stuck: bool,
    /// The next trip ends so many floors off its target.
    pub wrong_floor: i32,
    /// So many calls are taken and forgotten.
    pub forget_calls: u32,
    /// The presence signal says this whatever is in the car.
    pub presence: Option<bool>,
    /// The mode signal cannot be read.
    pub mode_unreadable: bool,
    /// The calls cannot be read.
    pub calls_unreadable: bool,
    /// The controller shows a floor that is so many off.
    pub floors_off: i32,
    /// A text that the controller shows as its fault.
    pub fault: Option<String>,
}

impl CarFaults {
    pub(super) fn refuses_to_open(&self) -> bool {
        self.door == Some(DoorStuck::Closed)
    }

    /// The floor that is shown instead of `floor`.
    pub(super) fn shown_floor(&self, floor: usize, floors: usize) -> usize {
        let magnitude = usize::try_from(self.floors_off.unsigned_abs()).unwrap_or(usize::MAX);
        if self.floors_off >= 0 {
            floor
                .saturating_add(magnitude)
                .min(floors.saturating_sub(1))
        } else {
            floor.saturating_sub(magnitude)
        }
    }

    /// Where a trip to `meant` ends; the fault acts once.
    pub(super) fn take_wrong_floor(&mut self, meant: usize, floors: usize) -> usize {
        let offset = std::mem::take(&mut self.wrong_floor);
        let magnitude = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        if offset >= 0 {
            meant
                .saturating_add(magnitude)
                .min(floors.saturating_sub(1))
        } else {
            meant.saturating_sub(magnitude)
        }
    }
}
