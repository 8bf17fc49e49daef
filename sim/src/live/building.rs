//! The cars of a building and the simulator's own record, advanced by real time.
//!
//! Everything that touches a car goes through here: controllers with commands, robots with their
//! feet. The record is written under the same lock, so its order is the true one.

mod inner;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::hardware::{Command, Mode, Reading};
use protocol::ride::RideState;
use protocol::{ElevatorId, FloorLabel, RobotId, ZoneId};
use tokio::sync::{Notify, watch};

use self::inner::Inner;
use super::pace::Pace;
use super::robot::{Threshold, Way};
use crate::car::{Car, CarConfig, CarFaults};
use crate::record::{Entry, Record};

/// The longest and the shortest sleep between two looks at the clock.
const TURN_MAX: Duration = Duration::from_millis(200);
const TURN_MIN: Duration = Duration::from_millis(1);

/// A car and where it belongs.
#[derive(Debug, Clone)]
pub struct CarPlan {
    /// Its name.
    pub elevator: ElevatorId,
    /// Its zone.
    pub zone: ZoneId,
    /// Its physics, in the building's time.
    pub config: CarConfig,
}

/// The building.
#[derive(Debug)]
pub struct Building {
    pace: Pace,
    inner: Mutex<Inner>,
    /// What each car shows; new at each change.
    sights: BTreeMap<ElevatorId, watch::Sender<Reading>>,
    zones: BTreeMap<ElevatorId, ZoneId>,
    /// A car was touched: what was due next may have changed.
    touched: Notify,
}

/// What people see of a car.
#[derive(Debug, Clone)]
pub struct CarView {
    /// Its name.
    pub elevator: ElevatorId,
    /// What its controller shows.
    pub reading: Reading,
    /// The robots in it or on its threshold.
    pub robots: Vec<RobotId>,
}

/// There is no such elevator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the building has no elevator {0}")]
pub struct UnknownCar(pub ElevatorId);

impl Building {
    /// A building whose clock runs at `pace`. [`Building::run`] makes its time pass.
    #[must_use]
    pub fn new(plans: Vec<CarPlan>, pace: Pace) -> Arc<Self> {
        let mut cars = BTreeMap::new();
        let mut sights = BTreeMap::new();
        let mut zones = BTreeMap::new();
        for CarPlan {
            elevator,
            zone,
            config,
        } in plans
        {
            let mut car = Car::new(config);
            sights.insert(elevator.clone(), watch::Sender::new(car.snapshot(0)));
            zones.insert(elevator.clone(), zone);
            cars.insert(elevator, car);
        }
        let inner = Inner {
            cars,
            record: Record::new(),
            fire: BTreeSet::new(),
            told: BTreeMap::new(),
            grants: BTreeMap::new(),
            now_ms: 0,
        };
        Arc::new(Self {
            pace,
            inner: Mutex::new(inner),
            sights,
            zones,
            touched: Notify::new(),
        })
    }

    /// Lets time pass until the future is dropped.
    pub async fn run(self: Arc<Self>) {
        loop {
            let next_ms = self.turn();
            let now_ms = self.pace.now_ms();
            let left = next_ms.map_or(TURN_MAX, |at| self.pace.ours(at.saturating_sub(now_ms)));
            let sleep = left.clamp(TURN_MIN, TURN_MAX);
            tokio::select! {
                biased;
                () = tokio::time::sleep(sleep) => {}
                () = self.touched.notified() => {}
            }
        }
    }

    /// How fast it runs.
    #[must_use]
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// The names of the cars.
    pub fn elevators(&self) -> impl Iterator<Item = &ElevatorId> {
        self.sights.keys()
    }

    /// The floors of a car, from the lowest.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn floors(&self, elevator: &ElevatorId) -> Result<Vec<FloorLabel>, UnknownCar> {
        self.touch(elevator, |car, _| {
            car.config()
                .floors
                .iter()
                .map(|stop| stop.label.clone())
                .collect()
        })
    }

    /// What a car shows; changes when it does. It may be a turn of the scheduler late.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn sight(&self, elevator: &ElevatorId) -> Result<watch::Receiver<Reading>, UnknownCar> {
        let sight = self
            .sights
            .get(elevator)
            .ok_or_else(|| UnknownCar(elevator.clone()))?;
        Ok(sight.subscribe())
    }

    /// All that a car's controller shows at this moment.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn snapshot(&self, elevator: &ElevatorId) -> Result<Reading, UnknownCar> {
        self.touch(elevator, |car, now_ms| car.snapshot(now_ms))
    }

    /// A controller received a command: it is noted, and done unless `only_noted`. A hold is in the
    /// building's milliseconds.
    ///
    /// # Errors
    /// Why the controller does not do it.
    pub fn command(&self, command: &Command, only_noted: bool) -> Result<(), String> {
        let elevator = &command.elevator_id;
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        let noted = inner.with_order(command.clone());
        inner.record.note(now_ms, Entry::Command(noted));
        let car = inner.cars.get_mut(elevator);
        let car = car.ok_or_else(|| UnknownCar(elevator.clone()).to_string())?;
        if only_noted {
            return Ok(());
        }
        let done = car.execute(now_ms, &command.action);
        let happened = car.take_events();
        inner.keep(elevator, happened);
        drop(inner);
        self.touched.notify_one();
        done
    }

    /// Whether the effect of a command is there.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn is_done(&self, command: &Command) -> Result<bool, UnknownCar> {
        self.touch(&command.elevator_id, |car, _| car.is_done(&command.action))
    }

    /// A robot drives onto a threshold. Says whether it could.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn begin_crossing(&self, robot: &RobotId, at: &Threshold) -> Result<bool, UnknownCar> {
        self.touch(&at.elevator, |car, now_ms| {
            car.enter_doorway(now_ms, robot, &at.landing)
        })
    }

    /// A robot stands on the other side of the threshold. Says whether it could.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn end_crossing(&self, robot: &RobotId, at: &Threshold) -> Result<bool, UnknownCar> {
        self.touch(&at.elevator, |car, now_ms| match at.way {
            Way::In => car.enter(now_ms, robot, &at.landing),
            Way::Out => car.leave(now_ms, robot, at.landing.side),
        })
    }

    /// Puts a car into a mode.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn set_mode(&self, elevator: &ElevatorId, mode: Mode) -> Result<(), UnknownCar> {
        self.touch(elevator, |car, now_ms| car.set_mode(now_ms, mode))
    }

    /// Changes what is broken in a car.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn set_faults(
        &self,
        elevator: &ElevatorId,
        change: impl FnOnce(&mut CarFaults),
    ) -> Result<(), UnknownCar> {
        self.touch(elevator, |car, now_ms| car.set_faults(now_ms, change))
    }

    /// A car's controller starts anew and forgets calls, holds and a claim.
    ///
    /// # Errors
    /// [`UnknownCar`].
    pub fn restart(&self, elevator: &ElevatorId) -> Result<(), UnknownCar> {
        self.touch(elevator, |car, now_ms| car.forget(now_ms))
    }

    /// Raises or ends a fire alarm: its input, and the mode of every car of the zone.
    pub fn set_fire(&self, zone: &ZoneId, burns: bool) {
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        if burns {
            inner.fire.insert(zone.clone());
        } else {
            inner.fire.remove(zone);
        }
        let mode = if burns { Mode::Fire } else { Mode::Normal };
        for (elevator, car) in &mut inner.cars {
            if self.zones.get(elevator) == Some(zone) {
                car.set_mode(now_ms, mode);
            }
        }
        drop(inner);
        self.touched.notify_one();
    }

    /// Whether the fire input of a zone is clear.
    #[must_use]
    pub fn is_clear_of_fire(&self, zone: &ZoneId) -> bool {
        !self.lock().fire.contains(zone)
    }

    /// Notes something that no car can see, such as a task or a published word.
    pub fn note(&self, entry: Entry) {
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        inner.keep_told(&entry);
        inner.record.note(now_ms, entry);
    }

    /// Every car, as people see it.
    #[must_use]
    pub fn view(&self) -> Vec<CarView> {
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        let view = |(elevator, car): (&ElevatorId, &mut Car)| CarView {
            elevator: elevator.clone(),
            reading: car.snapshot(now_ms),
            robots: seen_at(car).into_iter().collect(),
        };
        inner.cars.iter_mut().map(view).collect()
    }

    /// The newest ride state that each robot was told, and its elevator.
    #[must_use]
    pub fn told(&self) -> BTreeMap<RobotId, (RideState, Option<ElevatorId>)> {
        self.lock().told.clone()
    }

    /// Reads the record as it is at this moment.
    pub fn record<T>(&self, read: impl FnOnce(&Record) -> T) -> T {
        let mut inner = self.lock();
        inner.advance(&self.pace);
        read(&inner.record)
    }

    fn touch<T>(
        &self,
        elevator: &ElevatorId,
        act: impl FnOnce(&mut Car, u64) -> T,
    ) -> Result<T, UnknownCar> {
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        let car = inner
            .cars
            .get_mut(elevator)
            .ok_or_else(|| UnknownCar(elevator.clone()))?;
        let result = act(car, now_ms);
        let happened = car.take_events();
        let is_news = !happened.is_empty();
        inner.keep(elevator, happened);
        drop(inner);
        if is_news {
            self.touched.notify_one();
        }
        Ok(result)
    }

    /// Does what is due, shows what changed, and says when something changes by itself next.
    fn turn(&self) -> Option<u64> {
        let mut inner = self.lock();
        let now_ms = inner.advance(&self.pace);
        let mut next_ms: Option<u64> = None;
        for (elevator, car) in &mut inner.cars {
            let reading = car.snapshot(now_ms);
            if let Some(sight) = self.sights.get(elevator) {
                sight.send_if_modified(|seen| {
                    let is_news = *seen != reading;
                    *seen = reading;
                    is_news
                });
            }
            next_ms = [next_ms, car.next_change_ms()].into_iter().flatten().min();
        }
        next_ms
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere does not make the cars wrong.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The robots in a car or on its threshold.
fn seen_at(car: &Car) -> BTreeSet<RobotId> {
    car.occupants()
        .iter()
        .chain(car.doorway().keys())
        .cloned()
        .collect()
}
