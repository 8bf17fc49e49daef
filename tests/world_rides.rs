//! Rides in a world with a virtual clock, judged by the simulator's own record: one answer per
//! order, one order per car, late signals, words of earlier rides, wrong floors, giving up.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{Fact, RideFact};
use protocol::Code;
use protocol::hardware::{Door, Report};
use protocol::ride::{ReplyResult, RideState};
use protocol::robot::RobotEvent;
use sim::car::CarEvent;
use sim::record::Entry;
use sim::world::robot::Order;
use sim::world::site::SitePlan;
use sim::world::tale::Tale;
use world_stage::{
    ask, by_hand, deeds, elevator, honest, judge, landing, one_elevator, order, plan, robot, state,
    until, world,
};

/// The six states in which a ride has an elevator, in order.
const OWNING: [RideState; 6] = [
    RideState::Granted,
    RideState::WaitingHallCall,
    RideState::ElevatorArrived,
    RideState::RobotEntered,
    RideState::Running,
    RideState::TargetArrived,
];

#[test]
fn at_lift_05_a_request_ten_times_is_one_ride_with_one_answer() {
    let mut world = world(SitePlan::new(vec![plan("EL1", 2), plan("EL2", 4)]));
    honest(&mut world, "R1", "1F");
    for _ in 0..10 {
        ask(&mut world, "R1", "T1", "1F", "6F");
    }
    world.run_for(100);
    world.crash_gateway(0);
    world.run_for(1_000);
    world.start_gateway(false);
    world.run_for(500);
    ask(&mut world, "R1", "T1", "1F", "6F");
    world.run_for(100);

    let replies: Vec<_> = world
        .robot(&robot("R1"))
        .unwrap()
        .replies()
        .iter()
        .cloned()
        .collect();
    assert_eq!(replies.len(), 11);
    let accepted = replies
        .iter()
        .filter(|reply| reply.result == ReplyResult::Accepted)
        .count();
    assert_eq!(accepted, 1);
    assert!(
        replies[1..]
            .iter()
            .all(|reply| reply.result == ReplyResult::Duplicate)
    );
    let grants: BTreeSet<_> = replies
        .iter()
        .map(|reply| (reply.elevator_id.clone(), reply.fence))
        .collect();
    assert_eq!(grants.len(), 1, "{grants:?}");
    let admitted = world
        .take_tales()
        .into_iter()
        .filter_map(|(_, tale)| match tale {
            Tale::Facts(facts) => Some(facts),
            _ => None,
        })
        .flatten()
        .filter(|fact| matches!(fact, Fact::Ride(RideFact::Admitted { .. })))
        .count();
    assert_eq!(admitted, 1);

    let before = world.gateway().unwrap().core().state().clone();
    ask(&mut world, "R1", "T1", "1F", "3F");
    let limit_ms = world.now_ms() + 100;
    world.run_until_that(limit_ms, |world| {
        let replies = world.robot(&robot("R1")).unwrap().replies();
        replies.back().unwrap().code == Some(Code::OrderConflict)
    });
    let conflict = world
        .robot(&robot("R1"))
        .unwrap()
        .replies()
        .back()
        .unwrap()
        .clone();
    assert_eq!(conflict.code, Some(Code::OrderConflict));
    assert_eq!(world.gateway().unwrap().core().state().rides, before.rides);
    until(&mut world, "T1", RideState::RobotExited);
    judge(&world);
}

#[test]
fn at_lift_06_a_second_request_in_each_state_waits_for_the_first_ride_to_end() {
    for during in OWNING {
        let mut world = one_elevator();
        honest(&mut world, "A", "1F");
        honest(&mut world, "B", "1F");
        ask(&mut world, "A", "TA", "1F", "6F");
        until(&mut world, "TA", during);
        ask(&mut world, "B", "TB", "1F", "3F");
        until(&mut world, "TB", RideState::RobotExited);
        let left_ms = world.record().rides()[&order("TA")]
            .left
            .as_ref()
            .unwrap()
            .0;
        let early = deeds(&world)
            .into_iter()
            .filter(|(at_ms, command)| *at_ms <= left_ms && command.order_id == Some(order("TB")))
            .count();
        assert_eq!(
            early, 0,
            "a command of B while A had the car, B asked in {during}"
        );
        assert!(
            world
                .record()
                .rides()
                .values()
                .all(|ride| ride.went_right())
        );
        judge(&world);
    }
}

#[test]
fn at_lift_11_words_of_the_ride_before_advance_no_state() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    honest(&mut world, "R2", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::RobotExited);
    world.run_for(10_000);
    let told = |(_, tale)| match tale {
        Tale::Reported(_, report) => Some(report),
        _ => None,
    };
    let earlier: Vec<Report> = world.take_tales().into_iter().filter_map(told).collect();
    assert!(earlier.len() > 50, "{} reports", earlier.len());

    ask(&mut world, "R2", "T2", "1F", "6F");
    let mut injected = 0;
    for during in OWNING {
        until(&mut world, "T2", during);
        for report in &earlier {
            world.inject(&elevator("EL1"), report.clone());
            injected += 1;
            // A door or a car that is said to move may take a permission away; nothing advances.
            assert_eq!(state(&world, "T2"), Some(during), "{report:?}");
        }
    }
    until(&mut world, "T2", RideState::RobotExited);
    assert!(injected > 300);
    judge(&world);
}

#[test]
fn at_lift_12_a_car_that_opens_at_4f_instead_of_6f_has_not_arrived() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::RobotEntered);
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.wrong_floor = -2);
    });
    let limit_ms = world.now_ms() + 60_000;
    let opened = world.run_until_that(limit_ms, |world| {
        let car = world.controllers()[0].car();
        car.is_open_at(&landing("4F"))
    });
    assert!(opened);
    world.run_for(3_000);
    assert_eq!(state(&world, "T1"), Some(RideState::Running));
    until(&mut world, "T1", RideState::RobotExited);
    assert!(world.record().rides()[&order("T1")].went_right());
    judge(&world);
}

#[test]
fn at_lift_12_a_car_that_opens_elsewhere_is_no_car_to_enter() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.wrong_floor = 1);
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    let limit_ms = world.now_ms() + 60_000;
    let opened = world.run_until_that(limit_ms, |world| {
        world.controllers()[0].car().is_open_at(&landing("2F"))
    });
    assert!(opened);
    world.run_for(3_000);
    assert_eq!(state(&world, "T1"), Some(RideState::WaitingHallCall));
    until(&mut world, "T1", RideState::RobotExited);
    judge(&world);
}

#[test]
fn at_lift_22_asking_again_every_15_s_while_queued_changes_nothing() {
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.stuck = true);
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    for (who, what) in [("R2", "T2"), ("R3", "T3"), ("R4", "T4")] {
        by_hand(&mut world, who, "2F");
        ask(&mut world, who, what, "2F", "1F");
        world.run_for(100);
    }
    let admitted = world.gateway().unwrap().core().state().rides[&order("T3")].clone();
    for _ in 0..7 {
        world.run_for(15_000);
        ask(&mut world, "R3", "T3", "2F", "1F");
        world.run_for(100);
        let reply = world
            .robot(&robot("R3"))
            .unwrap()
            .replies()
            .back()
            .unwrap()
            .clone();
        assert_eq!(reply.result, ReplyResult::Duplicate);
        assert_eq!(
            (reply.state, reply.queue_position),
            (Some(RideState::Queued), Some(2))
        );
    }
    let state = world.gateway().unwrap().core().state();
    assert_eq!(state.rides[&order("T3")].accepted_at, admitted.accepted_at);
    let queued = state
        .rides
        .values()
        .filter(|ride| ride.state == RideState::Queued)
        .count();
    assert_eq!(queued, 3);
    judge(&world);
}

#[test]
fn every_trip_with_a_robot_began_with_shut_doors() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::RobotExited);
    let mut doors: BTreeMap<_, Door> = BTreeMap::new();
    let mut trips = 0;
    for (_, entry) in world.record().entries() {
        match entry {
            Entry::Car {
                elevator,
                event: CarEvent::Door { door, .. },
            } => {
                doors.insert(elevator.clone(), *door);
            }
            Entry::Car {
                elevator,
                event: CarEvent::Departed { .. },
            } => {
                trips += 1;
                assert_eq!(
                    doors.get(elevator).copied().unwrap_or(Door::Closed),
                    Door::Closed
                );
            }
            _ => {}
        }
    }
    assert_eq!(trips, 2);
    judge(&world);
}

#[test]
fn a_dry_run_keeps_nothing() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    let asked = Order {
        dry_run: true,
        ..Order::new(order("T1"), landing("1F"), landing("6F"))
    };
    world.request(&robot("R1"), asked);
    world.run_for(100);
    let reply = world
        .robot(&robot("R1"))
        .unwrap()
        .replies()
        .back()
        .unwrap()
        .clone();
    assert_eq!((reply.result, reply.state), (ReplyResult::Accepted, None));
    assert_eq!(reply.elevator_id, Some(elevator("EL1")));
    assert!(world.gateway().unwrap().core().state().rides.is_empty());
    world.say(&robot("R1"), RobotEvent::Query);
}
