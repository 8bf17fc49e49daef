//! `ride/event`, `status` and `connection` of a robot (`wire.md` sections 1 and 5).

mod site;

use protocol::robot::{
    ConnectionState, Position, RideEvent, RobotConnection, RobotEvent, RobotStatus,
};
use protocol::{Fence, RobotMessage, Sensitive};
use site::{CONNECTION, EVENT, STATUS, TEN, malformed, said};

fn event(word: &str, more: &str) -> String {
    format!(
        r#"{{"message_id":"m-3","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","event":"{word}"{more}}}"#
    )
}

fn expected(event: RobotEvent) -> RideEvent {
    RideEvent {
        message_id: "m-3".parse().expect("an id"),
        timestamp: TEN,
        order_id: "T-1".parse().expect("an id"),
        event,
        fence: None,
        elevator_id: None,
    }
}

#[test]
fn each_event_of_the_table() {
    for (word, meant) in [
        ("query", RobotEvent::Query),
        ("at_door", RobotEvent::AtDoor),
        ("entered", RobotEvent::Entered),
        ("exited", RobotEvent::Exited),
        ("cancel_enter", RobotEvent::CancelEnter { again: false }),
        ("cancel_exit", RobotEvent::CancelExit),
        ("hold_door", RobotEvent::HoldDoor { hold_s: 30 }),
    ] {
        let plain = RobotMessage::Event(expected(meant.clone()));
        assert_eq!(said(EVENT, event(word, "")), plain);
        let nulls = r#","fence":null,"elevator_id":null,"hold_s":null,"again":null"#;
        assert_eq!(said(EVENT, event(word, nulls)), plain);
        let full = RideEvent {
            fence: Some(Fence(17)),
            elevator_id: Some("EL001".parse().expect("an id")),
            ..expected(meant)
        };
        let named = event(word, r#","fence":17,"elevator_id":"EL001""#);
        assert_eq!(said(EVENT, named), RobotMessage::Event(full));
    }
}

#[test]
fn unknown_events_are_refused() {
    for word in ["", "Query", "enter", "leave", "at-door", "entered "] {
        assert_eq!(
            malformed(EVENT, event(word, "")),
            format!(
                "event is {word:?}, expected one of query, at_door, entered, exited, cancel_enter, \
                 cancel_exit, hold_door"
            )
        );
    }
}

#[test]
fn again_and_hold_s_belong_to_their_events() {
    let heard = |word, more| match said(EVENT, event(word, more)) {
        RobotMessage::Event(event) => event.event,
        other @ (RobotMessage::Request(_)
        | RobotMessage::Cancel(_)
        | RobotMessage::Status(_)
        | RobotMessage::Connection(_)) => panic!("{other:?}"),
    };
    let again = RobotEvent::CancelEnter { again: true };
    assert_eq!(heard("cancel_enter", r#","again":true"#), again);
    assert_eq!(
        heard("hold_door", r#","hold_s":1"#),
        RobotEvent::HoldDoor { hold_s: 1 }
    );
    assert_eq!(
        heard("hold_door", r#","hold_s":60"#),
        RobotEvent::HoldDoor { hold_s: 60 }
    );
    // In other events they mean nothing, but are read all the same.
    assert_eq!(
        heard("entered", r#","again":true,"hold_s":60"#),
        RobotEvent::Entered
    );
    for word in ["hold_door", "entered"] {
        for hold_s in ["0", "61", "-1", "30.0", r#""30""#] {
            let detail = malformed(EVENT, event(word, &format!(r#","hold_s":{hold_s}"#)));
            let named = format!("hold_s is {hold_s}, expected an integer from 1 to 60");
            assert_eq!(detail, named);
        }
        let detail = malformed(EVENT, event(word, r#","again":"yes""#));
        assert_eq!(detail, r#"again is "yes", expected true or false"#);
    }
}

#[test]
fn a_fence_is_an_integer_of_64_bits() {
    for fence in [0, 1, u64::MAX] {
        let message = said(EVENT, event("entered", &format!(r#","fence":{fence}"#)));
        let expected = RideEvent {
            fence: Some(Fence(fence)),
            ..expected(RobotEvent::Entered)
        };
        assert_eq!(message, RobotMessage::Event(expected));
    }
    for (fence, named) in [
        ("-1", "-1"),
        ("17.0", "17.0"),
        ("18446744073709551616", "1.8446744073709552e19"),
        (r#""17""#, r#""17""#),
    ] {
        assert_eq!(
            malformed(EVENT, event("entered", &format!(r#","fence":{fence}"#))),
            format!("fence is {named}, expected an integer from 0 to 18446744073709551615")
        );
    }
}

#[test]
fn an_event_misses_each_required_field_by_name() {
    for field in ["message_id", "timestamp", "order_id", "event"] {
        let without = event("query", "").replace(&format!(r#""{field}":"#), r#""x":"#);
        assert_eq!(malformed(EVENT, without), format!("{field} is missing"));
    }
    let bad = malformed(EVENT, event("query", r#","elevator_id":"EL 1""#));
    assert!(
        bad.starts_with(r#"elevator_id "EL 1" holds the character ' '"#),
        "{bad}"
    );
}

fn status(more: &str) -> String {
    format!(r#"{{"message_id":"m-4","timestamp":"2026-11-30T10:00:00Z"{more}}}"#)
}

#[test]
fn a_status_with_all_and_with_nothing() {
    let nothing = RobotStatus {
        message_id: "m-4".parse().expect("an id"),
        timestamp: TEN,
        floor: None,
        at_door: None,
        eta_s: None,
        battery_pct: None,
        position: None,
        in_car: None,
    };
    assert_eq!(
        said(STATUS, status("")),
        RobotMessage::Status(nothing.clone())
    );
    let nulls = r#","floor":null,"at_door":null,"eta_s":null,"battery_pct":null,"position":null,"in_car":null"#;
    assert_eq!(
        said(STATUS, status(nulls)),
        RobotMessage::Status(nothing.clone())
    );
    let all = r#","floor":"1F","at_door":true,"eta_s":0,"battery_pct":87.5,"position":{"x":-1.5,"y":2,"map":"hall 1"},"in_car":false"#;
    let position = Position {
        x: -1.5,
        y: 2.0,
        map: "hall 1".to_owned(),
    };
    assert_eq!(
        said(STATUS, status(all)),
        RobotMessage::Status(RobotStatus {
            floor: Some("1F".parse().expect("a floor")),
            at_door: Some(true),
            eta_s: Some(0),
            battery_pct: Some(87.5),
            position: Some(Sensitive::new(position)),
            in_car: Some(false),
            ..nothing
        })
    );
}

#[test]
fn the_bounds_of_a_status() {
    let map = |bytes: usize| {
        let map = "m".repeat(bytes);
        status(&format!(r#","position":{{"x":0,"y":0,"map":"{map}"}}"#))
    };
    for good in [
        status(r#","battery_pct":0"#),
        status(r#","battery_pct":100"#),
        status(r#","battery_pct":1e2"#),
        status(r#","eta_s":86400"#),
        status(r#","position":{"x":1e300,"y":-0.0,"map":""}"#),
        map(64),
    ] {
        said(STATUS, good);
    }
    for (more, detail) in [
        (
            r#","battery_pct":100.1"#,
            "battery_pct is 100.1, expected a number from 0.0 to 100.0",
        ),
        (
            r#","battery_pct":-1"#,
            "battery_pct is -1, expected a number from 0.0 to 100.0",
        ),
        (
            r#","battery_pct":"50""#,
            r#"battery_pct is "50", expected a number from 0.0 to 100.0"#,
        ),
        (
            r#","eta_s":86401"#,
            "eta_s is 86401, expected an integer from 0 to 86400",
        ),
        (
            r#","in_car":"no""#,
            r#"in_car is "no", expected true or false"#,
        ),
        (
            r#","position":[0,0]"#,
            "position is a list, expected an object",
        ),
        (r#","position":{"x":0,"y":0}"#, "position.map is missing"),
        (r#","position":{"x":0,"map":""}"#, "position.y is missing"),
        (r#","position":{"y":0,"map":""}"#, "position.x is missing"),
        (
            r#","position":{"x":0,"y":0,"map":7}"#,
            "position.map cannot be read, its value is not shown",
        ),
        (r#","floor":1"#, "floor is 1, expected a string"),
    ] {
        assert_eq!(malformed(STATUS, status(more)), detail);
    }
    let x = malformed(STATUS, status(r#","position":{"x":"0","y":0,"map":""}"#));
    assert_eq!(x, "position.x cannot be read, its value is not shown");
    let long = malformed(STATUS, map(65));
    assert_eq!(long, "position.map cannot be read, its value is not shown");
}

#[test]
fn a_robot_is_online_offline_or_broken() {
    let connection = |state: &str| status(&format!(r#","connection_state":{state}"#));
    for (word, state) in [
        ("ONLINE", ConnectionState::Online),
        ("OFFLINE", ConnectionState::Offline),
        ("CONNECTIONBROKEN", ConnectionState::ConnectionBroken),
    ] {
        let expected = RobotConnection {
            message_id: "m-4".parse().expect("an id"),
            timestamp: TEN,
            connection_state: state,
        };
        let message = said(CONNECTION, connection(&format!(r#""{word}""#)));
        assert_eq!(message, RobotMessage::Connection(expected));
    }
    assert_eq!(
        malformed(CONNECTION, connection(r#""online""#)),
        r#"connection_state is "online", expected one of ONLINE, OFFLINE, CONNECTIONBROKEN"#
    );
    assert_eq!(
        malformed(CONNECTION, status("")),
        "connection_state is missing"
    );
}
