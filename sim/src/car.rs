//! The physics of one car: its shaft, its doors, the calls it serves, and who is in it.
//!
//! A car has no clock: every method takes the moment, in milliseconds from any origin, and first
//! does all that was due until then, each at its exact moment. [`Car::next_change_ms`] says when it
//! changes by itself next. What happens is kept as [`CarEvent`]s until [`Car::take_events`].
//!
//! It knows no orders, fences or messages; its controller does.

mod config;
mod control;
mod door;
mod event;
mod motion;
mod people;
mod reading;
mod travel;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::hardware::{Direction, Door, Mode};
use protocol::{Landing, RobotId, Side};

pub use self::config::{CarConfig, Stop};
use self::door::{Conditions, DoorMachine};
pub use self::event::{CarEvent, CarFaults, DoorStuck};
use self::motion::Place;
use self::travel::whole_ms;

/// Events kept until somebody takes them; the oldest go first.
const EVENTS_MAX: usize = 65_536;

/// One car.
#[derive(Debug, Clone)]
pub struct Car {
    config: CarConfig,
    /// How long its doors take to open and to close, and stay open by themselves.
    doors_ms: [u64; 3],
    place: Place,
    front: DoorMachine,
    rear: DoorMachine,
    /// Registered calls.
    calls: BTreeSet<Press>,
    /// The way of the last trip, kept while calls lie ahead.
    going_up: bool,
    mode: Mode,
    faults: CarFaults,
    occupants: BTreeSet<RobotId>,
    /// Who stands on the threshold, and on which side.
    doorway: BTreeMap<RobotId, Side>,
    /// People in the car, seen by a presence signal of the kind `any`.
    people: u32,
    events: VecDeque<(u64, CarEvent)>,
    /// All that was due until then is done.
    now_ms: u64,
}

/// A button that was pressed and is lit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Press {
    floor: usize,
    side: Side,
    /// The direction of a hall call; `None` for a call in the car.
    hall: Option<Direction>,
}

impl Car {
    /// A car that stands shut at its first floor in mode `normal`.
    #[must_use]
    pub fn new(config: CarConfig) -> Self {
        let floor = config.start.min(config.floors.len().saturating_sub(1));
        let open_ms = whole_ms(config.door_open_s).max(1);
        let close_ms = whole_ms(config.door_close_s).max(1);
        Self {
            doors_ms: [open_ms, close_ms, whole_ms(config.dwell_s)],
            config,
            place: Place::Standing { floor },
            front: DoorMachine::closed(),
            rear: DoorMachine::closed(),
            calls: BTreeSet::new(),
            going_up: true,
            mode: Mode::Normal,
            faults: CarFaults::default(),
            occupants: BTreeSet::new(),
            doorway: BTreeMap::new(),
            people: 0,
            events: VecDeque::new(),
            now_ms: 0,
        }
    }

    /// What it was made as.
    #[must_use]
    pub fn config(&self) -> &CarConfig {
        &self.config
    }

    /// Does all that is due until `now_ms`, each at its exact moment.
    pub fn advance(&mut self, now_ms: u64) {
        while let Some(at_ms) = self.next_change_ms().filter(|at_ms| *at_ms <= now_ms) {
            self.now_ms = at_ms.max(self.now_ms);
            self.turn();
        }
        self.now_ms = self.now_ms.max(now_ms);
    }

    /// When it changes by itself next; `None` while it only waits.
    #[must_use]
    pub fn next_change_ms(&self) -> Option<u64> {
        let doors = Side::ALL
            .iter()
            .filter_map(|side| self.door(*side).next_ms(self.conditions(*side)));
        let way = match self.place {
            Place::Standing { .. } => None,
            Place::Travelling(travel) => self.next_on_the_way_ms(&travel),
        };
        doors.chain(way).min()
    }

    /// Takes what happened since the last time, oldest first.
    pub fn take_events(&mut self) -> Vec<(u64, CarEvent)> {
        self.events.drain(..).collect()
    }

    /// Somebody presses a button at a landing. Says whether there is such a landing and the mode
    /// lets it be registered.
    pub fn hall_call(&mut self, now_ms: u64, landing: &Landing, direction: Direction) -> bool {
        self.advance(now_ms);
        self.press(landing, Some(direction))
    }

    /// A hall call goes out.
    pub fn cancel_call(&mut self, now_ms: u64, landing: &Landing, direction: Direction) {
        self.advance(now_ms);
        let Some(floor) = self.config.index(&landing.floor) else {
            return;
        };
        self.unlight(Press {
            floor,
            side: landing.side,
            hall: Some(direction),
        });
    }

    /// All hall calls go out.
    pub fn cancel_hall_calls(&mut self, now_ms: u64) {
        self.advance(now_ms);
        let lit: Vec<_> = self
            .calls
            .iter()
            .filter(|press| press.hall.is_some())
            .copied()
            .collect();
        for press in lit {
            self.unlight(press);
        }
    }

    /// Somebody presses a button in the car, as for [`Car::hall_call`].
    pub fn car_call(&mut self, now_ms: u64, landing: &Landing) -> bool {
        self.advance(now_ms);
        self.press(landing, None)
    }

    /// The door-open button: opens a car that stands at a floor.
    pub fn open_door(&mut self, now_ms: u64, side: Side) {
        self.advance(now_ms);
        if matches!(self.place, Place::Standing { .. }) {
            self.open(side);
            self.settle();
        }
    }

    /// Keeps the door of a standing car open for `hold_ms`, at most the car's own longest hold. A
    /// door that closes opens again.
    pub fn hold_door(&mut self, now_ms: u64, side: Side, hold_ms: u64) {
        self.advance(now_ms);
        if !matches!(self.place, Place::Standing { .. }) {
            return;
        }
        let until_ms = self.now_ms + hold_ms.min(self.config.hold_max_ms());
        if self.door(side).seen() == Door::Closing {
            self.open(side);
        }
        self.door_mut(side).hold(until_ms);
    }

    /// The door-close button: ends holds and dwell of both doors.
    pub fn close_door(&mut self, now_ms: u64) {
        self.advance(now_ms);
        self.front.close();
        self.rear.close();
        self.turn();
    }

    /// Reserves the car for robots.
    pub fn claim(&mut self, now_ms: u64) {
        self.advance(now_ms);
        if self.mode == Mode::Normal {
            self.set_mode(now_ms, Mode::Robot);
        }
    }

    /// Ends a claim, and all holds.
    pub fn release(&mut self, now_ms: u64) {
        self.advance(now_ms);
        self.front.release();
        self.rear.release();
        if self.mode == Mode::Robot {
            self.set_mode(now_ms, Mode::Normal);
        }
    }

    /// Puts the car into a mode. One that does not serve robots puts out all calls and ends holds;
    /// `fire` sends it to its recall floor, where it stands open.
    pub fn set_mode(&mut self, now_ms: u64, mode: Mode) {
        self.advance(now_ms);
        if self.mode == mode {
            return;
        }
        self.mode = mode;
        self.note(CarEvent::Mode(mode));
        if !mode.serves_robots() {
            for press in std::mem::take(&mut self.calls) {
                self.note_unlit(press);
            }
            self.front.release();
            self.rear.release();
        }
        self.settle();
    }

    /// Changes what is broken.
    pub fn set_faults(&mut self, now_ms: u64, change: impl FnOnce(&mut CarFaults)) {
        self.advance(now_ms);
        change(&mut self.faults);
        let stuck = self.faults.stuck;
        if let Place::Travelling(travel) = &mut self.place {
            match (stuck, travel.stuck_at_ms) {
                (true, None) => travel.stuck_at_ms = Some(self.now_ms - travel.started_ms),
                (false, Some(elapsed_ms)) => {
                    travel.started_ms = self.now_ms - elapsed_ms;
                    travel.stuck_at_ms = None;
                }
                (true, Some(_)) | (false, None) => {}
            }
        }
        self.turn();
    }

    /// What is broken.
    #[must_use]
    pub fn faults(&self) -> &CarFaults {
        &self.faults
    }

    fn press(&mut self, landing: &Landing, hall: Option<Direction>) -> bool {
        let Some(floor) = self.config.index(&landing.floor) else {
            return false;
        };
        let has_side = self.config.floors[floor].sides.contains(&landing.side);
        if !has_side || !self.mode.serves_robots() {
            return false;
        }
        if self.faults.forget_calls > 0 {
            self.faults.forget_calls -= 1;
            return true;
        }
        let press = Press {
            floor,
            side: landing.side,
            hall,
        };
        if self.calls.insert(press) {
            self.note(CarEvent::Called {
                landing: landing.clone(),
                hall,
            });
        }
        self.settle();
        true
    }

    /// What is due at this moment, then what follows from it.
    fn turn(&mut self) {
        let now_ms = self.now_ms;
        for side in Side::ALL {
            let conditions = self.conditions(side);
            let before = self.door(side).seen();
            let reopen = self.faults.reopens > 0;
            if self.door_mut(side).turn(now_ms, conditions, reopen) && !conditions.blocked {
                self.faults.reopens -= 1;
            }
            self.note_door(side, before);
        }
        if let Place::Travelling(travel) = self.place {
            self.travel_on(&travel);
        }
        self.settle();
    }

    fn open(&mut self, side: Side) {
        if self.faults.refuses_to_open() {
            return;
        }
        let before = self.door(side).seen();
        let (now_ms, conditions) = (self.now_ms, self.conditions(side));
        self.door_mut(side).open(now_ms, conditions);
        self.note_door(side, before);
    }

    fn is_shut(&self) -> bool {
        Side::ALL
            .iter()
            .all(|side| self.door(*side).seen() == Door::Closed)
    }

    fn conditions(&self, side: Side) -> Conditions {
        let at_recall = match self.place {
            Place::Standing { floor } => {
                self.mode == Mode::Fire
                    && self.config.recall.as_ref() == Some(&self.config.floors[floor].label)
            }
            Place::Travelling(_) => false,
        };
        let [open_ms, close_ms, dwell_ms] = self.doors_ms;
        Conditions {
            open_ms,
            close_ms,
            dwell_ms,
            blocked: self.doorway.values().any(|doorway| *doorway == side),
            stays_open: at_recall || self.faults.door == Some(DoorStuck::Open),
        }
    }

    fn door(&self, side: Side) -> &DoorMachine {
        match side {
            Side::Front => &self.front,
            Side::Rear => &self.rear,
        }
    }

    fn door_mut(&mut self, side: Side) -> &mut DoorMachine {
        match side {
            Side::Front => &mut self.front,
            Side::Rear => &mut self.rear,
        }
    }

    fn unlight(&mut self, press: Press) {
        if self.calls.remove(&press) {
            self.note_unlit(press);
        }
    }

    fn note_unlit(&mut self, press: Press) {
        let floor = self.config.floors[press.floor].label.clone();
        let landing = Landing {
            floor,
            side: press.side,
        };
        self.note(CarEvent::CallCleared {
            landing,
            hall: press.hall,
        });
    }

    fn note_door(&mut self, side: Side, before: Door) {
        let door = self.door(side).seen();
        if door != before {
            self.note(CarEvent::Door { side, door });
        }
    }

    fn note(&mut self, event: CarEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back((self.now_ms, event));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]
mod tests;
