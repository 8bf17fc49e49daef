//! The other side of the wire: what robots and controllers write, and how they read the gateway.

mod site;

use protocol::elevator::{ControllerEvent, Doors, ElevatorEvent};
use protocol::hardware::{Action, Call, Direction, Door, Mode, Motion};
use protocol::peer::{Heard, Said, Spoken};
use protocol::robot::{
    ConnectionState, Place, RideCancel, RideEvent, RideRequest, RobotConnection, RobotEvent,
    RobotStatus,
};
use protocol::{Fence, RobotMessage, Side};
use site::{TEN, topics};

/// Encodes a message; checks its topic, its retain flag and its text.
fn check(spoken: &Spoken, topic: &str, retain: bool, text: &str) {
    let envelope = spoken.encode(&topics());
    assert_eq!(String::from_utf8(envelope.payload).expect("UTF-8"), text);
    assert_eq!(envelope.topic, format!("hallcall/v1/demo/{topic}"));
    assert_eq!((envelope.retain, envelope.qos), (retain, 1));
}

fn robot(message: RobotMessage) -> Spoken {
    Spoken::Robot {
        robot: "R001".parse().expect("an id"),
        message,
    }
}

#[test]
fn a_robot_writes_its_messages() {
    let message_id = || "m-1".parse().expect("an id");
    let order_id = || "T-1".parse().expect("an id");
    let place = |floor: &str, side| Place {
        floor: floor.parse().expect("a floor"),
        side,
    };
    let request = RideRequest {
        message_id: message_id(),
        timestamp: TEN,
        order_id: order_id(),
        from: place("1F", Some(Side::Front)),
        to: place("6F", None),
        elevators: ["EL001", "EL002"]
            .map(|id| id.parse().expect("an id"))
            .into(),
        priority: 5,
        at_door: Some(false),
        eta_s: Some(20),
        expires_at: None,
        dry_run: false,
    };
    check(
        &robot(RobotMessage::Request(request)),
        "robots/R001/ride/request",
        false,
        r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1","from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":null},"elevators":["EL001","EL002"],"priority":5,"at_door":false,"eta_s":20,"expires_at":null,"dry_run":false}"#,
    );
    for (event, tail) in [
        (
            RobotEvent::Query,
            r#""query","fence":17,"elevator_id":null,"hold_s":null,"again":null}"#,
        ),
        (
            RobotEvent::HoldDoor { hold_s: 45 },
            r#""hold_door","fence":17,"elevator_id":null,"hold_s":45,"again":null}"#,
        ),
        (
            RobotEvent::CancelEnter { again: true },
            r#""cancel_enter","fence":17,"elevator_id":null,"hold_s":null,"again":true}"#,
        ),
    ] {
        let event = RideEvent {
            message_id: message_id(),
            timestamp: TEN,
            order_id: order_id(),
            event,
            fence: Some(Fence(17)),
            elevator_id: None,
        };
        let head = r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1","event":"#;
        let text = format!("{head}{tail}");
        check(
            &robot(RobotMessage::Event(event)),
            "robots/R001/ride/event",
            false,
            &text,
        );
    }
    let cancel = RideCancel {
        message_id: message_id(),
        timestamp: TEN,
        order_id: order_id(),
        reason: "no need".to_owned(),
    };
    check(
        &robot(RobotMessage::Cancel(cancel)),
        "robots/R001/ride/cancel",
        false,
        r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1","reason":"no need"}"#,
    );
    let status = RobotStatus {
        message_id: message_id(),
        timestamp: TEN,
        floor: Some("1F".parse().expect("a floor")),
        at_door: Some(true),
        eta_s: None,
        battery_pct: Some(87.5),
        position: None,
        in_car: Some(false),
    };
    check(
        &robot(RobotMessage::Status(status)),
        "robots/R001/status",
        false,
        r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","floor":"1F","at_door":true,"eta_s":null,"battery_pct":87.5,"position":null,"in_car":false}"#,
    );
    let connection = RobotConnection {
        message_id: message_id(),
        timestamp: TEN,
        connection_state: ConnectionState::Online,
    };
    check(
        &robot(RobotMessage::Connection(connection)),
        "robots/R001/connection",
        true,
        r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","connection_state":"ONLINE"}"#,
    );
}

#[test]
fn a_controller_writes_its_snapshot() {
    let floor = |label: &str| label.parse().expect("a floor");
    let event = ElevatorEvent {
        message_id: "c-1".parse().expect("an id"),
        timestamp: TEN,
        event: ControllerEvent::State,
        boot_id: Some("b-7".parse().expect("an id")),
        seq: Some(12),
        command_id: Some("q-1".parse().expect("an id")),
        floor: Some(floor("1F")),
        side: None,
        door: None,
        doors: Some(Doors {
            front: Door::Open,
            rear: None,
        }),
        motion: Some(Motion::Stopped),
        mode: Some(Mode::OutOfService),
        occupied: None,
        load_pct: Some(3),
        calls: Some(vec![
            Call::Hall {
                floor: floor("6F"),
                side: Some(Side::Front),
                direction: Some(Direction::Down),
            },
            Call::Car {
                floor: floor("2F"),
                side: None,
            },
        ]),
        detail: None,
    };
    check(
        &Spoken::Controller {
            elevator: "EL001".parse().expect("an id"),
            event,
        },
        "elevators/EL001/event",
        false,
        r#"{"message_id":"c-1","timestamp":"2026-11-30T10:00:00.000Z","event":"state","boot_id":"b-7","seq":12,"command_id":"q-1","floor":"1F","side":null,"door":null,"doors":{"front":"open"},"motion":"stopped","mode":"out_of_service","occupied":null,"load_pct":3,"calls":[{"kind":"hall","floor":"6F","side":"front","direction":"down"},{"kind":"car","floor":"2F","side":null}],"detail":null}"#,
    );
}

fn heard(topic: &str, payload: &str) -> Heard {
    Heard::read(
        &topics(),
        &format!("hallcall/v1/demo/{topic}"),
        payload.as_bytes(),
    )
    .expect("a message of the gateway")
}

#[test]
fn a_controller_reads_a_command_as_any_gateway_may_write_it() {
    let heard = heard(
        "elevators/EL001/command",
        r#"{"expires_in_s":2.5,"expires_at":"2026-11-30T18:00:00+08:00","command":"hold_door","hold_s":10,
            "floor":"1F","side":"rear","fence":17,"command_id":"k-1","elevator_id":"EL001","later":[1],
            "source":"gateway/gw-1","timestamp":"2026-11-30T10:00:00Z","message_id":"g-1","type":"elevator.command"}"#,
    );
    let head = heard.head.expect("a head");
    assert_eq!(
        (head.kind.as_str(), head.source.as_str()),
        ("elevator.command", "gateway/gw-1")
    );
    assert_eq!((head.message_id.as_str(), head.timestamp), ("g-1", TEN));
    let Said::ElevatorCommand(told) = heard.said else {
        panic!("{:?}", heard.said)
    };
    assert_eq!(told.expires_at, TEN);
    assert_eq!(told.command.expires_in_ms, 2_500);
    assert_eq!(told.command.fence, Fence(17));
    assert_eq!(told.command.order_id, None);
    let Action::HoldDoor { landing, hold_ms } = told.command.action else {
        panic!("{:?}", told.command.action)
    };
    assert_eq!((landing.to_string().as_str(), hold_ms), ("1F/rear", 10_000));
}

#[test]
fn a_deleted_ride_state_is_no_ride() {
    let heard = heard("robots/R001/ride/state", "");
    assert_eq!(heard.head, None);
    let Said::RideState { robot, view: None } = heard.said else {
        panic!("{:?}", heard.said)
    };
    assert_eq!(robot.as_str(), "R001");
}

#[test]
fn what_a_peer_cannot_read_is_an_error_that_names_it() {
    let error = |topic: &str, payload: &str| {
        Heard::read(
            &topics(),
            &format!("hallcall/v1/demo/{topic}"),
            payload.as_bytes(),
        )
        .expect_err("no message of the gateway")
        .to_string()
    };
    assert_eq!(
        error("robots/R001/ride/request", "{}"),
        r#"topic "hallcall/v1/demo/robots/R001/ride/request" is none of the gateway's"#
    );
    assert_eq!(
        error("elsewhere", "{}"),
        r#"topic "hallcall/v1/demo/elsewhere" is none of the gateway's"#
    );
    let reply = error("robots/R001/ride/reply", "{}");
    assert!(reply.contains("missing field `received_at`"), "{reply}");
    let command = |word: &str| {
        format!(
            r#"{{"type":"elevator.command","message_id":"g-1","timestamp":"2026-11-30T10:00:00Z","source":"gateway/gw-1","elevator_id":"EL001","order_id":null,"command_id":"k-1","fence":1,"command":"{word}","floor":null,"side":null,"direction":null,"hold_s":null,"expires_at":"2026-11-30T10:00:00Z","expires_in_s":5}}"#
        )
    };
    for (word, field) in [
        ("car_call", "floor"),
        ("hall_call", "floor"),
        ("hold_door", "hold_s"),
        ("fly", "a known command"),
    ] {
        let error = error("elevators/EL001/command", &command(word));
        assert_eq!(error, format!("command {word:?} lacks {field}"));
    }
}
