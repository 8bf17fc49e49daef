//! Elevators whose order is done with them, until what the order left behind is seen to be over.

use protocol::hardware::{Action, Direction, Motion, Reading};
use protocol::ops::Presence;
use protocol::{ElevatorId, Landing, ReasonCode};

use super::door::DOOR_TRIES_MAX;
use crate::effort::{Aim, Stage, hall_call_registered};
use crate::fact::KeptUntil;
use crate::sight::Occupancy;
use crate::step::{Step, reason};

impl Step<'_> {
    pub(super) fn drive_kept(&mut self, elevator: &ElevatorId) {
        let Some(record) = self.state.elevators.get(elevator) else {
            return;
        };
        if record.block.is_some() {
            return;
        }
        let Some(until) = record.kept.clone() else {
            return;
        };
        let now_ms = self.now.mono_ms;
        let span_ms = self.kept_span_ms(elevator);
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let since = car.kept.since_ms;
        let deadline = *car
            .kept
            .deadline_ms
            .get_or_insert_with(|| now_ms.saturating_add(span_ms));
        self.ask_since(elevator, since);
        if self.is_silent(elevator) {
            if now_ms >= deadline && self.live.frozen_since_ms.is_none() {
                let detail = format!("the controller of {elevator} is silent");
                self.block(elevator, reason(ReasonCode::ControllerLost, detail), false);
            }
            return;
        }
        if !self.mode(elevator).serves_robots() {
            // Only query and release may be sent: what is waited for cannot be asked for.
            if let Some(car) = self.live.cars.get_mut(elevator) {
                car.kept.deadline_ms = Some(now_ms.saturating_add(span_ms));
            }
            return;
        }
        let reading = self.read(elevator, since).cloned();
        let done = match &until {
            KeptUntil::ShutOrEmpty => self.after_exit(elevator, reading.as_ref()),
            KeptUntil::Shut => {
                let shut = reading.as_ref().is_some_and(Reading::is_shut);
                mutate!(FreeUnseen, shut, true)
            }
            KeptUntil::CallCleared { landing, up } => {
                self.call_cleared(elevator, landing, *up, reading.as_ref())
            }
            KeptUntil::ModeNormal => reading.is_some(),
        };
        if done {
            self.free(elevator);
        } else if now_ms >= deadline && self.live.frozen_since_ms.is_none() {
            self.kept_is_over(elevator, &until, reading.as_ref());
        }
    }

    /// After an exit: close the door; SHUT, or OPEN and EMPTY by a presence signal, ends it.
    fn after_exit(&mut self, elevator: &ElevatorId, reading: Option<&Reading>) -> bool {
        let signal = self
            .elevator_config(elevator)
            .is_some_and(|config| config.presence != Presence::None);
        let Some(reading) = reading else {
            self.close_kept(elevator);
            return false;
        };
        if reading.is_shut() {
            return true;
        }
        if matches!(reading.motion, Motion::Up | Motion::Down) {
            let detail = format!("{elevator} moved away before its doors were seen shut");
            self.block(elevator, reason(ReasonCode::DoorFault, detail), false);
            return false;
        }
        let open = self.open_landing(elevator, 0).is_some();
        if signal && open && self.occupancy(elevator) == Occupancy::Empty {
            return true;
        }
        self.close_kept(elevator);
        false
    }

    fn close_kept(&mut self, elevator: &ElevatorId) {
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Close));
        match stage.cloned() {
            None => self.order_close(elevator),
            Some(Stage::Failed { detail }) => {
                let detail = format!("{elevator} refused to close its door: {detail}");
                self.block(elevator, reason(ReasonCode::DoorFault, detail), false);
            }
            Some(
                Stage::Waiting
                | Stage::Sent
                | Stage::Unknown { .. }
                | Stage::Taken { .. }
                | Stage::Lost,
            ) => {}
        }
    }

    fn order_close(&mut self, elevator: &ElevatorId) {
        if let Some(landing) = self.open_landing(elevator, 0) {
            self.order(elevator, Aim::Close, Action::CloseDoor { landing });
        }
    }

    /// CLEARCALL: the hall call is withdrawn and seen gone, and the car does not stand open there;
    /// where calls cannot be read or withdrawn, the car came and was shut again.
    fn call_cleared(
        &mut self,
        elevator: &ElevatorId,
        landing: &Landing,
        up: bool,
        reading: Option<&Reading>,
    ) -> bool {
        let Some(reading) = reading else { return false };
        let open_there = reading.is_open_at(landing);
        if let Some(car) = self.live.cars.get_mut(elevator)
            && open_there
        {
            car.kept.came = true;
        }
        let came_and_shut = reading.is_shut()
            && self
                .live
                .cars
                .get(elevator)
                .is_some_and(|car| car.kept.came);
        let registered = hall_call_registered(reading, landing);
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Cancel));
        match stage.cloned() {
            None => {
                let direction = if up { Direction::Up } else { Direction::Down };
                let landing = landing.clone();
                self.order(
                    elevator,
                    Aim::Cancel,
                    Action::CancelCall { landing, direction },
                );
                false
            }
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. }) => false,
            Some(Stage::Taken { at_ms }) => {
                if !self.settled(elevator, Aim::Cancel, at_ms) {
                    self.ask_since(elevator, at_ms.saturating_add(self.config.timing.settle_ms));
                    return false;
                }
                match registered {
                    Some(registered) => mutate!(CallUncleared, !registered && !open_there, true),
                    None => came_and_shut,
                }
            }
            Some(Stage::Failed { .. } | Stage::Lost) => match registered {
                Some(registered) => !registered && !open_there,
                None => came_and_shut,
            },
        }
    }

    fn kept_is_over(
        &mut self,
        elevator: &ElevatorId,
        until: &KeptUntil,
        reading: Option<&Reading>,
    ) {
        let now_ms = self.now.mono_ms;
        let span_ms = self.config.timing.door_close_ms;
        match until {
            KeptUntil::ShutOrEmpty => {
                let Some(car) = self.live.cars.get_mut(elevator) else {
                    return;
                };
                if car.kept.closes < DOOR_TRIES_MAX {
                    car.kept.closes += 1;
                    car.kept.deadline_ms = Some(now_ms.saturating_add(span_ms));
                    self.ask(elevator);
                    self.order_close(elevator);
                } else {
                    let detail = format!("the door of {elevator} does not close after the exit");
                    self.block(elevator, reason(ReasonCode::DoorFault, detail), false);
                }
            }
            KeptUntil::ModeNormal => {
                let detail = format!("{elevator} was not read after its mode was normal again");
                let why = reason(ReasonCode::ControllerLost, detail);
                self.block(elevator, why, false);
            }
            KeptUntil::Shut => {
                let detail = format!("the door of {elevator} was not seen shut");
                self.block(elevator, reason(ReasonCode::DoorFault, detail), false);
            }
            KeptUntil::CallCleared { landing, .. } => {
                let seen = reading.map_or("not read", |_| "not seen cleared");
                let detail = format!("the hall call of {elevator} at {landing} was {seen}");
                self.block(elevator, reason(ReasonCode::HallCallTimeout, detail), false);
            }
        }
    }
}
