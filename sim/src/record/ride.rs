//! A ride as it truly went.

use protocol::ride::RideState;
use protocol::{ElevatorId, FloorLabel, Landing, RobotId};

/// A ride as it truly went, whatever the gateway believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RideTruth {
    /// Whose.
    pub robot: RobotId,
    /// Where it should get in.
    pub from: Landing,
    /// Where it should get out.
    pub to: Landing,
    /// When it was asked for.
    pub asked_ms: u64,
    /// When, by which car and at which floor the robot got in; the first time.
    pub entered: Option<(u64, ElevatorId, FloorLabel)>,
    /// When and at which floor the robot got out; the last time.
    pub left: Option<(u64, FloorLabel)>,
    /// When the gateway said that it is over, and how.
    pub ended: Option<(u64, RideState)>,
}

impl RideTruth {
    pub(super) fn new(robot: RobotId, from: Landing, to: Landing, asked_ms: u64) -> Self {
        Self {
            robot,
            from,
            to,
            asked_ms,
            entered: None,
            left: None,
            ended: None,
        }
    }

    pub(super) fn entered(&mut self, at_ms: u64, elevator: &ElevatorId, floor: &FloorLabel) {
        if self.entered.is_none() {
            self.entered = Some((at_ms, elevator.clone(), floor.clone()));
        }
    }

    pub(super) fn left(&mut self, at_ms: u64, floor: &FloorLabel) {
        self.left = Some((at_ms, floor.clone()));
    }

    /// Milliseconds from the request until the robot was inside.
    #[must_use]
    pub fn waited_ms(&self) -> Option<u64> {
        self.entered
            .as_ref()
            .map(|(at_ms, ..)| at_ms - self.asked_ms)
    }

    /// Milliseconds from inside to outside.
    #[must_use]
    pub fn rode_ms(&self) -> Option<u64> {
        let (entered_ms, ..) = self.entered.as_ref()?;
        self.left.as_ref().map(|(left_ms, _)| left_ms - entered_ms)
    }

    /// The robot got in where it should, got out where it should, and the gateway says so.
    #[must_use]
    pub fn went_right(&self) -> bool {
        let got_in = self
            .entered
            .as_ref()
            .is_some_and(|(.., floor)| *floor == self.from.floor);
        let got_out = self
            .left
            .as_ref()
            .is_some_and(|(_, floor)| *floor == self.to.floor);
        let said = self
            .ended
            .is_some_and(|(_, state)| state == RideState::RobotExited);
        got_in && got_out && said
    }
}
