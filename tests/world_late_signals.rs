//! Ten thousand rides whose door signals come late, in a world with a virtual clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use protocol::ride::RideState;
use sim::world::controller::ControllerConfig;
use sim::world::robot::Habits;
use sim::world::site::{ElevatorPlan, SitePlan};
use sim::world::{World, WorldConfig};
use world_stage::{ask, elevator, judge, landing, robot, until};

/// Short ways, so that ten thousand rides fit into a test.
fn quick(name: &str, at: usize) -> ElevatorPlan {
    let mut plan = ElevatorPlan::new(name, 6).unwrap().starting_at(at);
    plan.car.ride_s = Some(1.0);
    plan.car.door_open_s = 1.0;
    plan.car.door_close_s = 1.0;
    plan.controller.tells = false;
    plan
}

#[test]
fn at_lift_10_door_signals_up_to_900_ms_late_fail_no_ride_of_ten_thousand() {
    const RIDES: usize = 10_000;
    const ROBOTS: usize = 40;
    let names: Vec<_> = (0..20).map(|n| format!("EL{n}")).collect();
    let mut plans: Vec<_> = names.iter().map(|name| quick(name, 0)).collect();
    for plan in &mut plans {
        plan.controller = ControllerConfig {
            door_lag_ms: (0, 900),
            ..plan.controller.clone()
        };
    }
    let mut site = SitePlan::new(plans);
    site.limits.robot_messages_per_s = 1_000;
    let mut world = World::new(WorldConfig::new(site)).unwrap();
    world.start_gateway(false);
    world.run_for(200);
    let habits = Habits {
        cross_ms: 500,
        ..Habits::default()
    };
    for n in 0..ROBOTS {
        let id = robot(&format!("R{n}"));
        assert!(world.add_robot(&id, landing("1F").floor, habits.clone()));
    }
    let mut asked = 0;
    let mut floors = vec!["1F"; ROBOTS];
    while asked < RIDES || world.robots().iter().any(|robot| robot.order().is_some()) {
        for (n, floor) in floors.iter_mut().enumerate() {
            if asked < RIDES && world.robots()[n].order().is_none() {
                let to = if *floor == "1F" { "6F" } else { "1F" };
                ask(
                    &mut world,
                    &format!("R{n}"),
                    &format!("T{asked}"),
                    floor,
                    to,
                );
                *floor = to;
                asked += 1;
            }
        }
        world.run_for(500);
        assert!(world.now_ms() < 40_000_000, "{asked} rides asked for only");
    }
    let rides = world.record().rides();
    let failed: Vec<_> = rides
        .iter()
        .filter(|(_, ride)| !ride.went_right())
        .collect();
    assert_eq!(rides.len(), RIDES);
    assert!(
        failed.is_empty(),
        "{} failed, the first {:?}",
        failed.len(),
        failed[0]
    );
    judge(&world);
}

#[test]
fn at_lift_10_an_effect_that_is_not_seen_is_asked_for_three_times_two_seconds_apart() {
    let mut plan = quick("EL1", 5);
    plan.car.ride_s = Some(30.0);
    let mut site = SitePlan::new(vec![plan]);
    // No poll falls into the wait, and nobody tells anything unasked.
    site.timing.poll_ms = 3_600_000;
    site.timing.silent_ms = 3_600_000;
    let mut world = World::new(WorldConfig::new(site)).unwrap();
    world.start_gateway(false);
    world.run_for(200);
    let habits = Habits {
        by_hand: true,
        ..Habits::default()
    };
    assert!(world.add_robot(&robot("R1"), landing("1F").floor, habits));
    world.with_controller(&elevator("EL1"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.forget_calls = 1);
    });
    ask(&mut world, "R1", "T1", "1F", "6F");
    until(&mut world, "T1", RideState::WaitingHallCall);
    // The look that came with the grant is under way still.
    world.run_for(100);
    let since_ms = world.now_ms();
    world.run_until(since_ms + 59_000);
    let asked: Vec<_> = world
        .record()
        .commands()
        .filter(|(at_ms, command)| *at_ms > since_ms && command.action.word() == "query")
        .map(|(at_ms, _)| at_ms)
        .collect();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(
        asked.windows(2).all(|pair| pair[1] - pair[0] >= 2_000),
        "{asked:?}"
    );
}
