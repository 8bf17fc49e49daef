//! What each change of a ride is founded on: readings, and words that a signal bears out.

use protocol::hardware::{Call, Motion, Reading};
use protocol::ride::{Instruction, RideState, RideView};
use protocol::{ElevatorId, Landing, ReasonCode};

use super::evidence::{Why, ensure};
use super::law::{Found, Law};
use super::model::{Car, Model, Ride, Until, Word};
use super::seen::Step;
use super::told::{operator_acted, permitted_landing};

impl Model {
    pub(super) fn reading(
        &self,
        ride: &Ride,
        elevator: &ElevatorId,
    ) -> Result<(&Car, &Reading), String> {
        let car = self.cars.get(elevator).ok_or("there is no such elevator")?;
        let reading = car.read(ride.since_ms);
        let reading = reading.ok_or("nothing was read since the state began")?;
        Ok((car, reading))
    }

    pub(super) fn to_waiting(&self, before: &Ride, elevator: &ElevatorId) -> Why {
        let (_, reading) = self.reading(before, elevator)?;
        let occupied = self.has_presence(elevator) && reading.occupied != Some(false);
        ensure(!occupied, "the car is not read empty")?;
        ensure(reading.fault.is_none(), "the controller shows a fault")?;
        ensure(self.serves(elevator), "the mode is not normal")
    }

    pub(super) fn to_arrived(&self, step: &Step<'_>, before: &Ride, elevator: &ElevatorId) -> Why {
        let (_, reading) = self.reading(before, elevator).or_else(|why| {
            let operated = operator_acted(step, elevator);
            let car = self.cars.get(elevator).filter(|_| operated).ok_or(why)?;
            let reading = car.reading.as_ref().ok_or("nothing was read")?;
            Ok::<_, String>((car, reading))
        })?;
        ensure(
            reading.is_open_at(&before.from),
            "the car is not read open there",
        )?;
        ensure(self.serves(elevator), "the mode is not normal")
    }

    pub(super) fn to_entered(&self, before: &Ride, elevator: &ElevatorId) -> Why {
        let said = matches!(before.word, Some((Word::Entered, _)));
        ensure(said, "the robot did not say that it entered")?;
        if self.has_presence(elevator) {
            ensure(
                self.occupied(elevator) == Some(true),
                "the car is not read full",
            )?;
        }
        if before.state == RideState::Hold {
            ensure(self.serves(elevator), "the mode is not normal")?;
            let since = self.fresh_since();
            let open = self.cars[elevator].is_open(&before.from, since);
            ensure(
                open && before.is_held_in_boarding(),
                "HOLD does not go on there",
            )?;
        }
        Ok(())
    }

    pub(super) fn to_running(&self, step: &Step<'_>, before: &Ride, elevator: &ElevatorId) -> Why {
        if before.state == RideState::Hold {
            let shut = self.cars[elevator]
                .reading
                .as_ref()
                .is_some_and(Reading::is_shut);
            return ensure(
                shut && operator_acted(step, elevator),
                "only an operator ends it so",
            );
        }
        let (_, reading) = self.reading(before, elevator)?;
        let landing = if before.state == RideState::TargetArrived {
            &before.to
        } else {
            &before.from
        };
        let elsewhere = reading
            .floor
            .as_ref()
            .is_some_and(|it| it != &landing.floor);
        let moves = matches!(reading.motion, Motion::Up | Motion::Down);
        ensure(moves || elsewhere, "the car is not read under way")?;
        let there =
            reading.motion == Motion::Stopped && reading.floor.as_ref() == Some(&before.to.floor);
        let left = before.state == RideState::TargetArrived;
        ensure(
            reading.is_shut() || there || left,
            "its doors are not read shut",
        )
    }

    pub(super) fn to_target(&self, step: &Step<'_>, before: &Ride, elevator: &ElevatorId) -> Why {
        if operator_acted(step, elevator) {
            let car = &self.cars[elevator];
            let open = car
                .reading
                .as_ref()
                .is_some_and(|it| it.is_open_at(&before.to));
            return ensure(open, "the car is not read open there");
        }
        let (_, reading) = self.reading(before, elevator)?;
        ensure(
            reading.is_open_at(&before.to),
            "the car is not read open there",
        )?;
        ensure(self.serves(elevator), "the mode is not normal")
    }

    pub(super) fn to_exited(&self, before: &Ride, elevator: &ElevatorId) -> Why {
        let said = matches!(before.word, Some((Word::Exited, _)));
        ensure(said, "the robot did not say that it left")?;
        if self.has_presence(elevator) {
            ensure(
                self.occupied(elevator) == Some(false),
                "the car is not read empty",
            )?;
        }
        let car = &self.cars[elevator];
        let floor = car
            .reading
            .as_ref()
            .and_then(|reading| reading.floor.as_ref());
        let there = before.state == RideState::TargetArrived || floor == Some(&before.to.floor);
        ensure(there, "the car is not at the target")
    }

    /// Law 2: no end while the robot may be inside, unless it was seen not to be.
    pub(super) fn to_end(
        &self,
        step: &Step<'_>,
        before: &Ride,
        view: &RideView,
        elevator: &ElevatorId,
    ) -> Why {
        if !before.inside || operator_acted(step, elevator) {
            return Ok(());
        }
        let presence = self.has_presence(elevator);
        let empty = self.occupied(elevator) == Some(false);
        let code = view.reason.as_ref().map(|reason| reason.code);
        match before.word {
            Some((Word::CancelEnter, _)) if presence => {
                return ensure(empty, "the car is not read empty");
            }
            Some((Word::CancelEnter, _)) => {
                return ensure(!before.shut_seen, "the door was shut since `enter`");
            }
            Some((Word::Exited, _)) if before.state == RideState::Hold => {
                return ensure(empty || !presence, "the car is not read empty");
            }
            Some(_) | None => {}
        }
        ensure(
            code == Some(ReasonCode::BoardingTimeout),
            "the robot may be inside",
        )?;
        let timing = &self.site.timing;
        let over = before.permitted_ms + 2 * timing.valid_ms;
        let seen = self.cars[elevator]
            .read(over)
            .is_some_and(|reading| reading.is_shut() && reading.occupied == Some(false));
        let in_car = self
            .robots
            .get(&before.robot)
            .is_some_and(|robot| robot.in_car);
        ensure(
            presence && seen && !in_car && !before.in_car && self.now_ms >= over,
            "nobody saw that it did not enter",
        )
    }

    /// What the presence signal says, if it was read lately.
    pub(super) fn occupied(&self, elevator: &ElevatorId) -> Option<bool> {
        let car = self.cars.get(elevator)?;
        car.read(self.fresh_since())?.occupied
    }

    pub(super) fn fresh_since(&self) -> u64 {
        self.now_ms
            .saturating_sub(self.site.timing.reading_fresh_ms)
    }

    /// `enter` and `exit`: only where the car was just read open, and is held.
    pub(super) fn permission(&self, before: &Ride, view: &RideView, found: &mut Found) {
        let order = &view.order_id;
        let (Some(elevator), Some(landing)) = (&view.elevator_id, permitted_landing(view)) else {
            found.add(Law::I9, format!("{order} may cross nowhere in particular"));
            return;
        };
        let enters = view.instruction == Instruction::Enter;
        let held = view.state != RideState::Hold || self.serves(elevator);
        found.check(self.may_cross(elevator, &landing, held), Law::I9, || {
            format!(
                "{order} is told {} of {elevator} at {landing}",
                view.instruction
            )
        });
        let serves = self.serves(elevator) || view.state == RideState::Hold;
        let there = !enters || (landing == before.from && !self.stopping);
        found.check(serves && there, Law::I9, || {
            format!(
                "{order} is told {} of {elevator} at {landing} out of place",
                view.instruction
            )
        });
    }

    /// Whether an elevator that is kept back may be free.
    pub(super) fn may_be_free(&self, elevator: &ElevatorId) -> Why {
        let Some(car) = self.cars.get(elevator) else {
            return Ok(());
        };
        let until = match (&car.kept.owner, &car.kept.until) {
            (None, _) => return Ok(()),
            (Some(order), None) => {
                let ride = self.rides.get(order);
                let live = ride.is_some_and(|ride| ride.is_live() && !ride.loose);
                return ensure(!live, &format!("{order} rides it"));
            }
            (Some(_), Some(until)) => until,
        };
        ensure(self.serves(elevator), "its mode is not normal")?;
        let reading = car.read(car.kept_ms).ok_or("nothing was read of it")?;
        let empty = self.has_presence(elevator) && self.occupied(elevator) == Some(false);
        match until {
            Until::Free | Until::ModeNormal => Ok(()),
            Until::Shut => ensure(reading.is_shut(), "its doors were not read shut"),
            Until::ShutOrEmpty => ensure(
                reading.is_shut() || (empty && reading.motion == Motion::Stopped),
                "its doors were not read shut, nor the car empty",
            ),
            Until::CallCleared(landing) => match hall_call(reading, landing) {
                Some(called) => ensure(
                    !called && !reading.is_open_at(landing),
                    "its hall call was not read cleared",
                ),
                None => ensure(
                    reading.is_shut() && car.came,
                    "the car was not seen to come",
                ),
            },
        }
    }
}

/// Whether a hall call at the landing is registered; `None` where calls cannot be read.
fn hall_call(reading: &Reading, landing: &Landing) -> Option<bool> {
    let calls = reading.calls.as_ref()?;
    Some(calls.iter().any(|call| match call {
        Call::Hall { floor, side, .. } => {
            floor == &landing.floor && side.is_none_or(|side| side == landing.side)
        }
        Call::Car { .. } => false,
    }))
}
