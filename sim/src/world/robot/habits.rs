//! What a robot is like, where it is, and what it may want done.

use protocol::{ElevatorId, FloorLabel, Landing, RobotMessage};

/// What a robot does and does not do.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
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
    /// It asks before it crosses; else it crosses when a state says so, however old.
    pub asks: bool,
    /// After the answer it waits so long before it crosses, whatever its clock says then.
    pub late_ms: u64,
    /// It says that it is in.
    pub tells_entry: bool,
    /// It says that it is out.
    pub tells_exit: bool,
    /// It dies as soon as it is in.
    pub dies_inside: bool,
    /// Where it may enter it says that it did, and stays outside.
    pub feigns_entry: bool,
    /// Where it may leave it says that it did, and stays inside.
    pub feigns_exit: bool,
    /// It takes another car where one stands open at its floor, and says which.
    pub takes_any_car: bool,
    /// Its clock goes so many millionths too fast.
    pub clock_ppm: i32,
    /// Its wall clock is so far ahead.
    pub clock_ahead_ms: i64,
}

impl Habits {
    /// Whether it keeps the rules of `wire.md` and tells the truth, for as long as it lives.
    #[must_use]
    pub fn keeps_the_rules(&self) -> bool {
        self.asks
            && self.late_ms == 0
            && !self.feigns_entry
            && !self.feigns_exit
            && !self.takes_any_car
    }
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
            asks: true,
            late_ms: 0,
            tells_entry: true,
            tells_exit: true,
            dies_inside: false,
            feigns_entry: false,
            feigns_exit: false,
            takes_any_car: false,
            clock_ppm: 0,
            clock_ahead_ms: 0,
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
