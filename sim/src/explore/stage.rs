//! The world of a plan.

use std::collections::BTreeSet;

use dispatch::ServedFloor;
use protocol::id::IdError;
use protocol::{FloorLabel, RobotId, ZoneId};

use super::plan::{Lift, Plan};
use crate::world::controller::ControllerConfig;
use crate::world::robot::Habits;
use crate::world::site::{ElevatorPlan, SitePlan};
use crate::world::{World, WorldConfig};

/// The zone of an elevator.
pub(super) fn zone(annex: bool) -> Result<ZoneId, IdError> {
    ZoneId::new(if annex { "annex" } else { "main" })
}

/// The world before its gateway starts.
pub(super) fn world(plan: &Plan, tales: bool) -> Result<World, IdError> {
    let mut elevators = Vec::new();
    for (number, lift) in (1..).zip(&plan.site.elevators) {
        elevators.push(elevator(plan, number, lift)?);
    }
    let mut site = SitePlan::new(elevators);
    site.timing = plan.site.waits.timing();
    site.limits.queue = plan.site.queue;
    site.fire_inputs = zones_with_fire_input(plan)?;
    World::new(WorldConfig {
        latency_ms: plan.site.latency_ms,
        sync_ms: plan.site.sync_ms,
        seed: plan.seed,
        tales,
        entries: 0,
        ..WorldConfig::new(site)
    })
}

fn zones_with_fire_input(plan: &Plan) -> Result<BTreeSet<ZoneId>, IdError> {
    let all = plan.site.fire_inputs;
    let lifts = plan.site.elevators.iter();
    lifts
        .filter(|lift| all || !lift.mode_signal)
        .map(|lift| zone(lift.annex))
        .collect()
}

fn elevator(plan: &Plan, number: u16, lift: &Lift) -> Result<ElevatorPlan, IdError> {
    let name = format!("EL{number}");
    let mut elevator = ElevatorPlan::new(&name, u32::from(plan.site.floors))?;
    let served: Vec<ServedFloor> = elevator.config.floors.clone();
    let floors = served
        .len()
        .saturating_sub(usize::from(lift.not_served))
        .max(2);
    elevator = elevator
        .serving(served.into_iter().take(floors).collect())
        .presence(lift.presence);
    elevator.config.zone = zone(lift.annex)?;
    elevator.config.claim = lift.claim;
    elevator.config.mode_signal = lift.mode_signal;
    elevator.config.hold_max_ms = lift.hold_max_ms;
    // A hold of a controller is a few seconds, far below 2^53 ms.
    #[allow(clippy::cast_precision_loss)]
    let hold_max_s = lift.hold_max_ms as f64 / 1_000.0;
    elevator.car.hold_max_s = hold_max_s;
    let recall = lift.recall.map(usize::from).filter(|floor| *floor < floors);
    elevator.car.recall = recall.map(|floor| elevator.car.floors[floor].label.clone());
    let (command_ms, answer_ms) = lift.hop_ms;
    elevator.controller = ControllerConfig {
        command_ms,
        answer_ms,
        tells: lift.tells,
        ..ControllerConfig::default()
    };
    Ok(elevator)
}

/// The robots of a plan, each at its floor.
pub(super) fn robots(plan: &Plan, world: &mut World) -> Result<Vec<RobotId>, IdError> {
    let mut robots = Vec::new();
    for (number, floor) in (1..).zip(&plan.robots) {
        let robot = RobotId::new(&format!("R{number}"))?;
        if let Some(floor) = label(*floor) {
            world.add_robot(&robot, floor, Habits::default());
        }
        robots.push(robot);
    }
    Ok(robots)
}

/// The label of a floor by its index.
pub(super) fn label(floor: u16) -> Option<FloorLabel> {
    FloorLabel::new(&format!("{}F", u32::from(floor) + 1)).ok()
}
