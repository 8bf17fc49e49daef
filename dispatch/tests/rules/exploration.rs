//! Anything in any order: robots that say what they like, controllers that fail, people, fires,
//! operators, restarts. Only the laws are looked at, after every step, and that nothing flaps.

use dispatch::{Input, OperatorAction, ResolveOutcome, SiteConfig};
use protocol::hardware::{Change, Door, Mode, Motion, Report};
use protocol::ops::Presence;
use protocol::robot::{ConnectionState, RobotEvent};

use crate::support::Building;
use crate::support::site::{car, elevator, order, site, zone};

const ROBOTS: [&str; 3] = ["R-a", "R-b", "R-c"];
const CARS: [&str; 3] = ["EL001", "EL002", "EL003"];
const FLOORS: [&str; 3] = ["1F", "3F", "6F"];
/// What a ride is told in one second at most; more is a state that alternates with another.
const TOLD_MAX: usize = 40;

/// A small generator of numbers (xorshift64), the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).expect("small")).expect("small")
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }

    fn coin(&mut self) -> bool {
        self.roll(2) == 0
    }
}

fn mixed_site() -> SiteConfig {
    let mut sensing = car(CARS[1], Presence::Robot);
    sensing.claim = true;
    let mut annex = car(CARS[2], Presence::Any);
    annex.zone = zone("annex");
    let mut site = site(vec![car(CARS[0], Presence::None), sensing, annex]);
    site.zones
        .values_mut()
        .for_each(|zone| zone.fire_input = true);
    site
}

/// The order that a robot asked for last.
fn order_of(building: &Building, robot: &str) -> String {
    let known = building.state().robots.get(&robot.parse().expect("an id"));
    known.map_or_else(|| format!("T-{robot}-0"), ToString::to_string)
}

fn robot_acts(building: &mut Building, dice: &mut Dice, serial: u64) {
    let robot = dice.one(&ROBOTS);
    let id = order_of(building, robot);
    match dice.roll(12) {
        0 | 1 => {
            let mut request = building.request_of(&format!("T-{robot}-{serial}"));
            request.at_door = dice.one(&[None, Some(true), Some(false)]);
            request.to.floor = dice.one(&FLOORS).parse().expect("a floor");
            let reply = building.ask(robot, request);
            assert!(reply.in_reply_to.is_some());
        }
        2 => {
            building.cancel(robot, &id);
        }
        3 => building.in_car(robot, dice.coin()),
        4 => building.connection(robot, dice.one(ConnectionState::ALL)),
        5 => {
            let events = RobotEvent::all(dice.coin(), 20);
            let event = events[dice.roll(events.len())].clone();
            let fence = dice.one(&[None, Some(1), Some(2), Some(3)]);
            let at = dice.one(&[None, Some(CARS[0]), Some(CARS[1])]);
            building.event_with(robot, &id, event, fence, at);
        }
        6 => building.status(robot),
        _ => {
            let events = RobotEvent::all(dice.coin(), 20);
            let event = events[dice.roll(events.len())].clone();
            building.event(robot, &id, event);
        }
    }
}

fn car_acts(building: &mut Building, dice: &mut Dice) {
    let id = dice.one(&CARS);
    let at = dice.one(&FLOORS);
    let plant = building.plant_of(id);
    match dice.roll(10) {
        0..=2 => plant.open_at(at),
        3 | 4 => plant.shut_at(at),
        5 => plant.pass(at, dice.one(&[Motion::Up, Motion::Down])),
        6 => plant.occupied(dice.coin()),
        7 => plant.reading.front = dice.one(Door::ALL),
        8 => plant.reading.motion = dice.one(Motion::ALL),
        _ => {
            let front = Some(dice.one(Door::ALL));
            let motion = dice.one(&[None, Some(Motion::Up)]);
            let change = Change {
                front,
                motion,
                ..Change::default()
            };
            building.step(Input::Report {
                elevator: elevator(id),
                report: Report::Change(change),
            });
        }
    }
}

fn controller_acts(building: &mut Building, dice: &mut Dice) {
    let words = [
        "claim",
        "hall_call",
        "cancel_call",
        "car_call",
        "open_door",
        "hold_door",
        "close_door",
    ];
    let id = dice.one(&CARS);
    let word = dice.one(&words);
    let plant = building.plant_of(id);
    match dice.roll(8) {
        0 => plant.answers = !plant.answers,
        1 => {
            plant.refuses.insert(word);
        }
        2 => {
            plant.loses.insert(word);
        }
        3 => {
            plant.deaf.insert(word);
        }
        4 => plant.reading.mode = dice.one(&[Mode::Maintenance, Mode::Fire, Mode::Unknown]),
        5 => {
            let report = Report::Link { up: dice.coin() };
            building.step(Input::Report {
                elevator: elevator(id),
                report,
            });
        }
        _ => {
            plant.answers = true;
            plant.refuses.clear();
            plant.loses.clear();
            plant.deaf.clear();
            plant.reading.mode = Mode::Normal;
        }
    }
}

fn others_act(building: &mut Building, dice: &mut Dice) {
    let id = elevator(dice.one(&CARS));
    let robot = dice.one(&ROBOTS);
    let owned = order(&order_of(building, robot));
    let (coin, other) = (dice.coin(), dice.coin());
    match dice.roll(8) {
        0 => building.step(Input::Broker { up: coin }),
        1 => building.step(Input::ZoneFire {
            zone: zone("main"),
            clear: coin,
        }),
        2 => {
            building.restart(1_000, dice.roll(4) == 0);
            building.step(Input::Broker { up: true });
        }
        3 => {
            let _ = building.operator(OperatorAction::SiteResume { zone: None });
        }
        4 => {
            let _ = building.operator(OperatorAction::ElevatorReset {
                elevator: id,
                car_seen_empty: coin,
                force: false,
            });
        }
        5 => {
            let outcome = dice.one(&[ResolveOutcome::RobotOut, ResolveOutcome::Continue]);
            let _ = building.operator(OperatorAction::ElevatorResolve {
                elevator: id,
                order: owned,
                outcome,
                car_seen_empty: coin,
                force: other && dice.roll(8) == 0,
            });
        }
        6 => {
            let action = OperatorAction::ElevatorMaintenance {
                elevator: id,
                on: coin && other,
            };
            let _ = building.operator(action);
        }
        _ => {
            let _ = building.operator(OperatorAction::OrderCancel(owned));
        }
    }
}

fn explore(seed: u64, actions: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut building = Building::new(mixed_site());
    for serial in 0..actions {
        match dice.roll(20) {
            0..=8 => robot_acts(&mut building, &mut dice, serial),
            9..=15 => car_acts(&mut building, &mut dice),
            16..=18 => controller_acts(&mut building, &mut dice),
            _ => others_act(&mut building, &mut dice),
        }
        let pause_ms = dice.one(&[0, 10, 100, 700, 2_000, 9_000]);
        for _ in 0..=pause_ms / 1_000 {
            let before = building.shown.len();
            building.run(pause_ms.min(1_000));
            let told = building.shown.len() - before;
            assert!(
                told < TOLD_MAX,
                "seed {seed}: {told} states in a second: {:?}",
                building.shown.last()
            );
        }
        building.replies.clear();
        building.shown.clear();
        building.alarms.clear();
        building
            .plants
            .values_mut()
            .for_each(|plant| plant.log.clear());
    }
}

#[test]
fn the_laws_hold_whatever_happens() {
    for seed in 1..=40 {
        explore(seed, 150);
    }
}
