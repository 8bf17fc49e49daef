//! Words of a robot that change where it is: taken when the presence signal bears them out, looked
//! at again three times when it does not (T-LIFT-23, 24, 25).

use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, OrderId, ReasonCode};

use super::Afterwards;
use crate::effort::Aim;
use crate::fact::{Claim, Fact, KeptUntil, RideFact};
use crate::live::Recheck;
use crate::sight::Occupancy;
use crate::state::Ride;
use crate::step::{Shift, Step};

impl Step<'_> {
    /// Takes the robot's word where the signal agrees; else begins to look again.
    pub(super) fn take_word(&mut self, order: &OrderId, claim: Claim) {
        if self.try_word(order, claim) {
            return;
        }
        let now_ms = self.now.mono_ms;
        let pause_ms = self.config.timing.entry_recheck_ms;
        let same = |known: &Recheck| known.claim == claim;
        if let Some(progress) = self.progress(order)
            && !progress.recheck.as_ref().is_some_and(same)
        {
            progress.recheck = Some(Recheck::begin(claim, now_ms, pause_ms));
            let order = order.clone();
            self.record(Fact::Ride(RideFact::Claimed { order, claim }));
        }
        if matches!(claim, Claim::CancelEnter { .. }) {
            self.instruct(order, Instruction::Stay);
        }
        // The looks have moments of their own.
        let elevator = self.ride(order).and_then(|ride| ride.elevator.clone());
        self.live.touched.extend(elevator);
    }

    /// Whether the signal bears the word out; if so the ride goes on.
    fn try_word(&mut self, order: &OrderId, claim: Claim) -> bool {
        let Some(ride) = self.ride(order).cloned() else {
            return true;
        };
        let Some(elevator) = ride.elevator.clone() else {
            return true;
        };
        let occupancy = self.occupancy(&elevator);
        let shut_seen = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.shut_seen);
        let borne_out = match (claim, occupancy) {
            (Claim::Entered, Occupancy::Full | Occupancy::NoSignal)
            | (Claim::CancelEnter { .. } | Claim::Exited, Occupancy::Empty)
            | (Claim::Exited, Occupancy::NoSignal) => true,
            (Claim::Exited, Occupancy::Full | Occupancy::NotRead)
                if mutate!(ExitedUnseen, false, true) =>
            {
                true
            }
            (Claim::CancelEnter { .. }, Occupancy::NoSignal) => !shut_seen,
            (Claim::Entered, Occupancy::Empty | Occupancy::NotRead)
                if mutate!(EnteredUnseen, false, true) =>
            {
                true
            }
            (Claim::Entered, Occupancy::Empty | Occupancy::NotRead)
            | (Claim::CancelEnter { .. } | Claim::Exited, Occupancy::Full | Occupancy::NotRead) => {
                false
            }
        };
        if !borne_out {
            return false;
        }
        match claim {
            Claim::Entered => self.enter_car(order, &elevator),
            Claim::CancelEnter { again: false } => {
                let shift = Shift::to(RideState::Cancelled, Instruction::Clear)
                    .because(ReasonCode::CancelledByRobot, "the robot did not enter");
                self.leave(order, shift, Afterwards::Keep(KeptUntil::Shut));
            }
            Claim::CancelEnter { again: true } => {
                self.requeue(order, Afterwards::Keep(KeptUntil::Shut));
            }
            Claim::Exited => self.exit_car(order, &elevator),
        }
        true
    }

    /// Confirmed inside: release hold, car call, close the door.
    pub(super) fn enter_car(&mut self, order: &OrderId, elevator: &ElevatorId) {
        self.release_hold(elevator);
        if let Some(car) = self.live.cars.get_mut(elevator) {
            for aim in [Aim::Call, Aim::Close, Aim::Open, Aim::Claim] {
                car.efforts.drop_aim(aim);
            }
        }
        let span_ms = self.config.timing.door_close_ms;
        let shift = Shift::to(RideState::RobotEntered, Instruction::Ride).within(span_ms);
        self.shift(order, shift);
    }

    /// The car is called by the robot's word and the signal, and leaves no later than both agree: a
    /// call that would wait for its turn is looked at again when it comes.
    pub(super) fn may_call_car(&self, elevator: &ElevatorId) -> bool {
        let car = self.live.cars.get(elevator);
        let full = match self.occupancy(elevator) {
            Occupancy::Full | Occupancy::NoSignal => true,
            Occupancy::Empty | Occupancy::NotRead => mutate!(EnteredUnseen, false, true),
        };
        full && car.is_some_and(|car| car.efforts.is_lane_free())
    }

    /// The car was never called, since the signal took back what it said of the entry.
    pub(super) fn entry_is_doubted(&self, ride: &Ride, elevator: &ElevatorId) -> bool {
        let car = self.live.cars.get(elevator);
        let called = car.is_some_and(|car| car.efforts.stage(Aim::Call).is_some());
        let progress = self.live.rides.get(&ride.order);
        let resumed = progress.is_some_and(|progress| progress.resumed);
        !called && !resumed && !self.may_call_car(elevator)
    }

    /// Confirmed outside at the target: the order is done, the elevator after its doors.
    pub(super) fn exit_car(&mut self, order: &OrderId, elevator: &ElevatorId) {
        self.release_hold(elevator);
        let shift = Shift::to(RideState::RobotExited, Instruction::Clear);
        let until = Afterwards::Keep(KeptUntil::ShutOrEmpty);
        self.leave(order, shift, mutate!(FreedAtExit, until, Afterwards::Free));
    }

    /// Looks again where that is due. Returns whether the ride left its state.
    pub(super) fn drive_recheck(&mut self, ride: &Ride, elevator: &ElevatorId) -> bool {
        let order = &ride.order;
        let Some(recheck) = self
            .live
            .rides
            .get(order)
            .and_then(|progress| progress.recheck)
        else {
            return false;
        };
        let now_ms = self.now.mono_ms;
        let pause_ms = self.config.timing.entry_recheck_ms;
        let looked = self.read(elevator, recheck.asked_ms).is_some();
        if looked && self.try_word(order, recheck.claim) {
            return true;
        }
        let given_up = recheck.left == 0 && (looked || now_ms >= recheck.next_ms);
        if given_up {
            let (code, detail) = match recheck.claim {
                Claim::Entered => (ReasonCode::EntryUnconfirmed, "says it entered, the car"),
                Claim::CancelEnter { .. } => (
                    ReasonCode::EntryUnconfirmed,
                    "says it did not enter, the car",
                ),
                Claim::Exited => (ReasonCode::ExitTimeout, "says it left, the car"),
            };
            let detail = format!("{} {detail} does not bear it out", ride.robot);
            self.hold(order, code, &detail);
            return true;
        }
        if now_ms >= recheck.next_ms
            && let Some(progress) = self.progress(order)
        {
            progress.recheck = Some(Recheck {
                left: recheck.left.saturating_sub(1),
                next_ms: recheck.next_ms.saturating_add(pause_ms),
                asked_ms: now_ms,
                claim: recheck.claim,
            });
            self.ask(elevator);
        }
        false
    }
}
