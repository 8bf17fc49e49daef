//! Every kind of event against `wire.md` section 6 and `ride.md` section 0, by hand.

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

/// T-LIFT-21: late and repeated callbacks of the previous ride move nothing.
#[test]
fn an_event_that_is_not_newer_is_stale() {
    let mut driver = one_sided();
    assert_eq!(driver.event(1, WALL, &of_boot("b-1", 7, state())).len(), 1);
    assert!(is_stale(&driver.event(
        2,
        WALL,
        &of_boot("b-1", 7, state())
    )));
    assert!(is_stale(&driver.event(
        3,
        WALL,
        &of_boot("b-1", 3, state())
    )));
    assert!(!is_stale(&driver.event(
        4,
        WALL,
        &of_boot("b-1", 8, state())
    )));
    let unnumbered = ElevatorEvent {
        seq: Some(8),
        ..state()
    };
    assert!(
        is_stale(&driver.event(5, WALL, &unnumbered)),
        "the same counter without its boot"
    );
    assert!(
        !is_stale(&driver.event(6, WALL, &state())),
        "without seq there is no order"
    );
}

#[test]
fn a_new_boot_opens_the_link_anew_and_ends_what_was_sent_before() {
    let mut driver = one_sided();
    driver.event(1, WALL, &of_boot("b-1", 100, state()));
    driver.command(2, WALL, &command("c-1", hall_call()));
    driver.command(2, WALL, &command("q-1", Action::Query));
    let reports = driver.event(3, WALL, &of_boot("b-2", 1, state()));
    assert_eq!(reports.first(), Some(&Report::Link { up: true }));
    assert_eq!(asked_ms(&reports), None);
    let late = of_boot("b-2", 2, answer(ControllerEvent::Accepted, "c-1"));
    assert!(is_stale(&driver.event(4, WALL, &late)));
    let query = ElevatorEvent {
        command_id: Some(id("q-1")),
        ..state()
    };
    assert_eq!(
        asked_ms(&driver.event(5, WALL, &of_boot("b-2", 3, query))),
        None
    );
    assert!(
        is_stale(&driver.event(6, WALL, &of_boot("b-1", 101, state()))),
        "that boot is over"
    );
    assert!(!is_stale(&driver.event(
        7,
        WALL,
        &of_boot("b-2", 4, state())
    )));
}

#[test]
fn answers_over_an_old_connection_are_stale() {
    let mut driver = one_sided();
    driver.command(1, WALL, &command("c-1", hall_call()));
    driver.command(1, WALL, &command("q-1", Action::Query));
    assert_eq!(driver.disconnected(), [Report::Link { up: false }]);
    assert_eq!(driver.connected(), [Report::Link { up: true }]);
    assert!(is_stale(&driver.event(
        60_000,
        WALL,
        &answer(ControllerEvent::Done, "c-1")
    )));
    let query = ElevatorEvent {
        command_id: Some(id("q-1")),
        ..state()
    };
    assert_eq!(asked_ms(&driver.event(60_001, WALL, &query)), None);
}

#[test]
fn a_clock_that_is_more_than_a_minute_off_is_told_once_a_minute() {
    let mut driver = one_sided();
    let mut heard = |now_ms: u64, theirs: u64| {
        driver.command(now_ms, WALL, &command("q-1", Action::Query));
        let event = ElevatorEvent {
            command_id: Some(id("q-1")),
            timestamp: Timestamp(theirs),
            ..state()
        };
        driver.event(now_ms, WALL, &event)
    };
    let clock = |reports: &[Report]| {
        reports.iter().find_map(|report| match report {
            Report::Clock { ahead_ms } => Some(*ahead_ms),
            Report::Reading { .. }
            | Report::Change(_)
            | Report::Outcome { .. }
            | Report::Stale { .. }
            | Report::Link { .. } => None,
        })
    };
    assert_eq!(clock(&heard(0, WALL.0 + 60_000)), None);
    assert_eq!(clock(&heard(1_000, WALL.0 + 60_001)), Some(60_001));
    assert_eq!(clock(&heard(60_999, WALL.0 + 60_001)), None);
    assert_eq!(clock(&heard(61_000, WALL.0 - 90_000)), Some(-90_000));
    // What nobody asked for may have waited in the broker: it says nothing of the clock.
    let old = ElevatorEvent {
        timestamp: Timestamp(0),
        ..state()
    };
    assert_eq!(clock(&driver.event(200_000, WALL, &old)), None);
}

#[test]
fn of_more_than_64_awaited_commands_the_oldest_is_forgotten() {
    let mut driver = one_sided();
    for number in 0..65 {
        driver.command(
            number,
            WALL,
            &command(&format!("c-{number}"), Action::Claim),
        );
    }
    assert!(is_stale(&driver.event(
        100,
        WALL,
        &answer(ControllerEvent::Done, "c-0")
    )));
    let done = driver.event(100, WALL, &answer(ControllerEvent::Done, "c-1"));
    assert_eq!(done, outcome("c-1", Outcome::Done));
    // A re-send of the same effect is one command, not two.
    for _ in 0..200 {
        driver.command(200, WALL, &command("c-2", Action::Claim));
    }
    let done = driver.event(201, WALL, &answer(ControllerEvent::Done, "c-3"));
    assert_eq!(done, outcome("c-3", Outcome::Done));
}
