//! `ride/request` and `ride/cancel` (`wire.md` sections 3 and 5).

mod site;

use std::collections::BTreeSet;

use protocol::robot::{Place, RideCancel, RideRequest};
use protocol::{RobotMessage, Side, Timestamp};
use site::{CANCEL, REQUEST, TEN, malformed, said};

/// The example of `wire.md` section 3.
const EXAMPLE: &str = r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1",
 "from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},
 "elevators":["EL001","EL002"],"priority":5,"at_door":false,"eta_s":20,"expires_at":null,"dry_run":false}"#;

/// The required fields alone, with more of them behind.
fn least(more: &str) -> String {
    format!(
        r#"{{"message_id":"m-1","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","from":{{"floor":"1F"}},"to":{{"floor":"6F"}}{more}}}"#
    )
}

fn requested(payload: impl AsRef<[u8]>) -> RideRequest {
    match said(REQUEST, payload) {
        RobotMessage::Request(request) => request,
        other @ (RobotMessage::Event(_)
        | RobotMessage::Cancel(_)
        | RobotMessage::Status(_)
        | RobotMessage::Connection(_)) => panic!("{other:?}"),
    }
}

fn place(floor: &str, side: Option<Side>) -> Place {
    Place {
        floor: floor.parse().expect("a floor"),
        side,
    }
}

fn expected() -> RideRequest {
    RideRequest {
        message_id: "m-1".parse().expect("an id"),
        timestamp: TEN,
        order_id: "T-1".parse().expect("an id"),
        from: place("1F", None),
        to: place("6F", None),
        elevators: BTreeSet::new(),
        priority: 5,
        at_door: None,
        eta_s: None,
        expires_at: None,
        dry_run: false,
    }
}

#[test]
fn the_example_of_the_specification() {
    assert_eq!(
        requested(EXAMPLE),
        RideRequest {
            from: place("1F", Some(Side::Front)),
            to: place("6F", Some(Side::Front)),
            elevators: ["EL001", "EL002"]
                .map(|id| id.parse().expect("an id"))
                .into(),
            at_door: Some(false),
            eta_s: Some(20),
            ..expected()
        }
    );
}

#[test]
fn the_required_fields_alone() {
    assert_eq!(requested(least("")), expected());
}

#[test]
fn null_is_absent() {
    let nulls = r#","elevators":null,"priority":null,"at_door":null,"eta_s":null,"expires_at":null,"dry_run":null"#;
    assert_eq!(requested(least(nulls)), expected());
    let sides = least("").replace(r#""1F""#, r#""1F","side":null"#);
    assert_eq!(requested(sides), expected());
}

#[test]
fn each_required_field_is_missed_by_name() {
    for (field, value) in [
        ("message_id", r#""m-1""#),
        ("timestamp", r#""2026-11-30T10:00:00Z""#),
        ("order_id", r#""T-1""#),
        ("from", r#"{"floor":"1F"}"#),
        ("to", r#"{"floor":"6F"}"#),
    ] {
        let pair = format!(r#""{field}":{value}"#);
        assert!(least("").contains(&pair));
        let without = least("").replace(&pair, r#""x":1"#);
        assert_eq!(malformed(REQUEST, without), format!("{field} is missing"));
        let null = least("").replace(&pair, &format!(r#""{field}":null"#));
        assert_eq!(malformed(REQUEST, null), format!("{field} is missing"));
    }
    for (pair, field) in [
        (r#""floor":"1F""#, "from.floor"),
        (r#""floor":"6F""#, "to.floor"),
    ] {
        let without = least("").replace(pair, "");
        assert_eq!(malformed(REQUEST, without), format!("{field} is missing"));
    }
}

#[test]
fn bounds_are_taken_and_one_beyond_is_refused() {
    for priority in [0, 9] {
        let request = requested(least(&format!(r#","priority":{priority}"#)));
        assert_eq!(request.priority, priority);
    }
    for eta_s in [0, 86_400] {
        let request = requested(least(&format!(r#","eta_s":{eta_s}"#)));
        assert_eq!(request.eta_s, Some(eta_s));
    }
    for (more, detail) in [
        (
            r#","priority":10"#,
            "priority is 10, expected an integer from 0 to 9",
        ),
        (
            r#","priority":-1"#,
            "priority is -1, expected an integer from 0 to 9",
        ),
        (
            r#","priority":256"#,
            "priority is 256, expected an integer from 0 to 9",
        ),
        (
            r#","priority":261"#,
            "priority is 261, expected an integer from 0 to 9",
        ),
        (
            r#","eta_s":86401"#,
            "eta_s is 86401, expected an integer from 0 to 86400",
        ),
        (
            r#","eta_s":-1"#,
            "eta_s is -1, expected an integer from 0 to 86400",
        ),
        (
            r#","eta_s":4294967297"#,
            "eta_s is 4294967297, expected an integer from 0 to 86400",
        ),
    ] {
        assert_eq!(malformed(REQUEST, least(more)), detail);
    }
}

#[test]
fn an_integer_has_no_fraction_and_no_exponent() {
    for (value, named) in [
        ("5.0", "5.0"),
        ("5.5", "5.5"),
        ("1e0", "1.0"),
        ("5E0", "5.0"),
        ("1e2", "100.0"),
        ("50e-1", "5.0"),
        ("-0", "-0.0"),
        ("-0.0", "-0.0"),
        ("18446744073709551616", "1.8446744073709552e19"),
        (r#""5""#, r#""5""#),
        ("true", "true"),
        ("[5]", "a list"),
        ("{}", "an object"),
    ] {
        let detail = malformed(REQUEST, least(&format!(r#","priority":{value}"#)));
        assert_eq!(
            detail,
            format!("priority is {named}, expected an integer from 0 to 9")
        );
    }
}

#[test]
fn wrong_types_are_refused() {
    for (more, detail) in [
        (r#","at_door":0"#, "at_door is 0, expected true or false"),
        (
            r#","at_door":"true""#,
            r#"at_door is "true", expected true or false"#,
        ),
        (r#","dry_run":1"#, "dry_run is 1, expected true or false"),
        (
            r#","expires_at":1796032800"#,
            "expires_at is 1796032800, expected a time stamp as a string",
        ),
        (
            r#","elevators":"EL001""#,
            r#"elevators is "EL001", expected a list"#,
        ),
        (
            r#","elevators":{}"#,
            "elevators is an object, expected a list",
        ),
        (
            r#","elevators":[1]"#,
            "elevators[0] is 1, expected a string",
        ),
        (
            r#","elevators":["EL001",null]"#,
            "elevators[1] is null, expected a string",
        ),
    ] {
        assert_eq!(malformed(REQUEST, least(more)), detail);
    }
    let from = least("").replace(r#"{"floor":"1F"}"#, r#""1F""#);
    assert_eq!(
        malformed(REQUEST, from),
        r#"from is "1F", expected an object"#
    );
    let to = least("").replace(r#"{"floor":"6F"}"#, r#"{"floor":6}"#);
    assert_eq!(malformed(REQUEST, to), "to.floor is 6, expected a string");
}

#[test]
fn a_word_that_is_no_side_is_malformed() {
    for side in ["left", "Front", "FRONT", "front ", ""] {
        let payload = least("").replace(r#""6F""#, &format!(r#""6F","side":"{side}""#));
        assert_eq!(
            malformed(REQUEST, payload),
            format!("to.side is {side:?}, expected one of front, rear")
        );
    }
    let rear = least("").replace(r#""6F""#, r#""6F","side":"rear""#);
    assert_eq!(requested(rear).to, place("6F", Some(Side::Rear)));
}

#[test]
fn up_to_32_elevators_may_be_named() {
    let named = |count: usize| {
        let ids: Vec<String> = (1..=count).map(|n| format!(r#""EL{n:03}""#)).collect();
        least(&format!(r#","elevators":[{}]"#, ids.join(",")))
    };
    assert_eq!(requested(named(0)).elevators.len(), 0);
    assert_eq!(requested(named(32)).elevators.len(), 32);
    let detail = malformed(REQUEST, named(33));
    assert_eq!(detail, "elevators has 33 entries, at most 32 are allowed");
    let twice = requested(least(r#","elevators":["EL002","EL001","EL002"]"#));
    assert_eq!(
        twice.elevators,
        ["EL001", "EL002"]
            .map(|id| id.parse().expect("an id"))
            .into()
    );
    let bad = malformed(REQUEST, least(r#","elevators":["EL001","EL 2"]"#));
    assert!(
        bad.starts_with(r#"elevators[1] "EL 2" holds the character ' '"#),
        "{bad}"
    );
}

#[test]
fn expires_at_is_a_moment() {
    let request = requested(least(r#","expires_at":"2026-11-30T18:00:01+08:00""#));
    assert_eq!(request.expires_at, Some(Timestamp(TEN.0 + 1_000)));
    let bad = malformed(REQUEST, least(r#","expires_at":"soon""#));
    assert!(
        bad.starts_with(r#"expires_at "soon" is no RFC 3339 time stamp"#),
        "{bad}"
    );
}

#[test]
fn a_cancel_has_a_reason_of_at_most_256_bytes() {
    let cancel = |reason: &str| {
        format!(
            r#"{{"message_id":"m-2","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","reason":{reason}}}"#
        )
    };
    let expected = |reason: &str| {
        RobotMessage::Cancel(RideCancel {
            message_id: "m-2".parse().expect("an id"),
            timestamp: TEN,
            order_id: "T-1".parse().expect("an id"),
            reason: reason.to_owned(),
        })
    };
    for reason in [
        "",
        "way blocked",
        "电梯",
        &"x".repeat(256),
        &"é".repeat(128),
    ] {
        assert_eq!(
            said(CANCEL, cancel(&format!(r#""{reason}""#))),
            expected(reason)
        );
    }
    assert_eq!(said(CANCEL, cancel(r#""a\n\u0000b""#)), expected("a\n\0b"));
    assert_eq!(malformed(CANCEL, cancel("null")), "reason is missing");
    assert_eq!(
        malformed(CANCEL, cancel("5")),
        "reason is 5, expected a string"
    );
    let long = malformed(CANCEL, cancel(&format!(r#""{}""#, "x".repeat(257))));
    assert!(
        long.ends_with("... is 257 bytes long, at most 256 are allowed"),
        "{long}"
    );
    let long = malformed(CANCEL, cancel(&format!(r#""{}""#, "é".repeat(129))));
    assert!(
        long.ends_with("... is 258 bytes long, at most 256 are allowed"),
        "{long}"
    );
}

#[test]
fn a_cancel_misses_each_required_field_by_name() {
    let whole =
        r#"{"message_id":"m-2","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","reason":"x"}"#;
    for field in ["message_id", "timestamp", "order_id", "reason"] {
        let without = whole.replace(&format!(r#""{field}""#), r#""x""#);
        assert_eq!(malformed(CANCEL, without), format!("{field} is missing"));
    }
}
