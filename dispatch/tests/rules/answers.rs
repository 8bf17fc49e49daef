//! What operators are answered: what is missing, and what is kept of it.

use dispatch::{OperatorAction, OperatorAnswer, ResolveOutcome};
use protocol::hardware::{Door, Mode, Motion};
use protocol::ops::Presence;
use protocol::robot::ConnectionState;

use crate::support::site::{elevator, order, zone};
use crate::support::{Building, E1, R1, Situation, T1};

fn missing(building: &mut Building, action: OperatorAction) -> String {
    building.operator(action).expect_err("it is refused")
}

fn resolve(outcome: ResolveOutcome, car_seen_empty: bool) -> OperatorAction {
    OperatorAction::ElevatorResolve {
        elevator: elevator(E1),
        order: order(T1),
        outcome,
        car_seen_empty,
        force: false,
    }
}

fn names(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{text:?} does not name {word:?}");
    }
    assert!(text.len() <= 256);
}

#[test]
fn robot_out_says_what_is_missing() {
    let out = || resolve(ResolveOutcome::RobotOut, false);
    let mut building = Situation::HoldTarget.building(Presence::None);
    names(&missing(&mut building, out()), &["--car-seen-empty"]);
    let mut building = Situation::HoldTarget.building(Presence::Robot);
    names(&missing(&mut building, out()), &[E1, "occupied"]);
    building.plant().reading.occupied = None;
    building.read_again();
    names(&missing(&mut building, out()), &[E1, "cannot be read"]);
    building.plant().reading.front = Door::Unknown;
    building.read_again();
    names(&missing(&mut building, out()), &[E1, "doors"]);
    building.plant().reading.motion = Motion::Up;
    building.read_again();
    names(&missing(&mut building, out()), &[E1, "up"]);
    building.plant().answers = false;
    building.run(31_000);
    names(&missing(&mut building, out()), &[E1, "30 s"]);
}

#[test]
fn robot_out_is_refused_while_the_robot_says_that_it_is_inside() {
    let mut building = Situation::HoldTarget.building(Presence::None);
    building.connection(R1, ConnectionState::Online);
    building.in_car(R1, true);
    let text = missing(&mut building, resolve(ResolveOutcome::RobotOut, true));
    names(&text, &[R1, "ONLINE"]);
    building.in_car(R1, false);
    building
        .operator(resolve(ResolveOutcome::RobotOut, true))
        .expect("it is out");
}

#[test]
fn continue_says_what_is_missing() {
    let on = || resolve(ResolveOutcome::Continue, false);
    let mut building = Situation::HoldFire.building(Presence::None);
    names(&missing(&mut building, on()), &[E1, "fire"]);
    let mut building = Situation::HoldBoarding.building(Presence::None);
    building.plant().open_at("3F");
    building.read_again();
    names(&missing(&mut building, on()), &["1F", "6F"]);
    let mut building = Situation::Running.building(Presence::None);
    names(&missing(&mut building, on()), &[T1, "RUNNING", E1]);
}

#[test]
fn what_is_not_known_is_named() {
    let mut building = Situation::Waiting.building(Presence::None);
    let text = missing(&mut building, OperatorAction::OrderCancel(order("T-none")));
    names(&text, &["T-none"]);
    let text = missing(&mut building, OperatorAction::OrderShow(order("T-none")));
    names(&text, &["T-none"]);
    let text = missing(
        &mut building,
        OperatorAction::ElevatorShow(elevator("EL009")),
    );
    names(&text, &["EL009"]);
    let zone = Some(zone("attic"));
    let text = missing(
        &mut building,
        OperatorAction::SiteSuspend { zone: zone.clone() },
    );
    names(&text, &["attic"]);
    let text = missing(&mut building, OperatorAction::SiteResume { zone });
    names(&text, &["attic"]);
    let action = OperatorAction::ElevatorMaintenance {
        elevator: elevator("EL009"),
        on: true,
    };
    names(&missing(&mut building, action), &["EL009"]);
}

#[test]
fn order_cancel_says_why_not() {
    let mut building = Situation::Running.building(Presence::None);
    let text = missing(&mut building, OperatorAction::OrderCancel(order(T1)));
    names(&text, &[T1, "RUNNING"]);
}

#[test]
fn resume_says_what_burns_still() {
    let mut building = Situation::HoldFire.building(Presence::None);
    let text = missing(&mut building, OperatorAction::SiteResume { zone: None });
    names(&text, &[E1, "fire"]);
    building.plant().reading.mode = Mode::Normal;
    building.read_again();
    building
        .operator(OperatorAction::SiteResume { zone: None })
        .expect("resumed");
}

/// Each action that did something is in the history; looks and refusals are not.
#[test]
fn actions_are_kept_with_operator_and_reason() {
    let mut building = Situation::Waiting.building(Presence::None);
    building
        .operator(OperatorAction::OrderList)
        .expect("a list");
    let _ = building.operator(OperatorAction::OrderCancel(order("T-none")));
    assert!(building.state().history.is_empty());
    building
        .operator(OperatorAction::OrderCancel(order(T1)))
        .expect("cancelled");
    let entry = building.state().history.back().expect("an entry");
    assert_eq!(entry.operator, "anna");
    assert_eq!(entry.reason, "a test");
    assert_eq!(entry.action, OperatorAction::OrderCancel(order(T1)));
}

#[test]
fn lists_show_live_orders_and_all_elevators() {
    let mut building = Situation::Arrived.building(Presence::None);
    let Ok(OperatorAnswer::Orders(orders)) = building.operator(OperatorAction::OrderList) else {
        panic!("a list of orders");
    };
    assert_eq!(orders.len(), 1);
    assert_eq!(orders[0].order_id, order(T1));
    let Ok(OperatorAnswer::Elevators(cars)) = building.operator(OperatorAction::ElevatorList)
    else {
        panic!("a list of elevators");
    };
    assert_eq!(cars.len(), 1);
    assert_eq!(cars[0].health.as_str(), "ok");
    assert_eq!(cars[0].owner.as_ref().map(|owner| owner.fence.0), Some(1));
}

/// `--force`: out of use until a reset with a reading, whatever else is tried.
#[test]
fn what_was_forced_is_in_maintenance_until_a_reset_with_a_reading() {
    let mut building = Situation::HoldTarget.building(Presence::None);
    building.plant().answers = false;
    building.run(31_000);
    let force = OperatorAction::ElevatorResolve {
        elevator: elevator(E1),
        order: order(T1),
        outcome: ResolveOutcome::RobotOut,
        car_seen_empty: false,
        force: true,
    };
    building.operator(force).expect("forced");
    let health = |building: &mut Building| {
        let show = OperatorAction::ElevatorShow(elevator(E1));
        let Ok(OperatorAnswer::Elevators(cars)) = building.operator(show) else {
            panic!("an elevator");
        };
        cars[0].health.as_str().to_owned()
    };
    assert_eq!(health(&mut building), "maintenance");
    building.plant().answers = true;
    building.plant().shut_at("6F");
    building.run(20_000);
    building.request(R1, "T-2");
    building.run(5_000);
    assert!(building.describe("T-2").starts_with("QUEUED"));
    let reset = OperatorAction::ElevatorReset {
        elevator: elevator(E1),
        car_seen_empty: true,
        force: false,
    };
    building.operator(reset).expect("reset with a reading");
    building.run(13_000);
    assert_eq!(health(&mut building), "ok");
    assert!(
        building.describe("T-2").starts_with("WAITING"),
        "{}",
        building.describe("T-2")
    );
}
