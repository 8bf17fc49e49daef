//! What the tests in a world share: names, small buildings, and the judgement at the end.

#![allow(dead_code)]

use protocol::hardware::Command;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::{ElevatorId, FloorLabel, Landing, OrderId, ReasonCode, RobotId, Side};
use sim::world::robot::{Habits, Order};
use sim::world::site::{ElevatorPlan, SitePlan};
use sim::world::tale::Tale;
use sim::world::{World, WorldConfig};

/// The longest that a test waits for a state, in milliseconds of the world.
pub const UNTIL_MS: u64 = 600_000;

pub fn elevator(name: &str) -> ElevatorId {
    ElevatorId::new(name).unwrap()
}

pub fn robot(name: &str) -> RobotId {
    RobotId::new(name).unwrap()
}

pub fn order(name: &str) -> OrderId {
    OrderId::new(name).unwrap()
}

pub fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

/// An elevator with six floors and a signal that senses robots, standing at an index.
pub fn plan(name: &str, at: usize) -> ElevatorPlan {
    ElevatorPlan::new(name, 6)
        .unwrap()
        .presence(Presence::Robot)
        .starting_at(at)
}

/// A world that tells its tale, with its gateway ready.
pub fn world(site: SitePlan) -> World {
    let mut world = World::new(WorldConfig {
        tales: true,
        ..WorldConfig::new(site)
    })
    .unwrap();
    world.start_gateway(false);
    world.run_for(200);
    world
}

/// One elevator that stands at 3F.
pub fn one_elevator() -> World {
    world(SitePlan::new(vec![plan("EL1", 2)]))
}

/// A robot that keeps the rules.
pub fn honest(world: &mut World, name: &str, floor: &str) {
    assert!(world.add_robot(&robot(name), landing(floor).floor, Habits::default()));
    world.run_for(20);
}

/// A robot that does only what it is told.
pub fn by_hand(world: &mut World, name: &str, floor: &str) {
    let habits = Habits {
        by_hand: true,
        ..Habits::default()
    };
    assert!(world.add_robot(&robot(name), landing(floor).floor, habits));
    world.run_for(20);
}

pub fn ask(world: &mut World, who: &str, what: &str, from: &str, to: &str) {
    world.request(
        &robot(who),
        Order::new(order(what), landing(from), landing(to)),
    );
}

pub fn state(world: &World, what: &str) -> Option<RideState> {
    world
        .gateway()?
        .core()
        .state()
        .rides
        .get(&order(what))
        .map(|ride| ride.state)
}

/// Why the ride is where it is.
pub fn reason(world: &World, what: &str) -> Option<ReasonCode> {
    let ride = world
        .gateway()?
        .core()
        .state()
        .rides
        .get(&order(what))?
        .clone();
    ride.reason.map(|reason| reason.code)
}

/// Lets time pass until the ride is in a state.
pub fn until(world: &mut World, what: &str, wanted: RideState) {
    let limit_ms = world.now_ms() + UNTIL_MS;
    let reached = world.run_until_that(limit_ms, |world| state(world, what) == Some(wanted));
    assert!(reached, "{what} is {:?}, not {wanted}", state(world, what));
}

/// The order that has the elevator.
pub fn owner(world: &World, name: &str) -> Option<OrderId> {
    let state = world.gateway()?.core().state();
    state
        .elevators
        .get(&elevator(name))?
        .owner
        .as_ref()
        .map(|owner| owner.order.clone())
}

/// Commands that the controllers received, with what is no mere look.
pub fn deeds(world: &World) -> Vec<(u64, Command)> {
    let all = world
        .record()
        .commands()
        .map(|(at_ms, command)| (at_ms, command.clone()));
    all.filter(|(_, command)| command.action.word() != "query")
        .collect()
}

/// The words of the commands that an elevator received since a moment, looks left out.
pub fn words_since(world: &World, name: &str, since_ms: u64) -> Vec<&'static str> {
    deeds(world)
        .into_iter()
        .filter(|(at_ms, command)| *at_ms >= since_ms && command.elevator_id == elevator(name))
        .map(|(_, command)| command.action.word())
        .collect()
}

/// The codes of the alarms that were raised since the last look, with their elevator.
pub fn alarms(world: &mut World) -> Vec<String> {
    let raised = |(_, tale): (u64, Tale)| match tale {
        Tale::Said(protocol::Outgoing::Alarm(alarm)) if alarm.cleared_at.is_none() => {
            Some(alarm.code.as_str().to_owned())
        }
        _ => None,
    };
    world.take_tales().into_iter().filter_map(raised).collect()
}

/// Nothing happened that must not, and something was looked at.
pub fn judge(world: &World) {
    let (violations, counts) = (world.record().judge(), world.record().counts());
    assert!(violations.is_empty(), "{violations:?}");
    let broken = world.checker().violations();
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(
        counts.commands > 0 && counts.told > 0 && counts.rides > 0,
        "{counts}"
    );
    eprintln!("{counts}");
}
