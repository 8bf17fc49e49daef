//! Fire and maintenance in each state of a ride, in a world with a virtual clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use protocol::Outgoing;
use protocol::hardware::{Mode, Report};
use protocol::ride::RideState;
use sim::world::site::SitePlan;
use sim::world::tale::Tale;
use world_stage::{ask, elevator, honest, judge, plan, robot, state, until, world};

/// From the report of the mode on nothing but `query` and `release` is sent.
fn mode_during(during: RideState, mode: Mode) {
    let mut world = world(SitePlan::new(vec![plan("EL1", 2)]));
    honest(&mut world, "R1", "1F");
    world.with_robot(&robot("R1"), |robot| robot.habits_mut().leaves = false);
    if during == RideState::Granted {
        world.with_controller(&elevator("EL1"), |controller, _| controller.set_mute(true));
    }
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", during);
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller.set_mute(false);
        controller.car_mut().set_mode(now_ms, mode);
    });
    world.take_tales();
    world.run_for(120_000);
    let (mut known, mut looks, mut raised) = (false, 0, Vec::new());
    for (_, tale) in world.take_tales() {
        match tale {
            Tale::Reported(_, Report::Change(change)) => known |= change.mode == Some(mode),
            Tale::Reported(_, Report::Reading { reading, .. }) => known |= reading.mode == mode,
            Tale::Sent(command) if known => {
                assert!(
                    command.action.is_allowed_in_any_mode(),
                    "{mode} in {during}: {command:?}"
                );
                looks += 1;
            }
            Tale::Said(Outgoing::Alarm(alarm)) => raised.push(alarm.code.as_str()),
            _ => {}
        }
    }
    assert!(known && looks > 10, "{mode} in {during}: {looks} looks");
    let waits = matches!(during, RideState::Granted | RideState::WaitingHallCall);
    let expected = match (waits, mode) {
        (false, _) => RideState::Hold,
        (true, Mode::Fire) => RideState::Failed,
        (true, _) => RideState::Queued,
    };
    assert_eq!(state(&world, "T1"), Some(expected), "{mode} in {during}");
    if !waits {
        let code = if mode == Mode::Fire {
            "FIRE_MODE"
        } else {
            "OUT_OF_SERVICE"
        };
        assert!(raised.contains(&code), "{mode} in {during}: {raised:?}");
    }
    judge(&world);
}

#[test]
fn at_lift_25_after_fire_or_maintenance_nothing_is_sent_but_query_and_release() {
    for during in [
        RideState::Granted,
        RideState::WaitingHallCall,
        RideState::ElevatorArrived,
        RideState::RobotEntered,
        RideState::Running,
        RideState::TargetArrived,
    ] {
        for mode in [Mode::Fire, Mode::Maintenance] {
            mode_during(during, mode);
        }
    }
}
