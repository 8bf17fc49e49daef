//! Identifiers, floor labels and time stamps as fields (`wire.md` sections 1 and 2).

mod site;

use protocol::{OrderId, RobotMessage, Timestamp};
use site::{CANCEL, REQUEST, TEN, malformed, said};

fn cancel(order_id: &str, timestamp: &str) -> String {
    format!(
        r#"{{"message_id":"m-1","timestamp":"{timestamp}","order_id":"{order_id}","reason":"x"}}"#
    )
}

fn cancelled(payload: String) -> (OrderId, Timestamp) {
    match said(CANCEL, payload) {
        RobotMessage::Cancel(cancel) => (cancel.order_id, cancel.timestamp),
        other @ (RobotMessage::Request(_)
        | RobotMessage::Event(_)
        | RobotMessage::Status(_)
        | RobotMessage::Connection(_)) => panic!("{other:?}"),
    }
}

#[test]
fn an_id_has_1_to_64_plain_characters() {
    let longest = "x".repeat(64);
    for id in [
        "T",
        "0",
        "_",
        ".",
        ":",
        "-",
        "..",
        "a.b:c_d-E9",
        "null",
        &longest,
    ] {
        assert_eq!(cancelled(cancel(id, "2026-11-30T10:00:00Z")).0.as_str(), id);
    }
    // Escapes in JSON are the same characters.
    assert_eq!(
        cancelled(cancel(r"\u0054-1", "2026-11-30T10:00:00Z"))
            .0
            .as_str(),
        "T-1"
    );
}

#[test]
fn every_other_id_is_refused_by_name() {
    for (id, why) in [
        ("", "\"\" is empty".to_owned()),
        ("T 1", r#""T 1" holds the character ' ',"#.to_owned()),
        ("T/1", r#""T/1" holds the character '/',"#.to_owned()),
        ("+", r#""+" holds the character '+',"#.to_owned()),
        ("#", r##""#" holds the character '#',"##.to_owned()),
        (
            r"T\u00001",
            r#""T\01" holds the character '\0',"#.to_owned(),
        ),
        (r"T-1\n", r#""T-1\n" holds the character '\n',"#.to_owned()),
        // A Cyrillic Te, a full-width T, a dash that is none.
        ("Т-1", r#""Т-1" holds the character 'Т',"#.to_owned()),
        ("Ｔ-1", r#""Ｔ-1" holds the character 'Ｔ',"#.to_owned()),
        ("T–1", r#""T–1" holds the character '–',"#.to_owned()),
        (
            &"x".repeat(65),
            format!("{:?} is 65 bytes long, at most 64 are", "x".repeat(65)),
        ),
    ] {
        let detail = malformed(CANCEL, cancel(id, "2026-11-30T10:00:00Z"));
        assert!(detail.starts_with(&format!("order_id {why}")), "{detail}");
    }
}

#[test]
fn an_id_is_a_string() {
    for (value, named) in [
        ("1", "1"),
        ("true", "true"),
        ("[]", "a list"),
        ("{}", "an object"),
        ("1.5", "1.5"),
    ] {
        let payload = cancel("T-1", "2026-11-30T10:00:00Z").replace(r#""T-1""#, value);
        assert_eq!(
            malformed(CANCEL, payload),
            format!("order_id is {named}, expected a string")
        );
    }
}

#[test]
fn a_floor_has_1_to_8_plain_characters_without_dot_and_colon() {
    let request = |floor: &str| {
        format!(
            r#"{{"message_id":"m-1","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","from":{{"floor":"{floor}"}},"to":{{"floor":"6F"}}}}"#
        )
    };
    for floor in ["1", "1F", "B2", "-1", "_", "Lobby-01"] {
        said(REQUEST, request(floor));
    }
    for floor in [
        "",
        "Lobby-001",
        "1 F",
        "1.5",
        "1:2",
        "1/2",
        "+",
        r"1\u0000",
        "１F",
        "一楼",
    ] {
        let detail = malformed(REQUEST, request(floor));
        assert!(detail.starts_with("from.floor \""), "{detail}");
        assert!(detail.ends_with("is no floor label: 1 to 8 of A-Z a-z 0-9 _ - are allowed"));
    }
}

#[test]
fn a_time_stamp_has_any_offset_and_0_to_9_fraction_digits() {
    for (text, ms) in [
        ("2026-11-30T10:00:00Z", TEN.0),
        ("2026-11-30T10:00:00.5Z", TEN.0 + 500),
        ("2026-11-30T10:00:00.123Z", TEN.0 + 123),
        ("2026-11-30T10:00:00.123999999Z", TEN.0 + 123),
        ("2026-11-30T18:00:00+08:00", TEN.0),
        ("2026-11-30T18:00:00.000+08:00", TEN.0),
        ("2026-11-30T04:30:00-05:30", TEN.0),
        ("2026-12-01T00:00:00+14:00", TEN.0),
        ("2026-11-30T10:00:00-00:00", TEN.0),
        ("1970-01-01T00:00:00Z", 0),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] {
        assert_eq!(cancelled(cancel("T-1", text)).1, Timestamp(ms), "{text}");
    }
}

#[test]
fn every_other_time_stamp_is_refused() {
    for text in [
        "",
        "now",
        "1796032800",
        "2026-11-30",
        "2026-11-30T10:00:00",
        "2026-11-30T10:00Z",
        "2026-11-30T10:00:00.Z",
        "2026-11-30T10:00:00.1234567890Z",
        "2026-02-29T10:00:00Z",
        "2026-13-01T10:00:00Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T10:60:00Z",
        "2026-11-30T10:00:00+0800",
        "2026-11-30T10:00:00 Z",
        "20261130T100000Z",
        "1969-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "-2026-11-30T10:00:00Z",
        "2026-11-30T10:00:00Z ",
        " 2026-11-30T10:00:00Z",
        "2026-11-30T10:00:00ZZ",
    ] {
        let detail = malformed(CANCEL, cancel("T-1", text));
        let expected =
            format!("timestamp {text:?} is no RFC 3339 time stamp of the years 1970 to 9999");
        assert_eq!(detail, expected);
    }
    let number = cancel("T-1", "x").replace(r#""x""#, "1796032800");
    assert!(
        malformed(CANCEL, number).starts_with("timestamp is 1796032800, expected a time stamp")
    );
}

#[test]
fn a_time_stamp_is_written_with_milliseconds_in_utc() {
    assert_eq!(TEN.to_string(), "2026-11-30T10:00:00.000Z");
    assert_eq!(Timestamp(TEN.0 + 7).to_string(), "2026-11-30T10:00:00.007Z");
    assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
    assert_eq!(
        Timestamp(253_402_300_799_999).to_string(),
        "9999-12-31T23:59:59.999Z"
    );
    // 2028-02-29T23:59:59.999Z, by date -u -d.
    assert_eq!(
        Timestamp(1_835_481_599_999).to_string(),
        "2028-02-29T23:59:59.999Z"
    );
}
