//! Giving a ride up, or getting lost, in each state, in a world with a virtual clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use protocol::ride::RideState;
use world_stage::{ask, elevator, honest, judge, one_elevator, order, owner, robot, state, until};

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
fn at_lift_24_only_before_enter_does_a_cancel_free_the_car() {
    for during in OWNING {
        let mut world = one_elevator();
        honest(&mut world, "R1", "1F");
        ask(&mut world, "R1", "T1", "1F", "6F");
        until(&mut world, "T1", during);
        world.cancel(&robot("R1"), &order("T1"));
        world.run_for(20);
        let waits = matches!(during, RideState::Granted | RideState::WaitingHallCall);
        let cancelled = state(&world, "T1") == Some(RideState::Cancelled);
        assert_eq!(cancelled, waits, "cancelled in {during}");
        if waits {
            world.run_for(30_000);
            assert_eq!(owner(&world, "EL1"), None, "after a cancel in {during}");
        } else {
            assert_eq!(owner(&world, "EL1"), Some(order("T1")));
            until(&mut world, "T1", RideState::RobotExited);
        }
        judge(&world);
    }
}

#[test]
fn at_lift_24_only_before_enter_does_a_lost_robot_free_the_car() {
    for during in OWNING {
        let mut world = one_elevator();
        // A controller that is slow to answer keeps the ride in GRANTED for a while.
        honest(&mut world, "R1", "1F");
        honest(&mut world, "R2", "2F");
        if during == RideState::Granted {
            world.with_controller(&elevator("EL1"), |controller, _| controller.set_mute(true));
        }
        if during == RideState::WaitingHallCall {
            world.with_controller(&elevator("EL1"), |controller, now_ms| {
                controller
                    .car_mut()
                    .set_faults(now_ms, |faults| faults.stuck = true);
            });
        }
        ask(&mut world, "R1", "T1", "1F", "6F");
        until(&mut world, "T1", during);
        world.kill_robot(&robot("R1"));
        if during == RideState::Granted {
            world.with_controller(&elevator("EL1"), |controller, _| controller.set_mute(false));
        }
        world.run_for(300_000);
        let waits = matches!(during, RideState::Granted | RideState::WaitingHallCall);
        // In ELEVATOR_ARRIVED the car was read empty after it had shut: a no-show.
        let no_show = during == RideState::ElevatorArrived;
        let frees = waits || no_show;
        assert_eq!(
            owner(&world, "EL1").is_none(),
            frees,
            "a robot lost in {during}"
        );
        let expected = if frees {
            RideState::Failed
        } else {
            RideState::Hold
        };
        assert_eq!(
            state(&world, "T1"),
            Some(expected),
            "a robot lost in {during}"
        );
        judge(&world);
    }
}
