//! Checks before the table: unknown order, not the owner, the fence, orders that ended.

use protocol::Code;
use protocol::ops::Presence;
use protocol::ride::{ReplyResult, RideState};
use protocol::robot::RobotEvent;

use crate::support::{Building, E1, R1, R2, Situation, T1};

const ALL: fn() -> [RobotEvent; 7] = || RobotEvent::all(false, 30);

fn arrived() -> Building {
    Situation::Arrived.building(Presence::None)
}

fn is_free_of_fence(event: &RobotEvent) -> bool {
    matches!(event, RobotEvent::Query | RobotEvent::AtDoor)
}

#[test]
fn an_unknown_order_is_said_to_be_unknown() {
    let mut building = arrived();
    for event in ALL() {
        let reply = building.event_with(R1, "T-none", event, Some(1), None);
        assert_eq!(reply.code, Some(Code::UnknownOrder));
    }
    assert_eq!(building.cancel(R1, "T-none").code, Some(Code::UnknownOrder));
}

#[test]
fn another_robot_is_not_the_owner_whatever_its_fence() {
    let mut building = arrived();
    for event in ALL() {
        let reply = building.event_with(R2, T1, event, Some(99), None);
        assert_eq!(reply.code, Some(Code::NotOwner));
        assert_eq!(reply.state, None, "nothing of another's ride is shown");
    }
    assert_eq!(building.cancel(R2, T1).code, Some(Code::NotOwner));
    assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED enter");
}

#[test]
fn another_fence_is_stale_before_the_cell_is_looked_at() {
    for event in ALL() {
        let mut building = arrived();
        let free = is_free_of_fence(&event);
        let reply = building.event_with(R1, T1, event, Some(99), None);
        let code = (!free).then_some(Code::StaleFence);
        assert_eq!(reply.code, code);
        assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED enter");
    }
}

#[test]
fn a_missing_fence_is_malformed_where_the_ride_has_one() {
    for event in ALL() {
        let mut building = arrived();
        let free = is_free_of_fence(&event);
        let reply = building.event_with(R1, T1, event, None, None);
        let code = (!free).then_some(Code::Malformed);
        assert_eq!(reply.code, code);
    }
}

#[test]
fn no_fence_is_needed_while_the_ride_has_none() {
    let mut building = Situation::Queued.building(Presence::None);
    let event = RobotEvent::CancelEnter { again: false };
    let reply = building.event_with(R1, T1, event, None, None);
    assert_eq!(reply.result, ReplyResult::Accepted);
}

/// The robot has another order since: what it says of the one before is judged by how that ended.
#[test]
fn events_of_an_order_before_the_present_one() {
    let table = [
        (Situation::Cancelled, RobotEvent::Query, "A"),
        (
            Situation::Cancelled,
            RobotEvent::CancelEnter { again: false },
            "D",
        ),
        (Situation::Cancelled, RobotEvent::Exited, "R:WRONG_STATE"),
        (Situation::Failed, RobotEvent::Query, "A"),
        (
            Situation::Failed,
            RobotEvent::CancelEnter { again: false },
            "R:WRONG_STATE",
        ),
        (Situation::Exited, RobotEvent::Query, "A"),
        (Situation::Exited, RobotEvent::Exited, "D"),
        (Situation::Exited, RobotEvent::Entered, "R:WRONG_STATE"),
        (Situation::Exited, RobotEvent::AtDoor, "R:WRONG_STATE"),
        (
            Situation::Exited,
            RobotEvent::HoldDoor { hold_s: 5 },
            "R:WRONG_STATE",
        ),
    ];
    for (situation, event, expected) in table {
        let mut building = situation.building(Presence::None);
        let fence = building.fence(T1).expect("a fence").0;
        building.request(R1, "T-2");
        let word = event.word();
        let reply = building.event_with(R1, T1, event, Some(fence), None);
        let told = crate::support::cell::word_of(Some(&reply));
        assert_eq!(told, expected, "{word} after {situation:?}");
        assert_eq!(reply.state, Some(situation.state()));
        assert!(
            building
                .state()
                .elevators
                .values()
                .all(|car| car.block.is_none())
        );
    }
    let mut building = Situation::Cancelled.building(Presence::None);
    building.request(R1, "T-2");
    assert_eq!(building.cancel(R1, T1).result, ReplyResult::Duplicate);
}

/// The robot is in the car of the order before: its next ride must not be given that car.
#[test]
fn entered_of_an_order_before_the_present_one_blocks_its_elevator() {
    for event in [RobotEvent::Entered, RobotEvent::CancelExit] {
        let mut building = Situation::Cancelled.building(Presence::None);
        let fence = building.fence(T1).expect("a fence").0;
        building.request(R1, "T-2");
        building.run(500);
        let reply = building.event_with(R1, T1, event, Some(fence), None);
        assert_eq!(reply.code, Some(Code::WrongState));
        let record = building.state().elevator(&E1.parse().expect("an id"));
        assert!(record.block.is_some_and(|block| block.occupant));
        assert!(
            building.is_in("T-2", RideState::Queued),
            "{}",
            building.describe("T-2")
        );
    }
}

#[test]
fn every_reply_shows_the_ride_as_it_is_now() {
    let mut building = arrived();
    let reply = building.event(R1, T1, RobotEvent::Query);
    assert_eq!(reply.state, Some(RideState::ElevatorArrived));
    assert_eq!(reply.instruction.map(|word| word.as_str()), Some("enter"));
    assert_eq!(reply.valid_s.map(|valid| valid.ms), Some(5_000));
    assert_eq!(
        reply.elevator_id.map(|id| id.to_string()),
        Some(E1.to_owned())
    );
    assert_eq!(reply.fence.map(|fence| fence.0), Some(1));
    assert_eq!(
        reply.floor.map(|floor| floor.to_string()),
        Some("1F".to_owned())
    );
    assert_eq!(reply.queue_position, None);
    let seq = reply.seq.expect("a seq");
    let reply = building.event(R1, T1, RobotEvent::Entered);
    assert_eq!(reply.instruction.map(|word| word.as_str()), Some("ride"));
    assert_eq!(reply.valid_s, None);
    assert_eq!(
        reply.floor.map(|floor| floor.to_string()),
        Some("6F".to_owned())
    );
    assert!(reply.seq.expect("a seq") > seq);
}
