//! States of elevators and commands to controllers.

use protocol::elevator::{Doors, ElevatorCommand, ElevatorView, Health, OwnerView};
use protocol::hardware::{Action, Command, Direction, Door, Mode, Motion};
use protocol::{Fence, Landing, Outgoing, Side, Timestamp};

use crate::check;
use crate::site::TEN;

fn landing(floor: &str) -> Landing {
    Landing {
        floor: floor.parse().expect("a floor"),
        side: Side::Front,
    }
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
