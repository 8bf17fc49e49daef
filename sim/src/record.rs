//! The simulator's own record of what happened, and its judgement of it.
//!
//! It is the ground truth of every test: it is written by cars, controllers and robots, and takes
//! nothing from the gateway but what arrived at them. Each entry is judged when it is noted, so
//! that a run of any length needs bounded memory.

mod judge;
mod ride;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use protocol::hardware::Command;
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Fence, Landing, OrderId, RobotId};

use self::judge::CarTruth;
pub use self::judge::Violation;
pub use self::ride::RideTruth;
use crate::car::CarEvent;

/// Entries kept for reading; the oldest go first. Judgement does not need them.
const ENTRIES_MAX: usize = 1_000_000;
/// Rides kept for the summary; those that ended first go first.
const RIDES_MAX: usize = 200_000;
/// Violations kept; one is already too many.
const VIOLATIONS_MAX: usize = 1_000;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// To a car.
    Car {
        /// Which.
        elevator: ElevatorId,
        /// What.
        event: CarEvent,
    },
    /// A controller received a command.
    Command(Command),
    /// A robot was given a task to ride.
    Asked {
        /// Who.
        robot: RobotId,
        /// The order.
        order: OrderId,
        /// Where it gets in.
        from: Landing,
        /// Where it gets out.
        to: Landing,
    },
    /// The gateway published a ride state. To be noted in the order of publication: by the model
    /// broker, or by one subscription for all robots.
    Told {
        /// Whose.
        robot: RobotId,
        /// The order.
        order: OrderId,
        /// Where the ride stands.
        state: RideState,
        /// What the robot shall do.
        instruction: Instruction,
        /// The elevator.
        elevator: Option<ElevatorId>,
        /// The fence.
        fence: Option<Fence>,
    },
}

/// How much was checked. A run that checked nothing proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Commands received by controllers.
    pub commands: u64,
    /// Robots that came in.
    pub entries: u64,
    /// Robots that went out.
    pub exits: u64,
    /// Doors that went on.
    pub door_changes: u64,
    /// Trips between floors.
    pub trips: u64,
    /// Rides that were asked for.
    pub rides: u64,
    /// Ride states that were published.
    pub told: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "checked {} rides, {} commands, {} entries, {} exits, {} door changes, {} trips, {} \
             ride states",
            self.rides,
            self.commands,
            self.entries,
            self.exits,
            self.door_changes,
            self.trips,
            self.told
        )
    }
}

/// What happened, and what of it should not have.
#[derive(Debug, Clone)]
pub struct Record {
    entries_max: usize,
    entries: VecDeque<(u64, Entry)>,
    cars: BTreeMap<ElevatorId, CarTruth>,
    rides: BTreeMap<OrderId, RideTruth>,
    /// Orders in the order of their ends.
    ended: VecDeque<OrderId>,
    /// The order that a robot rides for.
    orders: BTreeMap<RobotId, OrderId>,
    counts: Counts,
    violations: Vec<(u64, Violation)>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            entries_max: ENTRIES_MAX,
            entries: VecDeque::new(),
            cars: BTreeMap::new(),
            rides: BTreeMap::new(),
            ended: VecDeque::new(),
            orders: BTreeMap::new(),
            counts: Counts::default(),
            violations: Vec::new(),
        }
    }
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps only so many entries for reading; judgement needs none.
    #[must_use]
    pub fn keeping(mut self, entries: usize) -> Self {
        self.entries_max = entries.min(ENTRIES_MAX);
        self
    }

    /// Notes and judges what happened at `at_ms`; times never go back.
    pub fn note(&mut self, at_ms: u64, entry: Entry) {
        match &entry {
            Entry::Car { elevator, event } => self.car(at_ms, elevator, event),
            Entry::Command(command) => self.command(at_ms, command),
            Entry::Asked {
                robot,
                order,
                from,
                to,
            } => self.asked(at_ms, robot, order, (from, to)),
            Entry::Told {
                robot,
                order,
                state,
                elevator,
                fence,
                ..
            } => {
                self.told(at_ms, robot, order, *state, elevator.as_ref().zip(*fence));
            }
        }
        self.keep(at_ms, || entry);
    }

    /// Keeps an entry that was judged.
    pub(crate) fn keep(&mut self, at_ms: u64, entry: impl FnOnce() -> Entry) {
        if self.entries_max == 0 {
            return;
        }
        if self.entries.len() == self.entries_max {
            self.entries.pop_front();
        }
        self.entries.push_back((at_ms, entry()));
    }

    pub(crate) fn asked(
        &mut self,
        at_ms: u64,
        robot: &RobotId,
        order: &OrderId,
        (from, to): (&Landing, &Landing),
    ) {
        self.counts.rides += 1;
        self.orders.insert(robot.clone(), order.clone());
        self.rides.insert(
            order.clone(),
            RideTruth::new(robot.clone(), from.clone(), to.clone(), at_ms),
        );
    }

    /// What happened, oldest first; at most the newest million entries.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &(u64, Entry)> {
        self.entries.iter()
    }

    /// What should not have happened, with its moment; empty after a good run.
    #[must_use]
    pub fn judge(&self) -> Vec<(u64, Violation)> {
        self.violations.clone()
    }

    /// The same, borrowed.
    #[must_use]
    pub fn violations(&self) -> &[(u64, Violation)] {
        &self.violations
    }

    /// How much was checked.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The rides as they truly went.
    #[must_use]
    pub fn rides(&self) -> &BTreeMap<OrderId, RideTruth> {
        &self.rides
    }

    /// The commands that controllers received, oldest first.
    pub fn commands(&self) -> impl DoubleEndedIterator<Item = (u64, &Command)> {
        self.entries
            .iter()
            .filter_map(|(at_ms, entry)| match entry {
                Entry::Command(command) => Some((*at_ms, command)),
                Entry::Car { .. } | Entry::Asked { .. } | Entry::Told { .. } => None,
            })
    }

    pub(crate) fn car(&mut self, at_ms: u64, elevator: &ElevatorId, event: &CarEvent) {
        let car = self.cars.entry(elevator.clone()).or_default();
        match event {
            CarEvent::Entered { robot, floor } => {
                self.counts.entries += 1;
                let order = self.orders.get(robot);
                if let Some(ride) = order.and_then(|order| self.rides.get_mut(order)) {
                    ride.entered(at_ms, elevator, floor);
                }
            }
            CarEvent::Left { robot, floor } => {
                self.counts.exits += 1;
                let order = self.orders.get(robot);
                if let Some(ride) = order.and_then(|order| self.rides.get_mut(order)) {
                    ride.left(at_ms, floor);
                }
            }
            CarEvent::Door { .. } => self.counts.door_changes += 1,
            CarEvent::Departed { .. } => self.counts.trips += 1,
            CarEvent::Called { .. }
            | CarEvent::CallCleared { .. }
            | CarEvent::Passed { .. }
            | CarEvent::Arrived { .. }
            | CarEvent::Mode(_)
            | CarEvent::InDoorway { .. }
            | CarEvent::OffDoorway { .. }
            | CarEvent::CrossedUnopened { .. }
            | CarEvent::MovedFromDoorway { .. } => {}
        }
        let found = car.event(elevator, event);
        self.add(at_ms, found);
    }

    pub(crate) fn command(&mut self, at_ms: u64, command: &Command) {
        self.counts.commands += 1;
        let car = self.cars.entry(command.elevator_id.clone()).or_default();
        let orders = &self.orders;
        let found = car.command(command, |robot| orders.get(robot));
        self.add(at_ms, found);
    }

    pub(crate) fn told(
        &mut self,
        at_ms: u64,
        robot: &RobotId,
        order: &OrderId,
        state: RideState,
        grant: Option<(&ElevatorId, Fence)>,
    ) {
        self.counts.told += 1;
        let is_live_order = self.orders.get(robot) == Some(order);
        if state.is_terminal() {
            if is_live_order {
                let inside = self.cars.iter().find(|(_, car)| car.holds(robot));
                let found = inside.map(|(elevator, _)| Violation::EndedWhileInside {
                    elevator: elevator.clone(),
                    robot: robot.clone(),
                    order: order.clone(),
                    state,
                });
                self.add(at_ms, found);
            }
            self.end(at_ms, order, state);
        }
        let owns = !state.is_terminal() && state != RideState::Queued;
        for (elevator, car) in &mut self.cars {
            if !(owns && grant.is_some_and(|(owned, _)| owned == elevator)) {
                car.disowned(order);
            }
        }
        if let Some((elevator, fence)) = grant.filter(|_| owns) {
            let car = self.cars.entry(elevator.clone()).or_default();
            let found = car.owned(elevator, order, fence);
            self.add(at_ms, found);
        }
    }

    fn end(&mut self, at_ms: u64, order: &OrderId, state: RideState) {
        let Some(ride) = self.rides.get_mut(order) else {
            return;
        };
        if ride.ended.is_some() {
            return;
        }
        ride.ended = Some((at_ms, state));
        self.ended.push_back(order.clone());
        if self.ended.len() > RIDES_MAX
            && let Some(oldest) = self.ended.pop_front()
        {
            self.rides.remove(&oldest);
        }
    }

    fn add(&mut self, at_ms: u64, found: impl IntoIterator<Item = Violation>) {
        let room = VIOLATIONS_MAX.saturating_sub(self.violations.len());
        self.violations.extend(
            found
                .into_iter()
                .take(room)
                .map(|violation| (at_ms, violation)),
        );
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]
mod tests;
