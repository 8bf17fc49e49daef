//! The order in which a request is refused (`wire.md` section 3): of two reasons that are next to
//! each other in the list the first is named.

use dispatch::{Input, OperatorAction, SiteConfig};
use protocol::message::RobotTopic;
use protocol::ops::Presence;
use protocol::ride::ReplyResult;
use protocol::robot::RideRequest;
use protocol::{Code, Refusal, Timestamp};

use crate::support::site::{car, elevator, floor, later, robot, served, site};
use crate::support::{Building, E1, E2, R1, R2, T1, T2};

/// EL001 serves 1F, 3F and 6F, EL002 only 1F and 3F.
fn two_reaches() -> SiteConfig {
    let mut short = car(E2, Presence::None);
    short.floors = served(&[1, 3]);
    site(vec![car(E1, Presence::None), short])
}

fn building() -> Building {
    Building::new(two_reaches())
}

fn refused(building: &mut Building, request: RideRequest) -> Code {
    let reply = building.ask(R1, request);
    assert_eq!(reply.result, ReplyResult::Rejected);
    assert!(
        reply
            .detail
            .is_some_and(|detail| !detail.is_empty() && detail.len() <= 256)
    );
    reply.code.expect("a code of a rejection")
}

fn suspend(building: &mut Building) {
    building
        .operator(OperatorAction::SiteSuspend { zone: None })
        .expect("suspended");
}

/// Says as much as a robot may say in this second, at the beginning of one.
fn use_up_the_rate(building: &mut Building) {
    building.run(1_000 - building.now_ms() % 1_000);
    for _ in 0..20 {
        building.status(R1);
    }
}

fn unreadable(code: Code) -> Input {
    Input::Unreadable(Refusal {
        client: None,
        robot: Some((robot(R1), RobotTopic::Request)),
        code,
        detail: "the payload is no JSON".to_owned(),
        message_id: None,
        order_id: None,
    })
}

#[test]
fn malformed_is_said_before_rate_limited() {
    for code in [Code::Malformed, Code::TooLarge] {
        let mut building = building();
        use_up_the_rate(&mut building);
        building.step(unreadable(code));
        let reply = building.replies.pop().expect("a reply");
        assert_eq!(reply.code, Some(code));
        assert_eq!(reply.in_reply_to, None);
    }
}

#[test]
fn rate_limited_is_said_before_duplicate() {
    let mut building = building();
    building.request(R1, T1);
    use_up_the_rate(&mut building);
    let reply = building.request(R1, T1);
    assert_eq!(reply.code, Some(Code::RateLimited));
    assert_eq!(reply.retry_after_s.map(|after| after.ms), Some(1_000));
}

#[test]
fn a_known_order_is_answered_before_unavailable() {
    let mut building = building();
    building.request(R1, T1);
    building.step(Input::Disk { low: true });
    assert_eq!(building.request(R1, T1).result, ReplyResult::Duplicate);
    let mut other = building.request_of(T1);
    other.priority = 0;
    assert_eq!(refused(&mut building, other), Code::OrderConflict);
}

#[test]
fn unavailable_is_said_before_stale() {
    let mut building = building();
    building.step(Input::Disk { low: true });
    let mut request = building.request_of(T1);
    request.timestamp = Timestamp(0);
    assert_eq!(refused(&mut building, request), Code::Unavailable);
}

#[test]
fn unavailable_ends_by_itself_and_says_when_to_try_again() {
    let mut building = building();
    building.step(Input::Disk { low: true });
    let reply = building.request(R1, T1);
    assert!(reply.retry_after_s.is_some());
    building.step(Input::Disk { low: false });
    assert_eq!(building.request(R1, T1).result, ReplyResult::Accepted);
}

#[test]
fn stale_is_said_before_unknown_floor() {
    let mut building = building();
    let day_ms = 24 * 3_600 * 1_000;
    let now = building.wall();
    for timestamp in [Timestamp(now.0 - 7 * day_ms - 1), later(now, 300_001)] {
        let mut request = building.request_of(T1);
        request.timestamp = timestamp;
        request.from.floor = floor("9F");
        assert_eq!(refused(&mut building, request), Code::StaleRequest);
    }
    let mut request = building.request_of(T1);
    request.expires_at = Some(now);
    request.from.floor = floor("9F");
    assert_eq!(refused(&mut building, request), Code::StaleRequest);
}

#[test]
fn a_request_at_the_very_bounds_of_its_age_is_taken() {
    let day_ms = 24 * 3_600 * 1_000;
    let first = building();
    let now = first.wall();
    for timestamp in [Timestamp(now.0 - 7 * day_ms), later(now, 300_000)] {
        let mut building = building();
        let mut request = building.request_of(T1);
        request.timestamp = timestamp;
        assert_eq!(building.ask(R1, request).result, ReplyResult::Accepted);
    }
}

#[test]
fn unknown_floor_is_said_before_same_floor() {
    let mut building = building();
    let mut request = building.request_of(T1);
    request.from.floor = floor("9F");
    request.to.floor = floor("9F");
    assert_eq!(refused(&mut building, request), Code::UnknownFloor);
}

#[test]
fn a_side_that_the_floor_lacks_or_one_of_two_unnamed_is_unknown_floor() {
    use protocol::Side;
    let mut two_sided = two_reaches();
    for car in two_sided.elevators.values_mut() {
        car.floors[0].sides.insert(Side::Rear);
    }
    let mut building = Building::new(two_sided);
    let request = building.request_of(T1);
    assert_eq!(
        refused(&mut building, request),
        Code::UnknownFloor,
        "none named of two"
    );
    let mut request = building.request_of(T1);
    request.from.side = Some(Side::Rear);
    request.to.side = Some(Side::Rear);
    assert_eq!(
        refused(&mut building, request),
        Code::UnknownFloor,
        "6F has no rear door"
    );
    let mut request = building.request_of(T1);
    request.from.side = Some(Side::Rear);
    assert_eq!(building.ask(R1, request).result, ReplyResult::Accepted);
}

#[test]
fn same_floor_is_said_before_unknown_elevator() {
    let mut building = building();
    let mut request = building.request_of(T1);
    request.to.floor = floor("1F");
    request.elevators.insert(elevator("EL009"));
    assert_eq!(refused(&mut building, request), Code::SameFloor);
}

#[test]
fn unknown_elevator_is_said_before_not_served() {
    let mut building = building();
    let mut request = building.request_of(T1);
    request.elevators.extend([elevator(E2), elevator("EL009")]);
    assert_eq!(refused(&mut building, request), Code::UnknownElevator);
}

#[test]
fn not_served_is_said_before_suspended() {
    let mut building = building();
    suspend(&mut building);
    let mut request = building.request_of(T1);
    request.elevators.insert(elevator(E2));
    assert_eq!(refused(&mut building, request), Code::NotServed);
}

#[test]
fn suspended_is_said_before_busy() {
    let mut building = building();
    building.request(R1, T1);
    suspend(&mut building);
    let request = building.request_of(T2);
    assert_eq!(refused(&mut building, request), Code::SiteSuspended);
}

#[test]
fn suspended_is_said_only_when_every_allowed_elevator_is() {
    let mut two_zones = two_reaches();
    let other = crate::support::site::zone("annex");
    two_zones
        .zones
        .insert(other.clone(), dispatch::ZoneConfig::default());
    two_zones
        .elevators
        .get_mut(&elevator(E2))
        .expect("EL002")
        .zone = other.clone();
    let mut building = Building::new(two_zones);
    let action = OperatorAction::SiteSuspend { zone: Some(other) };
    building.operator(action).expect("suspended");
    let mut request = building.request_of(T1);
    request.to.floor = floor("3F");
    request.elevators.insert(elevator(E2));
    assert_eq!(refused(&mut building, request.clone()), Code::SiteSuspended);
    request.elevators.insert(elevator(E1));
    assert_eq!(building.ask(R1, request).result, ReplyResult::Accepted);
}

#[test]
fn busy_is_said_before_queue_full() {
    let mut small = two_reaches();
    small.limits.queue = 1;
    let mut building = Building::new(small);
    for plant in building.plants.values_mut() {
        plant.reading.fault = Some("door motor".to_owned());
    }
    building.run(2_500);
    building.request(R1, T1);
    let request = building.request_of(T2);
    assert_eq!(refused(&mut building, request), Code::RobotBusy);
    let reply = building.request(R2, T2);
    assert_eq!(reply.code, Some(Code::QueueFull));
    assert!(reply.retry_after_s.is_some());
}

#[test]
fn a_gateway_that_ends_takes_no_new_orders() {
    let mut building = building();
    building.step(Input::Stopping);
    let request = building.request_of(T1);
    assert_eq!(refused(&mut building, request), Code::Unavailable);
}

#[test]
fn too_fast_or_unreadable_is_answered_at_most_once_a_second_per_topic() {
    let mut building = building();
    use_up_the_rate(&mut building);
    let before = building.replies.len();
    for _ in 0..30 {
        building.step(unreadable(Code::Malformed));
    }
    assert_eq!(building.replies.len(), before + 1);
    building.run(1_000);
    building.step(unreadable(Code::Malformed));
    assert_eq!(building.replies.len(), before + 2);
    // The next second is a new one.
    building.run(1_000);
    assert_eq!(building.request(R1, T1).result, ReplyResult::Accepted);
}

#[test]
fn one_robot_that_talks_too_much_disturbs_no_other() {
    let mut building = building();
    use_up_the_rate(&mut building);
    assert_eq!(building.request(R1, T1).code, Some(Code::RateLimited));
    assert_eq!(building.request(R2, T2).result, ReplyResult::Accepted);
}

#[test]
fn a_dry_run_keeps_nothing_and_names_the_elevator() {
    let mut building = building();
    let mut request = building.request_of(T1);
    request.dry_run = true;
    let reply = building.ask(R1, request.clone());
    assert_eq!(reply.result, ReplyResult::Accepted);
    assert_eq!(reply.state, None);
    assert_eq!(reply.elevator_id, Some(elevator(E1)));
    assert!(building.state().rides.is_empty());
    assert!(building.state().ledger.is_empty());
    // What would be refused is refused.
    request.to.floor = floor("9F");
    assert_eq!(refused(&mut building, request), Code::UnknownFloor);
}
