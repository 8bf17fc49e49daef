//! ROBOT_ENTERED, RUNNING and TARGET_ARRIVED: from the confirmed entry to the confirmed exit.

use protocol::hardware::{Action, Motion, Reading};
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Landing, OrderId, ReasonCode};

use super::door::DOOR_TRIES_MAX;
use crate::assign::any_door_not_shut;
use crate::effort::{Aim, Stage, car_call_registered};
use crate::state::Ride;
use crate::step::{Shift, Step};

impl Step<'_> {
    pub(super) fn drive_entered(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let since = self.since(order);
        if self.hold_if_silent(ride, elevator) {
            return;
        }
        let resumed = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.resumed);
        let reading = self.read(elevator, since).cloned();
        match &reading {
            None => self.ask_since(elevator, since),
            Some(reading) if reading.is_shut() => self.note_shut(order),
            Some(_) => {}
        }
        if self.waits_to_close(order) && self.is_open(elevator, &ride.from, since) {
            self.keep_open(elevator, &ride.from);
        }
        if resumed && reading.as_ref().is_some_and(|it| stands_at(it, &ride.to)) {
            // It went while no gateway looked, by a call of the one before.
            self.start_running(ride, elevator);
            return;
        }
        let Some(called) = self.car_called(ride, elevator, reading.as_ref(), resumed) else {
            return;
        };
        if let Some(reading) = &reading
            && self.entered_reading(ride, elevator, reading, called)
        {
            return;
        }
        if self.is_late(order) {
            self.entered_is_over(ride, elevator, reading.as_ref());
            return;
        }
        if mutate!(CloseUncalled, called, true) {
            self.close(ride, elevator, reading.as_ref());
        }
    }

    /// The car call is made. Returns whether it is registered, `None` when the ride left the state.
    fn car_called(
        &mut self,
        ride: &Ride,
        elevator: &ElevatorId,
        reading: Option<&Reading>,
        resumed: bool,
    ) -> Option<bool> {
        let registered = reading.and_then(|reading| car_call_registered(reading, &ride.to));
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Call));
        match stage.cloned() {
            None if resumed && reading.is_none() => Some(false),
            None if resumed && registered == Some(true) => Some(true),
            None if !resumed && !self.may_call_car(elevator) => {
                self.ask_since(elevator, self.fresh_since());
                Some(false)
            }
            None => {
                let landing = ride.to.clone();
                self.order(elevator, Aim::Call, Action::CarCall { landing });
                Some(false)
            }
            Some(Stage::Failed { .. }) => {
                let landing = ride.from.clone();
                if self.stands_level(elevator, &ride.from) {
                    self.order(elevator, Aim::Open, Action::OpenDoor { landing });
                }
                let detail = format!("{elevator} refused the car call to {}", ride.to);
                self.hold(&ride.order, ReasonCode::CallRefused, &detail);
                None
            }
            Some(Stage::Taken { at_ms }) => {
                self.requery(&ride.order, elevator, at_ms);
                let settled = self.settled(elevator, Aim::Call, at_ms);
                if registered == Some(true) || (registered.is_none() && settled) {
                    self.progress(&ride.order)?.call_seen = true;
                }
                Some(self.call_seen(&ride.order))
            }
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. } | Stage::Lost) => {
                Some(self.call_seen(&ride.order))
            }
        }
    }

    fn call_seen(&self, order: &OrderId) -> bool {
        self.live
            .rides
            .get(order)
            .is_some_and(|progress| progress.call_seen)
    }

    /// What a reading in ROBOT_ENTERED says. Returns whether the ride left the state.
    fn entered_reading(
        &mut self,
        ride: &Ride,
        elevator: &ElevatorId,
        reading: &Reading,
        called: bool,
    ) -> bool {
        let order = &ride.order;
        let elsewhere = reading
            .floor
            .as_ref()
            .is_some_and(|floor| floor != &ride.from.floor);
        let taken = self
            .live
            .cars
            .get(elevator)
            .is_some_and(|car| car.efforts.is_taken(Aim::Call));
        let moving = matches!(reading.motion, Motion::Up | Motion::Down);
        // Where calls cannot be read, an accepted one is all that there is to see.
        let registered = called || (taken && reading.calls.is_none());
        if stands_at(reading, &ride.to) && (called || taken) {
            // The floor changed, so the door was shut and the car went, whatever the door does there.
            self.start_running(ride, elevator);
            return true;
        }
        if elsewhere && reading.motion == Motion::Stopped && any_door_not_shut(reading) {
            let detail = format!("{elevator} stands open at another floor than {}", ride.from);
            self.hold(order, ReasonCode::WrongFloor, &detail);
            return true;
        }
        if moving || elsewhere {
            if registered && mutate!(RunUnshut, reading.is_shut(), true) {
                self.start_running(ride, elevator);
            } else if moving {
                let detail = format!("{elevator} moved before its call and door were confirmed");
                self.hold(order, ReasonCode::DoorFault, &detail);
            } else {
                return false;
            }
            return true;
        }
        false
    }

    fn start_running(&mut self, ride: &Ride, elevator: &ElevatorId) {
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.efforts.drop_aim(Aim::Close);
            car.efforts.drop_aim(Aim::Call);
        }
        let span_ms = self.config.timing.travel_ms;
        self.shift(
            &ride.order,
            Shift::to(RideState::Running, Instruction::Ride).within(span_ms),
        );
        // The reading that ended ROBOT_ENTERED may already show the target: look at once.
        self.ask(elevator);
    }

    /// Closes the door once the call is registered; again where it was seen open, at most thrice.
    fn close(&mut self, ride: &Ride, elevator: &ElevatorId, reading: Option<&Reading>) {
        if self.waits_to_close(&ride.order) || reading.is_some_and(Reading::is_shut) {
            return;
        }
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Close));
        let again = match stage.cloned() {
            None => true,
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. }) => false,
            Some(Stage::Failed { .. } | Stage::Lost) => true,
            Some(Stage::Taken { at_ms }) => {
                self.requery(&ride.order, elevator, at_ms);
                // A door that still opens takes no notice, and the tries would be spent on it.
                self.settled(elevator, Aim::Close, at_ms)
                    && reading.is_some_and(|reading| reading.is_open_at(&ride.from))
            }
        };
        let tries = self
            .live
            .rides
            .get(&ride.order)
            .map_or(0, |progress| progress.tries.close);
        if again && tries <= DOOR_TRIES_MAX {
            if let Some(progress) = self.progress(&ride.order) {
                progress.tries.close += 1;
            }
            let landing = ride.from.clone();
            self.release_hold(elevator);
            self.order(elevator, Aim::Close, Action::CloseDoor { landing });
        }
    }

    /// `hold_door` of the robot keeps the door open for a while.
    fn waits_to_close(&self, order: &OrderId) -> bool {
        let now_ms = self.now.mono_ms;
        self.live
            .rides
            .get(order)
            .is_some_and(|progress| now_ms < progress.close_after_ms)
    }

    /// Every door was READ shut since `enter`: the robot's word alone proves no empty car any more.
    pub(super) fn note_shut(&mut self, order: &OrderId) {
        if let Some(progress) = self.progress(order) {
            progress.shut_seen = true;
        }
    }

    /// The deadline of ROBOT_ENTERED passed.
    fn entered_is_over(&mut self, ride: &Ride, elevator: &ElevatorId, reading: Option<&Reading>) {
        let order = &ride.order;
        if self.entry_is_doubted(ride, elevator) {
            let detail = format!("{} says it entered, {elevator} is empty", ride.robot);
            self.hold(order, ReasonCode::EntryUnconfirmed, &detail);
            return;
        }
        if !reading.is_some_and(Reading::is_shut) {
            let detail = format!("the door of {elevator} does not close at {}", ride.from);
            self.hold(order, ReasonCode::DoorFault, &detail);
            return;
        }
        let second = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.second_period);
        if second {
            let detail = format!("{elevator} is shut at {} and does not go", ride.from);
            self.hold(order, ReasonCode::TravelTimeout, &detail);
            return;
        }
        if let Some(progress) = self.progress(order) {
            progress.second_period = true;
        }
        self.order(
            elevator,
            Aim::Call,
            Action::CarCall {
                landing: ride.to.clone(),
            },
        );
        self.extend(order, self.config.timing.door_close_ms);
    }

    pub(super) fn drive_running(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let since = self.since(order);
        if self.hold_if_silent(ride, elevator) {
            return;
        }
        let Some(reading) = self.read(elevator, since).cloned() else {
            self.ask_since(elevator, since);
            if self.is_late(order) {
                self.travel_is_over(ride, elevator, None);
            }
            return;
        };
        if any_door_not_shut(&reading)
            && let Some(progress) = self.progress(order)
        {
            progress.door_opened = true;
        }
        let there = self.is_open(elevator, &ride.to, since);
        if mutate!(
            AnyFloor,
            there,
            self.open_landing(elevator, since).is_some()
        ) {
            if self.hold_open(ride, elevator, &ride.to) && self.may_cross(elevator, &ride.to, since)
            {
                self.go_to_target(order);
            }
            return;
        }
        self.stopped_elsewhere(ride, elevator, &reading);
        self.shut_at_target(ride, elevator, &reading);
        if self.is_late(order) {
            self.travel_is_over(ride, elevator, Some(&reading));
        }
    }

    /// The car stands shut at the target, its door opened unseen or not at all: opened after
    /// `requery_s`, at most three times.
    fn shut_at_target(&mut self, ride: &Ride, elevator: &ElevatorId, reading: &Reading) {
        let stands = reading.motion == Motion::Stopped
            && reading.floor.as_ref() == Some(&ride.to.floor)
            && reading.is_shut();
        let requery_ms = self.config.timing.requery_ms;
        let now_ms = self.now.mono_ms;
        let Some(progress) = self.progress(&ride.order) else {
            return;
        };
        if !stands {
            progress.shut_at_target_ms = None;
            return;
        }
        let since_ms = *progress.shut_at_target_ms.get_or_insert(now_ms);
        let asked_ms = since_ms.saturating_add(requery_ms);
        if self.read(elevator, asked_ms).is_some() {
            self.reopen(&ride.order, elevator, &ride.to);
        } else {
            self.ask_since(elevator, asked_ms);
        }
    }

    /// A stop for people on the way: when it is over, the car is sent on once.
    fn stopped_elsewhere(&mut self, ride: &Ride, elevator: &ElevatorId, reading: &Reading) {
        let stands =
            reading.motion == Motion::Stopped && reading.floor.as_ref() != Some(&ride.to.floor);
        if !stands {
            return;
        }
        let Some(progress) = self.progress(&ride.order) else {
            return;
        };
        if any_door_not_shut(reading) {
            progress.stopped_elsewhere = true;
        } else if progress.stopped_elsewhere {
            progress.stopped_elsewhere = false;
            let landing = ride.to.clone();
            self.order(elevator, Aim::Call, Action::CarCall { landing });
        }
    }

    /// The deadline of RUNNING passed: query; shut elsewhere it is sent on once; else HOLD.
    fn travel_is_over(&mut self, ride: &Ride, elevator: &ElevatorId, reading: Option<&Reading>) {
        let order = &ride.order;
        let now_ms = self.now.mono_ms;
        let accept_ms = self.config.timing.accept_ms;
        let Some(progress) = self.progress(order) else {
            return;
        };
        let asking_until = *progress
            .asking_until_ms
            .get_or_insert_with(|| now_ms.saturating_add(accept_ms));
        let asked_since = asking_until.saturating_sub(accept_ms);
        let second = progress.second_period;
        let fresh = self.read(elevator, asked_since).is_some();
        if !fresh && now_ms < asking_until {
            self.ask_since(elevator, asked_since);
            return;
        }
        let shut_elsewhere = fresh
            && reading.is_some_and(|reading| {
                reading.motion == Motion::Stopped
                    && reading.is_shut()
                    && reading.floor.as_ref() != Some(&ride.to.floor)
            });
        if shut_elsewhere && !second {
            if let Some(progress) = self.progress(order) {
                progress.second_period = true;
                progress.asking_until_ms = None;
            }
            self.order(
                elevator,
                Aim::Call,
                Action::CarCall {
                    landing: ride.to.clone(),
                },
            );
            self.extend(order, self.config.timing.travel_ms);
        } else {
            let detail = format!("{elevator} did not reach {} in time", ride.to);
            self.hold(order, ReasonCode::TravelTimeout, &detail);
        }
    }

    pub(super) fn hold_if_silent(&mut self, ride: &Ride, elevator: &ElevatorId) -> bool {
        let silent = self.is_silent(elevator);
        if silent {
            let detail = format!("the controller of {elevator} is silent");
            self.hold(&ride.order, ReasonCode::ControllerLost, &detail);
        }
        silent
    }
}

fn stands_at(reading: &Reading, landing: &Landing) -> bool {
    reading.motion == Motion::Stopped && reading.floor.as_ref() == Some(&landing.floor)
}
