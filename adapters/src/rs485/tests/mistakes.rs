//! Profiles that cannot work: each mistake names the key, the value and what would be right.

use super::*;

/// What is said of Kestrel with one change.
fn told(from: &str, to: &str) -> Vec<String> {
    let text = changed(&[(from, to)]);
    let mistakes = FrameProfile::parse(&text).expect_err(to);
    mistakes.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn tells(from: &str, to: &str, expected: &str) {
    let told = told(from, to);
    assert!(told.iter().any(|told| told.contains(expected)), "{told:#?}");
}

#[test]
fn the_example_has_none() {
    let profile = FrameProfile::parse(KESTREL).unwrap();
    assert_eq!(profile.poll_ms(), 250);
    assert!(profile.framing().has_sequence());
}

#[test]
fn shapes_of_frames_that_cannot_be() {
    let checksum =
        r#"checksum = { kind = "crc16_ccitt", init = 0xFFFF, order = "big", from = "header" }"#;
    for (from, to, expected) in [
        (
            "start = [0xAA, 0x55]",
            "start = []",
            "frame.start = []: expected 1 to 4 bytes",
        ),
        (
            "start = [0xAA, 0x55]",
            "start = [0xAAA]",
            "frame.start = [0xAAA]: expected a list of whole numbers from 0 to 255",
        ),
        ("start = [0xAA, 0x55]  ", "", "frame.start is missing"),
        (
            r#""sequence", "code"]"#,
            r#""sequence"]"#,
            r#"expected places with "code" once"#,
        ),
        (
            r#""sequence", "code"]"#,
            r#""code", "code"]"#,
            r#"expected places with "code" once"#,
        ),
        (
            r#"["length", "unit","#,
            r#"["unit","#,
            "frame.length_adds is missing: expected what the length tells beyond the payload, where a header has a length",
        ),
        (
            r#"["length", "unit","#,
            r#"["length", "master", "unit","#,
            "frame.master is missing",
        ),
        (
            r#"["length", "unit","#,
            r#"["length", "unit", "dest","#,
            "expected a list of numbers from 0 to 255 and of code, length",
        ),
        (
            "length_adds = 3",
            "length_adds = 33",
            "frame.length_adds = 33: expected a whole number from 0 to 32",
        ),
        (checksum, "", "frame.checksum is missing: expected kind"),
        (
            checksum,
            r#"checksum = { kind = "crc32" }"#,
            "frame.checksum.kind = \"crc32\": expected sum8, xor8, crc16_modbus, crc16_ccitt",
        ),
        (
            checksum,
            r#"checksum = { kind = "sum8", order = "big" }"#,
            "frame.checksum.order is missing: expected big or little, for a checksum of two bytes and for no other",
        ),
        (
            checksum,
            r#"checksum = { kind = "xor8", init = 1 }"#,
            "frame.checksum.init = 1: expected only with kind = \"crc16_ccitt\"",
        ),
        (
            "end = [0x0D]  ",
            "end = [1, 2, 3, 4, 5]",
            "frame.end = [1, 2, 3, 4, 5]: expected 0 to 4 bytes",
        ),
        (
            "# escape = { byte = 0x7D, xor = 0x20 }",
            "escape = { byte = 0x0D, xor = 0x20 }",
            "frame.escape = a table: expected a byte that is none of start and end",
        ),
        (
            "# escape = { byte = 0x7D, xor = 0x20 }",
            "escape = { byte = 0x7D, xor = 0xFF }",
            "expected an xor that makes none of start, end and byte of another one",
        ),
        (
            "# echo = true",
            "echo = 1",
            "frame.echo = 1: expected true or false",
        ),
    ] {
        tells(from, to, expected);
    }
}

#[test]
fn answers_that_cannot_be_told_apart() {
    for (from, to, expected) in [
        (
            "report = 0x82",
            "report = 0x81",
            "status.report = 0x81: expected a code that no other answer has",
        ),
        (
            "report = 0x82",
            "report = 0x06",
            "status.report = 0x06: expected a code that no other answer has",
        ),
        (
            "report = 0x82",
            "report = 0x01",
            "status.request = 0x01: expected a code that no answer has",
        ),
        (
            "code = 0x06",
            "code_xor = 0x05",
            "a code that no other answer has",
        ),
        (
            "code = 0x06",
            "code = 0x06\ncode_xor = 0x80",
            "acknowledge.code is missing: expected either code, or code_xor",
        ),
        (
            "{ code = 0x11,",
            "{ code = 0x10,",
            "commands.cancel_call.code = 0x10: expected a code that no other request has",
        ),
        (
            "{ code = 0x11,",
            "{ code = 0x15,",
            "commands.cancel_call.code = 0x15: expected a code that no answer has",
        ),
        (
            "command_at = 0         #",
            "command_at = 1         #",
            "acknowledge.command_at = 1: expected a whole number from 0 to 0",
        ),
        (
            "# result_at = 1",
            "result_at = 0",
            "acknowledge.done is missing",
        ),
        (
            "# done = [0]",
            "done = [0]",
            "acknowledge.result_at is missing",
        ),
        ("reason_at = 1", "", "refuse.reason_at is missing"),
    ] {
        tells(from, to, expected);
    }
}

#[test]
fn places_and_values_that_are_not_there() {
    for (from, to, expected) in [
        (
            "bytes = 12",
            "bytes = 5",
            "signals.load.byte = 5: expected a whole number from 0 to 4",
        ),
        (
            "bytes = 12",
            "bytes = 11",
            "front.lamps.car.byte = 10: expected a byte whose row of 16 ends within the 11",
        ),
        (
            "bytes = 12",
            "bytes = 241",
            "status.bytes = 241: expected a whole number from 1 to 240",
        ),
        (
            "presence = { byte = 4, bit = 0 }",
            "presence = { byte = 4, bit = 8 }",
            "signals.presence.bit = 8: expected a whole number from 0 to 7",
        ),
        (
            "{ byte = 0 }",
            "{ byte = 11, wide = \"big\" }",
            "floor.register.byte = 11: expected a byte whose second one is within the 12",
        ),
        (
            "{ byte = 0 }",
            "{ byte = 0, mask = 0x100 }",
            "floor.register.mask = 0x100: expected a whole number from 1 to 255",
        ),
        (
            "{ byte = 0 }",
            "{ point = \"input\", byte = 0 }",
            "floor.register.point = \"input\": expected no such key here",
        ),
        (
            "{ byte = 0 }",
            "{ byte = 0, wide = \"big\", first = 300 }",
            "commands.hall_call.payload = \"floor\": expected floor_be or floor_le: floor number 315 takes two bytes",
        ),
        (
            "[\"fence_be\"] }\nrelease",
            "[\"floor\"] }\nrelease",
            "commands.claim.payload",
        ),
        (
            "[\"floor\", \"side\", \"hold_s\"",
            "[\"hold\", \"side\", \"hold_s\"",
            "commands.hold_door.payload",
        ),
        (
            "car_call = { code = 0x12, payload = [\"floor\", \"side\", \"fence_be\"] }",
            "car_call = { code = 0x12 }",
            "commands.car_call.payload is missing: expected a payload with the floor",
        ),
        (
            "close_door = ",
            "shut_door = ",
            "commands.close_door is missing: expected the command, which rides need",
        ),
        (
            "rear = 2",
            "rear = 1",
            "words.rear = 1: expected another number than that of front",
        ),
        (
            "reply_ms = 150",
            "reply_ms = 900",
            "reply_ms = 900: expected a whole number from 10 to 700",
        ),
        (
            "# late_ms = 1000",
            "late_ms = 100",
            "late_ms = 100: expected at least 150, the reply_ms",
        ),
        (
            "[front.lamps]",
            "[front.lamps]\npoll_ms = 500",
            "front.lamps.poll_ms = 500: expected no such key here",
        ),
        (
            "[front.lamps]",
            "[front.buttons]\nopen = 1\n[front.lamps]",
            "front.buttons = a table: expected no such key here",
        ),
    ] {
        tells(from, to, expected);
    }
}

/// `length_adds` and a payload of 240 bytes are more than a byte tells.
#[test]
fn a_length_of_one_byte_has_to_tell_the_longest_frame() {
    let text = changed(&[
        ("bytes = 12", "bytes = 240"),
        ("length_adds = 3", "length_adds = 16"),
    ]);
    let mistakes = FrameProfile::parse(&text).unwrap_err();
    let told = "frame.length_wide is missing: expected big or little: the longest frame tells 256";
    assert!(mistakes[0].to_string().starts_with(told), "{mistakes:?}");
}

/// A maker whose answers have the code of the request tells them apart by another byte.
#[test]
fn an_answer_with_the_code_of_its_request_differs_in_its_header() {
    let changes = [("answer = 0x81", "answer = 0x01")];
    let mistakes = FrameProfile::parse(&changed(&changes)).unwrap_err();
    assert_eq!(mistakes[0].key, "status.request");
    let headers = "header = [0x01, \"length\", \"unit\", \"sequence\", \"code\"]\n\
                   answer_header = [0x02, \"length\", \"unit\", \"sequence\", \"code\"]";
    let changes = [
        changes[0],
        (
            "header = [\"length\", \"unit\", \"sequence\", \"code\"]",
            headers,
        ),
    ];
    FrameProfile::parse(&changed(&changes)).unwrap();
}
