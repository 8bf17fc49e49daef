//! The ride: what each event does in each state (`ride.md`).
//!
//! No arm here is a wildcard over a state: a new state makes every cell a decision.
//!
//! * [`robot`], [`cells`]: what a robot says. [`claim`]: words of a robot that a signal must bear out.
//! * [`door`]: held, doubted, opened again.
//! * [`boarding`], [`no_show`], [`travel`], [`arrival`], [`hold`]: what a ride waits for in each state, and its deadlines.
//! * [`kept`]: elevators whose order is done with them. [`stranger`]: a robot in the wrong car.
//! * [`mode`]: fire, maintenance, suspension. [`start`]: after a restart.

mod arrival;
mod boarding;
mod cells;
mod claim;
mod door;
mod hold;
mod kept;
mod mode;
mod no_show;
mod robot;
mod start;
mod stranger;
mod travel;

use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, OrderId, ReasonCode};

use crate::effort::{Aim, Stage};
use crate::fact::KeptUntil;
use crate::state::Ride;
use crate::step::{Shift, Step};

/// What becomes of the elevator when a ride is done with it.
#[derive(Debug, Clone)]
pub(crate) enum Afterwards {
    /// It is free (F).
    Free,
    /// It is kept back until this is seen (B).
    Keep(KeptUntil),
}

impl Ride {
    /// In HOLD: the robot was to go in, not out.
    #[must_use]
    pub fn is_held_in_boarding(&self) -> bool {
        match self.held_from {
            Some(
                RideState::Granted
                | RideState::WaitingHallCall
                | RideState::ElevatorArrived
                | RideState::RobotEntered,
            ) => true,
            Some(
                RideState::Queued
                | RideState::Running
                | RideState::TargetArrived
                | RideState::RobotExited
                | RideState::Hold
                | RideState::Cancelled
                | RideState::Expired
                | RideState::Failed,
            )
            | None => false,
        }
    }
}

impl Step<'_> {
    /// The ride is done with its elevator: at its end, or queued again.
    pub(crate) fn leave(&mut self, order: &OrderId, shift: Shift, afterwards: Afterwards) {
        let elevator = self.ride(order).and_then(|ride| ride.elevator.clone());
        if shift.state.is_terminal() {
            self.note_ride_end(order);
        }
        let requeued = shift.state == RideState::Queued;
        self.shift(order, shift);
        if let Some(elevator) = elevator {
            match afterwards {
                Afterwards::Free => self.free(&elevator),
                Afterwards::Keep(until) => self.keep_back(&elevator, until),
            }
        }
        if requeued {
            self.live.timers.hasten(
                crate::timer::TimerKey::Ride(order.clone()),
                self.now.mono_ms,
            );
        }
        self.live.dispatch_due = true;
    }

    /// Back to the queue with its age.
    pub(crate) fn requeue(&mut self, order: &OrderId, afterwards: Afterwards) {
        let mut shift = Shift::to(RideState::Queued, Instruction::Wait);
        shift.reason = self.ride(order).map(|ride| self.why_queued(ride));
        self.leave(order, shift, afterwards);
    }

    /// FAILED with a reason.
    pub(crate) fn fail(
        &mut self,
        order: &OrderId,
        code: ReasonCode,
        detail: &str,
        afterwards: Afterwards,
    ) {
        let shift = Shift::to(RideState::Failed, Instruction::Clear).because(code, detail);
        self.leave(order, shift, afterwards);
    }

    /// GRANTED did not work out with this elevator: the next candidate, else QUEUED.
    pub(crate) fn next_candidate(&mut self, order: &OrderId, elevator: &ElevatorId) {
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.must_heal = true;
            car.good_since_ms = None;
        }
        self.requeue(order, Afterwards::Free);
    }

    /// What must be seen after a hall call that is not wanted any more.
    pub(crate) fn until_cleared(&self, elevator: &ElevatorId, ride: &Ride) -> KeptUntil {
        let up = self
            .elevator_config(elevator)
            .is_some_and(|config| crate::assign::goes_up(config, ride));
        KeptUntil::CallCleared {
            landing: ride.from.clone(),
            up,
        }
    }

    /// Looks at the ride that owns an elevator until nothing more follows from what is known.
    pub(crate) fn drive_owner(&mut self, elevator: &ElevatorId) {
        // A ride passes through at most all of its states for one reading; twice that is a bound.
        for _ in 0..16 {
            let Some(record) = self.state.elevators.get(elevator) else {
                return;
            };
            if record.kept.is_some() {
                self.drive_kept(elevator);
                return;
            }
            let Some(owner) = &record.owner else { return };
            let order = owner.order.clone();
            let Some(before) = self.ride(&order).map(|ride| (ride.state, ride.seq)) else {
                return;
            };
            self.drive(&order, elevator);
            let after = self.ride(&order).map(|ride| (ride.state, ride.seq));
            if after == Some(before) {
                return;
            }
        }
    }

    fn drive(&mut self, order: &OrderId, elevator: &ElevatorId) {
        let Some(ride) = self.ride(order).cloned() else {
            return;
        };
        match ride.state {
            RideState::Granted => self.drive_granted(&ride, elevator),
            RideState::WaitingHallCall => self.drive_waiting(&ride, elevator),
            RideState::ElevatorArrived => self.drive_arrived(&ride, elevator),
            RideState::RobotEntered => self.drive_entered(&ride, elevator),
            RideState::Running => self.drive_running(&ride, elevator),
            RideState::TargetArrived => self.drive_target(&ride, elevator),
            RideState::Hold => self.drive_hold(&ride, elevator),
            RideState::Queued
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {}
        }
    }

    /// Whether the ride's deadline has passed; never while ingest is away.
    pub(crate) fn is_late(&self, order: &OrderId) -> bool {
        self.live.frozen_since_ms.is_none()
            && self
                .live
                .rides
                .get(order)
                .and_then(|progress| progress.deadline_ms)
                .is_some_and(|deadline| self.now.mono_ms >= deadline)
    }

    /// Since when READs count for the ride.
    pub(crate) fn since(&self, order: &OrderId) -> u64 {
        self.live
            .rides
            .get(order)
            .map_or(0, |progress| progress.since_ms)
    }

    /// Asks for the effect of a command that was taken at `at_ms`: after `settle_s`, then every
    /// `requery_s`, at most three times (R-LIFT-127, 128).
    pub(crate) fn requery(&mut self, order: &OrderId, elevator: &ElevatorId, at_ms: u64) {
        let (settle_ms, requery_ms) = (self.config.timing.settle_ms, self.config.timing.requery_ms);
        let now_ms = self.now.mono_ms;
        let Some(progress) = self.progress(order) else {
            return;
        };
        if progress.requery_ms < at_ms {
            progress.requery_ms = at_ms.saturating_add(settle_ms);
            progress.requeries = 0;
        }
        if progress.requeries < 3 && now_ms >= progress.requery_ms {
            progress.requeries += 1;
            progress.requery_ms = now_ms.saturating_add(requery_ms);
            self.ask(elevator);
        }
    }

    /// A reading that was asked for after a command had `settle_s` to take effect.
    pub(crate) fn settled(&self, elevator: &ElevatorId, aim: Aim, since_ms: u64) -> bool {
        let Some(car) = self.live.cars.get(elevator) else {
            return false;
        };
        let Some(Stage::Taken { at_ms }) = car.efforts.stage(aim) else {
            return false;
        };
        let from = at_ms
            .saturating_add(self.config.timing.settle_ms)
            .max(since_ms);
        car.read_since(from).is_some()
    }
}
