//! What the gateway knows for sure: the fold of all facts.
//!
//! [`State::apply`] is the only writer and never decides. Readings, timers and commands under way
//! are not here; they start anew with each process (see `live`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::ride::{Instruction, Reason, RideState};
use protocol::robot::Digest;
use protocol::{
    DepartmentId, ElevatorId, Fence, Landing, OrderId, RobotId, SeriesId, Timestamp, ZoneId,
};
use serde::{Deserialize, Serialize};

use crate::claim::Claims;
pub use crate::elevator::{Block, Elevator, Owner, Zone};
use crate::fact::{Claim, ElevatorFact, Fact, RideFact, SiteFact};
use crate::input::OperatorAction;
use crate::ledger::{Ended, Ledger};
use crate::rental::Rentals;
use crate::series::Series;
use crate::turn::Department;

/// Operator actions that are kept for `elevator show`.
const HISTORY_MAX: usize = 256;

/// A ride: live, or the last one of its robot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ride {
    /// The order.
    pub order: OrderId,
    /// Whose.
    pub robot: RobotId,
    /// What makes a repetition the same order.
    pub digest: Digest,
    /// Where it starts.
    pub from: Landing,
    /// Where it ends.
    pub to: Landing,
    /// The elevators that may be given; empty = any.
    pub elevators: BTreeSet<ElevatorId>,
    /// 0 to 9.
    pub priority: u8,
    /// Give up if still queued then.
    pub expires_at: Option<Timestamp>,
    /// When it was accepted; its age counts from here.
    pub accepted_at: Timestamp,
    /// Grows with what robots see.
    pub seq: u64,
    /// Where it stands.
    pub state: RideState,
    /// In HOLD: the state before.
    pub held_from: Option<RideState>,
    /// What the robot shall do.
    pub instruction: Instruction,
    /// Why.
    pub reason: Option<Reason>,
    /// The elevator that it was given.
    pub elevator: Option<ElevatorId>,
    /// The fence of that grant.
    pub fence: Option<Fence>,
    /// The robot's last word: it is not at the door.
    pub away: bool,
    /// `enter` was given since the grant; it is not withheld again.
    pub enter_given: bool,
    /// *May be inside* (law 2).
    pub inside: bool,
    /// The robot's last word: it is in a car.
    #[serde(default)]
    pub in_car: bool,
    /// What the robot said in this state that the presence signal does not bear out yet.
    #[serde(default)]
    pub claim: Option<Claim>,
    /// When it came to its end.
    pub ended_at: Option<Timestamp>,
}

/// An operator's action, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// Who.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// What.
    pub action: OperatorAction,
    /// When.
    pub at: Timestamp,
}

/// The fold of all facts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// Live rides, and the last ended one of each robot until it is archived.
    pub rides: BTreeMap<OrderId, Ride>,
    /// The current or last order of each robot.
    pub robots: BTreeMap<RobotId, OrderId>,
    /// The elevators that facts are known of.
    pub elevators: BTreeMap<ElevatorId, Elevator>,
    /// The zones that facts are known of.
    pub zones: BTreeMap<ZoneId, Zone>,
    /// The last operator actions.
    pub history: VecDeque<HistoryEntry>,
    /// The series that facts are known of.
    #[serde(default)]
    pub series: BTreeMap<SeriesId, Series>,
    /// The departments that facts are known of.
    #[serde(default)]
    pub turns: BTreeMap<DepartmentId, Department>,
    /// The claims.
    #[serde(default)]
    pub claims: Claims,
    /// The rentals, and the devices that facts are known of.
    #[serde(default)]
    pub rentals: Rentals,
    /// Every accepted order within the retention; kept in a store of its own.
    #[serde(skip)]
    pub ledger: Ledger,
}

impl State {
    /// Makes the fact part of the state. A fact about something unknown changes nothing.
    pub fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::Ride(fact) => self.apply_ride(fact),
            Fact::Elevator(fact) => self.apply_elevator(fact),
            Fact::Site(fact) => self.apply_site(fact),
            Fact::Answer(fact) => self.ledger.apply(fact),
            Fact::Series(fact) => {
                let series = self.series.entry(fact.series().clone()).or_default();
                series.apply(fact);
            }
            Fact::Turn(fact) => {
                let department = self.turns.entry(fact.department().clone()).or_default();
                department.apply(fact);
            }
            Fact::Claim(fact) => self.claims.apply(fact),
            Fact::Rental(fact) => self.rentals.apply(fact),
        }
    }

    /// The elevator's record; an empty one where no fact is known.
    #[must_use]
    pub fn elevator(&self, id: &ElevatorId) -> Elevator {
        self.elevators.get(id).cloned().unwrap_or_default()
    }

    fn apply_ride(&mut self, fact: &RideFact) {
        match fact {
            RideFact::Admitted { .. } => self.admit(fact),
            RideFact::Moved { .. } => self.move_ride(fact),
            RideFact::Away { order, away } => {
                if let Some(ride) = self.rides.get_mut(order) {
                    ride.away = *away;
                }
            }
            RideFact::Inside { order, inside } => {
                if let Some(ride) = self.rides.get_mut(order) {
                    ride.inside = *inside;
                }
            }
            RideFact::InCar { order, in_car } => {
                if let Some(ride) = self.rides.get_mut(order) {
                    ride.in_car = *in_car;
                }
            }
            RideFact::Claimed { order, claim } => {
                if let Some(ride) = self.rides.get_mut(order) {
                    ride.claim = Some(*claim);
                }
            }
            RideFact::Archived { order } => self.archive(order),
            RideFact::Forgotten { order } => self.ledger.forget(order),
        }
    }

    fn admit(&mut self, fact: &RideFact) {
        let RideFact::Admitted {
            order,
            robot,
            digest,
            from,
            to,
            elevators,
            priority,
            expires_at,
            away,
            at,
        } = fact
        else {
            return;
        };
        if let Some(last) = self.robots.insert(robot.clone(), order.clone())
            && &last != order
        {
            self.rides.remove(&last);
        }
        let ride = Ride {
            order: order.clone(),
            robot: robot.clone(),
            digest: *digest,
            from: from.clone(),
            to: to.clone(),
            elevators: elevators.clone(),
            priority: *priority,
            expires_at: *expires_at,
            accepted_at: *at,
            seq: 0,
            state: RideState::Queued,
            held_from: None,
            instruction: Instruction::Wait,
            reason: None,
            elevator: None,
            fence: None,
            away: *away,
            enter_given: false,
            inside: false,
            in_car: false,
            claim: None,
            ended_at: None,
        };
        self.ledger.admit(order.clone(), *digest, robot.clone());
        self.rides.insert(order.clone(), ride);
    }

    fn move_ride(&mut self, fact: &RideFact) {
        let RideFact::Moved {
            order,
            seq,
            state,
            held_from,
            instruction,
            reason,
            at,
        } = fact
        else {
            return;
        };
        let Some(ride) = self.rides.get_mut(order) else {
            return;
        };
        ride.seq = *seq;
        if ride.state != *state {
            ride.claim = None;
        }
        ride.state = *state;
        ride.held_from = *held_from;
        ride.instruction = *instruction;
        ride.reason.clone_from(reason);
        if *instruction == Instruction::Enter {
            ride.inside = true;
            ride.enter_given = true;
        }
        if *state == RideState::RobotEntered {
            ride.inside = true;
        }
        if *state == RideState::Queued {
            ride.elevator = None;
            ride.fence = None;
            ride.enter_given = false;
            ride.inside = false;
        }
        if state.is_terminal() {
            ride.inside = false;
            ride.ended_at = Some(*at);
            let ended = Ended {
                at: *at,
                state: *state,
                seq: *seq,
                reason: reason.as_ref().map(|reason| reason.code),
                elevator: ride.elevator.clone(),
                fence: ride.fence,
            };
            self.ledger.end(order, ended);
        }
    }

    fn archive(&mut self, order: &OrderId) {
        if let Some(ride) = self.rides.get(order)
            && ride.state.is_terminal()
        {
            if self.robots.get(&ride.robot) == Some(order) {
                self.robots.remove(&ride.robot);
            }
            self.rides.remove(order);
        }
    }

    fn apply_elevator(&mut self, fact: &ElevatorFact) {
        let elevator = self.elevators.entry(fact.elevator().clone()).or_default();
        match fact {
            ElevatorFact::Granted {
                elevator: id,
                order,
                robot,
                fence,
                at,
            } => {
                elevator.fence = elevator.fence.max(*fence);
                elevator.kept = None;
                elevator.owner = Some(Owner {
                    order: order.clone(),
                    robot: robot.clone(),
                    fence: *fence,
                    since: *at,
                });
                if let Some(ride) = self.rides.get_mut(order) {
                    ride.elevator = Some(id.clone());
                    ride.fence = Some(*fence);
                }
            }
            ElevatorFact::KeptBack { until, .. } => {
                elevator.kept = Some(until.clone());
                elevator.note_left();
            }
            ElevatorFact::Freed { .. } => {
                elevator.note_left();
                elevator.kept = None;
                elevator.owner = None;
            }
            ElevatorFact::Blocked {
                reason,
                occupant,
                at,
                ..
            } => {
                let since = elevator.block.as_ref().map_or(*at, |block| block.since);
                elevator.block = Some(Block {
                    reason: reason.clone(),
                    occupant: *occupant,
                    since,
                });
            }
            ElevatorFact::Unblocked { .. } => elevator.block = None,
            ElevatorFact::Maintenance { on, .. } => elevator.maintenance = *on,
            ElevatorFact::FenceRaised {
                elevator: id,
                fence,
            } => {
                elevator.fence = elevator.fence.max(*fence);
                if let Some(owner) = &mut elevator.owner {
                    owner.fence = *fence;
                    let ride = self.rides.get_mut(&owner.order);
                    if let Some(ride) = ride.filter(|ride| ride.elevator.as_ref() == Some(id)) {
                        ride.fence = Some(*fence);
                    }
                }
            }
            ElevatorFact::MustBeRead { on, .. } => elevator.must_be_read = *on,
        }
    }

    fn apply_site(&mut self, fact: &SiteFact) {
        match fact {
            SiteFact::Fire { zone, at } => {
                self.zones
                    .entry(zone.clone())
                    .or_default()
                    .fire
                    .get_or_insert(*at);
            }
            SiteFact::FireEnded { zone } => {
                self.zones.entry(zone.clone()).or_default().fire = None;
            }
            SiteFact::Suspended { zone, at } => {
                self.zones
                    .entry(zone.clone())
                    .or_default()
                    .suspended
                    .get_or_insert(*at);
            }
            SiteFact::Resumed { zone } => {
                self.zones.entry(zone.clone()).or_default().suspended = None;
            }
            SiteFact::Operator {
                operator,
                reason,
                action,
                at,
            } => {
                if self.history.len() >= HISTORY_MAX {
                    self.history.pop_front();
                }
                self.history.push_back(HistoryEntry {
                    operator: operator.clone(),
                    reason: reason.clone(),
                    action: action.clone(),
                    at: *at,
                });
            }
        }
    }
}
