//! What is wrong with a map, or with a map for an elevator.

use super::*;

#[test]
fn every_mistake_is_told_with_its_line() {
    let text = small(&[
        ("@top", "pol_ms = 3\nread_gap_max = 100"),
        (
            "@floor",
            r#"register = { point = "inputs", address = 70000 }"#,
        ),
        ("@motion", r#"up = { point = "input", address = 1 }"#),
    ]);
    let errors = RegisterMap::parse(&text).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "line 2: pol_ms = 3: expected no such key here but poll_ms, read_gap_max, floors, floor, \
         motion, mode, signals, front, rear, commands, relays",
        "line 3: read_gap_max = 100: expected a whole number from 0 to 64",
        "line 7: floor.register.point = \"inputs\": expected coil, discrete, input, holding",
        "line 7: floor.register.address = 70000: expected a whole number from 0 to 65535",
        "line 8: motion.register is missing: expected register and values, or moving and up, or \
         up and down",
        "line 9: motion.up.bit is missing: expected a whole number from 0 to 15",
    ];
    for line in expected {
        assert!(
            told.iter().any(|error| error == line),
            "{line}\nis not among {told:#?}"
        );
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

/// The part that is put in place of the `@` line has one mistake, at this key.
fn check(place: &str, part: &str, key: &str) {
    assert_eq!(mistakes(&[(place, part)]), [key], "{part}");
}

#[test]
fn each_kind_of_mistake_in_what_is_read_is_found() {
    let floor = |part: &str, key: &str| check("@floor", part, key);
    floor(
        r#"register = { point = "coil", address = 0 }"#,
        "floor.register.point",
    );
    floor(
        r#"register = { point = "input", address = 0, values = [1, 2] }"#,
        "floor.register.values",
    );
    floor(
        r#"register = { point = "input", address = 0, values = [1, 2, 2] }"#,
        "floor.register.values",
    );
    floor(
        r#"register = { point = "input", address = 0, first = 0, values = [1, 2, 3] }"#,
        "floor.register.first",
    );
    floor(
        r#"register = { point = "input", address = 0, mask = 0 }"#,
        "floor.register.mask",
    );
    floor(
        r#"bits = { point = "discrete", address = 65534 }"#,
        "floor.bits.address",
    );
    floor(
        r#"bits = { point = "discrete", address = 4, bit = 3 }"#,
        "floor.bits.bit",
    );
    floor("", "floor.register");
    let door = |part: &str, key: &str| check("@door", part, key);
    door(
        r#"open_limit = { point = "discrete", address = 0 }"#,
        "front.door.closed_limit",
    );
    door(
        r#"register = { point = "input", address = 0 }"#,
        "front.door.values",
    );
    let same = r#"register = { point = "input", address = 0 }
        values = { open = [1, 2], closed = 2 }"#;
    door(same, "front.door.values.closed");
    let large = r#"register = { point = "input", address = 0, mask = 0x3 }
        values = { open = 4, closed = 2 }"#;
    door(large, "front.door.values.open");
    let more = |part: &str, key: &str| check("@more", part, key);
    more(
        "[mode.bits]\nfire = { point = \"discrete\", address = 9 }",
        "mode.bits.normal",
    );
    more(
        "[front.lamps]\n\
         hall_up = { point = \"coil\", address = 9 }\n\
         car = { point = \"coil\", address = 9 }",
        "front.lamps.hall_down",
    );
    check("@top", "poll_ms = \"fast\"", "poll_ms");
}

#[test]
fn each_kind_of_mistake_in_what_is_written_is_found() {
    let more = |part: &str, key: &str| check("@more", part, key);
    let button = |part: &str, key: &str| more(&format!("[front.buttons]\n{part}"), key);
    button(
        r#"open = { point = "input", address = 1 }"#,
        "front.buttons.open.point",
    );
    button(
        r#"open = { point = "coil", address = 1, function = 6 }"#,
        "front.buttons.open.function",
    );
    button(
        r#"open = { point = "coil", address = 1, pulse_ms = 10 }"#,
        "front.buttons.open.pulse_ms",
    );
    button(
        r#"car = { point = "coil", address = 1, first = 1 }"#,
        "front.buttons.car.first",
    );
    button(
        r#"car = { point = "coil", address = 65534 }"#,
        "front.buttons.car.address",
    );
    button(
        r#"hold_s = { point = "coil", address = 1 }"#,
        "front.buttons.hold_s.point",
    );
    let command = |part: &str, key: &str| more(&format!("[commands]\n{part}"), key);
    command(
        r#"claim = { point = "coil", address = 1, pulse_ms = 100 }"#,
        "commands.claim",
    );
    command(
        r#"fence = { point = "holding", address = 1, words = 3, order = "low_first" }"#,
        "commands.fence.words",
    );
    command(
        r#"fence = { point = "holding", address = 1, words = 2 }"#,
        "commands.fence.order",
    );
    command(
        r#"[commands.fence]
        point = "holding"
        address = 1
        words = 2
        order = "low_first"
        function = 6"#,
        "commands.fence.function",
    );
    command(
        r#"command_id = { point = "holding" }"#,
        "commands.command_id.address",
    );
}

#[test]
fn a_text_that_is_no_toml_is_refused_with_its_line() {
    let errors = RegisterMap::parse("poll_ms = 250\n[floors\n").unwrap_err();
    assert_eq!(errors[0].line, Some(2), "{errors:?}");
    let keys: Vec<_> = RegisterMap::parse("")
        .unwrap_err()
        .into_iter()
        .map(|e| e.key)
        .collect();
    assert_eq!(keys, ["floors", "floor", "motion", "front"]);
}

#[test]
fn check_names_what_a_map_lacks_for_an_elevator() {
    let example = RegisterMap::parse(EXAMPLE).unwrap();
    assert_eq!(
        example.check_floors(&floors(&["1F", "2F", "3F", "4F", "5F", "6F"])),
        Ok(())
    );
    let many = floors(&["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let errors = example.check_floors(&many).unwrap_err();
    let told = "floors.count = 8: expected at least 9, the floors of the elevator";
    assert_eq!(errors[0].to_string(), told);
    let mut two_sides = floors(&["1F", "2F"]);
    two_sides[1].sides.insert(Side::Rear);
    assert_eq!(example.check_floors(&two_sides).unwrap_err()[0].key, "rear");
    let keys: Vec<_> = parse(&[])
        .check_floors(&floors(&["1F", "2F"]))
        .unwrap_err()
        .into_iter()
        .map(|error| error.key)
        .collect();
    let buttons = ["hall_up", "hall_down", "car", "open", "hold_s", "close"];
    assert_eq!(keys, buttons.map(|name| format!("front.buttons.{name}")));
    let needs = Needs {
        mode_signal: true,
        presence: true,
        claim: true,
        hold_max_ms: 60_000,
    };
    assert_eq!(example.check_needs(needs), Ok(()));
    let long = Needs {
        hold_max_ms: 60_001,
        ..needs
    };
    assert_eq!(
        example.check_needs(long).unwrap_err()[0].key,
        "front.buttons.hold_s.max"
    );
    let keys: Vec<_> = parse(&[])
        .check_needs(needs)
        .unwrap_err()
        .into_iter()
        .map(|e| e.key)
        .collect();
    assert_eq!(keys, ["mode", "signals.presence", "commands.claim"]);
}

/// A key is quoted as it likes; on a terminal and in a log it stays one line.
#[test]
fn a_key_cannot_write_lines_or_tell_a_terminal_what_to_do() {
    let text = small(&[("@top", "\"a\\n\\u001b[2J\" = '\u{9b}2J'")]);
    let errors = RegisterMap::parse(&text).unwrap_err();
    let told = errors[0].to_string();
    let expected = r"line 2: a\n\u{1b}[2J = '\u{9b}2J': expected no such key here but ";
    assert!(told.starts_with(expected), "{told}");
}
