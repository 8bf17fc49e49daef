//! Every kind of event against `wire.md` section 6 and `ride.md` section 0, by hand.

mod order;

use protocol::elevator::Doors;
use protocol::hardware::{Call, Direction};
use protocol::{ElevatorId, Fence, FloorLabel, Landing, MessageId};

use super::*;

const WALL: Timestamp = Timestamp(1_796_000_000_000);

fn one_sided() -> MqttDriver {
    MqttDriver::new([Side::Front].into())
}

fn two_sided() -> MqttDriver {
    MqttDriver::new([Side::Front, Side::Rear].into())
}

fn floor(label: &str) -> FloorLabel {
    FloorLabel::new(label).unwrap()
}

fn id(text: &str) -> CommandId {
    CommandId::new(text).unwrap()
}

fn command(command_id: &str, action: Action) -> Command {
    Command {
        elevator_id: ElevatorId::new("EL001").unwrap(),
        command_id: id(command_id),
        fence: Fence(17),
        order_id: None,
        action,
        expires_in_ms: 5_000,
    }
}

fn hall_call() -> Action {
    let landing = Landing {
        floor: floor("1F"),
        side: Side::Front,
    };
    Action::HallCall {
        landing,
        direction: Direction::Up,
    }
}

fn event(kind: ControllerEvent) -> ElevatorEvent {
    ElevatorEvent {
        message_id: MessageId::new("m-1").unwrap(),
        timestamp: WALL,
        event: kind,
        boot_id: None,
        seq: None,
        command_id: None,
        floor: None,
        side: None,
        door: None,
        doors: None,
        motion: None,
        mode: None,
        occupied: None,
        load_pct: None,
        calls: None,
        detail: None,
    }
}

fn answer(kind: ControllerEvent, command_id: &str) -> ElevatorEvent {
    ElevatorEvent {
        command_id: Some(id(command_id)),
        ..event(kind)
    }
}

fn state() -> ElevatorEvent {
    ElevatorEvent {
        floor: Some(floor("1F")),
        door: Some(Door::Open),
        motion: Some(Motion::Stopped),
        mode: Some(Mode::Normal),
        ..event(ControllerEvent::State)
    }
}

fn of_boot(boot: &str, seq: u64, event: ElevatorEvent) -> ElevatorEvent {
    ElevatorEvent {
        boot_id: Some(InstanceId::new(boot).unwrap()),
        seq: Some(seq),
        ..event
    }
}

fn is_stale(reports: &[Report]) -> bool {
    matches!(reports, [Report::Stale { .. }])
}

fn outcome(command_id: &str, outcome: Outcome) -> Vec<Report> {
    vec![Report::Outcome {
        command_id: id(command_id),
        outcome,
    }]
}

fn asked_ms(reports: &[Report]) -> Option<u64> {
    match reports.last() {
        Some(Report::Reading { asked_ms, .. }) => *asked_ms,
        other => panic!("{other:?} is no reading"),
    }
}

#[test]
fn a_command_is_sent_as_it_is_and_expires_on_the_wall_clock() {
    let command = command("c-1", hall_call());
    let message = one_sided().command(10, WALL, &command);
    assert_eq!(
        message,
        ElevatorCommand {
            command,
            expires_at: Timestamp(1_796_000_005_000)
        }
    );
}

#[test]
fn accepted_done_and_failed_are_the_outcomes_of_commands_that_were_sent() {
    let mut driver = one_sided();
    let mut hear = |event: ElevatorEvent| driver.event(20, WALL, &event);
    assert!(is_stale(&hear(answer(ControllerEvent::Accepted, "c-1"))));
    driver.command(10, WALL, &command("c-1", hall_call()));
    driver.command(10, WALL, &command("c-2", Action::Claim));
    let mut hear = |event: ElevatorEvent| driver.event(20, WALL, &event);
    assert_eq!(
        hear(answer(ControllerEvent::Accepted, "c-1")),
        outcome("c-1", Outcome::Accepted)
    );
    assert_eq!(
        hear(answer(ControllerEvent::Done, "c-1")),
        outcome("c-1", Outcome::Done)
    );
    assert!(
        is_stale(&hear(answer(ControllerEvent::Done, "c-1"))),
        "it was finished"
    );
    let failed = ElevatorEvent {
        detail: Some("stale_fence".to_owned()),
        ..answer(ControllerEvent::Failed, "c-2")
    };
    let detail = "stale_fence".to_owned();
    assert_eq!(hear(failed), outcome("c-2", Outcome::Failed { detail }));
}

#[test]
fn only_the_state_that_answers_a_query_is_a_reading_that_was_asked_for() {
    let mut driver = one_sided();
    driver.command(10, WALL, &command("q-1", Action::Query));
    driver.command(11, WALL, &command("c-1", hall_call()));
    assert_eq!(asked_ms(&driver.event(20, WALL, &state())), None);
    let other = ElevatorEvent {
        command_id: Some(id("c-1")),
        ..state()
    };
    assert_eq!(
        asked_ms(&driver.event(21, WALL, &other)),
        None,
        "a hall call asks for nothing"
    );
    assert!(
        driver
            .event(22, WALL, &answer(ControllerEvent::Accepted, "q-1"))
            .is_empty()
    );
    let asked = ElevatorEvent {
        command_id: Some(id("q-1")),
        ..state()
    };
    assert_eq!(asked_ms(&driver.event(23, WALL, &asked)), Some(10));
    assert_eq!(
        asked_ms(&driver.event(24, WALL, &asked)),
        None,
        "it was answered already"
    );
}

#[test]
fn a_state_of_a_one_sided_car_is_read_whole() {
    let calls = vec![Call::Car {
        floor: floor("6F"),
        side: None,
    }];
    let event = ElevatorEvent {
        occupied: Some(false),
        load_pct: Some(12),
        calls: Some(calls.clone()),
        detail: Some("hello".to_owned()),
        ..state()
    };
    let reading = Reading {
        floor: Some(floor("1F")),
        front: Door::Open,
        rear: None,
        motion: Motion::Stopped,
        mode: Mode::Normal,
        occupied: Some(false),
        load_pct: Some(12),
        calls: Some(calls),
        fault: None,
    };
    let expected = vec![Report::Reading {
        reading,
        asked_ms: None,
    }];
    assert_eq!(one_sided().event(1, WALL, &event), expected);
}

#[test]
fn doors_go_to_the_sides_that_the_car_has() {
    let doors =
        |driver: &mut MqttDriver, event: ElevatorEvent| match driver.event(1, WALL, &event).pop() {
            Some(Report::Reading { reading, .. }) => (reading.front, reading.rear),
            other => panic!("{other:?}"),
        };
    let both = Some(Doors {
        front: Door::Closed,
        rear: Some(Door::Open),
    });
    let both = ElevatorEvent {
        door: None,
        doors: both,
        ..state()
    };
    assert_eq!(
        doors(&mut two_sided(), both.clone()),
        (Door::Closed, Some(Door::Open))
    );
    assert_eq!(doors(&mut one_sided(), both), (Door::Closed, None));
    assert_eq!(
        doors(&mut two_sided(), state()),
        (Door::Unknown, Some(Door::Unknown))
    );
    let rear = ElevatorEvent {
        side: Some(Side::Rear),
        ..state()
    };
    assert_eq!(
        doors(&mut two_sided(), rear.clone()),
        (Door::Unknown, Some(Door::Open))
    );
    assert_eq!(doors(&mut one_sided(), rear), (Door::Unknown, None));
    let mut rear_only = MqttDriver::new([Side::Rear].into());
    assert_eq!(
        doors(&mut rear_only, state()),
        (Door::Closed, Some(Door::Open))
    );
    let front_alone = Some(Doors {
        front: Door::Closed,
        rear: None,
    });
    let front_alone = ElevatorEvent {
        door: None,
        doors: front_alone,
        ..state()
    };
    assert_eq!(
        doors(&mut two_sided(), front_alone),
        (Door::Closed, Some(Door::Unknown))
    );
}

#[test]
fn other_events_change_only_the_fields_that_they_carry() {
    let change =
        |driver: &mut MqttDriver, event: ElevatorEvent| match driver.event(1, WALL, &event).pop() {
            Some(Report::Change(change)) => change,
            other => panic!("{other:?}"),
        };
    let mut one = one_sided();
    let arrived = ElevatorEvent {
        floor: Some(floor("3F")),
        ..event(ControllerEvent::Arrived)
    };
    let expected = Change {
        floor: Some(floor("3F")),
        ..Change::default()
    };
    assert_eq!(change(&mut one, arrived), expected);
    let open = event(ControllerEvent::DoorOpen);
    let expected = Change {
        front: Some(Door::Open),
        ..Change::default()
    };
    assert_eq!(change(&mut one, open.clone()), expected);
    assert_eq!(
        change(&mut two_sided(), open.clone()),
        Change::default(),
        "of which side?"
    );
    let rear = ElevatorEvent {
        side: Some(Side::Rear),
        ..event(ControllerEvent::DoorClosed)
    };
    let expected = Change {
        rear: Some(Door::Closed),
        ..Change::default()
    };
    assert_eq!(change(&mut two_sided(), rear.clone()), expected);
    assert_eq!(
        change(&mut one, rear),
        Change::default(),
        "a side that the car lacks"
    );
    let moving = ElevatorEvent {
        motion: Some(Motion::Up),
        ..event(ControllerEvent::Moving)
    };
    let expected = Change {
        motion: Some(Motion::Up),
        ..Change::default()
    };
    assert_eq!(change(&mut one, moving), expected);
    let fault = ElevatorEvent {
        detail: Some("door motor".to_owned()),
        mode: Some(Mode::OutOfService),
        occupied: Some(true),
        ..event(ControllerEvent::Fault)
    };
    let expected = Change {
        mode: Some(Mode::OutOfService),
        occupied: Some(true),
        fault: Some("door motor".to_owned()),
        ..Change::default()
    };
    assert_eq!(change(&mut one, fault), expected);
    assert!(
        change(&mut one, event(ControllerEvent::Fault))
            .fault
            .is_some()
    );
}
