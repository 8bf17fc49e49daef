//! What must have been seen or said before a ride goes from one state to another.

use dispatch::Input;
use protocol::hardware::Mode;
use protocol::ride::{RideState, RideView};
use protocol::{ElevatorId, ReasonCode};

use super::law::{Found, Law};
use super::model::{Model, Ride, signed};
use super::seen::Step;
use super::told::operator_acted;

/// Why a change is not founded.
pub(super) type Why = Result<(), String>;

pub(super) fn ensure(holds: bool, why: &str) -> Why {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

impl Model {
    /// A ride went to another state.
    pub(super) fn transition(
        &mut self,
        step: &Step<'_>,
        before: &Ride,
        view: &RideView,
        found: &mut Found,
    ) {
        let order = &view.order_id;
        let (from, to) = (before.state, view.state);
        let change = || format!("{order} went from {from} to {to}");
        if !is_in_table(from, to) {
            found.add(Law::Ride, change());
            return;
        }
        if to == RideState::Granted {
            self.grant(step, view, found);
        }
        let elevator = before.elevator.as_ref().or(view.elevator_id.as_ref());
        let Some(elevator) = elevator else {
            self.ends_in_queue(before, view, found);
            return;
        };
        // A ride that fails out of HOLD has the reason of the hold.
        let kept = |code| before.state == RideState::Hold && before.reason == Some(code);
        if let Some(reason) = view.reason.as_ref().filter(|reason| !kept(reason.code))
            && let Err(why) = self.reason(before, elevator, reason.code)
            && !operator_acted(step, elevator)
        {
            let law = reason_law(reason.code);
            found.add(law, format!("{} for {}: {why}", change(), reason.code));
        }
        let founded = match to {
            RideState::WaitingHallCall => self.to_waiting(before, elevator),
            RideState::ElevatorArrived => self.to_arrived(step, before, elevator),
            RideState::RobotEntered => self.to_entered(before, elevator),
            RideState::Running => self.to_running(step, before, elevator),
            RideState::TargetArrived => self.to_target(step, before, elevator),
            RideState::RobotExited => self.to_exited(before, elevator),
            RideState::Queued | RideState::Cancelled | RideState::Expired | RideState::Failed => {
                self.to_end(step, before, view, elevator)
            }
            RideState::Granted | RideState::Hold => Ok(()),
        };
        if let Err(why) = founded {
            found.add(Law::Ride, format!("{}: {why}", change()));
        }
    }

    /// A grant: of an elevator that is nobody's, read, fit, and with a new fence.
    fn grant(&mut self, step: &Step<'_>, view: &RideView, found: &mut Found) {
        let order = &view.order_id;
        let (Some(elevator), Some(fence)) = (&view.elevator_id, view.fence) else {
            found.add(Law::I1, format!("{order} is granted no elevator"));
            return;
        };
        let owner = self
            .cars
            .get(elevator)
            .and_then(|car| car.kept.owner.clone());
        if owner.is_some() {
            self.freed(step, elevator, found);
        }
        let Some(car) = self.cars.get(elevator) else {
            found.add(
                Law::I1,
                format!("{order} is granted {elevator}, which is none"),
            );
            return;
        };
        found.check(fence > car.kept.fence, Law::I2, || {
            format!(
                "{order} got {elevator} with fence {fence} after {}",
                car.kept.fence
            )
        });
        let quiet = car.quiet_ms(self.now_ms) >= self.site.timing.silent_ms;
        let occupied = self.has_presence(elevator)
            && car
                .reading
                .as_ref()
                .is_some_and(|it| it.occupied == Some(true));
        let operated = matches!(step.input, Input::Operator(_) | Input::Report { .. });
        let bars = [
            (quiet || car.reading.is_none(), "was not read"),
            (!self.serves(elevator), "does not serve robots"),
            (self.is_suspended(elevator), "is suspended"),
            (!operated && !self.is_healthy(elevator), "is blocked"),
            (occupied, "is occupied"),
            (self.stopping, "is given while the gateway ends"),
            (
                self.frozen_since_ms.is_some(),
                "is given without the broker",
            ),
        ];
        for (_, why) in bars.iter().filter(|(bars, _)| *bars) {
            found.add(Law::I13, format!("{order} got {elevator}, which {why}"));
        }
        self.overtaken(view, elevator, found);
    }

    /// Nobody who has waited for `promote_s` is passed over by one who has not (law 12). One of the
    /// reserved share is promoted too.
    fn overtaken(&self, view: &RideView, elevator: &ElevatorId, found: &mut Found) {
        let promote_ms = signed(self.site.timing.promote_ms);
        let sweep_ms = signed(self.site.timing.sweep_ms);
        let age = |ride: &Ride| self.age_ms(ride);
        let Some(ride) = self.rides.get(&view.order_id) else {
            return;
        };
        if age(ride) >= promote_ms {
            return;
        }
        let Some(config) = self.site.elevators.get(elevator) else {
            return;
        };
        let waits = self.queued.iter().filter(|order| **order != view.order_id);
        let waits = waits.filter_map(|order| self.rides.get(order).map(|ride| (order, ride)));
        for (order, other) in waits {
            let allowed = &other.content.elevators;
            let able = (allowed.is_empty() || allowed.contains(elevator))
                && config.serves(&other.from)
                && config.serves(&other.to);
            // It is ranked anew at its moment or soon after.
            if able && !other.loose && age(other) > promote_ms + sweep_ms {
                let detail = format!(
                    "{order} waits longer than promote_s, and {} got {elevator}",
                    view.order_id
                );
                found.add(Law::I13, detail);
            }
        }
    }

    fn age_ms(&self, ride: &Ride) -> i64 {
        signed(self.now_ms) - ride.born_ms
    }

    fn ends_in_queue(&self, before: &Ride, view: &RideView, found: &mut Found) {
        let order = &view.order_id;
        let code = view.reason.as_ref().map(|reason| reason.code);
        let founded = match view.state {
            RideState::Expired => before.expires_at.is_some_and(|at| at <= self.wall),
            RideState::Failed => code == Some(ReasonCode::RobotLost) && self.is_lost(before),
            RideState::Cancelled => true,
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold => false,
        };
        found.check(founded, Law::I19, || {
            format!("{order} went from QUEUED to {} for {code:?}", view.state)
        });
    }

    /// Its robot was silent for the lease.
    fn is_lost(&self, ride: &Ride) -> bool {
        let heard = self
            .robots
            .get(&ride.robot)
            .map_or(0, |robot| robot.heard_clock);
        self.clock() >= heard + self.site.timing.lease_ms
    }

    /// A reason that names a wait: the wait is over on the clock that never jumps.
    fn reason(&self, before: &Ride, elevator: &ElevatorId, code: ReasonCode) -> Why {
        let timing = &self.site.timing;
        let here_ms = self.clock() - before.since_clock;
        let Some(car) = self.cars.get(elevator) else {
            return Ok(());
        };
        match code {
            ReasonCode::RobotLost => ensure(self.is_lost(before), "the robot was heard"),
            ReasonCode::HallCallTimeout => ensure(
                here_ms >= 2 * timing.hall_call_ms,
                "it did not wait twice hall_call_s",
            ),
            ReasonCode::BoardingTimeout => {
                ensure(here_ms >= timing.entry_ms, "entry_s is not over")
            }
            ReasonCode::TravelTimeout if before.state == RideState::Running => {
                ensure(here_ms >= timing.travel_ms, "travel_s is not over")
            }
            ReasonCode::TravelTimeout if before.state == RideState::RobotEntered => ensure(
                here_ms >= 2 * timing.door_close_ms,
                "door_close_s is not over twice",
            ),
            ReasonCode::ExitTimeout if before.state == RideState::TargetArrived => {
                let word_ms = before.word.map_or(u64::MAX, |(_, at)| at);
                let looked = self.now_ms >= word_ms.saturating_add(3 * timing.entry_recheck_ms);
                let waited = here_ms >= 4 * timing.exit_ms;
                ensure(looked || waited, "exit_s is not over, nor three looks")
            }
            ReasonCode::ControllerLost => {
                let quiet = car.quiet_ms(self.now_ms) >= timing.silent_ms;
                ensure(quiet, "the controller was read")
            }
            ReasonCode::FireMode => {
                let mode = self.mode(elevator);
                ensure(
                    matches!(mode, Mode::Fire | Mode::Emergency),
                    "nothing burns",
                )
            }
            ReasonCode::OutOfService => ensure(!self.serves(elevator), "it serves robots"),
            ReasonCode::Busy
            | ReasonCode::Unavailable
            | ReasonCode::Suspended
            | ReasonCode::CancelledByRobot
            | ReasonCode::CancelledByOperator
            | ReasonCode::RequestExpired
            | ReasonCode::CallRefused
            | ReasonCode::EntryUnconfirmed
            | ReasonCode::DoorFault
            | ReasonCode::WrongFloor
            | ReasonCode::TravelTimeout
            | ReasonCode::ExitTimeout
            | ReasonCode::ExitRefused
            | ReasonCode::OperatorReset => Ok(()),
        }
    }
}

fn reason_law(code: ReasonCode) -> Law {
    match code {
        ReasonCode::FireMode | ReasonCode::OutOfService => Law::I12,
        ReasonCode::ControllerLost => Law::I13,
        ReasonCode::RobotLost
        | ReasonCode::HallCallTimeout
        | ReasonCode::BoardingTimeout
        | ReasonCode::TravelTimeout
        | ReasonCode::ExitTimeout
        | ReasonCode::Busy
        | ReasonCode::Unavailable
        | ReasonCode::Suspended
        | ReasonCode::CancelledByRobot
        | ReasonCode::CancelledByOperator
        | ReasonCode::RequestExpired
        | ReasonCode::CallRefused
        | ReasonCode::EntryUnconfirmed
        | ReasonCode::DoorFault
        | ReasonCode::WrongFloor
        | ReasonCode::ExitRefused
        | ReasonCode::OperatorReset => Law::I19,
    }
}

/// Whether `ride.md` knows the way from one state to another.
fn is_in_table(from: RideState, to: RideState) -> bool {
    use RideState::{
        Cancelled, ElevatorArrived, Expired, Failed, Granted, Hold, Queued, RobotEntered,
        RobotExited, Running, TargetArrived, WaitingHallCall,
    };
    match from {
        Queued => matches!(to, Granted | Cancelled | Expired | Failed),
        Granted => matches!(to, WaitingHallCall | Queued | Cancelled | Failed | Hold),
        WaitingHallCall => matches!(to, ElevatorArrived | Queued | Cancelled | Failed | Hold),
        ElevatorArrived => matches!(to, RobotEntered | Queued | Cancelled | Failed | Hold),
        RobotEntered => matches!(to, Running | Hold),
        Running => matches!(to, TargetArrived | Hold),
        TargetArrived => matches!(to, RobotExited | Running | Hold),
        Hold => matches!(
            to,
            ElevatorArrived | RobotEntered | Running | TargetArrived | RobotExited | Failed
        ),
        RobotExited | Cancelled | Expired | Failed => false,
    }
}
