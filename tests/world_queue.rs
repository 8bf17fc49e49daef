//! Who gets which elevator, and when, in a world with a virtual clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod world_stage;

use std::collections::BTreeMap;

use dispatch::QueuePolicy;
use protocol::Code;
use protocol::OrderId;
use protocol::hardware::Direction;
use protocol::ride::{ReplyResult, RideReply, RideState};
use sim::record::Entry;
use sim::world::dice::Dice;
use sim::world::robot::{Habits, Order};
use sim::world::site::{ElevatorPlan, SitePlan};
use sim::world::{World, WorldConfig};
use world_stage::{
    ask, by_hand, elevator, honest, judge, landing, order, owner, plan, robot, state, until, world,
};

/// When each order was told that it has an elevator, in milliseconds after it was asked for.
fn waits(world: &World) -> BTreeMap<OrderId, u64> {
    let mut waits = BTreeMap::new();
    for (at_ms, entry) in world.record().entries() {
        if let Entry::Told {
            order,
            state: RideState::Granted,
            ..
        } = entry
        {
            let asked_ms = world.record().rides()[order].asked_ms;
            waits.entry(order.clone()).or_insert(at_ms - asked_ms);
        }
    }
    waits
}

/// Twenty elevators, each busy for about a minute per ride; robots of high priority come at 110 % of
/// what they can carry, for half an hour; a patrol of low priority every 5 minutes from minute 5.
/// Returns the waits of the patrols, the longest first, and the mean time that a ride took.
fn overload(policy: QueuePolicy, promote_ms: u64) -> (Vec<u64>, u64) {
    const MINUTE_MS: u64 = 60_000;
    let mut plans = Vec::new();
    for n in 0..20 {
        let mut plan = ElevatorPlan::new(&format!("EL{n}"), 6)
            .unwrap()
            .starting_at(n % 6);
        plan.car.ride_s = Some(25.0);
        plans.push(plan);
    }
    let mut site = SitePlan::new(plans);
    site.queue = policy;
    site.timing.promote_ms = promote_ms;
    let mut world = World::new(WorldConfig::new(site)).unwrap();
    world.start_gateway(false);
    world.run_for(200);
    let mut dice = Dice::new(16);
    let mut next_high_ms = world.now_ms();
    let mut patrols = 0;
    let mut highs = 0;
    while world.now_ms() < 30 * MINUTE_MS {
        let next_patrol_ms = (patrols + 1) * 5 * MINUTE_MS;
        world.run_until(next_high_ms.min(next_patrol_ms).min(30 * MINUTE_MS));
        if world.now_ms() >= 30 * MINUTE_MS {
            break;
        }
        let (name, priority) = if world.now_ms() >= next_patrol_ms {
            patrols += 1;
            (format!("P{patrols}"), 0)
        } else {
            highs += 1;
            next_high_ms = world.now_ms() + dice.exponential_ms(MINUTE_MS / 22);
            (format!("H{highs}"), 9)
        };
        let from = dice.between(1, 6);
        let to = (from + dice.between(0, 4)) % 6 + 1;
        let (from, to) = (format!("{from}F"), format!("{to}F"));
        assert!(world.add_robot(&robot(&name), landing(&from).floor, Habits::default()));
        let order = Order {
            priority,
            ..Order::new(order(&name), landing(&from), landing(&to))
        };
        world.request(&robot(&name), order);
    }
    while world.robots().iter().any(|robot| robot.order().is_some()) {
        world.run_for(MINUTE_MS / 6);
        assert!(world.now_ms() < 90 * MINUTE_MS, "the queue does not drain");
    }
    judge(&world);
    let waits = waits(&world);
    let mut patrols: Vec<_> = waits
        .iter()
        .filter(|(order, _)| order.as_str().starts_with('P'))
        .map(|(_, wait_ms)| *wait_ms)
        .collect();
    patrols.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(patrols.len(), 5, "minutes 5, 10, 15, 20 and 25");
    let took = world.record().rides().iter().map(|(order, ride)| {
        let (ended_ms, state) = ride.ended.unwrap();
        assert_eq!(state, RideState::RobotExited);
        ended_ms - ride.asked_ms - waits[order]
    });
    let rides = u64::try_from(world.record().rides().len()).unwrap();
    assert!(rides > 500, "{rides} rides");
    (patrols, took.sum::<u64>() / rides)
}

#[test]
fn at_lift_16_no_patrol_waits_more_than_240_s_under_overload() {
    let (patrols, mean_ms) = overload(QueuePolicy::default(), 120_000);
    eprintln!("patrols waited {patrols:?} ms, a ride took {mean_ms} ms");
    assert!(
        (55_000..=65_000).contains(&mean_ms),
        "a ride takes {mean_ms} ms, not about 60 s"
    );
    assert!(patrols[0] <= 240_000, "{patrols:?}");
}

#[test]
fn at_lift_16_without_ageing_and_promotion_the_same_bound_fails() {
    let policy = QueuePolicy {
        ageing: false,
        ..QueuePolicy::default()
    };
    let (patrols, mean_ms) = overload(policy, 1_000_000_000);
    eprintln!("patrols waited {patrols:?} ms, a ride took {mean_ms} ms");
    assert!(
        patrols[0] > 240_000,
        "the bound proves nothing: {patrols:?}"
    );
}

#[test]
fn at_lift_16_a_robot_at_the_door_goes_before_one_on_its_way_until_that_arrives() {
    for arrives in [false, true] {
        let mut world = world(SitePlan::new(vec![plan("EL1", 0)]));
        honest(&mut world, "R1", "1F");
        by_hand(&mut world, "R2", "2F");
        by_hand(&mut world, "R3", "2F");
        ask(&mut world, "R1", "T1", "1F", "6F");
        world.run_for(100);
        let far = Order {
            eta_s: 300,
            ..Order::new(order("T2"), landing("2F"), landing("1F"))
        };
        world.request(&robot("R2"), far);
        world.run_for(100);
        ask(&mut world, "R3", "T3", "2F", "1F");
        world.run_for(100);
        if arrives {
            world.say(&robot("R2"), protocol::robot::RobotEvent::AtDoor);
            world.run_for(1_000);
            let ride = |what: &str| world.robot(&robot(what)).unwrap().view().unwrap().clone();
            assert_eq!(
                ride("R2").queue_position,
                Some(1),
                "scored again within 1 s"
            );
        }
        until(&mut world, "T1", RideState::RobotExited);
        let first = if arrives { "T2" } else { "T3" };
        until(&mut world, first, RideState::Granted);
        let other = if arrives { "T3" } else { "T2" };
        assert_eq!(state(&world, other), Some(RideState::Queued));
        judge(&world);
    }
}

fn tall(name: &str, at: usize) -> ElevatorPlan {
    ElevatorPlan::new(name, 12).unwrap().starting_at(at)
}

fn dry_run(world: &mut World, elevators: &[&str]) -> RideReply {
    let asked = Order {
        dry_run: true,
        elevators: elevators.iter().map(|name| elevator(name)).collect(),
        ..Order::new(order("T1"), landing("6F"), landing("10F"))
    };
    world.request(&robot("R1"), asked);
    world.run_for(100);
    world
        .robot(&robot("R1"))
        .unwrap()
        .replies()
        .back()
        .unwrap()
        .clone()
}

#[test]
fn at_lift_17_coming_up_beats_coming_down_beats_going_away() {
    // One floor before those of the table: each is under way there when the robot asks.
    let plans = vec![tall("UP4", 2), tall("DOWN8", 8), tall("UP8", 6)];
    let mut world = world(SitePlan::new(plans));
    honest(&mut world, "R1", "6F");
    for (name, to) in [("UP4", "12F"), ("DOWN8", "1F"), ("UP8", "12F")] {
        world.with_controller(&elevator(name), |controller, now_ms| {
            controller
                .car_mut()
                .hall_call(now_ms, &landing(to), Direction::Up);
        });
    }
    world.run_for(2_600);
    for (name, at) in [("UP4", "4F"), ("DOWN8", "8F"), ("UP8", "8F")] {
        let car = world.controller(&elevator(name)).unwrap().car();
        assert_eq!(car.floor(), landing(at).floor, "{name}");
    }
    let chosen = |world: &mut World, names: &[&str]| dry_run(world, names).elevator_id;
    assert_eq!(chosen(&mut world, &[]), Some(elevator("UP4")));
    assert_eq!(
        chosen(&mut world, &["DOWN8", "UP8"]),
        Some(elevator("DOWN8"))
    );
    assert_eq!(chosen(&mut world, &["UP8"]), Some(elevator("UP8")));
}

#[test]
fn at_lift_17_what_is_broken_is_no_candidate_and_what_serves_nobody_is_refused() {
    let mut low = tall("LOW", 0);
    low = low.clone().serving(low.config.floors[..8].to_vec());
    let mut world = world(SitePlan::new(vec![tall("A", 0), tall("B", 5), low]));
    honest(&mut world, "R1", "6F");
    assert_eq!(dry_run(&mut world, &[]).elevator_id, Some(elevator("B")));
    world.with_controller(&elevator("B"), |controller, now_ms| {
        controller
            .car_mut()
            .set_faults(now_ms, |faults| faults.fault = Some("drive".into()));
    });
    world.run_for(3_000);
    assert_eq!(dry_run(&mut world, &[]).elevator_id, Some(elevator("A")));
    world.with_controller(&elevator("A"), |controller, _| controller.set_silent(true));
    world.run_for(15_000);
    ask(&mut world, "R1", "T1", "6F", "10F");
    world.run_for(5_000);
    assert_eq!(
        state(&world, "T1"),
        Some(RideState::Queued),
        "a broken one and a silent one"
    );

    honest(&mut world, "R2", "6F");
    let asked = Order {
        elevators: [elevator("LOW")].into(),
        ..Order::new(order("T2"), landing("6F"), landing("10F"))
    };
    world.request(&robot("R2"), asked);
    world.run_for(300);
    let reply = world
        .robot(&robot("R2"))
        .unwrap()
        .replies()
        .back()
        .unwrap()
        .clone();
    assert_eq!(
        (reply.result, reply.code),
        (ReplyResult::Rejected, Some(Code::NotServed))
    );
}

#[test]
fn at_lift_18_a_head_that_cannot_use_the_freed_elevator_does_not_block_it() {
    let mut world = world(SitePlan::new(vec![plan("EL1", 0), plan("EL2", 0)]));
    let only = |what: &str, elevators: &str| Order {
        elevators: [elevator(elevators)].into(),
        ..Order::new(order(what), landing("1F"), landing("6F"))
    };
    for (who, what, which) in [("R1", "T1", "EL1"), ("R2", "T2", "EL2")] {
        honest(&mut world, who, "1F");
        world.request(&robot(who), only(what, which));
        world.run_for(100);
    }
    // EL1 does not come back soon: R1 does not enter. T3 waits for it alone, T4 for any.
    world.with_robot(&robot("R1"), |robot| robot.habits_mut().enters = false);
    honest(&mut world, "R3", "1F");
    world.request(&robot("R3"), only("T3", "EL1"));
    world.run_for(100);
    honest(&mut world, "R4", "1F");
    ask(&mut world, "R4", "T4", "1F", "6F");
    until(&mut world, "T2", RideState::RobotExited);
    let limit_ms = world.now_ms() + 60_000;
    assert!(world.run_until_that(limit_ms, |world| owner(world, "EL2") != Some(order("T2"))));
    world.run_for(1_000);
    assert_eq!(owner(&world, "EL2"), Some(order("T4")));
    assert_eq!(state(&world, "T3"), Some(RideState::Queued));
    judge(&world);
}
