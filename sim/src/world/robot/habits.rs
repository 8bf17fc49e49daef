//! What a robot is like, where it is, and what it may want done.

use protocol::{ElevatorId, FloorLabel, Landing, RobotMessage};

/// What a robot does and does not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Habits {
    /// Only what it is told.
    pub by_hand: bool,
    /// It enters when it may.
    pub enters: bool,
    /// It leaves when it may.
    pub leaves: bool,
    /// It dies on the threshold when it enters.
    pub dies_in_doorway: bool,
    /// It has eyes: it does not cross where the door is not open.
    pub looks: bool,
    /// It has radio inside a closed car.
    pub radio_inside: bool,
    /// How long it takes over a threshold.
    pub cross_ms: u64,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            by_hand: false,
            enters: true,
            leaves: true,
            dies_in_doorway: false,
            looks: false,
            radio_inside: true,
            cross_ms: 3_000,
        }
    }
}

/// Where a robot is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// On a floor, before the doors.
    Floor(FloorLabel),
    /// On a threshold.
    Doorway {
        /// Of which car.
        elevator: ElevatorId,
        /// Where.
        landing: Landing,
        /// On its way in.
        inwards: bool,
    },
    /// In a car.
    Car(ElevatorId),
}

/// Something that a robot wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum RobotAct {
    /// It says something.
    Say(RobotMessage),
    /// It drives onto a threshold.
    Cross {
        /// Of which car.
        elevator: ElevatorId,
        /// Where.
        landing: Landing,
        /// Inwards, else outwards.
        inwards: bool,
    },
    /// It has crossed the threshold that it is on.
    Crossed,
}
