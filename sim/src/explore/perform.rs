//! Deeds done, and what follows from them.

mod cars;
mod gateway;
mod robots;

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::hardware::{Mode, Report};
use protocol::{ElevatorId, Landing, OrderId, RobotId, Side as DoorSide};

use super::fault::Fault;
use super::plan::{Deed, OperatorDeed};
use super::run::Run;
use super::{script, stage};
use crate::world::robot::{Order, Whereabouts};
use crate::world::trouble::Side;

/// A supervisor starts the process again after this.
const RESTART_MS: u64 = 5_000;

/// What follows from a deed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Then {
    RobotConnects(RobotId),
    BrokerUp,
    Link(Side),
    GoodWeather,
    Start,
    KillAndStart(u64),
    StartAltered,
    CarIsWell(ElevatorId),
    ModeNormal(ElevatorId),
    PeopleLeave(ElevatorId),
    LinkUp(ElevatorId),
    Restarts(ElevatorId),
    FireOver { annex: bool, wire: bool },
    SyncMs(u64),
    DiskWell,
    DiskSpace,
    WallClock,
    InUse(ElevatorId),
    Resume,
}

impl Run<'_> {
    pub(super) fn perform(&mut self, deed: &Deed) {
        match deed {
            Deed::Ride { .. } => self.ride(deed),
            Deed::Robot { robot, what } => {
                if self.robot_deed(*robot, what) {
                    self.count(Fault::of(deed));
                }
                return;
            }
            Deed::Elevator {
                elevator,
                what,
                span_ms,
            } => self.car_deed(*elevator, what, *span_ms),
            Deed::Gateway { what, span_ms } => self.gateway_deed(what, *span_ms),
            Deed::Fire {
                annex,
                wire,
                span_ms,
            } => self.fire(*annex, *wire, *span_ms),
            Deed::Operator(what) => self.operator_deed(what),
        }
        self.count(Fault::of(deed));
    }

    fn ride(&mut self, deed: &Deed) {
        let Deed::Ride {
            robot,
            from,
            to,
            eta_s,
            priority,
            only,
            habits,
        } = deed
        else {
            return;
        };
        let Some((robot, here)) = self.idle(*robot) else {
            return;
        };
        let said = from.and_then(stage::label);
        let from = Landing {
            floor: said.unwrap_or(here),
            side: DoorSide::Front,
        };
        let floors = self.plan.site.floors;
        let target = |floor: u16| stage::label(floor % floors);
        let Some(floor) = target(*to)
            .filter(|floor| *floor != from.floor)
            .or_else(|| target(*to + 1))
        else {
            return;
        };
        let Some(id) = self.next_order() else { return };
        let side = DoorSide::Front;
        let mut order = Order::new(id, from, Landing { floor, side });
        order.eta_s = *eta_s;
        order.priority = *priority;
        let only = only.and_then(|only| self.elevators.get(usize::from(only)));
        order.elevators = only.cloned().into_iter().collect();
        self.script.rides(robot.as_str(), habits);
        if self.script.notes() {
            let line = script::asks(&robot, &order);
            self.script.line(self.world.now_ms(), line);
        }
        let habits = (**habits).clone();
        self.world
            .with_robot(&robot, |robot| *robot.habits_mut() = habits);
        self.world.request(&robot, order);
    }

    pub(super) fn next_order(&mut self) -> Option<OrderId> {
        self.orders += 1;
        OrderId::new(&format!("T{}", self.orders)).ok()
    }

    /// The robot, or the next one, that has nothing to do, and its floor.
    fn idle(&self, first: u16) -> Option<(RobotId, protocol::FloorLabel)> {
        let count = self.robots.len();
        (0..count)
            .map(|step| &self.robots[(usize::from(first) + step) % count])
            .find_map(|id| {
                let robot = self.world.robot(id)?;
                match robot.place() {
                    Whereabouts::Floor(floor) if robot.order().is_none() && !robot.is_dead() => {
                        Some((id.clone(), floor.clone()))
                    }
                    Whereabouts::Floor(_) | Whereabouts::Doorway { .. } | Whereabouts::Car(_) => {
                        None
                    }
                }
            })
    }

    fn start_later(&mut self, span_ms: u64, twice: bool) {
        self.forget_starts();
        if twice {
            self.later(span_ms, Then::KillAndStart(span_ms));
        } else {
            self.later(span_ms, Then::Start);
        }
    }

    /// Only the last word about the next start counts.
    fn forget_starts(&mut self) {
        self.then.retain(|_, then| !starts(then));
        self.world.disk_mut().repair();
    }

    /// Where the process ended by itself, a supervisor starts it again. Says whether that is new.
    pub(super) fn supervise(&mut self) -> bool {
        let absent = self.world.gateway().is_none() && !self.then.values().any(starts);
        if absent {
            self.later(RESTART_MS, Then::Start);
        }
        absent
    }

    fn fire(&mut self, annex: bool, wire: bool, span_ms: u64) {
        self.burn(annex, wire, true);
        self.later(span_ms, Then::FireOver { annex, wire });
    }

    pub(super) fn burn(&mut self, annex: bool, wire: bool, burns: bool) {
        let lifts = self.plan.site.elevators.iter().zip(&self.elevators);
        let zone = lifts.filter(|(lift, _)| lift.annex == annex);
        let has_input = self.plan.site.fire_inputs || zone.clone().any(|(it, _)| !it.mode_signal);
        if wire && has_input {
            if let Ok(zone) = stage::zone(annex) {
                let word = if burns { "fire" } else { "clear" };
                let line = format!("zone {zone} {word}");
                self.script.line(self.world.now_ms(), line);
                self.world.zone_fire(&zone, !burns);
            }
            return;
        }
        let ids: Vec<_> = zone.map(|(_, id)| id.clone()).collect();
        for id in ids {
            let mode = if burns { Mode::Fire } else { Mode::Normal };
            self.world.with_controller(&id, |controller, now_ms| {
                controller.car_mut().set_mode(now_ms, mode);
            });
            self.script
                .line(self.world.now_ms(), format!("car {id} mode {mode}"));
        }
    }

    fn operator_deed(&mut self, what: &OperatorDeed) {
        let elevator = |index: &u16| {
            let count = self.elevators.len();
            self.elevators[usize::from(*index) % count].clone()
        };
        let order = |index: &u16| {
            let robot = &self.robots[usize::from(*index) % self.robots.len()];
            self.world.robot(robot).and_then(|it| it.order().cloned())
        };
        let action = match what {
            OperatorDeed::Cancels(robot) => order(robot).map(OperatorAction::OrderCancel),
            OperatorDeed::Resolves {
                elevator: index,
                robot,
                on,
            } => order(robot).map(|order| OperatorAction::ElevatorResolve {
                elevator: elevator(index),
                order,
                outcome: if *on {
                    ResolveOutcome::Continue
                } else {
                    ResolveOutcome::RobotOut
                },
                car_seen_empty: false,
                force: false,
            }),
            OperatorDeed::Resets(index) => Some(OperatorAction::ElevatorReset {
                elevator: elevator(index),
                car_seen_empty: false,
                force: false,
            }),
            OperatorDeed::Forces(index) => Some(OperatorAction::ElevatorReset {
                elevator: elevator(index),
                car_seen_empty: false,
                force: true,
            }),
            OperatorDeed::Maintains(index, span_ms) => {
                let elevator = elevator(index);
                self.later(*span_ms, Then::InUse(elevator.clone()));
                Some(OperatorAction::ElevatorMaintenance { elevator, on: true })
            }
            OperatorDeed::Suspends(span_ms) => {
                self.later(*span_ms, Then::Resume);
                Some(OperatorAction::SiteSuspend { zone: None })
            }
            OperatorDeed::Resumes => Some(OperatorAction::SiteResume { zone: None }),
        };
        if let Some(action) = action {
            self.script.operated(self.world.now_ms(), &action);
            self.world.operate(action);
        }
    }

    pub(super) fn follow(&mut self, then: Then) {
        match then {
            Then::RobotConnects(robot) => {
                let dead = self.world.robot(&robot).is_none_or(|robot| robot.is_dead());
                if !dead {
                    self.script
                        .line(self.world.now_ms(), format!("{robot} radio on"));
                    self.world.set_radio(&robot, true);
                    self.world.status(&robot, None);
                }
            }
            Then::BrokerUp => self.world.broker_up(),
            Then::Link(side) => self.world.restore_link(side),
            Then::GoodWeather => self.world.clear_sky(),
            Then::Start => self.start(),
            Then::KillAndStart(span_ms) => {
                self.start();
                let after_ms = self.chance().between(0, 300);
                self.world.run_for(after_ms);
                self.world.kill_gateway();
                self.later(span_ms, Then::Start);
            }
            Then::StartAltered => {
                self.world.start_gateway(false);
                if self.world.gateway().is_some() {
                    let seq = self.world.disk().altered();
                    self.fail(format!("it started though record {seq:?} was altered"));
                }
                self.world.disk_mut().repair();
                self.later(RESTART_MS, Then::Start);
            }
            Then::CarIsWell(id) => self.car_is_well(&id),
            Then::ModeNormal(id) => self.set_mode(&id, Mode::Normal),
            Then::PeopleLeave(id) => self.set_people(&id, 0),
            Then::LinkUp(id) => self.world.inject(&id, Report::Link { up: true }),
            Then::Restarts(id) => {
                self.world.with_controller(&id, |controller, now_ms| {
                    controller.restart(now_ms);
                });
            }
            Then::FireOver { annex, wire } => self.burn(annex, wire, false),
            Then::SyncMs(sync_ms) => self.world.set_sync_ms(sync_ms),
            Then::DiskWell => self.world.set_disk_failing(false),
            Then::DiskSpace => self.world.disk_low(false),
            Then::WallClock => self.world.set_wall_offset(0),
            Then::InUse(elevator) => {
                let action = OperatorAction::ElevatorMaintenance {
                    elevator,
                    on: false,
                };
                self.script.operated(self.world.now_ms(), &action);
                self.world.operate(action);
            }
            Then::Resume => {
                self.world
                    .operate(OperatorAction::SiteResume { zone: None });
            }
        }
    }

    fn start(&mut self) {
        if self.world.gateway().is_some() {
            return;
        }
        self.world.start_gateway(false);
        if self.world.gateway().is_none() && !self.world.disk().has_failed() {
            self.fail("it does not start though its disk is well".to_owned());
        }
    }

    pub(super) fn set_mode(&mut self, id: &ElevatorId, mode: Mode) {
        self.world.with_controller(id, |controller, now_ms| {
            controller.car_mut().set_mode(now_ms, mode);
        });
    }

    pub(super) fn set_people(&mut self, id: &ElevatorId, people: u32) {
        self.world.with_controller(id, |controller, now_ms| {
            controller.car_mut().set_people(now_ms, people);
        });
    }
}

fn starts(then: &Then) -> bool {
    matches!(
        then,
        Then::Start | Then::KillAndStart(_) | Then::StartAltered
    )
}
