//! What a payload is as a whole (`wire.md` section 2): size, encoding, nesting, keys, and which ids
//! a refusal carries.

mod site;

use protocol::message::RobotTopic;
use protocol::{Code, Ignored, RobotMessage};
use site::{CANCEL, CONNECTION, CONTROLLER, EVENT, REQUEST, STATUS};
use site::{deliver, deliver_retained, ignored, malformed, refusal, said};

/// A cancel with further fields, each followed by a comma.
fn cancel(more: &str) -> String {
    format!(
        r#"{{{more}"message_id":"m-1","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1","reason":"x"}}"#
    )
}

/// A cancel padded with spaces to so many bytes.
fn cancel_of(bytes: usize) -> String {
    let mut payload = cancel("");
    payload.push_str(&" ".repeat(bytes - payload.len()));
    payload
}

/// A cancel that is nested so many levels deep, the message's own object included.
fn cancel_nested(levels: usize) -> String {
    let inner = levels - 1;
    cancel(&format!(
        r#""x":{}{},"#,
        "[".repeat(inner),
        "]".repeat(inner)
    ))
}

#[test]
fn sixteen_kib_are_taken_and_one_byte_more_is_too_large() {
    said(CANCEL, cancel_of(16_384));
    let refusal = refusal(CANCEL, cancel_of(16_385));
    assert_eq!(refusal.code, Code::TooLarge);
    assert_eq!(
        refusal.detail,
        "the payload is 16385 bytes long, at most 16384 are allowed"
    );
    assert_eq!(refusal.message_id, None);
    assert_eq!(refusal.order_id, None);
    let (robot, topic) = refusal.robot.expect("a robot's topic");
    assert_eq!(robot.as_str(), "R001");
    assert_eq!(topic, RobotTopic::Cancel);
}

#[test]
fn too_large_comes_before_malformed() {
    assert_eq!(refusal(REQUEST, "x".repeat(16_384)).code, Code::Malformed);
    assert_eq!(refusal(REQUEST, "x".repeat(16_385)).code, Code::TooLarge);
    assert_eq!(refusal(REQUEST, [0xff; 16_385]).code, Code::TooLarge);
    assert_eq!(refusal(REQUEST, "[".repeat(1_000_000)).code, Code::TooLarge);
}

#[test]
fn a_payload_is_one_json_object() {
    for payload in [
        "",
        " ",
        "x",
        "null",
        "true",
        "1",
        r#""text""#,
        "[]",
        "[{}]",
        "{",
        "}",
        "{]",
    ] {
        let refusal = refusal(REQUEST, payload);
        assert_eq!(refusal.code, Code::Malformed, "{payload}");
        assert_eq!(
            (refusal.message_id, refusal.order_id),
            (None, None),
            "{payload}"
        );
        assert!(
            refusal
                .detail
                .starts_with("the payload is no JSON object: "),
            "{payload}"
        );
    }
    for payload in [
        "{'a':1}",
        "{a:1}",
        r#"{"a":1,}"#,
        r#"{"a":01}"#,
        r#"{"a":NaN}"#,
        "{}//",
    ] {
        malformed(REQUEST, payload);
    }
    assert_eq!(malformed(REQUEST, "{}"), "message_id is missing");
}

#[test]
fn space_around_the_object_is_allowed_and_a_byte_order_mark_is_not() {
    said(CANCEL, format!(" \t\r\n{}\n ", cancel("")));
    malformed(CANCEL, format!("\u{feff}{}", cancel("")));
}

#[test]
fn trailing_bytes_are_refused_with_the_ids() {
    for more in ["{}", "x", ",", "\0", "null"] {
        let refusal = refusal(CANCEL, cancel("") + more);
        assert_eq!(refusal.code, Code::Malformed);
        assert!(
            refusal.detail.contains("trailing characters"),
            "{}",
            refusal.detail
        );
        assert_eq!(refusal.message_id.expect("read").as_str(), "m-1");
        assert_eq!(refusal.order_id.expect("read").as_str(), "T-1");
    }
}

#[test]
fn bytes_that_are_no_utf8_are_refused_with_the_ids_before_them() {
    let mut payload = br#"{"message_id":"m-1","order_id":"T-1","reason":""#.to_vec();
    // "Elevator" in GBK.
    payload.extend([0xb5, 0xe7, 0xcc, 0xdd]);
    payload.extend(br#"","timestamp":"2026-11-30T10:00:00Z"}"#);
    let refusal = refusal(CANCEL, &payload);
    assert_eq!(refusal.detail, "the payload is no UTF-8 at byte 47");
    assert_eq!(refusal.message_id.expect("read").as_str(), "m-1");
    assert_eq!(refusal.order_id.expect("read").as_str(), "T-1");
    // An over-long slash, a surrogate in UTF-8, a byte that no UTF-8 has, a character cut short.
    for bad in [
        &[0xc0, 0xaf][..],
        &[0xed, 0xa0, 0x80],
        &[0xff],
        &[0xe7, 0x94],
    ] {
        let payload = [br#"{"x":""#, bad, br#""}"#].concat();
        assert_eq!(
            malformed(CANCEL, payload),
            "the payload is no UTF-8 at byte 6"
        );
    }
}

#[test]
fn half_a_surrogate_pair_is_refused_and_a_whole_one_read() {
    for escape in [r"\ud83d", r"\ude00", r"\ud83d\ud83d", r"\ud83dx"] {
        malformed(CANCEL, cancel(&format!(r#""x":"{escape}","#)));
    }
    said(CANCEL, cancel(r#""x":"\ud83d\ude00","#));
}

#[test]
fn eight_levels_of_nesting_are_taken_and_nine_refused_with_the_ids() {
    said(CANCEL, cancel_nested(8));
    let refusal = refusal(CANCEL, cancel_nested(9));
    assert_eq!(refusal.detail, "the payload is nested deeper than 8 levels");
    assert_eq!(refusal.message_id.expect("read behind it").as_str(), "m-1");
    assert_eq!(refusal.order_id.expect("read behind it").as_str(), "T-1");
    let objects = |n: usize| format!(r#""x":{}1{},"#, r#"{"a":"#.repeat(n), "}".repeat(n));
    said(CANCEL, cancel(&objects(7)));
    malformed(CANCEL, cancel(&objects(8)));
}

#[test]
fn the_deepest_nesting_that_fits_does_not_overflow_the_stack() {
    for payload in [
        "[".repeat(16_384),
        r#"{"a":"#.repeat(3_000),
        format!(r#"{{"a":{}"#, "[".repeat(16_000)),
        cancel_nested(8_000),
    ] {
        malformed(REQUEST, payload);
    }
}

#[test]
fn a_key_that_comes_twice_is_refused_at_every_level() {
    for (more, key) in [
        (r#""x":1,"x":1,"#, "x"),
        (r#""x":null,"x":null,"#, "x"),
        (r#""x":{"y":1,"y":2},"#, "y"),
        (r#""x":[[{"y":1,"z":0,"y":2}]],"#, "y"),
        (r#""a":1,"\u0061":2,"#, "a"),
        (r#""":1,"":2,"#, ""),
    ] {
        let refusal = refusal(CANCEL, cancel(more));
        assert_eq!(refusal.detail, format!("the key {key:?} comes twice"));
        assert_eq!(refusal.message_id.expect("read").as_str(), "m-1");
    }
    // The same key in two objects is no duplicate.
    said(CANCEL, cancel(r#""x":{"y":1},"z":{"y":2,"order_id":3},"#));
    // Keys are compared as they are, not by case.
    said(CANCEL, cancel(r#""Order_id":1,"#));
}

#[test]
fn an_id_that_comes_twice_cannot_be_read() {
    let refusal = refusal(CANCEL, cancel(r#""order_id":"T-2","#));
    assert_eq!(refusal.detail, r#"the key "order_id" comes twice"#);
    assert_eq!(refusal.order_id, None);
    assert_eq!(refusal.message_id.expect("read").as_str(), "m-1");
}

#[test]
fn a_refusal_carries_the_ids_that_are_valid() {
    let both = refusal(REQUEST, r#"{"order_id":"T-1","message_id":"m-1"}"#);
    assert_eq!(both.detail, "timestamp is missing");
    assert_eq!(both.message_id.expect("read").as_str(), "m-1");
    assert_eq!(both.order_id.expect("read").as_str(), "T-1");
    for bad in [r#""T 1""#, "7", "null", r#""""#, "{}", r#"["T-1"]"#] {
        let one = refusal(
            REQUEST,
            format!(r#"{{"order_id":{bad},"message_id":"m-1"}}"#),
        );
        assert_eq!(one.order_id, None, "{bad}");
        assert_eq!(one.message_id.expect("read").as_str(), "m-1");
    }
    // An id deeper in the message is none of the message.
    let none = refusal(REQUEST, r#"{"x":{"message_id":"m-1","order_id":"T-1"}}"#);
    assert_eq!((none.message_id, none.order_id), (None, None));
    // Cut short: what came before the cut was read.
    let cut = refusal(REQUEST, r#"{"message_id":"m-1","order_id":"T-1","from":{"#);
    assert_eq!(cut.message_id.expect("read").as_str(), "m-1");
    assert_eq!(cut.order_id.expect("read").as_str(), "T-1");
}

#[test]
fn unknown_fields_are_ignored_and_type_and_source_too() {
    let plain = said(CANCEL, cancel(""));
    for more in [
        r#""x":1,"#,
        r#""x":-1.5e300,"#,
        r#""x":{"y":[null,true,"z"]},"#,
        r#""type":"ride.request","source":"gateway/gw-1","#,
        r#""type":7,"source":[],"#,
    ] {
        assert_eq!(said(CANCEL, cancel(more)), plain, "{more}");
    }
}

#[test]
fn a_sentence_cannot_write_lines_into_a_log() {
    let payload = cancel("").replace("T-1", r"T\n2026-11-30 ERROR \u001b[2J\u2028x");
    assert_eq!(
        malformed(CANCEL, payload),
        r#"order_id "T\n2026-11-30 ERROR \u{1b}[2J\u{2028}x" holds the character '\n', only A-Z a-z 0-9 _ . : - are allowed"#
    );
    // A raw control character in a string is no JSON at all.
    malformed(CANCEL, cancel("").replace("T-1", "T\n1"));
}

#[test]
fn a_long_value_is_quoted_in_part() {
    let payload = cancel("").replace(
        r#""reason":"x""#,
        &format!(r#""reason":"{}""#, "é".repeat(200)),
    );
    let expected = format!(
        r#"reason "{}"... is 400 bytes long, at most 256 are allowed"#,
        "é".repeat(40)
    );
    assert_eq!(malformed(CANCEL, payload), expected);
    // Every byte of the value escaped to six, and a key of 16 KiB: `refusal` checks the 256 bytes.
    refusal(CANCEL, cancel("").replace("T-1", &r"\u0001".repeat(2_000)));
    let key = "é".repeat(3_000);
    refusal(CANCEL, cancel(&format!(r#""{key}":1,"{key}":2,"#)));
    refusal(CANCEL, format!(r#""{}""#, "é".repeat(8_000)));
}

#[test]
fn retained_messages_are_ignored_except_a_connection() {
    for topic in [REQUEST, EVENT, CANCEL, STATUS, CONTROLLER] {
        assert_eq!(
            ignored(deliver_retained(topic, cancel(""))),
            Ignored::Retained,
            "{topic}"
        );
        assert_eq!(
            ignored(deliver_retained(topic, "x")),
            Ignored::Retained,
            "{topic}"
        );
        let large = "x".repeat(20_000);
        assert_eq!(
            ignored(deliver_retained(topic, large)),
            Ignored::Retained,
            "{topic}"
        );
    }
    let online =
        r#"{"message_id":"m-1","timestamp":"2026-11-30T10:00:00Z","connection_state":"ONLINE"}"#;
    assert_eq!(
        deliver_retained(CONNECTION, online),
        deliver(CONNECTION, online)
    );
    assert!(matches!(
        said(CONNECTION, online),
        RobotMessage::Connection(_)
    ));
}

#[test]
fn a_deleted_connection_is_nothing_and_an_empty_request_is_malformed() {
    assert_eq!(ignored(deliver(CONNECTION, "")), Ignored::Cleared);
    assert_eq!(
        ignored(deliver("gateways/gw-1/connection", "")),
        Ignored::Cleared
    );
    malformed(REQUEST, "");
}

#[test]
fn a_refusal_names_the_topic_to_answer_on() {
    for (topic, expected) in [
        (REQUEST, RobotTopic::Request),
        (EVENT, RobotTopic::Event),
        (CANCEL, RobotTopic::Cancel),
        (STATUS, RobotTopic::Status),
        (CONNECTION, RobotTopic::Connection),
    ] {
        let (robot, named) = refusal(topic, "{}").robot.expect("a robot's topic");
        assert_eq!((robot.as_str(), named), ("R001", expected));
    }
    assert_eq!(refusal(CONTROLLER, "{}").robot, None);
    assert_eq!(refusal("gateways/gw-1/connection", "{}").robot, None);
}
