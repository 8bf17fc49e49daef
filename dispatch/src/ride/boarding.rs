//! GRANTED, WAITING_HALL_CALL and ELEVATOR_ARRIVED: until the robot is confirmed inside.

use protocol::hardware::{Action, Direction, Mode, Motion};
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, ReasonCode};

use super::Afterwards;
use crate::assign::{any_door_not_shut, goes_up};
use crate::effort::{Aim, Stage, hall_call_registered};
use crate::sight::Occupancy;
use crate::state::Ride;
use crate::step::{Shift, Step};

impl Step<'_> {
    pub(super) fn drive_granted(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let since = self.since(&ride.order);
        self.ask_since(elevator, since);
        if self.is_silent(elevator) || self.is_late(&ride.order) {
            self.next_candidate(&ride.order, elevator);
            return;
        }
        let Some(reading) = self.read(elevator, mutate!(GrantedUnread, since, 0)) else {
            return;
        };
        if reading.fault.is_some() {
            self.next_candidate(&ride.order, elevator);
            return;
        }
        let empty = match self.occupancy(elevator) {
            Occupancy::Empty | Occupancy::NoSignal => true,
            Occupancy::Full | Occupancy::NotRead => false,
        };
        if !empty || !self.mode(elevator).serves_robots() || self.live.stopping {
            return;
        }
        let span_ms = self.config.timing.hall_call_ms;
        let shift = Shift::to(RideState::WaitingHallCall, Instruction::Approach).within(span_ms);
        self.shift(&ride.order, shift);
        self.ask(elevator);
    }

    pub(super) fn drive_waiting(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let since = self.since(&ride.order);
        if self.is_late(&ride.order) && self.waiting_is_over(ride, elevator) {
            return;
        }
        // The reading that ended GRANTED founds the call; after a restart a new one is needed.
        let known = if self.is_resumed(&ride.order) {
            since
        } else {
            0
        };
        if mutate!(StartBlind, self.read(elevator, known).is_none(), false) {
            self.ask_since(elevator, since);
            return;
        }
        if !self.claimed(ride, elevator) {
            return;
        }
        if self.is_open(elevator, &ride.from, since) {
            if let Some(car) = self.live.cars.get_mut(elevator) {
                car.kept.came = true;
            }
            self.keep_open(elevator, &ride.from);
            if self.may_enter(elevator, &ride.from, since) || self.is_held_while_stopping(elevator)
            {
                self.arrive(ride);
            } else if self.hold_refused(elevator) {
                let action = self.hold_door_at(elevator, &ride.from);
                self.refused(ride, elevator, Aim::Hold, action);
            }
            return;
        }
        if self.is_open(elevator, &ride.from, known) {
            self.ask_since(elevator, since);
            return;
        }
        self.call(ride, elevator);
    }

    fn is_resumed(&self, order: &protocol::OrderId) -> bool {
        self.live
            .rides
            .get(order)
            .is_some_and(|progress| progress.resumed)
    }

    /// While the gateway ends a car that has come is held, and nobody is let in.
    fn is_held_while_stopping(&self, elevator: &ElevatorId) -> bool {
        let now_ms = self.now.mono_ms;
        let valid_ms = self.config.timing.valid_ms;
        self.live.stopping
            && self
                .live
                .cars
                .get(elevator)
                .is_some_and(|car| car.hold_lasts_ms(now_ms) >= valid_ms)
    }

    fn arrive(&mut self, ride: &Ride) {
        let withheld = ride.away || self.live.stopping;
        let instruction = if withheld {
            Instruction::Approach
        } else {
            Instruction::Enter
        };
        if let Some(elevator) = &ride.elevator
            && let Some(car) = self.live.cars.get_mut(elevator)
        {
            // The car is there: a call that was not answered is not wanted any more.
            car.efforts.drop_aim(Aim::Call);
        }
        let entry_ms = self.config.timing.entry_ms;
        let span_ms = mutate!(EntryShort, entry_ms, entry_ms / 2);
        let shift = Shift::to(RideState::ElevatorArrived, instruction).within(span_ms);
        self.shift(&ride.order, shift);
    }

    /// Robot mode on, where the controller has one. Returns whether the ride may go on.
    fn claimed(&mut self, ride: &Ride, elevator: &ElevatorId) -> bool {
        if !self
            .elevator_config(elevator)
            .is_some_and(|config| config.claim)
        {
            return true;
        }
        let mode = self.read(elevator, 0).map(|reading| reading.mode);
        match self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Claim))
        {
            Some(Stage::Taken { .. }) => true,
            None if self.is_resumed(&ride.order) && mode == Some(Mode::Robot) => true,
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. }) => false,
            None => {
                self.order(elevator, Aim::Claim, Action::Claim);
                false
            }
            Some(Stage::Failed { .. } | Stage::Lost) => {
                self.refused(ride, elevator, Aim::Claim, Action::Claim);
                false
            }
        }
    }

    fn call(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Call));
        match stage.cloned() {
            None => {
                let registered = self
                    .read(elevator, 0)
                    .and_then(|reading| hall_call_registered(reading, &ride.from));
                // After a restart the call of the last process may still stand.
                if !(self.is_resumed(&ride.order) && registered == Some(true)) {
                    let action = self.hall_call(ride, elevator);
                    self.order(elevator, Aim::Call, action);
                }
            }
            Some(Stage::Failed { .. }) => {
                let action = self.hall_call(ride, elevator);
                self.refused(ride, elevator, Aim::Call, action);
            }
            Some(Stage::Taken { at_ms }) => self.requery(&ride.order, elevator, at_ms),
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. } | Stage::Lost) => {}
        }
    }

    fn hall_call(&self, ride: &Ride, elevator: &ElevatorId) -> Action {
        let up = self
            .elevator_config(elevator)
            .is_some_and(|config| goes_up(config, ride));
        let direction = if up { Direction::Up } else { Direction::Down };
        Action::HallCall {
            landing: mutate!(CallElsewhere, ride.from.clone(), ride.to.clone()),
            direction,
        }
    }

    /// A refused command is sent once more at once; refused again the ride fails.
    fn refused(&mut self, ride: &Ride, elevator: &ElevatorId, aim: Aim, action: Action) {
        let Some(progress) = self.progress(&ride.order) else {
            return;
        };
        progress.tries.call += 1;
        if progress.tries.call <= 1 {
            self.order(elevator, aim, action);
        } else {
            self.call_refused(ride, elevator);
        }
    }

    fn call_refused(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let until = self.until_cleared(elevator, ride);
        let detail = format!("{elevator} refused the command twice");
        self.fail(
            &ride.order,
            ReasonCode::CallRefused,
            &detail,
            Afterwards::Keep(until),
        );
    }

    /// The deadline of WAITING_HALL_CALL passed: query; then one more period, or the end.
    /// Returns whether the ride left the state.
    fn waiting_is_over(&mut self, ride: &Ride, elevator: &ElevatorId) -> bool {
        let timing = &self.config.timing;
        let (span_ms, accept_ms) = (timing.hall_call_ms, timing.accept_ms);
        let until = self.until_cleared(elevator, ride);
        if self.is_silent(elevator) {
            let detail = format!("the controller of {elevator} is silent");
            self.fail(
                &ride.order,
                ReasonCode::ControllerLost,
                &detail,
                Afterwards::Keep(until),
            );
            let why = crate::step::reason(ReasonCode::ControllerLost, detail);
            self.block(elevator, why, false);
            return true;
        }
        let now_ms = self.now.mono_ms;
        let Some(progress) = self.progress(&ride.order) else {
            return true;
        };
        if mutate!(WaitingShort, progress.second_period, true) {
            let detail = format!("{elevator} did not come to {}", ride.from);
            self.fail(
                &ride.order,
                ReasonCode::HallCallTimeout,
                &detail,
                Afterwards::Keep(until),
            );
            return true;
        }
        let asking_until = *progress
            .asking_until_ms
            .get_or_insert_with(|| now_ms.saturating_add(accept_ms));
        let asked_since = asking_until.saturating_sub(accept_ms);
        let answered = self.read(elevator, asked_since).is_some();
        if !answered && now_ms < asking_until {
            self.ask_since(elevator, asked_since);
            return false;
        }
        let registered = self
            .read(elevator, asked_since)
            .and_then(|reading| hall_call_registered(reading, &ride.from));
        if registered == Some(false) {
            let action = self.hall_call(ride, elevator);
            self.order(elevator, Aim::Call, action);
        }
        if let Some(progress) = self.progress(&ride.order) {
            progress.second_period = true;
            progress.asking_until_ms = None;
        }
        self.extend(&ride.order, span_ms);
        false
    }

    pub(super) fn drive_arrived(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let since = self.since(order);
        if self.hold_if_silent(ride, elevator) {
            return;
        }
        if self.drive_recheck(ride, elevator) {
            return;
        }
        let entry_over = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.entry_over);
        if entry_over {
            self.await_no_show(ride, elevator);
            return;
        }
        if self.is_late(order) {
            self.entry_is_over(ride, elevator);
            return;
        }
        let Some(reading) = self.read(elevator, since).cloned() else {
            self.ask_since(elevator, since);
            self.doubt_door(ride, elevator, &ride.from);
            self.hold_unread(elevator, &ride.from);
            return;
        };
        if reading.is_shut() {
            self.note_shut(order);
        }
        match reading.motion {
            Motion::Up | Motion::Down => {
                let detail = format!("{elevator} moves away from {}", ride.from);
                self.hold(order, ReasonCode::DoorFault, &detail);
            }
            Motion::Stopped
                if reading
                    .floor
                    .as_ref()
                    .is_some_and(|floor| floor != &ride.from.floor) =>
            {
                if any_door_not_shut(&reading) {
                    let detail = format!("{elevator} stands open at another floor");
                    self.hold(order, ReasonCode::WrongFloor, &detail);
                } else {
                    let detail = format!("{elevator} moved away from {}", ride.from);
                    self.hold(order, ReasonCode::DoorFault, &detail);
                }
            }
            Motion::Stopped | Motion::Unknown => self.tend_boarding_door(ride, elevator, since),
        }
    }

    fn tend_boarding_door(&mut self, ride: &Ride, elevator: &ElevatorId, since: u64) {
        let order = &ride.order;
        if !self.is_open(elevator, &ride.from, since) {
            self.door_not_open(ride, elevator, &ride.from);
            return;
        }
        if !self.hold_open(ride, elevator, &ride.from) {
            return;
        }
        let pending = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.recheck.is_some());
        if !pending && self.may_enter(elevator, &ride.from, since) {
            let withheld = ride.away && !ride.enter_given;
            let word = if withheld {
                Instruction::Approach
            } else {
                Instruction::Enter
            };
            self.instruct(order, word);
        }
    }
}
