//! Robots that enter, do not enter, or say one thing while the signal says another, in a world with a
//! virtual clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use protocol::ReasonCode;
use protocol::hardware::{Action, Report};
use protocol::ride::RideState;
use protocol::robot::RobotEvent;
use sim::world::dice::Dice;
use sim::world::robot::Habits;
use sim::world::tale::Tale;
use world_stage::{
    ask, by_hand, elevator, honest, judge, landing, one_elevator, order, owner, reason, robot,
    state, until, words_since,
};

/// One pattern of words and signals; true where a car call went out.
fn pattern(seed: u64) -> (bool, bool) {
    let mut dice = Dice::new(seed);
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::ElevatorArrived);
    for _ in 0..12 {
        match dice.between(0, 7) {
            0 => world.say(&robot("R1"), RobotEvent::Entered),
            1 => world.say(&robot("R1"), RobotEvent::CancelExit),
            2 => {
                world.drive(&robot("R1"), &elevator("EL1"), true);
            }
            3 => {
                world.drive(&robot("R1"), &elevator("EL1"), false);
            }
            4 => world.status(&robot("R1"), Some(dice.happens(500))),
            5 => {
                let mute = dice.happens(500);
                world.with_controller(&elevator("EL1"), |controller, _| controller.set_mute(mute));
            }
            _ => {
                let shown =
                    [None, Some(true), Some(false)][usize::try_from(dice.between(0, 2)).unwrap()];
                world.with_controller(&elevator("EL1"), |controller, now_ms| {
                    controller
                        .car_mut()
                        .set_faults(now_ms, |faults| faults.presence = shown);
                });
            }
        }
        world.run_for(dice.between(0, 1_500));
    }
    let held = state(&world, "T1") == Some(RideState::Hold);
    // Both channels: the robot said so, and the last word of the signal, at most 3 s old, says so.
    let (mut said, mut full, mut called) = (false, None, false);
    for (at_ms, tale) in world.take_tales() {
        match tale {
            Tale::Robot(_, protocol::RobotMessage::Event(event)) => {
                said |= event.event == RobotEvent::Entered;
            }
            Tale::Reported(_, Report::Reading { reading, .. }) => {
                full = reading.occupied.map(|occupied| (occupied, at_ms));
            }
            Tale::Sent(command) if matches!(command.action, Action::CarCall { .. }) => {
                called = true;
                assert!(said, "seed {seed}: a car call and no word of the robot");
                let (occupied, read_ms) = full.expect("a reading before the call");
                assert!(
                    occupied,
                    "seed {seed}: a car call and the signal says empty"
                );
                assert!(at_ms - read_ms <= 3_000, "seed {seed}: the signal is stale");
            }
            _ => {}
        }
    }
    (called, held)
}

#[test]
fn at_lift_09_no_car_call_without_both_channels_over_a_thousand_patterns() {
    let outcomes: Vec<_> = (0..1_000).map(pattern).collect();
    let called = outcomes.iter().filter(|(called, _)| *called).count();
    let held = outcomes.iter().filter(|(_, held)| *held).count();
    assert!(
        called > 50 && held > 50,
        "{called} called, {held} held: too few to prove anything"
    );
}

#[test]
fn at_lift_09_one_channel_is_looked_at_after_1_2_and_3_s() {
    let mut world = one_elevator();
    by_hand(&mut world, "R1", "1F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::ElevatorArrived);
    world.say(&robot("R1"), RobotEvent::Entered);
    let said_ms = world.now_ms();
    until(&mut world, "T1", RideState::Hold);
    let after_ms = world.now_ms() - said_ms;
    assert!(
        (3_000..=4_200).contains(&after_ms),
        "HOLD after {after_ms} ms"
    );
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::EntryUnconfirmed));
    judge(&world);
}

#[test]
fn at_lift_23_a_no_show_is_seen_empty_and_the_next_robot_is_served() {
    let mut world = one_elevator();
    honest(&mut world, "R1", "1F");
    honest(&mut world, "R2", "2F");
    world.with_robot(&robot("R1"), |robot| robot.habits_mut().enters = false);
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::ElevatorArrived);
    let arrived_ms = world.now_ms();
    ask(&mut world, "R2", "T2", "2F", "1F");
    until(&mut world, "T1", RideState::Failed);
    let freed_ms = world.now_ms() - arrived_ms;
    // entry_s, then the hold lapses within hold_max_s and the door shuts.
    assert!(
        (60_000..=75_000).contains(&freed_ms),
        "freed after {freed_ms} ms"
    );
    assert_eq!(reason(&world, "T1"), Some(ReasonCode::BoardingTimeout));
    until(&mut world, "T2", RideState::RobotExited);
    judge(&world);
}

#[test]
fn at_lift_23_a_robot_that_dies_in_the_doorway_is_held() {
    let mut world = one_elevator();
    let habits = Habits {
        dies_in_doorway: true,
        ..Habits::default()
    };
    world.add_robot(&robot("R1"), landing("1F").floor, habits);
    honest(&mut world, "R2", "2F");
    ask(&mut world, "R1", "T1", "1F", "6F");
    ask(&mut world, "R2", "T2", "2F", "1F");
    until(&mut world, "T1", RideState::Hold);
    world.run_for(600_000);
    assert_eq!(owner(&world, "EL1"), Some(order("T1")));
    assert_eq!(state(&world, "T2"), Some(RideState::Queued));
    assert!(!words_since(&world, "EL1", 0).contains(&"close_door"));
    judge(&world);
}
