use protocol::hardware::{Action, Command, Door};
use protocol::ride::{Instruction, RideState};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, OrderId, RobotId, Side};

use super::{Entry, Record, Violation};
use crate::car::CarEvent;

fn elevator() -> ElevatorId {
    ElevatorId::new("EL1").unwrap()
}

fn robot(name: &str) -> RobotId {
    RobotId::new(name).unwrap()
}

fn order(name: &str) -> OrderId {
    OrderId::new(name).unwrap()
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

fn asked(record: &mut Record, who: &str, what: &str) {
    let (from, to) = (landing("1F"), landing("6F"));
    record.note(
        0,
        Entry::Asked {
            robot: robot(who),
            order: order(what),
            from,
            to,
        },
    );
}

fn car(record: &mut Record, at_ms: u64, event: CarEvent) {
    record.note(
        at_ms,
        Entry::Car {
            elevator: elevator(),
            event,
        },
    );
}

fn enters(record: &mut Record, at_ms: u64, who: &str) {
    car(
        record,
        at_ms,
        CarEvent::Entered {
            robot: robot(who),
            floor: landing("1F").floor,
        },
    );
}

fn command(record: &mut Record, at_ms: u64, what: &str, fence: u64, action: Action) {
    record.note(
        at_ms,
        Entry::Command(Command {
            elevator_id: elevator(),
            command_id: CommandId::new(&format!("c{at_ms}")).unwrap(),
            fence: Fence(fence),
            order_id: Some(order(what)),
            action,
            expires_in_ms: 1_000,
        }),
    );
}

fn told(record: &mut Record, at_ms: u64, who: &str, what: &str, state: RideState, fence: u64) {
    record.note(
        at_ms,
        Entry::Told {
            robot: robot(who),
            order: order(what),
            state,
            instruction: Instruction::Stay,
            elevator: Some(elevator()),
            fence: Some(Fence(fence)),
        },
    );
}

fn violations(record: &Record) -> Vec<String> {
    record
        .judge()
        .iter()
        .map(|(at_ms, violation)| format!("{at_ms} {violation}"))
        .collect()
}

#[test]
fn a_plain_ride_is_right_and_counted() {
    let mut record = Record::new();
    asked(&mut record, "R1", "T1");
    told(&mut record, 10, "R1", "T1", RideState::Granted, 1);
    command(&mut record, 20, "T1", 1, Action::Query);
    enters(&mut record, 5_000, "R1");
    car(
        &mut record,
        30_000,
        CarEvent::Left {
            robot: robot("R1"),
            floor: landing("6F").floor,
        },
    );
    told(&mut record, 31_000, "R1", "T1", RideState::RobotExited, 1);
    assert_eq!(violations(&record), Vec::<String>::new());
    let ride = &record.rides()[&order("T1")];
    assert!(ride.went_right());
    assert_eq!(
        (ride.waited_ms(), ride.rode_ms()),
        (Some(5_000), Some(25_000))
    );
    let counts = record.counts();
    assert_eq!(
        (counts.rides, counts.commands, counts.entries, counts.exits),
        (1, 1, 1, 1)
    );
}

#[test]
fn two_robots_in_one_car_are_found() {
    let mut record = Record::new();
    enters(&mut record, 1, "R1");
    enters(&mut record, 2, "R2");
    assert_eq!(
        violations(&record),
        ["2 EL1: R2 came in while R1 was inside"]
    );
}

#[test]
fn a_fence_that_goes_back_is_found() {
    let mut record = Record::new();
    command(&mut record, 1, "T1", 4, Action::Query);
    command(&mut record, 2, "T2", 5, Action::Query);
    command(&mut record, 3, "T1", 4, Action::Query);
    assert_eq!(
        violations(&record),
        ["3 EL1: command c3 has fence 4 after 5"]
    );
}

#[test]
fn another_orders_command_while_a_robot_is_inside_is_found() {
    let mut record = Record::new();
    asked(&mut record, "R1", "T1");
    asked(&mut record, "R2", "T2");
    enters(&mut record, 1, "R1");
    command(&mut record, 2, "T1", 1, Action::Query);
    command(&mut record, 3, "T2", 2, Action::Query);
    assert_eq!(
        violations(&record),
        ["3 EL1: command c3 of T2 while R1 was inside"]
    );
}

#[test]
fn closing_the_door_on_a_robot_is_found() {
    let mut record = Record::new();
    asked(&mut record, "R1", "T1");
    car(&mut record, 1, CarEvent::InDoorway { robot: robot("R1") });
    command(
        &mut record,
        2,
        "T1",
        1,
        Action::CloseDoor {
            landing: landing("1F"),
        },
    );
    assert_eq!(
        violations(&record),
        ["2 EL1: close_door while R1 was in the doorway"]
    );
}

#[test]
fn a_ride_that_ends_with_its_robot_inside_is_found() {
    let mut record = Record::new();
    asked(&mut record, "R1", "T1");
    enters(&mut record, 1, "R1");
    told(&mut record, 2, "R1", "T1", RideState::Failed, 1);
    assert_eq!(
        violations(&record),
        ["2 EL1: T1 was told FAILED while R1 was inside"]
    );
}

#[test]
fn two_owners_and_an_old_fence_are_found() {
    let mut record = Record::new();
    asked(&mut record, "R1", "T1");
    asked(&mut record, "R2", "T2");
    told(&mut record, 1, "R1", "T1", RideState::Granted, 7);
    told(&mut record, 2, "R2", "T2", RideState::Granted, 7);
    assert_eq!(
        violations(&record),
        [
            "2 EL1: T2 owned it while T1 did",
            "2 EL1: T2 got fence 7 after 7"
        ]
    );
}

#[test]
fn an_owner_that_ended_or_is_queued_again_does_not_overlap() {
    let mut record = Record::new();
    told(&mut record, 1, "R1", "T1", RideState::Granted, 1);
    told(&mut record, 2, "R1", "T1", RideState::Queued, 1);
    told(&mut record, 3, "R2", "T2", RideState::Running, 2);
    told(&mut record, 4, "R2", "T2", RideState::RobotExited, 2);
    told(&mut record, 5, "R1", "T1", RideState::Granted, 3);
    assert_eq!(violations(&record), Vec::<String>::new());
}

#[test]
fn crossing_a_closed_door_and_leaving_with_a_robot_on_the_threshold_are_found() {
    let mut record = Record::new();
    let door = Door::Closing;
    car(
        &mut record,
        1,
        CarEvent::CrossedUnopened {
            robot: robot("R1"),
            door,
            level: true,
        },
    );
    car(
        &mut record,
        2,
        CarEvent::MovedFromDoorway { robot: robot("R1") },
    );
    let found: Vec<_> = record
        .judge()
        .into_iter()
        .map(|(_, violation)| violation)
        .collect();
    assert_eq!(
        found,
        [
            Violation::CrossedUnopened {
                elevator: elevator(),
                robot: robot("R1"),
                door,
                level: true
            },
            Violation::MovedFromDoorway {
                elevator: elevator(),
                robot: robot("R1")
            },
        ]
    );
}
