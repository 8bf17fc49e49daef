//! Relay boards: presses that the board times, and maps that would harm.

use super::*;

/// A small map with these buttons in front and this board.
fn board(name: &str, buttons: &str) -> String {
    small(&[(
        "@more",
        &format!("[front.buttons]\n{buttons}\n[relays]\nboard = \"{name}\""),
    )])
}

fn key_and_expected(name: &str, buttons: &str) -> Vec<(String, String, String)> {
    let errors = RegisterMap::parse(&board(name, buttons)).unwrap_err();
    let told = errors.into_iter();
    told.map(|error| (error.key, error.value, error.expected))
        .collect()
}

/// Waveshare, Modbus RTU Relay: relay n for t x 100 ms is function 05 at 0x0200 + n with value t.
#[test]
fn a_flash_is_one_write_with_its_time_and_nothing_to_let_go() {
    let buttons = r#"
        car = { point = "coil", address = 0x0202, flash_ms = 700 }
        open = { point = "coil", address = 0x0200, flash_ms = 1000, flash_unit_ms = 50 }
    "#;
    let map = RegisterMap::parse(&board("waveshare", buttons)).unwrap();
    let floors = map.floor_table(&floors(&["1F", "2F", "3F"]));
    let steps = |action| map.steps(&command(action), &floors).unwrap();
    let at = |floor| landing(floor, Side::Front);
    let flash = |address, value| vec![Write::Flash { address, value }.into()];
    let car = Action::CarCall { landing: at("3F") };
    assert_eq!(steps(car), flash(0x0204, 7));
    let open = Action::OpenDoor { landing: at("1F") };
    assert_eq!(steps(open), flash(0x0200, 20));
    assert_eq!(map.needs_rtu().as_deref(), Some("front.buttons.car"));
    assert_eq!(RegisterMap::parse(EXAMPLE).unwrap().needs_rtu(), None);
}

#[test]
fn keys_that_do_not_go_with_a_flash_are_refused() {
    for (button, key) in [
        (r#"point = "coil", flash_ms = 750"#, "flash_ms"),
        (r#"point = "coil", flash_ms = 10"#, "flash_ms"),
        (r#"point = "coil", flash_unit_ms = 10"#, "flash_ms"),
        (
            r#"point = "coil", flash_ms = 700, pulse_ms = 700"#,
            "pulse_ms",
        ),
        (
            r#"point = "coil", flash_ms = 700, function = 15"#,
            "function",
        ),
        (
            r#"point = "coil", flash_ms = 700, inverted = true"#,
            "inverted",
        ),
        (r#"point = "holding", flash_ms = 700"#, "flash_ms"),
    ] {
        let text = format!("[front.buttons]\nopen = {{ address = 512, {button} }}");
        let expected = format!("front.buttons.open.{key}");
        assert_eq!(mistakes(&[("@more", &text)]), [expected], "{button}");
    }
    let claim = r#"[commands]
        claim = { point = "coil", address = 3, flash_ms = 500 }"#;
    assert_eq!(mistakes(&[("@more", claim)]), ["commands.claim"]);
}

/// Toggles are refused, and so is what switches all relays or stays on when the gateway dies.
#[test]
fn what_would_harm_on_a_waveshare_board_is_refused() {
    let flash = "0x0200 to 0x02fe, where a relay is set for a time: others toggle or switch for \
                 good";
    let time = "the time of the press, which the board ends by itself";
    for (button, key, value, expected) in [
        // A toggle, all relays, and a row that runs out of its range.
        ("0x0103, flash_ms = 500", "address", "0x0103", flash),
        ("0x00ff, flash_ms = 500", "address", "0x00ff", flash),
        ("0x0400, flash_ms = 500", "address", "0x0400", flash),
        ("0x02fd, flash_ms = 500", "address", "0x02fd", flash),
        ("0x0000, pulse_ms = 500", "flash_ms", "", time),
        ("0x0200", "flash_ms", "", time),
    ] {
        let buttons = format!("car = {{ point = \"coil\", address = {button} }}");
        let key = format!("front.buttons.car.{key}");
        let told = [(key, value.to_owned(), expected.to_owned())];
        assert_eq!(key_and_expected("waveshare", &buttons), told, "{button}");
    }
    let register = r#"open = { point = "holding", address = 1 }"#;
    assert_eq!(
        key_and_expected("waveshare", register)[0].0,
        "front.buttons.open.point"
    );
    let claim = |address: &str| {
        let more = format!(
            "[commands]\nclaim = {{ point = \"coil\", address = {address} }}\n[relays]\nboard = \
             \"waveshare\""
        );
        RegisterMap::parse(&small(&[("@more", &more)])).map_err(|errors| errors[0].key.clone())
    };
    assert!(claim("0x0007").is_ok());
    assert_eq!(claim("0x0107"), Err("commands.claim.address".to_owned()));
}

#[test]
fn what_would_harm_on_an_r413d08_board_is_refused() {
    for (button, key) in [
        // Toggle, latch, open for good; all relays; the gateway lets go.
        ("address = 1, on = 0x0300", "on"),
        ("address = 1, on = 0x0400", "on"),
        ("address = 1, on = 0x0100", "on"),
        ("address = 0, on = 0x0500", "address"),
        (
            "address = 1, on = 0x0100, off = 0x0200, pulse_ms = 500",
            "pulse_ms",
        ),
    ] {
        let buttons = format!("open = {{ point = \"holding\", {button} }}");
        let told = key_and_expected("r413d08", &buttons);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, format!("front.buttons.open.{key}"), "{button}");
    }
    let coil = r#"open = { point = "coil", address = 1 }"#;
    let told = key_and_expected("r413d08", coil);
    assert_eq!(told[0].0, "front.buttons.open.point");
    // Momentary, a second; and three seconds.
    let good = r#"
        open = { point = "holding", address = 1, on = 0x0500 }
        close = { point = "holding", address = 2, on = 0x0603 }
    "#;
    let map = RegisterMap::parse(&board("r413d08", good)).unwrap();
    let at = landing("1F", Side::Front);
    let close = Action::CloseDoor { landing: at };
    assert_eq!(writes(&map, close).unwrap(), [register(2, 0x0603)]);
}

#[test]
fn a_board_that_nobody_knows_is_refused() {
    assert_eq!(mistakes(&[("@more", "[relays]")]), ["relays.board"]);
    let other = "[relays]\nboard = \"other\"";
    assert_eq!(mistakes(&[("@more", other)]), ["relays.board"]);
}
