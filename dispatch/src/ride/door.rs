//! The door at a landing where a robot is to cross: held, doubted, opened again.

use protocol::hardware::Action;
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Landing, OrderId, ReasonCode};

use crate::effort::{Aim, Stage};
use crate::state::Ride;
use crate::step::Step;

/// How often a door is opened again, closed again, or a hold sent again (`ride.md` section 2).
pub(crate) const DOOR_TRIES_MAX: u8 = 3;

impl Step<'_> {
    /// The door is READ open: it is held. Returns `false` when the hold was refused, which is HOLD.
    pub(super) fn hold_open(
        &mut self,
        ride: &Ride,
        elevator: &ElevatorId,
        landing: &Landing,
    ) -> bool {
        self.keep_open(elevator, landing);
        if !self.hold_refused(elevator) {
            return true;
        }
        if let Some(car) = self.live.cars.get_mut(elevator) {
            // What stood before the refusal is no ground to go on from HOLD.
            car.hold_until_ms = 0;
        }
        if ride.state != RideState::ElevatorArrived {
            let landing = landing.clone();
            self.order(elevator, Aim::Open, Action::OpenDoor { landing });
        }
        let detail = format!("{elevator} refused to hold its door at {landing}");
        self.hold(&ride.order, ReasonCode::DoorFault, &detail);
        false
    }

    /// The door is not READ open where it ought to be: `stay`, and opened at most three times.
    pub(super) fn door_not_open(&mut self, ride: &Ride, elevator: &ElevatorId, landing: &Landing) {
        self.doubt_door(ride, elevator, landing);
        let doubt_ms = self.live.cars.get(elevator).and_then(|car| car.doubt_ms);
        if let Some(doubt_ms) = doubt_ms
            && self.read(elevator, doubt_ms).is_none()
        {
            self.ask_since(elevator, doubt_ms);
        } else if !self.reopen(&ride.order, elevator, landing) {
            let detail = format!("the door of {elevator} does not stay open at {landing}");
            self.hold(&ride.order, ReasonCode::DoorFault, &detail);
        }
    }

    /// Where the door is not known to be open, no threshold is crossed.
    pub(super) fn doubt_door(&mut self, ride: &Ride, elevator: &ElevatorId, landing: &Landing) {
        let doubted = self.live.cars.get(elevator).is_some_and(|car| {
            let unread = car
                .doubt_ms
                .is_some_and(|doubt_ms| car.read_since(doubt_ms).is_none());
            let reading = car.reading.as_ref();
            unread || reading.is_some_and(|reading| !reading.is_open_at(landing))
        });
        let permits = matches!(ride.instruction, Instruction::Enter | Instruction::Exit);
        if doubted && permits {
            self.instruct(&ride.order, Instruction::Stay);
        }
    }

    /// Keeps the door open: begins a hold, renews one that is due, repeats one that was lost.
    /// Returns whether a hold is taken and lasts for a permission.
    pub(crate) fn keep_open(&mut self, elevator: &ElevatorId, landing: &Landing) -> bool {
        let now_ms = self.now.mono_ms;
        let valid_ms = self.config.timing.valid_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return false;
        };
        let elsewhere = car.efforts.get(Aim::Hold).is_some_and(|effort| {
            matches!(&effort.action, Action::HoldDoor { landing: there, .. } if there != landing)
        });
        if elsewhere {
            car.efforts.drop_aim(Aim::Hold);
        }
        if car.hold_at.as_ref() != Some(landing) {
            // A hold of another landing permits no crossing here.
            car.hold_until_ms = 0;
            car.hold_at = Some(landing.clone());
        }
        if let Some(effort) = car.efforts.get(Aim::Hold)
            && let (Stage::Taken { at_ms }, Action::HoldDoor { hold_ms, .. }) =
                (&effort.stage, &effort.action)
        {
            let (sent_ms, hold_ms, at_ms) = (effort.sent_ms, *hold_ms, *at_ms);
            car.take_hold(sent_ms, hold_ms, at_ms);
        }
        let due = match car.efforts.stage(Aim::Hold) {
            None | Some(Stage::Lost) => true,
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. }) => false,
            Some(Stage::Taken { .. } | Stage::Failed { .. }) => {
                mutate!(HoldOnce, now_ms >= car.hold_next_ms, false)
            }
        };
        let lasts = car.hold_lasts_ms(now_ms) >= valid_ms;
        let unseen = lasts && car.read_since(car.hold_since_ms).is_none();
        let since_ms = car.hold_since_ms;
        if unseen {
            // The door may have begun to close before the hold was taken.
            self.ask_since(elevator, since_ms);
        }
        if due {
            let action = self.hold_door_at(elevator, landing);
            self.order(elevator, Aim::Hold, action);
        }
        lasts
    }

    /// Nothing was READ in this state yet: the reading that led to it keeps the door held.
    pub(super) fn hold_unread(&mut self, elevator: &ElevatorId, landing: &Landing) {
        if self.held_landing(elevator).as_ref() == Some(landing) {
            self.keep_open(elevator, landing);
        }
    }

    /// Where the door was READ open by a controller that is not silent: the door is held by an
    /// older reading than a permission is founded on.
    pub(super) fn held_landing(&self, elevator: &ElevatorId) -> Option<Landing> {
        let silent_ms = self.config.timing.silent_ms;
        let heard_since_ms = self.now.mono_ms.saturating_sub(silent_ms);
        let car = self.live.cars.get(elevator)?;
        let since_ms = heard_since_ms.max(car.permits_since_ms());
        self.open_landing(elevator, since_ms)
    }

    /// A hold for as long as the controller keeps one.
    pub(super) fn hold_door_at(&self, elevator: &ElevatorId, landing: &Landing) -> Action {
        let hold_ms = self
            .elevator_config(elevator)
            .map_or(0, |config| config.hold_max_ms);
        let landing = landing.clone();
        mutate!(HoldLong, Action::HoldDoor { landing, hold_ms }, {
            let hold_ms = hold_ms.saturating_mul(2);
            Action::HoldDoor { landing, hold_ms }
        })
    }

    /// The hold was refused.
    pub(crate) fn hold_refused(&self, elevator: &ElevatorId) -> bool {
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Hold));
        matches!(stage, Some(Stage::Failed { .. }))
    }

    /// The hold is renewed no more.
    pub(crate) fn release_hold(&mut self, elevator: &ElevatorId) {
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.efforts.drop_aim(Aim::Hold);
            car.hold_next_ms = u64::MAX;
        }
    }

    /// Opens the door once more, where the car stands level at the landing: at most three times.
    /// Returns `false` when that was tried often enough.
    pub(super) fn reopen(
        &mut self,
        order: &OrderId,
        elevator: &ElevatorId,
        landing: &Landing,
    ) -> bool {
        let (settle_ms, requery_ms) = (self.config.timing.settle_ms, self.config.timing.requery_ms);
        let now_ms = self.now.mono_ms;
        let stage = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.efforts.stage(Aim::Open));
        let pending = match stage {
            Some(Stage::Waiting | Stage::Sent | Stage::Unknown { .. }) => true,
            Some(Stage::Taken { at_ms }) => {
                now_ms < at_ms.saturating_add(settle_ms).saturating_add(requery_ms)
            }
            Some(Stage::Failed { .. } | Stage::Lost) | None => false,
        };
        // A car that is not known to stand level is not opened; the state's deadline bounds the wait.
        if pending || !self.stands_level(elevator, landing) {
            return true;
        }
        let Some(progress) = self.progress(order) else {
            return false;
        };
        if progress.tries.open >= DOOR_TRIES_MAX {
            return false;
        }
        progress.tries.open += 1;
        self.release_hold(elevator);
        self.order(
            elevator,
            Aim::Open,
            Action::OpenDoor {
                landing: landing.clone(),
            },
        );
        true
    }
}
