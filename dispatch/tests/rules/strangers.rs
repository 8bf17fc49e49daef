//! A robot in a car that is not its own (`ride.md` section 0, Checks, and the last column of
//! `entered`).

use protocol::Code;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::site::{elevator, one_car, two_cars};
use crate::support::{Building, E1, E2, R1, R2, Situation, T1, T2};

/// Brings the next owner of the car to a state.
type Prepare = fn(&mut Building);

fn is_blocked(building: &Building, id: &str) -> bool {
    let block = building.state().elevator(&elevator(id)).block;
    block.is_some_and(|block| block.occupant)
}

const CLAIMS: fn() -> [RobotEvent; 5] = || {
    [
        RobotEvent::Entered,
        RobotEvent::Exited,
        RobotEvent::CancelEnter { again: false },
        RobotEvent::CancelExit,
        RobotEvent::HoldDoor { hold_s: 5 },
    ]
};

#[test]
fn an_event_that_names_another_elevator_blocks_that_one_and_holds_the_ride() {
    for event in CLAIMS() {
        let mut building = Building::new(two_cars());
        building.request(R1, T1);
        building.run(1_000);
        let word = event.word();
        let reply = building.event_with(R1, T1, event, Some(1), Some(E2));
        assert_eq!(reply.code, Some(Code::WrongState), "{word}");
        assert!(is_blocked(&building, E2), "{word}");
        assert!(!is_blocked(&building, E1), "{word}");
        assert_eq!(
            building.describe(T1),
            "HOLD(ENTRY_UNCONFIRMED) stay",
            "{word}"
        );
    }
}

#[test]
fn in_query_and_at_door_the_elevator_is_ignored() {
    for event in [RobotEvent::Query, RobotEvent::AtDoor] {
        let mut building = Building::new(two_cars());
        building.request(R1, T1);
        building.run(1_000);
        let reply = building.event_with(R1, T1, event, Some(1), Some(E2));
        assert_eq!(reply.code, None);
        assert!(!is_blocked(&building, E2));
        assert!(building.is_in(T1, RideState::WaitingHallCall));
    }
}

#[test]
fn a_queued_ride_stays_queued_when_its_robot_names_an_elevator() {
    let mut building = Situation::Queued.building(Presence::None);
    let reply = building.event_with(R1, T1, RobotEvent::Entered, None, Some(E1));
    assert_eq!(reply.code, Some(Code::WrongState));
    assert!(is_blocked(&building, E1));
    assert!(building.is_in(T1, RideState::Queued));
}

/// T-1 ended on the car that T-2 has: what becomes of T-2 by where it stands.
#[test]
fn the_next_owner_goes_back_before_enter_and_is_held_after_it() {
    let table: [(&str, Prepare, &str); 4] = [
        (
            "GRANTED",
            |building| building.plant().answers = false,
            "QUEUED",
        ),
        ("WAITING_HALL_CALL", |_| {}, "QUEUED"),
        (
            "ELEVATOR_ARRIVED",
            |building| building.plant().open_at("1F"),
            "HOLD",
        ),
        (
            "RUNNING",
            |building| {
                building.plant().open_at("1F");
                building.run(3_000);
                building.event(R2, T2, RobotEvent::Entered);
                building.run(1_000);
                building.plant().pass("3F", protocol::hardware::Motion::Up);
            },
            "RUNNING",
        ),
    ];
    for (state, prepare, after) in table {
        let mut building = Situation::Cancelled.building(Presence::None);
        let fence = building.fence(T1).expect("a fence").0;
        if state == "GRANTED" {
            prepare(&mut building);
        }
        building.request(R2, T2);
        building.run(1_000);
        if state != "GRANTED" {
            prepare(&mut building);
            building.run(3_000);
        }
        let now = |building: &Building| building.describe(T2);
        assert!(
            now(&building).starts_with(state),
            "{state}: {}",
            now(&building)
        );
        let age = building.state().rides[&T2.parse().expect("an id")].accepted_at;
        building.event_with(R1, T1, RobotEvent::Entered, Some(fence), None);
        building.run(500);
        assert!(is_blocked(&building, E1), "{state}");
        assert!(
            now(&building).starts_with(after),
            "{state}: {}",
            now(&building)
        );
        assert_eq!(
            building.state().rides[&T2.parse().expect("an id")].accepted_at,
            age
        );
        building.status(R2);
        building.run(20_000);
        building.status(R2);
        assert!(
            !now(&building).starts_with("GRANTED"),
            "a blocked car is not given"
        );
    }
}

#[test]
fn one_whose_enter_is_withheld_goes_back() {
    let mut building = Situation::Cancelled.building(Presence::None);
    let fence = building.fence(T1).expect("a fence").0;
    let mut request = building.request_of(T2);
    request.at_door = Some(false);
    building.ask(R2, request);
    building.run(1_000);
    building.plant().open_at("1F");
    building.run(3_000);
    assert_eq!(building.describe(T2), "ELEVATOR_ARRIVED approach");
    building.event_with(R1, T1, RobotEvent::Entered, Some(fence), None);
    assert!(building.is_in(T2, RideState::Queued));
}

#[test]
fn only_the_last_ride_of_an_elevator_is_evidence() {
    let mut building = Situation::Cancelled.building(Presence::None);
    let fence = building.fence(T1).expect("a fence").0;
    building.request(R2, T2);
    building.run(1_000);
    building.cancel(R2, T2);
    building.run(4_000);
    building.event_with(R1, T1, RobotEvent::Entered, Some(fence), None);
    assert!(!is_blocked(&building, E1), "T-2 was there since");
}

/// A ride queued again, or with a newer grant: its older fence is stale, and evidence.
#[test]
fn entered_with_an_older_fence_of_the_same_order_is_stale_and_blocks() {
    for event in [RobotEvent::Entered, RobotEvent::CancelExit] {
        let mut building = Building::new(two_cars());
        building.request(R1, T1);
        building.run(1_000);
        building.plant().open_at("1F");
        building.plant_of(E2).shut_at("1F");
        building.run(3_000);
        assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED enter");
        building.event(R1, T1, RobotEvent::CancelEnter { again: true });
        building.run(500);
        let ride = &building.state().rides[&T1.parse().expect("an id")];
        assert_eq!(
            ride.elevator,
            Some(elevator(E2)),
            "the second grant is of the other car"
        );
        // The fences of two elevators are two counters; the order's older one is below or equal.
        let reply = building.event_with(R1, T1, event, Some(0), None);
        assert_eq!(reply.code, Some(Code::StaleFence));
        assert!(
            building.is_in(T1, RideState::WaitingHallCall),
            "{}",
            building.describe(T1)
        );
    }
    let mut building = Building::new(one_car(Presence::None));
    building.request(R1, T1);
    building.run(1_000);
    building.event(R1, T1, RobotEvent::CancelEnter { again: true });
    building.run(3_000);
    assert_eq!(
        building.fence(T1).map(|fence| fence.0),
        Some(2),
        "{}",
        building.describe(T1)
    );
    let reply = building.event_with(R1, T1, RobotEvent::Entered, Some(1), None);
    assert_eq!(reply.code, Some(Code::StaleFence));
    assert!(is_blocked(&building, E1));
}

#[test]
fn a_signal_that_says_empty_refutes_the_claim() {
    let mut building = Situation::Cancelled.building(Presence::Robot);
    building.event(R1, T1, RobotEvent::Entered);
    assert!(!is_blocked(&building, E1));
    building.plant().occupied(true);
    building.read_again();
    building.event(R1, T1, RobotEvent::Entered);
    assert!(is_blocked(&building, E1));
}
