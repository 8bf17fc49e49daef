//! Events of controllers, and what gateways say that this one reads (`wire.md` section 6 and 2).

mod site;

use protocol::elevator::{ControllerEvent, Doors, ElevatorEvent};
use protocol::hardware::{Call, Direction, Door, Mode, Motion};
use protocol::ops::GatewayConnection;
use protocol::robot::ConnectionState;
use protocol::{Fence, Ignored, Inbound, Side};
use site::{CONTROLLER, TEN, deliver, deliver_retained, ignored, inbound, malformed};

fn event(word: &str, more: &str) -> String {
    format!(r#"{{"message_id":"c-1","timestamp":"2026-11-30T10:00:00Z","event":"{word}"{more}}}"#)
}

fn bare(event: ControllerEvent) -> ElevatorEvent {
    ElevatorEvent {
        message_id: "c-1".parse().expect("an id"),
        timestamp: TEN,
        event,
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

fn reported(payload: &str) -> ElevatorEvent {
    match inbound(CONTROLLER, payload) {
        Inbound::Controller { elevator, event } => {
            assert_eq!(elevator.as_str(), "EL001");
            event
        }
        other @ (Inbound::Robot { .. }
        | Inbound::Client { .. }
        | Inbound::Device { .. }
        | Inbound::Gateway { .. }
        | Inbound::OwnRide { .. }
        | Inbound::OwnElevator { .. }) => panic!("{other:?}"),
    }
}

#[test]
fn answers_name_their_command() {
    for (word, answer) in [
        ("accepted", ControllerEvent::Accepted),
        ("done", ControllerEvent::Done),
        ("failed", ControllerEvent::Failed),
    ] {
        let command_id = Some("k-1".parse().expect("an id"));
        assert_eq!(
            reported(&event(word, r#","command_id":"k-1""#)),
            ElevatorEvent {
                command_id,
                ..bare(answer)
            }
        );
        assert_eq!(
            malformed(CONTROLLER, event(word, "")),
            "command_id is missing"
        );
        let null = event(word, r#","command_id":null"#);
        assert_eq!(malformed(CONTROLLER, null), "command_id is missing");
    }
}

#[test]
fn other_events_carry_what_they_carry() {
    for (word, plain) in [
        ("arrived", ControllerEvent::Arrived),
        ("door_open", ControllerEvent::DoorOpen),
        ("door_closed", ControllerEvent::DoorClosed),
        ("moving", ControllerEvent::Moving),
        ("fault", ControllerEvent::Fault),
    ] {
        assert_eq!(reported(&event(word, "")), bare(plain));
    }
    let more = r#","boot_id":"b-7","seq":12,"floor":"3F","side":"rear","door":"opening","motion":"stopped","mode":"robot","occupied":true,"load_pct":110,"detail":"belt""#;
    assert_eq!(
        reported(&event("fault", more)),
        ElevatorEvent {
            boot_id: Some("b-7".parse().expect("an id")),
            seq: Some(12),
            floor: Some("3F".parse().expect("a floor")),
            side: Some(Side::Rear),
            door: Some(Door::Opening),
            motion: Some(Motion::Stopped),
            mode: Some(Mode::Robot),
            occupied: Some(true),
            load_pct: Some(110),
            detail: Some("belt".to_owned()),
            ..bare(ControllerEvent::Fault)
        }
    );
}

#[test]
fn a_state_is_a_whole_snapshot() {
    let whole = r#","boot_id":"b-7","seq":1,"command_id":"q-1","floor":"1F","doors":{"front":"open","rear":"closed"},"motion":"stopped","mode":"normal","occupied":null,"calls":[{"kind":"hall","floor":"6F","side":"front","direction":"down"},{"kind":"car","floor":"2F"}]"#;
    let floor = |label: &str| label.parse().expect("a floor");
    let calls = vec![
        Call::Hall {
            floor: floor("6F"),
            side: Some(Side::Front),
            direction: Some(Direction::Down),
        },
        Call::Car {
            floor: floor("2F"),
            side: None,
        },
    ];
    assert_eq!(
        reported(&event("state", whole)),
        ElevatorEvent {
            boot_id: Some("b-7".parse().expect("an id")),
            seq: Some(1),
            command_id: Some("q-1".parse().expect("an id")),
            floor: Some(floor("1F")),
            doors: Some(Doors {
                front: Door::Open,
                rear: Some(Door::Closed)
            }),
            motion: Some(Motion::Stopped),
            mode: Some(Mode::Normal),
            calls: Some(calls),
            ..bare(ControllerEvent::State)
        }
    );
    // One door; a floor, sensor and calls that cannot be told.
    assert_eq!(
        reported(&event(
            "state",
            r#","door":"closed","motion":"up","mode":"unknown","floor":null"#
        )),
        ElevatorEvent {
            door: Some(Door::Closed),
            motion: Some(Motion::Up),
            mode: Some(Mode::Unknown),
            ..bare(ControllerEvent::State)
        }
    );
    let none = event(
        "state",
        r#","door":"closed","motion":"up","mode":"fire","calls":[]"#,
    );
    assert_eq!(reported(&none).calls, Some(Vec::new()));
}

#[test]
fn a_state_without_doors_motion_or_mode_is_no_snapshot() {
    for (more, detail) in [
        ("", "doors is missing"),
        (r#","motion":"up","mode":"normal""#, "doors is missing"),
        (
            r#","door":null,"doors":null,"motion":"up","mode":"normal""#,
            "doors is missing",
        ),
        (r#","door":"open","mode":"normal""#, "motion is missing"),
        (r#","door":"open","motion":"up""#, "mode is missing"),
        (
            r#","doors":{"rear":"open"},"motion":"up","mode":"normal""#,
            "doors.front is missing",
        ),
    ] {
        assert_eq!(malformed(CONTROLLER, event("state", more)), detail);
    }
}

#[test]
fn unknown_words_and_wrong_types_are_refused() {
    for (more, detail) in [
        (
            r#","door":"ajar""#,
            r#"door is "ajar", expected one of open, closed, opening, closing, unknown"#,
        ),
        (
            r#","doors":"open""#,
            r#"doors is "open", expected an object"#,
        ),
        (
            r#","doors":{"front":true}"#,
            "doors.front is true, expected one of open, closed, opening, closing, unknown",
        ),
        (
            r#","motion":"idle""#,
            r#"motion is "idle", expected one of up, down, stopped, unknown"#,
        ),
        (
            r#","mode":"auto""#,
            r#"mode is "auto", expected one of normal, robot, attendant, maintenance, fire, emergency, out_of_service, unknown"#,
        ),
        (r#","occupied":1"#, "occupied is 1, expected true or false"),
        (
            r#","load_pct":256"#,
            "load_pct is 256, expected an integer from 0 to 255",
        ),
        (
            r#","load_pct":50.5"#,
            "load_pct is 50.5, expected an integer from 0 to 255",
        ),
        (
            r#","seq":-1"#,
            "seq is -1, expected an integer from 0 to 18446744073709551615",
        ),
        (
            r#","side":"left""#,
            r#"side is "left", expected one of front, rear"#,
        ),
        (r#","boot_id":7"#, "boot_id is 7, expected a string"),
        (r#","calls":{}"#, "calls is an object, expected a list"),
        (
            r#","calls":["6F"]"#,
            r#"calls[0] is "6F", expected an object"#,
        ),
        (r#","calls":[{"kind":"hall"}]"#, "calls[0].floor is missing"),
        (r#","calls":[{"floor":"6F"}]"#, "calls[0].kind is missing"),
        (
            r#","calls":[{"kind":"car","floor":"1F"},{"kind":"cab","floor":"6F"}]"#,
            r#"calls[1].kind is "cab", expected one of hall, car"#,
        ),
        (
            r#","calls":[{"kind":"hall","floor":"6F","direction":"left"}]"#,
            r#"calls[0].direction is "left", expected one of up, down"#,
        ),
        (r#","detail":{}"#, "detail is an object, expected a string"),
    ] {
        assert_eq!(malformed(CONTROLLER, event("moving", more)), detail);
    }
    assert_eq!(
        malformed(CONTROLLER, event("stopped", "")),
        r#"event is "stopped", expected one of accepted, done, failed, arrived, door_open, door_closed, moving, fault, state"#
    );
    assert_eq!(
        malformed(CONTROLLER, r#"{"message_id":"c-1"}"#),
        "timestamp is missing"
    );
}

#[test]
fn texts_and_lists_of_a_controller_are_bounded() {
    let detail = |bytes: usize| event("fault", &format!(r#","detail":"{}""#, "x".repeat(bytes)));
    reported(&detail(256));
    let long = malformed(CONTROLLER, detail(257));
    assert!(
        long.ends_with("... is 257 bytes long, at most 256 are allowed"),
        "{long}"
    );
    let calls = |count: usize| {
        let calls = vec![r#"{"kind":"car","floor":"1"}"#; count].join(",");
        event("moving", &format!(r#","calls":[{calls}]"#))
    };
    assert_eq!(
        reported(&calls(512)).calls.map(|calls| calls.len()),
        Some(512)
    );
    assert_eq!(
        malformed(CONTROLLER, calls(513)),
        "calls has 513 entries, at most 512 are allowed"
    );
}

#[test]
fn a_gateway_tells_its_instance() {
    let payload = r#"{"type":"gateway.connection","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","connection_state":"ONLINE","instance":"i-1"}"#;
    let expected = Inbound::Gateway {
        gateway: "gw-1".parse().expect("an id"),
        connection: GatewayConnection {
            connection_state: ConnectionState::Online,
            instance: "i-1".parse().expect("an id"),
        },
    };
    assert_eq!(inbound("gateways/gw-1/connection", payload), expected);
    assert_eq!(
        deliver_retained("gateways/gw-1/connection", payload),
        deliver("gateways/gw-1/connection", payload)
    );
    let without = payload.replace("instance", "x");
    assert_eq!(
        malformed("gateways/gw-1/connection", without),
        "instance is missing"
    );
}

#[test]
fn our_retained_word_about_a_ride_is_read_at_start() {
    let view = |state: &str| format!(r#"{{"order_id":"T-1","state":"{state}","seq":4}}"#);
    for (state, terminal) in [
        ("QUEUED", false),
        ("GRANTED", false),
        ("WAITING_HALL_CALL", false),
        ("ELEVATOR_ARRIVED", false),
        ("ROBOT_ENTERED", false),
        ("RUNNING", false),
        ("TARGET_ARRIVED", false),
        ("HOLD", false),
        ("ROBOT_EXITED", true),
        ("CANCELLED", true),
        ("EXPIRED", true),
        ("FAILED", true),
    ] {
        let expected = Inbound::OwnRide {
            robot: "R001".parse().expect("an id"),
            order: "T-1".parse().expect("an id"),
            terminal,
        };
        let decoded = deliver_retained("robots/R001/ride/state", view(state));
        assert_eq!(decoded, protocol::Decoded::Message(expected), "{state}");
    }
    assert_eq!(
        ignored(deliver("robots/R001/ride/state", view("QUEUED"))),
        Ignored::Echo
    );
    for bad in [
        "",
        "x",
        "{}",
        r#"{"order_id":"T-1"}"#,
        r#"{"order_id":"T 1","state":"HOLD"}"#,
    ] {
        let decoded = deliver_retained("robots/R001/ride/state", bad);
        assert_eq!(ignored(decoded), Ignored::UnreadableState, "{bad}");
    }
    let unknown = deliver_retained("robots/R001/ride/state", view("FLYING"));
    assert_eq!(ignored(unknown), Ignored::UnreadableState);
}

#[test]
fn our_retained_word_about_an_elevator_tells_its_fence() {
    let expected = Inbound::OwnElevator {
        elevator: "EL001".parse().expect("an id"),
        fence: Fence(17),
    };
    let payload = r#"{"elevator_id":"EL001","fence":17,"health":"later words are no hindrance"}"#;
    let decoded = deliver_retained("elevators/EL001/state", payload);
    assert_eq!(decoded, protocol::Decoded::Message(expected));
    assert_eq!(
        ignored(deliver("elevators/EL001/state", payload)),
        Ignored::Echo
    );
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"fence":null}"#,
        r#"{"fence":-1}"#,
        r#"{"fence":"17"}"#,
    ] {
        let decoded = deliver_retained("elevators/EL001/state", bad);
        assert_eq!(ignored(decoded), Ignored::UnreadableState, "{bad}");
    }
}
