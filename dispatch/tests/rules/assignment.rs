//! Which elevator a ride gets (T-LIFT-12, T-LIFT-16), and when one may be given at all.

use dispatch::{ElevatorConfig, SiteConfig};
use protocol::hardware::Motion;
use protocol::ops::Presence;
use protocol::ride::RideState;

use crate::support::site::{car, elevator, floor, one_car, served, site, two_cars};
use crate::support::{Building, E1, E2, R1, R2, Situation, T1, T2};

/// A car that serves 1F to 12F.
fn tall(id: &str) -> ElevatorConfig {
    let mut tall = car(id, Presence::None);
    tall.floors = served(&(1..=12).collect::<Vec<_>>());
    tall
}

/// Where a car is, and which way it goes.
type Place = (u32, Motion);

/// The elevator that a ride from `from` to `to` is given where these are free.
fn given(places: &[Place], from: &str, to: &str) -> usize {
    let ids: Vec<String> = (0..places.len())
        .map(|number| format!("EL{number}"))
        .collect();
    let mut building = Building::new(site(ids.iter().map(|id| tall(id)).collect()));
    for (id, (at, motion)) in ids.iter().zip(places) {
        building.plant_of(id).pass(&format!("{at}F"), *motion);
    }
    building.run(3_000);
    let mut request = building.request_of(T1);
    request.from.floor = floor(from);
    request.to.floor = floor(to);
    let reply = building.ask(R1, request);
    let id = reply.elevator_id.expect("an elevator is free").to_string();
    ids.iter()
        .position(|known| known == &id)
        .expect("one of them")
}

const UP: Motion = Motion::Up;
const DOWN: Motion = Motion::Down;
const IDLE: Motion = Motion::Stopped;

/// T-LIFT-12: a robot from 6 to 10: at 4 going up, before at 8 going down, before at 8 going up.
#[test]
fn on_the_way_is_towards_the_start_and_the_same_way_on() {
    assert_eq!(given(&[(8, UP), (8, DOWN), (4, UP)], "6F", "10F"), 2);
    assert_eq!(given(&[(8, UP), (8, DOWN)], "6F", "10F"), 1);
    assert_eq!(given(&[(8, UP), (4, UP)], "6F", "10F"), 1);
    // Downwards it is the mirror image.
    assert_eq!(given(&[(4, DOWN), (4, UP), (8, DOWN)], "6F", "2F"), 2);
    assert_eq!(given(&[(4, DOWN), (4, UP)], "6F", "2F"), 1);
}

#[test]
fn an_idle_car_is_better_the_nearer_it_is() {
    assert_eq!(given(&[(1, IDLE), (5, IDLE), (12, IDLE)], "6F", "10F"), 1);
    assert_eq!(given(&[(6, IDLE), (5, UP)], "6F", "10F"), 0);
    // A car that must turn loses against one that stands as far away.
    assert_eq!(given(&[(8, DOWN), (4, IDLE)], "6F", "10F"), 1);
}

#[test]
fn of_equals_the_smaller_id_is_given() {
    assert_eq!(given(&[(3, IDLE), (3, IDLE)], "6F", "10F"), 0);
}

#[test]
fn only_an_allowed_elevator_that_serves_both_landings_is_given() {
    let mut short = car(E1, Presence::None);
    short.floors = served(&[1, 3]);
    let mut building = Building::new(site(vec![short, car(E2, Presence::None)]));
    building.plant_of(E1).shut_at("1F");
    building.run(3_000);
    let reply = building.request(R1, T1);
    assert_eq!(reply.elevator_id, Some(elevator(E2)));
    let mut building = Building::new(two_cars());
    building.plant_of(E1).shut_at("1F");
    building.run(3_000);
    let mut request = building.request_of(T1);
    request.elevators.insert(elevator(E2));
    assert_eq!(building.ask(R1, request).elevator_id, Some(elevator(E2)));
}

/// `grant_check_s`: the next candidate, and the first one is not asked again at once.
#[test]
fn a_grant_that_does_not_work_out_goes_to_the_next_candidate() {
    let mut building = Building::new(two_cars());
    building.plant_of(E1).shut_at("1F");
    building.run(3_000);
    building.plant_of(E1).answers = false;
    assert_eq!(building.request(R1, T1).elevator_id, Some(elevator(E1)));
    let fence = building.fence(T1);
    building.run(5_500);
    let ride = &building.state().rides[&T1.parse().expect("an id")];
    assert_eq!(ride.elevator, Some(elevator(E2)));
    assert_eq!(ride.state, RideState::WaitingHallCall);
    assert_eq!(
        fence.map(|fence| fence.0),
        Some(1),
        "each elevator has its own counter"
    );
}

/// The only elevator failed a grant: the ride keeps its age and gets it when it is good again.
#[test]
fn a_lone_elevator_is_given_again_after_heal_s_of_good_reads() {
    let mut building = Situation::Granted.building(Presence::None);
    building.run(5_000);
    assert!(building.is_in(T1, RideState::Queued));
    building.plant().answers = true;
    building.status(R1);
    building.run(9_000);
    assert!(
        building.is_in(T1, RideState::Queued),
        "{}",
        building.describe(T1)
    );
    building.run(5_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
    assert_eq!(
        building.fence(T1).map(|fence| fence.0),
        Some(2),
        "a new fence"
    );
}

/// AT-LIFT-14: one that was silent without an owner comes back by itself, after `heal_s`.
#[test]
fn an_elevator_that_was_silent_comes_back_after_heal_s() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().answers = false;
    building.run(15_000);
    building.request(R1, T1);
    building.run(5_000);
    assert!(building.is_in(T1, RideState::Queued));
    building.plant().answers = true;
    building.run(8_000);
    building.status(R1);
    assert!(
        building.is_in(T1, RideState::Queued),
        "{}",
        building.describe(T1)
    );
    building.run(8_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
}

fn occupied() -> SiteConfig {
    one_car(Presence::Any)
}

#[test]
fn a_car_with_people_in_it_is_not_given() {
    let mut building = Building::new(occupied());
    building.plant().occupied(true);
    building.run(3_000);
    building.request(R1, T1);
    building.run(3_000);
    assert!(building.is_in(T1, RideState::Queued));
    building.plant().occupied(false);
    building.run(3_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
}

/// AT-LIFT-01: one elevator, one order; no elevator idle for long while one waits for it.
#[test]
fn two_elevators_serve_two_robots_at_once_and_a_third_waits() {
    let mut building = Building::new(two_cars());
    let first = building.request("R-a", "T-a");
    let second = building.request("R-b", "T-b");
    let third = building.request("R-c", "T-c");
    assert_ne!(first.elevator_id, second.elevator_id);
    assert_eq!(third.elevator_id, None);
    assert_eq!(third.queue_position, Some(1));
    building.run(1_000);
    building.cancel("R-a", "T-a");
    building.run(2_000);
    let ride = &building.state().rides[&"T-c".parse().expect("an id")];
    assert_eq!(ride.elevator, first.elevator_id);
}

/// AT-LIFT-06: B asks while A is in each of its states: no command for B before A is done.
#[test]
fn no_command_for_another_order_before_the_owner_is_done() {
    for situation in [
        Situation::Granted,
        Situation::Waiting,
        Situation::Arrived,
        Situation::Withheld,
        Situation::EnteredShut,
        Situation::Running,
        Situation::Target,
        Situation::Exited,
        Situation::HoldBoarding,
        Situation::HoldRunning,
    ] {
        let mut building = situation.building(Presence::None);
        let mut request = building.request_of(T2);
        request.from.floor = floor("6F");
        request.to.floor = floor("3F");
        request.priority = 9;
        building.ask(R2, request);
        building.run(4_000);
        assert!(building.is_in(T2, RideState::Queued), "{situation:?}");
        let others = building.plant().log.iter().filter(|sent| {
            sent.command
                .order_id
                .as_ref()
                .is_some_and(|order| order.as_str() == T2)
        });
        assert_eq!(others.count(), 0, "{situation:?}");
        let owner = building
            .state()
            .elevator(&elevator(E1))
            .owner
            .expect("an owner");
        assert_eq!(owner.order.as_str(), T1, "{situation:?}");
    }
}
