//! What the gateway writes, byte for byte (`wire.md` sections 1 to 4 and 6).

mod site;

use protocol::elevator::{Doors, ElevatorCommand, ElevatorView, Health, OwnerView};
use protocol::hardware::{Action, Command, Direction, Door, Mode, Motion};
use protocol::ops::{
    Alarm, GatewayConnection, Presence, Severity, SiteElevator, SiteFloor, SiteView, Suspension,
    SuspensionCode,
};
use protocol::ride::{Instruction, Reason, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::ConnectionState;
use protocol::{
    AlarmCode, Code, Fence, FloorLabel, Landing, Outgoing, ReasonCode, Seconds, Side, Timestamp,
};
use site::{TEN, stamp, topics};

/// Encodes a message; checks its topic, its retain flag and its text, written here on several lines.
fn check(message: &Outgoing, topic: &str, retain: bool, lines: &[&str]) {
    let envelope = message.encode(&topics(), &stamp());
    assert_eq!(
        String::from_utf8(envelope.payload).expect("UTF-8"),
        lines.concat()
    );
    assert_eq!(envelope.topic, format!("hallcall/v1/demo/{topic}"));
    assert_eq!(envelope.retain, retain);
    assert_eq!(envelope.qos, 1);
}

fn seconds(ms: u64) -> Option<Seconds> {
    Some(Seconds::from_ms(ms))
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: floor.parse().expect("a floor"),
        side: Side::Front,
    }
}

/// The reply of `wire.md` section 3.
fn queued() -> RideReply {
    RideReply {
        received_at: Timestamp(TEN.0 - 3),
        in_reply_to: Some("m-1".parse().expect("an id")),
        order_id: Some("T-1".parse().expect("an id")),
        result: ReplyResult::Accepted,
        code: None,
        detail: None,
        retry_after_s: None,
        state: Some(RideState::Queued),
        seq: Some(1),
        instruction: Some(Instruction::Wait),
        valid_s: None,
        elevator_id: None,
        fence: None,
        floor: None,
        side: None,
        queue_position: Some(1),
        eta_s: seconds(40_000),
    }
}

fn reply(reply: RideReply) -> Outgoing {
    Outgoing::RideReply {
        robot: "R001".parse().expect("an id"),
        reply,
    }
}

#[test]
fn ride_reply_as_in_the_specification() {
    check(
        &reply(queued()),
        "robots/R001/ride/reply",
        false,
        &[
            r#"{"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""received_at":"2026-11-30T09:59:59.997Z","source":"gateway/gw-1","#,
            r#""in_reply_to":"m-1","order_id":"T-1","result":"accepted","code":null,"detail":null,"#,
            r#""retry_after_s":null,"state":"QUEUED","seq":1,"instruction":"wait","valid_s":null,"#,
            r#""elevator_id":null,"fence":null,"floor":null,"side":null,"queue_position":1,"#,
            r#""eta_s":40}"#,
        ],
    );
}

#[test]
fn ride_reply_of_a_refusal_without_ids() {
    let refused = RideReply {
        in_reply_to: None,
        order_id: None,
        result: ReplyResult::Rejected,
        code: Some(Code::Malformed),
        detail: Some("order_id is missing".to_owned()),
        retry_after_s: seconds(1_500),
        state: None,
        seq: None,
        instruction: None,
        queue_position: None,
        eta_s: None,
        ..queued()
    };
    check(
        &reply(refused),
        "robots/R001/ride/reply",
        false,
        &[
            r#"{"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""received_at":"2026-11-30T09:59:59.997Z","source":"gateway/gw-1","#,
            r#""in_reply_to":null,"order_id":null,"result":"rejected","code":"MALFORMED","#,
            r#""detail":"order_id is missing","retry_after_s":1.5,"state":null,"seq":null,"#,
            r#""instruction":null,"valid_s":null,"elevator_id":null,"fence":null,"floor":null,"#,
            r#""side":null,"queue_position":null,"eta_s":null}"#,
        ],
    );
}

/// The state of `wire.md` section 4.
fn arrived() -> RideView {
    RideView {
        order_id: "T-1".parse().expect("an id"),
        robot_id: "R001".parse().expect("an id"),
        seq: 4,
        state: RideState::ElevatorArrived,
        held_from: None,
        instruction: Instruction::Enter,
        valid_s: seconds(5_000),
        elevator_id: Some("EL001".parse().expect("an id")),
        bank_id: None,
        fence: Some(Fence(17)),
        from: landing("1F"),
        to: landing("6F"),
        floor: Some("1F".parse().expect("a floor")),
        side: Some(Side::Front),
        queue_position: None,
        eta_s: None,
        deadline: Some(Timestamp(TEN.0 + 42_000)),
        deadline_s: seconds(60_000),
        reason: None,
    }
}

#[test]
fn ride_state_as_in_the_specification() {
    check(
        &Outgoing::RideState(arrived()),
        "robots/R001/ride/state",
        true,
        &[
            r#"{"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""source":"gateway/gw-1","order_id":"T-1","robot_id":"R001","seq":4,"#,
            r#""state":"ELEVATOR_ARRIVED","held_from":null,"instruction":"enter","valid_s":5,"#,
            r#""elevator_id":"EL001","bank_id":null,"fence":17,"#,
            r#""from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},"#,
            r#""floor":"1F","side":"front","queue_position":null,"eta_s":null,"#,
            r#""deadline":"2026-11-30T10:00:42.000Z","deadline_s":60,"reason":null}"#,
        ],
    );
}

#[test]
fn ride_state_of_a_hold_with_its_reason() {
    let held = RideView {
        state: RideState::Hold,
        held_from: Some(RideState::RobotEntered),
        instruction: Instruction::Stay,
        valid_s: None,
        bank_id: Some("A".parse().expect("an id")),
        deadline: None,
        deadline_s: seconds(2_500),
        reason: Some(Reason {
            code: ReasonCode::DoorFault,
            detail: "the front door did not close".to_owned(),
        }),
        ..arrived()
    };
    check(
        &Outgoing::RideState(held),
        "robots/R001/ride/state",
        true,
        &[
            r#"{"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""source":"gateway/gw-1","order_id":"T-1","robot_id":"R001","seq":4,"#,
            r#""state":"HOLD","held_from":"ROBOT_ENTERED","instruction":"stay","valid_s":null,"#,
            r#""elevator_id":"EL001","bank_id":"A","fence":17,"#,
            r#""from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},"#,
            r#""floor":"1F","side":"front","queue_position":null,"eta_s":null,"#,
            r#""deadline":null,"deadline_s":2.5,"#,
            r#""reason":{"code":"DOOR_FAULT","detail":"the front door did not close"}}"#,
        ],
    );
}

#[test]
fn a_ride_state_that_stands_for_no_order_is_deleted() {
    let cleared = Outgoing::RideStateCleared {
        robot: "R001".parse().expect("an id"),
    };
    check(&cleared, "robots/R001/ride/state", true, &[]);
}

#[test]
fn elevator_state() {
    let view = ElevatorView {
        elevator_id: "EL001".parse().expect("an id"),
        bank_id: Some("A".parse().expect("an id")),
        floor: Some("1F".parse().expect("a floor")),
        doors: Doors {
            front: Door::Open,
            rear: Some(Door::Closed),
        },
        motion: Motion::Stopped,
        mode: Mode::OutOfService,
        occupied: Some(false),
        health: Health::Ok,
        health_reason: None,
        owner: Some(OwnerView {
            robot_id: "R001".parse().expect("an id"),
            fence: Fence(17),
            since: TEN,
        }),
        fence: Fence(17),
        busy: true,
        queue_length: 3,
        observed_at: Some(TEN),
    };
    let head = [
        r#"{"type":"elevator.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
        r#""source":"gateway/gw-1","elevator_id":"EL001","#,
    ];
    check(
        &Outgoing::ElevatorState(view.clone()),
        "elevators/EL001/state",
        true,
        &[
            head[0],
            head[1],
            r#""bank_id":"A","floor":"1F","doors":{"front":"open","rear":"closed"},"#,
            r#""motion":"stopped","mode":"out_of_service","occupied":false,"health":"ok","#,
            r#""health_reason":null,"#,
            r#""owner":{"robot_id":"R001","fence":17,"since":"2026-11-30T10:00:00.000Z"},"#,
            r#""fence":17,"busy":true,"queue_length":3,"observed_at":"2026-11-30T10:00:00.000Z"}"#,
        ],
    );
    let unknown = ElevatorView {
        bank_id: None,
        floor: None,
        doors: Doors {
            front: Door::Unknown,
            rear: None,
        },
        motion: Motion::Unknown,
        mode: Mode::Unknown,
        occupied: None,
        health: Health::Unknown,
        health_reason: Some("ENTRY_UNCONFIRMED: look into the car".to_owned()),
        owner: None,
        fence: Fence(0),
        busy: false,
        queue_length: 0,
        observed_at: None,
        ..view
    };
    check(
        &Outgoing::ElevatorState(unknown),
        "elevators/EL001/state",
        true,
        &[
            head[0],
            head[1],
            r#""bank_id":null,"floor":null,"doors":{"front":"unknown"},"motion":"unknown","#,
            r#""mode":"unknown","occupied":null,"health":"unknown","#,
            r#""health_reason":"ENTRY_UNCONFIRMED: look into the car","owner":null,"fence":0,"#,
            r#""busy":false,"queue_length":0,"observed_at":null}"#,
        ],
    );
}

fn command(action: Action) -> Outgoing {
    Outgoing::ElevatorCommand(ElevatorCommand {
        command: Command {
            elevator_id: "EL001".parse().expect("an id"),
            command_id: "k-1".parse().expect("an id"),
            fence: Fence(17),
            order_id: Some("T-1".parse().expect("an id")),
            action,
            expires_in_ms: 5_000,
        },
        expires_at: Timestamp(TEN.0 + 5_000),
    })
}

/// Checks what a command carries between its `fence` and its `expires_at`.
fn check_command(action: Action, middle: &str) {
    check(
        &command(action),
        "elevators/EL001/command",
        false,
        &[
            r#"{"type":"elevator.command","message_id":"g-1","#,
            r#""timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#,
            r#""elevator_id":"EL001","order_id":"T-1","command_id":"k-1","fence":17,"#,
            middle,
            r#""expires_at":"2026-11-30T10:00:05.000Z","expires_in_s":5}"#,
        ],
    );
}

#[test]
fn elevator_command_of_each_kind() {
    let at = || landing("1F");
    let nowhere = |word: &str| {
        format!(r#""command":"{word}","floor":null,"side":null,"direction":null,"hold_s":null,"#)
    };
    let plain = |word: &str| {
        format!(r#""command":"{word}","floor":"1F","side":"front","direction":null,"hold_s":null,"#)
    };
    check_command(Action::Query, &nowhere("query"));
    check_command(Action::Claim, &nowhere("claim"));
    check_command(Action::Release, &nowhere("release"));
    check_command(Action::CarCall { landing: at() }, &plain("car_call"));
    check_command(Action::OpenDoor { landing: at() }, &plain("open_door"));
    check_command(Action::CloseDoor { landing: at() }, &plain("close_door"));
    check_command(
        Action::HallCall {
            landing: at(),
            direction: Direction::Up,
        },
        r#""command":"hall_call","floor":"1F","side":"front","direction":"up","hold_s":null,"#,
    );
    check_command(
        Action::CancelCall {
            landing: at(),
            direction: Direction::Down,
        },
        r#""command":"cancel_call","floor":"1F","side":"front","direction":"down","hold_s":null,"#,
    );
    check_command(
        Action::HoldDoor {
            landing: at(),
            hold_ms: 10_000,
        },
        r#""command":"hold_door","floor":"1F","side":"front","direction":null,"hold_s":10,"#,
    );
    check_command(
        Action::HoldDoor {
            landing: at(),
            hold_ms: 250,
        },
        r#""command":"hold_door","floor":"1F","side":"front","direction":null,"hold_s":0.25,"#,
    );
}

fn alarm() -> Alarm {
    Alarm {
        alarm_id: "al-1".to_owned(),
        severity: Severity::Critical,
        code: AlarmCode::UnexpectedOccupant,
        elevator_id: Some("EL001".parse().expect("an id")),
        order_id: None,
        raised_at: TEN,
        cleared_at: None,
        detail: "a robot may be in EL001".to_owned(),
    }
}

#[test]
fn alarm_and_alarms() {
    let body = concat!(
        r#""alarm_id":"al-1","severity":"critical","code":"UNEXPECTED_OCCUPANT","#,
        r#""elevator_id":"EL001","order_id":null,"raised_at":"2026-11-30T10:00:00.000Z","#,
        r#""cleared_at":null,"detail":"a robot may be in EL001"}"#,
    );
    let head = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#
        )
    };
    check(
        &Outgoing::Alarm(alarm()),
        "ops/alarm",
        false,
        &[&head("ops.alarm"), body],
    );
    check(
        &Outgoing::Alarms(vec![alarm(), alarm()]),
        "ops/alarms",
        true,
        &[
            &head("ops.alarms"),
            r#""alarms":[{"#,
            body,
            ",{",
            body,
            "]}",
        ],
    );
    check(
        &Outgoing::Alarms(Vec::new()),
        "ops/alarms",
        true,
        &[&head("ops.alarms"), r#""alarms":[]}"#],
    );
}

#[test]
fn site_view() {
    let floors: [FloorLabel; 2] = ["1F", "6F"].map(|label| label.parse().expect("a floor"));
    let view = SiteView {
        versions: vec!["v1".to_owned()],
        gateway: "gw-1".parse().expect("an id"),
        suspended: None,
        lease_s: Seconds::from_ms(30_000),
        status_s: Seconds::from_ms(10_000),
        floors: vec![SiteFloor {
            label: floors[0].clone(),
            index: 0,
            sides: vec![Side::Front, Side::Rear],
        }],
        elevators: vec![SiteElevator {
            id: "EL001".parse().expect("an id"),
            bank_id: None,
            zone: "main".parse().expect("an id"),
            floors: floors.to_vec(),
            presence: Presence::None,
            hold_max_s: Seconds::from_ms(10_000),
        }],
    };
    let head = concat!(
        r#"{"type":"site","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
        r#""source":"gateway/gw-1","versions":["v1"],"gateway":"gw-1","#,
    );
    let tail = concat!(
        r#""lease_s":30,"status_s":10,"#,
        r#""floors":[{"label":"1F","index":0,"sides":["front","rear"]}],"#,
        r#""elevators":[{"id":"EL001","bank_id":null,"zone":"main","floors":["1F","6F"],"#,
        r#""presence":"none","hold_max_s":10}]}"#,
    );
    check(
        &Outgoing::Site(view.clone()),
        "site",
        true,
        &[head, r#""suspended":null,"#, tail],
    );
    let suspended = Suspension {
        code: SuspensionCode::FireMode,
        zones: vec!["main".parse().expect("an id")],
        since: TEN,
    };
    check(
        &Outgoing::Site(SiteView {
            suspended: Some(suspended),
            ..view
        }),
        "site",
        true,
        &[
            head,
            r#""suspended":{"code":"FIRE_MODE","zones":["main"],"#,
            r#""since":"2026-11-30T10:00:00.000Z"},"#,
            tail,
        ],
    );
}

#[test]
fn gateway_connection() {
    let connection = GatewayConnection {
        connection_state: ConnectionState::ConnectionBroken,
        instance: "i-1".parse().expect("an id"),
    };
    check(
        &Outgoing::GatewayConnection("gw-1".parse().expect("an id"), connection),
        "gateways/gw-1/connection",
        true,
        &[
            r#"{"type":"gateway.connection","message_id":"g-1","#,
            r#""timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#,
            r#""connection_state":"CONNECTIONBROKEN","instance":"i-1"}"#,
        ],
    );
}

#[test]
fn an_outgoing_text_is_one_line_of_at_most_256_bytes() {
    let written = |detail: String| {
        let message = reply(RideReply {
            detail: Some(detail),
            ..queued()
        });
        String::from_utf8(message.encode(&topics(), &stamp()).payload).expect("UTF-8")
    };
    assert!(written("x".repeat(256)).contains(&format!(r#""detail":"{}""#, "x".repeat(256))));
    assert!(written("x".repeat(257)).contains(&format!(r#""detail":"{}""#, "x".repeat(256))));
    // 86 times 3 bytes are 258: the last character that does not fit whole is left out.
    assert!(written("电".repeat(86)).contains(&format!(r#""detail":"{}""#, "电".repeat(85))));
    assert!(written("a\nb\u{1b}c".to_owned()).contains(r#""detail":"a\\nb\\u{1b}c""#));
    let long = "x".repeat(300);
    for message in [
        Outgoing::Alarm(Alarm {
            detail: long.clone(),
            ..alarm()
        }),
        Outgoing::RideState(RideView {
            reason: Some(Reason {
                code: ReasonCode::Busy,
                detail: long,
            }),
            ..arrived()
        }),
    ] {
        let payload = message.encode(&topics(), &stamp()).payload;
        let text = String::from_utf8(payload).expect("UTF-8");
        assert!(
            text.contains(&format!(r#""detail":"{}""#, "x".repeat(256))),
            "{text}"
        );
    }
}
