//! Those who look after a building: they see the gateway's screen, go to the car, carry out whoever
//! is stranded, and tell the gateway by operators' commands what they saw with their own eyes.

use std::collections::BTreeMap;

use dispatch::state::{Elevator, State};
use dispatch::{OperatorAction, ResolveOutcome};
use protocol::ride::RideState;
use protocol::{ElevatorId, OrderId, RobotId};
use serde::{Deserialize, Serialize};

use super::script::Script;
use crate::world::World;
use crate::world::dice::Dice;
use crate::world::robot::Whereabouts;

/// A robot that is dead or lost is at work again after this.
const REPAIR_MS: u64 = 600_000;
/// After so many refusals somebody insists.
const PATIENCE: u32 = 8;

/// How they behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Between two looks at the screen.
    pub looks_ms: u64,
    /// On the way to a car, at most.
    pub way_max_ms: u64,
    /// HOLDs of 1,000 that they let go on, where the robot is in order.
    pub goes_on_permille: u64,
}

impl Manner {
    /// As fast as people can be.
    #[must_use]
    pub fn prompt() -> Self {
        Self {
            looks_ms: 10_000,
            way_max_ms: 0,
            goes_on_permille: 0,
        }
    }
}

/// At work.
#[derive(Debug)]
pub struct Attendant {
    manner: Manner,
    dice: Dice,
    next_ms: u64,
    /// The elevators that somebody is on the way to, and when they are there.
    ways: BTreeMap<ElevatorId, u64>,
    /// How often an elevator was refused.
    refused: BTreeMap<ElevatorId, u32>,
    /// Robots that were found dead, and when.
    dead: BTreeMap<RobotId, u64>,
    tickets: BTreeMap<u64, ElevatorId>,
    /// Orders that were ended by force.
    forced: Vec<OrderId>,
}

impl Attendant {
    /// Somebody of that manner.
    #[must_use]
    pub fn new(manner: Manner, seed: u64) -> Self {
        Self {
            manner,
            dice: Dice::new(seed),
            next_ms: manner.looks_ms,
            ways: BTreeMap::new(),
            refused: BTreeMap::new(),
            dead: BTreeMap::new(),
            tickets: BTreeMap::new(),
            forced: Vec::new(),
        }
    }

    /// From here on they behave like this.
    pub fn behave(&mut self, now_ms: u64, manner: Manner) {
        self.manner = manner;
        self.next_ms = now_ms;
        self.ways.clear();
    }

    /// When they look next.
    #[must_use]
    pub fn next_ms(&self) -> u64 {
        self.next_ms
    }

    /// Whether an order was ended by force.
    #[must_use]
    pub fn has_forced(&self, order: &OrderId) -> bool {
        self.forced.contains(order)
    }

    /// They look at the screen and do what is due.
    pub fn look(&mut self, world: &mut World, script: &mut Script) {
        let now_ms = world.now_ms();
        self.next_ms = now_ms + self.manner.looks_ms;
        self.repair(world);
        self.hear(world);
        let Some(gateway) = world.gateway().filter(|_| !world.is_stalled()) else {
            return;
        };
        let state = gateway.core().state();
        let mut wanted = Vec::new();
        for controller in world.controllers() {
            let id = controller.id();
            let elevator = state.elevator(id);
            let task = task(state, id, &elevator);
            let strays = task == Task::None
                && controller.car().occupants().iter().any(|robot| {
                    let robot = world.robot(robot);
                    robot.is_some_and(|robot| robot.has_offended() && robot.order().is_none())
                });
            if task != Task::None || strays {
                wanted.push((id.clone(), task));
            } else {
                self.ways.remove(id);
                self.refused.remove(id);
            }
        }
        let fires = state.zones.values().any(|zone| zone.fire.is_some());
        for (id, task) in wanted {
            let way_ms = self.dice.between(0, self.manner.way_max_ms);
            let there_ms = *self.ways.entry(id.clone()).or_insert(now_ms + way_ms);
            if there_ms <= now_ms {
                self.attend(world, &id, task, script);
            }
        }
        if fires {
            let resume = OperatorAction::SiteResume { zone: None };
            script.operated(now_ms, &resume);
            world.operate(resume);
        }
    }

    /// At the car.
    fn attend(&mut self, world: &mut World, id: &ElevatorId, task: Task, script: &mut Script) {
        let Some(controller) = world.controller(id) else {
            return;
        };
        let car = controller.car();
        let inside: Vec<RobotId> = car.occupants().iter().cloned().collect();
        let on_the_way: Vec<RobotId> = car.doorway().keys().cloned().collect();
        if let Task::Resolve(order) = &task
            && self.dice.happens(self.manner.goes_on_permille)
            && on_the_way.is_empty()
            && inside.iter().all(|robot| is_in_order(world, robot))
        {
            let outcome = ResolveOutcome::Continue;
            let goes_on = resolve(id, order, outcome, false, false);
            self.operate(world, id, goes_on, script);
            return;
        }
        for robot in inside.iter().chain(&on_the_way) {
            world.carry_out(robot, id);
            script.line(world.now_ms(), format!("{robot} carried-out-of {id}"));
            if world.robot(robot).is_some_and(|robot| !robot.is_dead()) {
                world.status(robot, None);
            }
        }
        if !inside.is_empty() || !on_the_way.is_empty() {
            // The next look is soon enough: its signal and its word come after it.
            return;
        }
        let refused = self.refused.get(id).copied().unwrap_or(0);
        let force = refused >= PATIENCE && refused % PATIENCE == 0;
        match task {
            Task::None => {}
            Task::Resolve(order) => {
                if force {
                    self.forced.push(order.clone());
                }
                let outcome = ResolveOutcome::RobotOut;
                let out = resolve(id, &order, outcome, !force, force);
                self.operate(world, id, out, script);
            }
            Task::Reset => {
                let reset = OperatorAction::ElevatorReset {
                    elevator: id.clone(),
                    car_seen_empty: true,
                    force: false,
                };
                self.operate(world, id, reset, script);
            }
        }
    }

    fn operate(
        &mut self,
        world: &mut World,
        id: &ElevatorId,
        action: OperatorAction,
        script: &mut Script,
    ) {
        script.operated(world.now_ms(), &action);
        let ticket = world.operate(action);
        self.tickets.insert(ticket, id.clone());
        *self.refused.entry(id.clone()).or_default() += 1;
    }

    /// What was answered to what they asked before.
    fn hear(&mut self, world: &World) {
        for (ticket, id) in std::mem::take(&mut self.tickets) {
            if world.answer(ticket).is_some_and(Result::is_ok) {
                self.refused.remove(&id);
            }
        }
    }

    /// Dead robots that stand outside are at work again after a while.
    fn repair(&mut self, world: &mut World) {
        let now_ms = world.now_ms();
        let mut ready = Vec::new();
        for robot in world.robots() {
            let outside = matches!(robot.place(), Whereabouts::Floor(_));
            if !(robot.is_dead() && outside) {
                self.dead.remove(robot.id());
                continue;
            }
            let since_ms = *self.dead.entry(robot.id().clone()).or_insert(now_ms);
            if now_ms >= since_ms + REPAIR_MS || self.manner == Manner::prompt() {
                ready.push(robot.id().clone());
            }
        }
        for robot in ready {
            self.dead.remove(&robot);
            world.reboot_robot(&robot);
            world.status(&robot, None);
        }
    }
}

/// What the screen asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    None,
    Resolve(OrderId),
    Reset,
}

fn task(state: &State, id: &ElevatorId, elevator: &Elevator) -> Task {
    let held = elevator.owner.as_ref().and_then(|owner| {
        let ride = state.rides.get(&owner.order)?;
        let held = ride.state == RideState::Hold && ride.elevator.as_ref() == Some(id);
        held.then(|| owner.order.clone())
    });
    match held {
        Some(order) => Task::Resolve(order),
        None if elevator.block.is_some() || elevator.maintenance => Task::Reset,
        None => Task::None,
    }
}

fn is_in_order(world: &World, robot: &RobotId) -> bool {
    world
        .robot(robot)
        .is_some_and(|robot| !robot.is_dead() && !robot.has_offended() && robot.order().is_some())
}

fn resolve(
    elevator: &ElevatorId,
    order: &OrderId,
    outcome: ResolveOutcome,
    car_seen_empty: bool,
    force: bool,
) -> OperatorAction {
    OperatorAction::ElevatorResolve {
        elevator: elevator.clone(),
        order: order.clone(),
        outcome,
        car_seen_empty,
        force,
    }
}
