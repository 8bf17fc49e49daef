//! HOLD: something is wrong while the robot may be inside. Nobody else gets the car.

use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Landing, OrderId, ReasonCode};

use super::Afterwards;
use crate::assign::any_door_not_shut;
use crate::effort::Aim;
use crate::fact::{Fact, KeptUntil, RideFact};
use crate::sight::Occupancy;
use crate::state::Ride;
use crate::step::{Shift, Step};

impl Step<'_> {
    /// To HOLD; the elevator stays with the ride.
    pub(crate) fn hold(&mut self, order: &OrderId, code: ReasonCode, detail: &str) {
        let Some(ride) = self.ride(order) else { return };
        if !ride.inside {
            let order = order.clone();
            self.record(Fact::Ride(RideFact::Inside {
                order,
                inside: true,
            }));
        }
        self.shift(
            order,
            Shift::to(RideState::Hold, Instruction::Stay).because(code, detail),
        );
        let Some(elevator) = self.ride(order).and_then(|ride| ride.elevator.clone()) else {
            return;
        };
        self.release_hold(&elevator);
        if let Some(car) = self.live.cars.get_mut(&elevator) {
            // No call and no closing door of before may still go out under a robot that stays.
            for aim in [Aim::Claim, Aim::Call, Aim::Close] {
                car.efforts.drop_aim(aim);
            }
        }
        self.ask(&elevator);
    }

    pub(super) fn drive_hold(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let since = self.since(order);
        if let Some(reading) = self.read(elevator, since).cloned() {
            let (opened, shut) = (any_door_not_shut(&reading), reading.is_shut());
            if let Some(progress) = self.progress(order) {
                progress.door_opened |= opened;
                progress.shut_seen |= shut;
            }
        }
        let open = self.exit_landing(elevator);
        if let Some(landing) = &self.held_landing(elevator)
            && self.mode(elevator).serves_robots()
        {
            if let Some(car) = self.live.cars.get_mut(elevator)
                && car.hold_next_ms == u64::MAX
            {
                car.hold_next_ms = 0;
            }
            self.keep_open(elevator, landing);
            if self.recover(ride, elevator, landing, since) {
                return;
            }
        }
        // `exit` waits for the hold; in a mode in which none may be sent, for the open door alone.
        let way_out = open.filter(|landing| {
            !self.mode(elevator).serves_robots() || self.may_cross(elevator, landing, 0)
        });
        let word = self.hold_instruction(ride, way_out.as_ref());
        self.instruct(order, word);
    }

    /// A reading is fresh when it was asked for since then.
    pub(crate) fn fresh_since(&self) -> u64 {
        self.now
            .mono_ms
            .saturating_sub(self.config.timing.reading_fresh_ms)
    }

    /// The car stands open where the ride can go on, and the reason was one that passes.
    fn recover(
        &mut self,
        ride: &Ride,
        elevator: &ElevatorId,
        landing: &Landing,
        since: u64,
    ) -> bool {
        let passes = ride.reason.as_ref().is_some_and(|reason| {
            matches!(
                reason.code,
                ReasonCode::ControllerLost | ReasonCode::DoorFault | ReasonCode::TravelTimeout
            )
        });
        if mutate!(HoldPasses, !passes, false) || !self.may_cross(elevator, landing, since) {
            return false;
        }
        match ride.held_from {
            Some(RideState::RobotEntered | RideState::Running | RideState::TargetArrived)
                if landing == &ride.to =>
            {
                self.go_to_target(&ride.order);
                true
            }
            Some(RideState::ElevatorArrived)
                if landing == &ride.from && self.may_enter(elevator, landing, since) =>
            {
                self.go_to_boarding(&ride.order);
                true
            }
            Some(_) | None => false,
        }
    }

    /// To TARGET_ARRIVED.
    pub(crate) fn go_to_target(&mut self, order: &OrderId) {
        let span_ms = self.config.timing.exit_ms;
        let shift = Shift::to(RideState::TargetArrived, Instruction::Exit).within(span_ms);
        self.shift(order, shift);
        if let Some(progress) = self.progress(order) {
            progress.door_opened = true;
        }
    }

    /// From HOLD to ELEVATOR_ARRIVED.
    pub(crate) fn go_to_boarding(&mut self, order: &OrderId) {
        let span_ms = self.config.timing.entry_ms;
        self.shift(
            order,
            Shift::to(RideState::ElevatorArrived, Instruction::Enter).within(span_ms),
        );
    }

    /// `exit` where the car stands open and leaving is the way out, else `stay`.
    pub(crate) fn hold_instruction(&self, ride: &Ride, open: Option<&Landing>) -> Instruction {
        let (Some(open), Some(reason)) = (open, &ride.reason) else {
            return Instruction::Stay;
        };
        let expected = match ride.held_from {
            Some(RideState::RobotEntered) => open == &ride.from || open == &ride.to,
            Some(_) | None if ride.is_held_in_boarding() => open == &ride.from,
            Some(_) | None => open == &ride.to,
        };
        let leaves = match reason.code {
            ReasonCode::FireMode | ReasonCode::OutOfService => true,
            ReasonCode::EntryUnconfirmed
            | ReasonCode::DoorFault
            | ReasonCode::CallRefused
            | ReasonCode::ExitTimeout
            | ReasonCode::ExitRefused => expected,
            ReasonCode::Busy
            | ReasonCode::Unavailable
            | ReasonCode::Suspended
            | ReasonCode::CancelledByRobot
            | ReasonCode::CancelledByOperator
            | ReasonCode::RequestExpired
            | ReasonCode::HallCallTimeout
            | ReasonCode::BoardingTimeout
            | ReasonCode::RobotLost
            | ReasonCode::ControllerLost
            | ReasonCode::WrongFloor
            | ReasonCode::TravelTimeout
            | ReasonCode::OperatorReset => false,
        };
        if leaves {
            Instruction::Exit
        } else {
            Instruction::Stay
        }
    }

    /// `entered` in HOLD: held in boarding, the way free and the robot inside: on with the ride.
    pub(super) fn entered_in_hold(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let barred = ride.reason.as_ref().is_some_and(|reason| {
            matches!(reason.code, ReasonCode::FireMode | ReasonCode::OutOfService)
        });
        let full = match self.occupancy(elevator) {
            Occupancy::Full | Occupancy::NoSignal => true,
            Occupancy::Empty | Occupancy::NotRead => false,
        };
        let open = self.is_open(elevator, &ride.from, self.fresh_since());
        if ride.is_held_in_boarding()
            && !barred
            && self.mode(elevator).serves_robots()
            && open
            && full
        {
            self.enter_car(&ride.order, elevator);
        }
    }

    /// `cancel_enter` in a HOLD of boarding: with EMPTY the ride fails, else it stays.
    pub(super) fn cancel_enter_in_hold(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let shut_seen = self
            .live
            .rides
            .get(&ride.order)
            .is_some_and(|progress| progress.shut_seen);
        let empty = match self.occupancy(elevator) {
            Occupancy::Empty => true,
            Occupancy::NoSignal => !shut_seen,
            Occupancy::Full | Occupancy::NotRead => false,
        };
        if mutate!(HoldEmptied, empty, true) {
            self.fail_held(ride);
        }
    }

    /// `exited` in HOLD after the door was seen open: with EMPTY at the target the ride is done,
    /// elsewhere it fails; else it stays.
    pub(super) fn exited_in_hold(&mut self, order: &OrderId, elevator: &ElevatorId) {
        let Some(ride) = self.ride(order).cloned() else {
            return;
        };
        let empty = match self.occupancy(elevator) {
            Occupancy::Empty | Occupancy::NoSignal => true,
            Occupancy::Full | Occupancy::NotRead => false,
        };
        if !empty {
            return;
        }
        let at_target = self
            .read(elevator, 0)
            .is_some_and(|reading| reading.floor.as_ref() == Some(&ride.to.floor));
        if at_target {
            self.exit_car(order, elevator);
        } else {
            self.fail_held(&ride);
        }
    }

    fn fail_held(&mut self, ride: &Ride) {
        let mut shift = Shift::to(RideState::Failed, Instruction::Clear);
        shift.reason.clone_from(&ride.reason);
        self.leave(&ride.order, shift, Afterwards::Keep(KeptUntil::Shut));
    }
}
