//! What breaks, in a world with a virtual clock, judged by the simulator's own record: doors that do
//! not shut, calls that are not answered, signals that disagree, silent controllers, no-shows, fire.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::elevator::Health;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;
use protocol::{Outgoing, ReasonCode};
use sim::car::DoorStuck;
use sim::world::World;
use sim::world::tale::Tale;
use world_stage::{
    alarms, ask, by_hand, deeds, elevator, honest, judge, one_elevator, order, owner, reason,
    robot, state, until, words_since,
};

fn robot_out(world: &mut World, seen: bool) -> Result<(), String> {
    let ticket = world.operate(OperatorAction::ElevatorResolve {
        elevator: elevator("EL1"),
        order: order("T1"),
        outcome: ResolveOutcome::RobotOut,
        car_seen_empty: seen,
        force: false,
    });
    world.run_for(100);
    world.answer(ticket).unwrap().clone().map(|_| ())
}

fn reset(world: &mut World) -> Result<(), String> {
    let ticket = world.operate(OperatorAction::ElevatorReset {
        elevator: elevator("EL1"),
        car_seen_empty: false,
        force: false,
    });
    world.run_for(100);
    world.answer(ticket).unwrap().clone().map(|_| ())
}

/// The newest health of EL1 that was published, out of the tales so far.
fn healths(world: &mut World) -> Vec<Health> {
    let health = |(_, tale): (u64, Tale)| match tale {
        Tale::Said(Outgoing::ElevatorState(view)) if view.elevator_id == elevator("EL1") => {
            Some(view.health)
        }
        _ => None,
    };
    world.take_tales().into_iter().filter_map(health).collect()
}

#[test]
fn at_lift_07_a_door_that_does_not_shut_on_a_robot_inside_is_held_for_as_long_as_it_takes() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    honest(&mut world, "R2", "2F");
    world.with_robot(&robot("R1"), |robot| robot.habits_mut().leaves = false);
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::RobotEntered);
    let entered_ms = world.now_ms();
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.door = Some(DoorStuck::Open));
    });
    until(&mut world, "T1", RideState::Hold);
    let held_after_ms = world.now_ms() - entered_ms;
    assert!(
        (14_000..=16_000).contains(&held_after_ms),
        "HOLD after {held_after_ms} ms"
    );
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::DoorFault));
    assert!(alarms(&mut world).contains(&"DOOR_FAULT".to_owned()));

    ask(&mut world, "R2", "T2", "2F", "1F");
    world.run_for(600_000);
    assert_eq!(state(&world, "T2"), Some(RideState::Queued));
    assert_eq!(owner(&world, "EL1"), Some(order("T1")));
    let foreign = deeds(&world)
        .iter()
        .filter(|(_, c)| c.order_id == Some(order("T2")))
        .count();
    assert_eq!(foreign, 0);

    assert!(robot_out(&mut world, true).is_err(), "the robot is inside");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.door = None);
    });
    world.with_robot(&robot("R1"), |robot| robot.habits_mut().by_hand = true);
    assert!(world.drive(&robot("R1"), &elevator("EL1"), false));
    world.run_for(15_000);
    assert_eq!(robot_out(&mut world, false), Ok(()));
    until(&mut world, "T2", RideState::RobotExited);
    judge(&world);
}

#[test]
fn at_lift_08_a_registered_call_is_waited_for_and_stays_owned() {
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.stuck = true);
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    world.run_for(90_000);
    assert_eq!(state(&world, "T1"), Some(RideState::WaitingHallCall));
    assert_eq!(
        words_since(&world, "EL1", 0),
        ["hall_call"],
        "registered: not placed again"
    );
    until(&mut world, "T1", RideState::Failed);
    let waited_ms = world.now_ms();
    assert!(
        (118_000..=123_000).contains(&waited_ms),
        "two periods of 60 s: {waited_ms}"
    );
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::HallCallTimeout));
    world.run_for(5_000);
    assert_eq!(words_since(&world, "EL1", 0), ["hall_call", "cancel_call"]);
    assert_eq!(owner(&world, "EL1"), None, "the call was seen cleared");
    judge(&world);
}

#[test]
fn at_lift_08_15_a_forgotten_call_is_placed_once_more_in_each_stuck_episode() {
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    for episode in 1..=2 {
        world.with_controller(&elevator("EL1"), |controller, now_ms| {
            controller
                .car_mut()
                .set_faults(now_ms, |faults| faults.forget_calls = 1);
        });
        let begin_ms = world.now_ms();
        if episode == 1 {
            ask(&mut world, "R1", "T1", "1F", "6F");
        } else {
            world.say(&robot("R1"), RobotEvent::CancelEnter { again: true });
        }
        until(&mut world, "T1", RideState::WaitingHallCall);
        let waits_ms = world.now_ms();
        until(&mut world, "T1", RideState::ElevatorArrived);
        let calls: Vec<_> = deeds(&world)
            .into_iter()
            .filter(|(at_ms, c)| *at_ms >= begin_ms && c.action.word() == "hall_call")
            .map(|(at_ms, _)| at_ms - waits_ms)
            .collect();
        assert_eq!(calls.len(), 2, "episode {episode}: {calls:?}");
        assert!(
            (60_000..=66_000).contains(&calls[1]),
            "within deadline + 6 s: {calls:?}"
        );
    }
    judge(&world);
}

#[test]
fn at_lift_08_a_call_that_cannot_be_seen_cleared_keeps_the_elevator() {
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller.car_mut().set_faults(now_ms, |faults| {
            faults.stuck = true;
            faults.calls_unreadable = true;
        });
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::Failed);
    world.run_for(70_000);
    assert_eq!(owner(&world, "EL1"), Some(order("T1")));
    assert_eq!(healths(&mut world).last(), Some(&Health::Unknown));
    judge(&world);
}

#[test]
fn at_lift_14_a_silent_controller_with_an_owner_is_freed_by_an_operator_alone() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    honest(&mut world, "R2", "2F");
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.stuck = true);
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::WaitingHallCall);
    world.with_controller(&elevator("EL1"), |controller, _| {
        controller.set_silent(true)
    });
    until(&mut world, "T1", RideState::Failed);
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::ControllerLost));
    ask(&mut world, "R2", "T2", "2F", "1F");
    world.run_for(20_000);
    assert!(alarms(&mut world).contains(&"CONTROLLER_LOST".to_owned()));
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller.set_silent(false);
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.stuck = false);
    });
    world.run_for(60_000);
    let kept = |world: &World| {
        assert_eq!(owner(world, "EL1"), Some(order("T1")));
        assert_eq!(state(world, "T2"), Some(RideState::Queued));
    };
    kept(&world);
    assert_eq!(healths(&mut world).last(), Some(&Health::Unknown));
    world.crash_gateway(0);
    world.run_for(1_000);
    world.start_gateway(false);
    world.run_for(60_000);
    kept(&world);
    assert_eq!(reset(&mut world), Ok(()));
    until(&mut world, "T2", RideState::RobotExited);
    let history = &world.gateway().unwrap().core().state().history;
    let entry = history.back().unwrap();
    assert_eq!(
        (entry.operator.as_str(), entry.reason.as_str()),
        ("op-1", "as the plan says")
    );
    judge(&world);
}

#[test]
fn at_lift_15_a_ride_that_is_stuck_inside_is_found_within_its_deadline_and_6_s() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::Running);
    let running_ms = world.now_ms();
    world.run_for(2_000);
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.stuck = true);
    });
    until(&mut world, "T1", RideState::Hold);
    let found_ms = world.now_ms() - running_ms;
    assert!(
        (180_000..=186_000).contains(&found_ms),
        "travel_s is 180 s: {found_ms} ms"
    );
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::TravelTimeout));
    assert_eq!(owner(&world, "EL1"), Some(order("T1")));
    judge(&world);
}
