//! Which elevator a waiting ride gets: ability first, then the least time until it is there.

use protocol::hardware::{Door, Motion};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Fence, OrderId, Side};

use crate::config::ElevatorConfig;
use crate::fact::{ElevatorFact, Fact};
use crate::live::Kept;
use crate::reach::Elevators;
use crate::state::Ride;
use crate::step::{Shift, Step};

/// Speed that estimates count with: 1 m/s, slow enough to hold the acceleration.
const MM_PER_MS: u64 = 1;
/// A car that moves may stop once on its way: doors open, wait, close.
const STOP_MS: u64 = 8_000;
/// A car that goes the wrong way must stop and turn.
const TURN_MS: u64 = 6_000;
/// A door that is not shut must close first.
const DOOR_MS: u64 = 3_000;

impl Step<'_> {
    /// The elevators that serve both landings, and that the request allows. Not which are free.
    pub(crate) fn able(&self, ride: &Ride) -> Elevators {
        self.reach.able(&ride.from, &ride.to, &ride.elevators)
    }

    /// The ids of a set of elevators.
    pub(crate) fn ids(&self, elevators: Elevators) -> impl Iterator<Item = &ElevatorId> {
        let all = self.config.elevators.keys().enumerate();
        all.filter(move |(place, _)| elevators.has(*place))
            .map(|(_, id)| id)
    }

    /// Its zone is suspended or burns.
    pub(crate) fn is_suspended(&self, elevator: &ElevatorId) -> bool {
        let Some(config) = self.elevator_config(elevator) else {
            return true;
        };
        self.zone_burns(&config.zone)
            || self
                .state
                .zones
                .get(&config.zone)
                .is_some_and(|zone| mutate!(GrantSuspended, zone.suspended.is_some(), false))
    }

    /// Nothing but an owner keeps it from being granted.
    pub(crate) fn is_fit(&self, elevator: &ElevatorId) -> bool {
        let Some(config) = self.elevator_config(elevator) else {
            return false;
        };
        let Some(car) = self.live.cars.get(elevator) else {
            return false;
        };
        let record = self.state.elevators.get(elevator);
        let barred = record.is_some_and(|record| {
            mutate!(BlockGranted, record.block.is_some(), false)
                || record.maintenance
                || record.must_be_read
        });
        let Some(reading) = &car.reading else {
            return false;
        };
        let occupied = config.presence != Presence::None
            && mutate!(OccupiedGrant, reading.occupied == Some(true), false);
        let now_ms = self.now.mono_ms;
        let healed = !car.must_heal
            || car
                .good_since_ms
                .is_some_and(|since| now_ms >= since.saturating_add(self.config.timing.heal_ms));
        !barred
            && healed
            && car.read_ms.is_some()
            && !self.is_silent(elevator)
            && reading.fault.is_none()
            && self.mode(elevator).serves_robots()
            && (!occupied || record.is_some_and(|record| record.owner.is_some()))
    }

    /// It may be granted at this moment.
    pub(crate) fn is_free(&self, elevator: &ElevatorId) -> bool {
        let owned = self
            .state
            .elevators
            .get(elevator)
            .is_some_and(|record| record.owner.is_some() || record.kept.is_some());
        mutate!(GrantOwned, !owned, true) && !self.is_suspended(elevator) && self.is_fit(elevator)
    }

    /// The free elevator that is there first.
    pub(crate) fn best_free(&self, ride: &Ride, free: &[ElevatorId]) -> Option<ElevatorId> {
        let able = self.able(ride);
        free.iter()
            .filter(|id| self.reach.place(id).is_some_and(|place| able.has(place)))
            .min_by_key(|id| (self.travel_cost_ms(id, ride), (*id).clone()))
            .cloned()
    }

    /// An estimate of the time until the car stands at the start of the ride (T-LIFT-12).
    pub(crate) fn travel_cost_ms(&self, elevator: &ElevatorId, ride: &Ride) -> u64 {
        let Some(config) = self.elevator_config(elevator) else {
            return u64::MAX;
        };
        let Some(reading) = self
            .live
            .cars
            .get(elevator)
            .and_then(|car| car.reading.as_ref())
        else {
            return u64::MAX;
        };
        let height = |label| config.floor(label).map(|floor| floor.height_mm);
        let Some(target) = height(&ride.from.floor) else {
            return u64::MAX;
        };
        let at = reading.floor.as_ref().and_then(height);
        let (Some(lowest), Some(highest)) = (
            config.floors.first().map(|floor| floor.height_mm),
            config.floors.last().map(|floor| floor.height_mm),
        ) else {
            return u64::MAX;
        };
        let way = |from: i64, to: i64| from.abs_diff(to) / MM_PER_MS;
        let Some(at) = at else {
            return way(lowest, highest).saturating_add(TURN_MS);
        };
        let ride_goes_up = goes_up(config, ride);
        match reading.motion {
            Motion::Stopped | Motion::Unknown => {
                let shut = reading.is_shut() || reading.is_open_at(&ride.from);
                way(at, target).saturating_add(if shut { 0 } else { DOOR_MS })
            }
            Motion::Up if at > target => {
                way(at, highest) + way(highest, target) + TURN_MS + STOP_MS
            }
            Motion::Down if at < target => {
                way(at, lowest) + way(lowest, target) + TURN_MS + STOP_MS
            }
            Motion::Up => way(at, target) + if ride_goes_up { 0 } else { TURN_MS },
            Motion::Down => way(at, target) + if ride_goes_up { TURN_MS } else { 0 },
        }
    }

    /// Gives free elevators to the waiters, the best ranked eligible one first (T-LIFT-16).
    pub(crate) fn dispatch(&mut self) {
        self.live.dispatch_due = false;
        if self.live.frozen_since_ms.is_some() || self.live.stopping || self.live.queued.is_empty()
        {
            return;
        }
        let mut free: Vec<ElevatorId> = self
            .config
            .elevators
            .keys()
            .filter(|id| self.is_free(id))
            .cloned()
            .collect();
        while !free.is_empty() {
            let next = self.next_waiters().find_map(|order| {
                let ride = self.state.rides.get(order)?;
                Some((order.clone(), self.best_free(ride, &free)?))
            });
            let Some((order, elevator)) = next else {
                return;
            };
            free.retain(|id| id != &elevator);
            self.grant(&order, &elevator);
        }
    }

    fn grant(&mut self, order: &OrderId, elevator: &ElevatorId) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let robot = ride.robot.clone();
        let promoted_low = self.is_low_class(order) && self.is_promoted(order);
        self.live.grants_since_reserved = if promoted_low {
            0
        } else {
            self.live.grants_since_reserved.saturating_add(1)
        };
        let highest = self.state.elevator(elevator).fence;
        self.record(Fact::Elevator(ElevatorFact::Granted {
            elevator: elevator.clone(),
            order: order.clone(),
            robot,
            fence: Fence(mutate!(KeepFence, highest.0.saturating_add(1), highest.0)),
            at: self.now.wall,
        }));
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.efforts.clear();
            car.hold_until_ms = 0;
            car.hold_next_ms = 0;
            car.kept = Kept::default();
        }
        let span_ms = self.config.timing.grant_check_ms;
        self.shift(
            order,
            Shift::to(RideState::Granted, Instruction::Approach).within(span_ms),
        );
        let now_ms = self.now.mono_ms;
        if let Some(progress) = self.progress(order) {
            progress.granted_ms = now_ms;
        }
        self.ask(elevator);
    }
}

/// Whether the ride goes up.
pub(crate) fn goes_up(config: &ElevatorConfig, ride: &Ride) -> bool {
    let height = |label| config.floor(label).map(|floor| floor.height_mm);
    height(&ride.to.floor) > height(&ride.from.floor)
}

/// Whether a door of the car is seen other than shut.
pub(crate) fn any_door_not_shut(reading: &protocol::hardware::Reading) -> bool {
    Side::ALL
        .iter()
        .any(|side| reading.door(*side) != Door::Closed)
}
