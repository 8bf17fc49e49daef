//! Who is next when a car frees (T-LIFT-16, 38, 55; AT-LIFT-16, 18).

use dispatch::{OperatorAction, SiteConfig};
use protocol::hardware::Door;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::site::{car, elevator, floor, one_car, served, site};
use crate::support::{Building, E1, E2};

/// Nobody is served until [`open`].
fn closed(config: SiteConfig) -> Building {
    let mut building = Building::new(config);
    building
        .operator(OperatorAction::ElevatorMaintenance {
            elevator: elevator(E1),
            on: true,
        })
        .expect("in maintenance");
    building
}

fn open(building: &mut Building) {
    building
        .operator(OperatorAction::ElevatorMaintenance {
            elevator: elevator(E1),
            on: false,
        })
        .expect("back in use");
}

/// A waiter: robot, order, priority, at the door or seconds away.
fn wait(building: &mut Building, name: &str, priority: u8, eta_s: Option<u32>) {
    let mut request = building.request_of(&format!("T-{name}"));
    request.priority = priority;
    request.at_door = Some(eta_s.is_none());
    request.eta_s = eta_s;
    building.ask(&format!("R-{name}"), request);
}

/// The order that has an elevator.
fn served_order(building: &Building) -> Vec<String> {
    let rides = building.state().rides.values();
    let granted = rides.filter(|ride| ride.elevator.is_some());
    granted.map(|ride| ride.order.to_string()).collect()
}

fn keep_alive(building: &mut Building, names: &[&str], ms: u64) {
    let until = building.now_ms() + ms;
    while building.now_ms() < until {
        building.run((until - building.now_ms()).min(10_000));
        for name in names {
            building.status(&format!("R-{name}"));
        }
    }
}

#[test]
fn a_robot_at_the_door_goes_before_one_on_its_way() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "far", 5, Some(300));
    wait(&mut building, "near", 5, None);
    open(&mut building);
    assert_eq!(served_order(&building), ["T-near"]);
}

#[test]
fn a_higher_priority_goes_first_and_the_older_of_equals() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "b", 5, None);
    building.run(10);
    wait(&mut building, "a", 5, None);
    wait(&mut building, "c", 9, None);
    open(&mut building);
    assert_eq!(served_order(&building), ["T-c"]);
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "b", 5, None);
    building.run(10);
    wait(&mut building, "a", 5, None);
    open(&mut building);
    assert_eq!(served_order(&building), ["T-b"]);
}

/// T-LIFT-38: the rank is made when a car frees, not when the ride was queued.
#[test]
fn a_robot_that_reaches_the_door_is_ranked_anew_within_a_second() {
    for by_status in [false, true] {
        let mut building = closed(one_car(Presence::None));
        wait(&mut building, "late", 5, Some(300));
        building.run(1_000);
        wait(&mut building, "other", 5, Some(200));
        if by_status {
            let mut status = building.status_of();
            status.at_door = Some(true);
            building.tell("R-late", status);
        } else {
            let reply = building.event("R-late", "T-late", RobotEvent::AtDoor);
            assert_eq!(reply.queue_position, Some(1));
        }
        building.run(1_000);
        open(&mut building);
        assert_eq!(
            served_order(&building),
            ["T-late"],
            "by status: {by_status}"
        );
    }
}

/// Waiting counts: at `promote_s` a ride goes before all that have not waited so long.
#[test]
fn a_ride_is_promoted_at_promote_s() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "old", 0, Some(10_000));
    keep_alive(&mut building, &["old"], 119_000);
    wait(&mut building, "new", 9, None);
    assert_eq!(position(&mut building, "new"), Some(1));
    keep_alive(&mut building, &["old", "new"], 2_000);
    assert_eq!(position(&mut building, "old"), Some(1));
    open(&mut building);
    assert_eq!(served_order(&building), ["T-old"]);
}

fn position(building: &mut Building, name: &str) -> Option<u32> {
    let (robot, order) = (format!("R-{name}"), format!("T-{name}"));
    building
        .event(&robot, &order, RobotEvent::Query)
        .queue_position
}

/// T-LIFT-55: when all are promoted they are served by age alone.
#[test]
fn promoted_rides_are_served_by_age() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "first", 0, Some(10_000));
    building.run(1_000);
    wait(&mut building, "second", 9, None);
    keep_alive(&mut building, &["first", "second"], 125_000);
    open(&mut building);
    assert_eq!(served_order(&building), ["T-first"]);
}

/// Waiting too long never fails a ride.
#[test]
fn a_ride_never_fails_by_its_age() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "old", 5, None);
    keep_alive(&mut building, &["old"], 1_500_000);
    assert!(building.is_in("T-old", RideState::Queued));
}

/// AT-LIFT-18: the head of the queue cannot use the car that frees, the second can.
#[test]
fn the_best_eligible_waiter_is_served_not_the_head() {
    let mut short = car(E1, Presence::None);
    short.floors = served(&[1, 3]);
    let mut building = closed(site(vec![short, car(E2, Presence::None)]));
    building.plant_of(E2).reading.fault = Some("door motor".to_owned());
    building.run(3_000);
    wait(&mut building, "head", 9, None);
    let mut second = building.request_of("T-second");
    second.to.floor = floor("3F");
    second.priority = 0;
    building.ask("R-second", second);
    assert_eq!(position(&mut building, "head"), Some(1));
    open(&mut building);
    building.run(1_000);
    let ride = &building.state().rides[&"T-second".parse().expect("an id")];
    assert_eq!(ride.elevator, Some(elevator(E1)), "within a second");
    assert!(building.is_in("T-head", RideState::Queued));
}

/// A waiter is served when a car frees, without any further word.
#[test]
fn no_wake_up_is_lost() {
    let mut building = Building::new(one_car(Presence::None));
    building.request("R-a", "T-a");
    building.run(500);
    wait(&mut building, "b", 5, None);
    building.cancel("R-a", "T-a");
    building.run(3_000);
    assert!(
        building.is_in("T-b", RideState::WaitingHallCall),
        "{}",
        building.describe("T-b")
    );
}

#[test]
fn waiters_are_told_their_place_and_why_they_wait() {
    let mut building = closed(one_car(Presence::None));
    wait(&mut building, "a", 5, None);
    wait(&mut building, "b", 5, None);
    let told = |building: &Building, name: &str| {
        let order = format!("T-{name}").parse().expect("an id");
        let mut views = building.shown.iter().rev().map(|(_, view)| view);
        views
            .find(|view| view.order_id == order)
            .cloned()
            .expect("a state")
    };
    let view = told(&building, "b");
    assert_eq!(view.queue_position, Some(2));
    assert!(view.eta_s.is_some());
    assert_eq!(
        view.reason.map(|why| why.code.as_str()),
        Some("UNAVAILABLE")
    );
    assert_eq!(view.floor, None);
    let seq = view.seq;
    building.cancel("R-a", "T-a");
    building.run(11_000);
    let view = told(&building, "b");
    assert_eq!(view.queue_position, Some(1));
    assert_eq!(view.seq, seq, "a position repeats the seq");
    open(&mut building);
    wait(&mut building, "c", 5, None);
    let view = told(&building, "c");
    assert_eq!(view.reason.map(|why| why.code.as_str()), Some("BUSY"));
    building
        .operator(OperatorAction::SiteSuspend { zone: None })
        .expect("suspended");
    building.run(11_000);
    let view = told(&building, "c");
    assert_eq!(view.reason.map(|why| why.code.as_str()), Some("SUSPENDED"));
}

/// Positions and estimates are told at most once in 5 s each.
#[test]
fn positions_are_told_at_most_every_5_s() {
    let mut building = closed(one_car(Presence::None));
    for number in 0..6 {
        wait(&mut building, &format!("{number}"), 5, None);
    }
    let before = building.shown.len();
    for number in 0..5 {
        building.cancel(&format!("R-{number}"), &format!("T-{number}"));
        building.run(500);
    }
    building.run(2_000);
    let order = "T-5".parse().expect("an id");
    let told = building.shown[before..]
        .iter()
        .filter(|(_, view)| view.order_id == order);
    assert!(told.count() <= 1);
}

/// The age is kept when a ride is queued again.
#[test]
fn a_ride_queued_again_keeps_its_age() {
    let mut building = Building::new(one_car(Presence::None));
    building.request("R-old", "T-old");
    building.run(1_000);
    wait(&mut building, "young", 5, None);
    building.plant().open_at("1F");
    building.run(3_000);
    let event = RobotEvent::CancelEnter { again: true };
    building.event("R-old", "T-old", event);
    assert_eq!(position(&mut building, "old"), Some(1));
    building.plant().reading.front = Door::Closed;
    building.run(3_000);
    assert_eq!(served_order(&building), ["T-old"]);
}
