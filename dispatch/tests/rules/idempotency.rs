//! One order id, one answer (`wire.md` section 3, Idempotency; T-LIFT-18).

use protocol::ride::{ReplyResult, RideState};
use protocol::{Code, Side, Timestamp};

use crate::support::site::{elevator, floor, one_car};
use crate::support::{Building, E1, R1, R2, Situation, T1};
use protocol::ops::Presence;

fn building() -> Building {
    Situation::Queued.building(Presence::None)
}

#[test]
fn what_is_not_in_the_digest_makes_no_other_order() {
    let mut building = building();
    let mut request = building.request_of(T1);
    request.message_id = "another".parse().expect("an id");
    request.timestamp = Timestamp(1);
    request.at_door = Some(false);
    request.eta_s = Some(40);
    request.expires_at = Some(Timestamp(2));
    request.dry_run = true;
    let reply = building.ask(R1, request);
    assert_eq!(reply.result, ReplyResult::Duplicate);
    assert_eq!(reply.state, Some(RideState::Queued));
    assert_eq!(reply.queue_position, Some(1));
}

#[test]
fn each_part_of_the_digest_makes_another_order() {
    let mut building = building();
    let whole = building.request_of(T1);
    let mut others = vec![
        whole.clone(),
        whole.clone(),
        whole.clone(),
        whole.clone(),
        whole,
    ];
    others[0].from.floor = floor("3F");
    others[1].to.floor = floor("3F");
    others[2].priority = 9;
    others[3].elevators.insert(elevator(E1));
    // As sent: a side that was left out and the same side named are not the same.
    others[4].from.side = Some(Side::Front);
    for request in others {
        let reply = building.ask(R1, request.clone());
        assert_eq!(reply.code, Some(Code::OrderConflict), "{request:?}");
    }
}

#[test]
fn another_robots_order_is_a_conflict_and_shows_nothing_of_it() {
    let mut building = building();
    let reply = building.request(R2, T1);
    assert_eq!(reply.code, Some(Code::OrderConflict));
    assert_eq!(reply.state, None);
    assert_eq!(reply.elevator_id, None);
}

#[test]
fn a_repetition_changes_neither_place_nor_age() {
    let mut building = building();
    building.run(5_000);
    building.request(R2, "T-9");
    building.status(R1);
    let again = building.request(R1, T1);
    assert_eq!(again.result, ReplyResult::Duplicate);
    assert_eq!(again.queue_position, Some(1));
    assert_eq!(building.request(R2, "T-9").queue_position, Some(2));
}

#[test]
fn a_refused_id_stays_free() {
    let mut building = Building::new(one_car(Presence::None));
    let mut request = building.request_of(T1);
    request.to.floor = floor("9F");
    assert_eq!(building.ask(R1, request).code, Some(Code::UnknownFloor));
    assert_eq!(building.request(R1, T1).result, ReplyResult::Accepted);
}

#[test]
fn the_answer_lasts_past_the_end_the_next_order_and_a_restart() {
    let mut building = building();
    building.cancel(R1, T1);
    let check = |building: &mut Building| {
        let reply = building.request(R1, T1);
        assert_eq!(reply.result, ReplyResult::Duplicate);
        assert_eq!(reply.state, Some(RideState::Cancelled));
        assert!(reply.seq.is_some());
    };
    check(&mut building);
    building.request(R1, "T-2");
    check(&mut building);
    building.restart(1_000, false);
    check(&mut building);
    // What robots are told of an ended ride is dropped after an hour, the answer is not.
    building.step(dispatch::Input::Broker { up: true });
    building.plant().answers = false;
    building.cancel(R1, "T-2");
    building.run(3_700_000);
    assert!(building.state().rides.is_empty());
    check(&mut building);
}

#[test]
fn the_id_is_free_again_after_the_retention() {
    let mut site = one_car(Presence::None);
    site.limits.dedup_retention_s = 60;
    let mut building = Building::new(site);
    building.request(R1, T1);
    building.cancel(R1, T1);
    building.run(59_000);
    assert_eq!(building.request(R1, T1).result, ReplyResult::Duplicate);
    building.run(7_000);
    assert_eq!(building.request(R1, T1).result, ReplyResult::Accepted);
}

/// Work in a step is bounded, also when many orders end their time at once.
#[test]
fn many_ids_become_free_step_by_step() {
    let mut site = one_car(Presence::None);
    site.limits.dedup_retention_s = 60;
    site.limits.robot_messages_per_s = 1_000;
    let mut building = Building::new(site);
    for n in 0..400 {
        let id = format!("T-{n}");
        building.request(R1, &id);
        building.cancel(R1, &id);
    }
    assert_eq!(building.state().ledger.len(), 400);
    building.run(66_000);
    assert!(building.state().ledger.is_empty());
}
