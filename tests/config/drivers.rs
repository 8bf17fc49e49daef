//! `driver`, `[[buses]]` and register maps.

use std::fs;

use adapters::bus::Transport;
use adapters::rtu::serial::{Parity, Rs485, SerialConfig};
use hallcall::config::Config;

use super::{BUS, ELEVATOR, GATEWAY, Site, assert_beside_refused};

#[test]
fn a_kind_of_driver_goes_over_its_kind_of_bus() {
    let serial = "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\n";
    let told = |kind: &str, bus: &str| {
        let site = Site::new(&format!(
            "{GATEWAY}{ELEVATOR}driver = {{ kind = \"{kind}\", bus = \"b1\", unit = 1, map = \
             \"map.toml\" }}\n{bus}"
        ));
        site.write("map.toml", &example_map(), 0o644);
        site.mistakes()
    };
    assert_eq!(told("modbus_rtu", serial), [""; 0]);
    assert_eq!(told("modbus_rtu_over_tcp", BUS), [""; 0]);
    let rtu = "elevators[0].driver.kind = \"modbus_rtu\": expected \"modbus_tcp\" or \
               \"modbus_rtu_over_tcp\": bus b1 has an address and no serial port";
    assert_eq!(told("modbus_rtu", BUS), [rtu]);
    for kind in ["modbus_tcp", "modbus_rtu_over_tcp"] {
        let expected = format!(
            "elevators[0].driver.kind = \"{kind}\": expected \"modbus_rtu\": bus b1 is a serial port"
        );
        assert_eq!(told(kind, serial), [expected]);
    }
    let second = two_elevators("b1", 2).replacen("modbus_tcp", "modbus_rtu_over_tcp", 1);
    let site = Site::new(&second);
    site.write("map.toml", &example_map(), 0o644);
    assert_eq!(
        site.mistakes(),
        [
            "elevators[1].driver.kind = \"modbus_tcp\": expected the kind of the elevators above on \
             bus b1: it carries one"
        ]
    );
}

/// What a serial bus says is what the port gets.
#[test]
fn a_serial_bus_has_the_settings_of_its_port() {
    let read = |keys: &str| {
        let site = Site::new(&format!(
            "{GATEWAY}{ELEVATOR}driver = {{ kind = \"modbus_rtu\", bus = \"b1\", unit = 1, \
             relay_unit = 11, map = \"map.toml\" }}\n[[buses]]\nid = \"b1\"\nserial = \
             \"/dev/serial/by-id/usb-x\"\n{keys}"
        ));
        site.write("map.toml", &example_map(), 0o644);
        let mut config = site.config();
        match config.buses.remove("b1").expect("b1").transport {
            Transport::Serial(serial) => serial,
            other @ (Transport::Tcp { .. } | Transport::RtuOverTcp { .. }) => panic!("{other:?}"),
        }
    };
    // Left out: the defaults of Modbus over Serial Line V1.02, section 3.2.
    assert_eq!(
        read(""),
        SerialConfig::new("/dev/serial/by-id/usb-x", 19_200)
    );
    let all = "baud = 9600\nparity = \"none\"\nstop_bits = 2\n\
               rs485 = { before_send_s = 0.001, after_send_s = 0.002, inverted = true }";
    let expected = SerialConfig {
        path: "/dev/serial/by-id/usb-x".into(),
        baud: 9_600,
        parity: Parity::None,
        two_stop_bits: true,
        rs485: Some(Rs485 {
            before_send_ms: 1,
            after_send_ms: 2,
            inverted: true,
        }),
    };
    assert_eq!(read(all), expected);
    assert_eq!(read("rs485 = true").rs485, Some(Rs485::default()));
}

#[test]
fn mistakes_of_a_serial_bus_name_their_key() {
    let bus = "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\n";
    for (keys, expected) in [
        (
            "baud = 19201",
            "baud = 19201: expected one of 1200, 2400, 4800, 9600, 14400, 19200, 28800, 38400, \
             57600, 76800, 115200, 230400",
        ),
        (
            "parity = \"mark\"",
            "parity = \"mark\": expected \"even\" or \"odd\" or \"none\"",
        ),
        (
            "stop_bits = 3",
            "stop_bits = 3: expected an integer from 1 to 2",
        ),
        (
            "rs485 = false",
            "rs485 = false: expected true or a table; leave it out where the adapter switches by \
             itself",
        ),
        (
            "rs485 = { after_send_s = 1 }",
            "rs485.after_send_s = 1: expected at most 0.1 s",
        ),
        (
            "rs485 = { after_s = 1 }",
            "rs485.after_s = 1: expected one of the known keys, the nearest is after_send_s",
        ),
        (
            "address = \"plc\"",
            "address = \"plc\": expected either serial or address: a bus is one of them",
        ),
    ] {
        assert_beside_refused(&format!("{bus}{keys}\n"), &format!("buses[0].{expected}"));
    }
    assert_beside_refused(
        &format!("{bus}{}", bus.replace("b1", "b2")),
        "buses[1].serial = \"/dev/ttyS0\": expected a port that no bus above has",
    );
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\nserial = \"ttyS0\"\n",
        "buses[0].serial = \"ttyS0\": expected the whole path of a port, such as \
         \"/dev/serial/by-id/...\"",
    );
    assert_beside_refused(
        &format!("{BUS}baud = 9600\n"),
        "buses[0].baud = 9600: expected only together with serial",
    );
}

/// Three elevators of the example map, four times a second at 9600 baud, leave no time for commands.
#[test]
fn a_bus_that_polls_fill_is_told_by_check_and_run_goes_on() {
    let elevators = |count: u8| {
        let one = |number: u8| {
            let elevator = ELEVATOR.replace("EL001", &format!("EL00{number}"));
            format!(
                "{elevator}driver = {{ kind = \"modbus_rtu\", bus = \"b1\", unit = {number}, map = \
                 \"map.toml\" }}\n"
            )
        };
        let all: String = (1..=count).map(one).collect();
        let bus = "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\nbaud = 9600\n";
        let site = Site::new(&format!("{GATEWAY}{all}{bus}"));
        site.write("map.toml", &example_map(), 0o644);
        site
    };
    assert_eq!(elevators(2).mistakes(), [""; 0]);
    let site = elevators(4);
    assert_eq!(site.config().advice.len(), 1);
    let told = site.mistakes();
    let expected = "elevators[2].driver.bus = \"b1\": expected a bus with time for commands: at 9600 \
                    baud the polls of the elevators so far take ";
    assert!(told[0].starts_with(expected), "{told:?}");
}

/// Two elevators cannot share a relay board, nor one of them a board that is the other one.
#[test]
fn a_relay_board_is_one_elevators() {
    let relays = |first: &str, second: &str| {
        let text = two_elevators("b1", 2)
            .replacen("unit = 1,", &format!("unit = 1, {first}"), 1)
            .replacen("unit = 2,", &format!("unit = 2, {second}"), 1);
        let site = Site::new(&text);
        site.write("map.toml", &example_map(), 0o644);
        site.mistakes()
    };
    assert_eq!(relays("relay_unit = 11,", "relay_unit = 12,"), [""; 0]);
    for (first, second) in [
        ("relay_unit = 11,", "relay_unit = 11,"),
        ("", "relay_unit = 1,"),
    ] {
        let unit = if first.is_empty() { 1 } else { 11 };
        let expected = format!(
            "elevators[1].driver.relay_unit = {unit}: expected a unit that no elevator above has on \
             this bus"
        );
        assert_eq!(relays(first, second), [expected]);
    }
    assert_eq!(
        relays("relay_unit = 248,", ""),
        ["elevators[0].driver.relay_unit = 248: expected an integer from 1 to 247"]
    );
}

/// Function 05 with a time, which Modbus TCP's client cannot say.
#[test]
fn a_map_with_presses_that_a_board_times_is_none_for_modbus_tcp() {
    let flash = example_map().replace(
        "open = { point = \"coil\", address = 48 }",
        "open = { point = \"coil\", address = 48, flash_ms = 500 }",
    );
    let site = modbus("bus = \"b1\", unit = 1, map = \"map.toml\"", "");
    site.write("map.toml", &flash, 0o644);
    assert_eq!(
        site.mistakes(),
        [
            "elevators[0].driver.map = \"map.toml\": expected a map without flash_ms, or another kind \
             of driver: Modbus TCP cannot carry it; in it front.buttons.open"
        ]
    );
}

#[test]
fn buses_have_ids_of_their_own_and_addresses() {
    assert_beside_refused(
        &format!("{BUS}{BUS}"),
        "buses[1].id = \"b1\": expected an identifier that no bus above has",
    );
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\naddress = \"plc:0\"\n",
        "buses[0].address = \"plc:0\": expected host:port, such as \"127.0.0.1:1502\"",
    );
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\n",
        "buses[0].address = (left out): expected the host:port of a Modbus server, or serial = the path \
         of a serial port",
    );
}

/// A site with a copy of the example map, and one elevator by Modbus TCP with these keys.
fn modbus(driver: &str, elevator: &str) -> Site {
    let site = Site::new(&format!(
        "{GATEWAY}{ELEVATOR}{elevator}\ndriver = {{ kind = \"modbus_tcp\", {driver} }}\n{BUS}"
    ));
    site.write("map.toml", &example_map(), 0o644);
    site
}

fn example_map() -> String {
    fs::read_to_string("configs/maps/example.toml").expect("the example map")
}

/// Two elevators of the map `map.toml`, the second with this bus and unit.
fn two_elevators(bus: &str, unit: u8) -> String {
    let driver = |bus: &str, unit: u8| {
        format!(
            "driver = {{ kind = \"modbus_tcp\", bus = \"{bus}\", unit = {unit}, map = \"map.toml\" }}"
        )
    };
    let second = ELEVATOR.replace("EL001", "EL002");
    format!(
        "{GATEWAY}{ELEVATOR}{}{second}{}\n{BUS}",
        driver("b1", 1),
        driver(bus, unit)
    )
}

#[test]
fn a_map_is_a_file_beside_the_configuration() {
    let driver = |map: &str| format!("bus = \"b1\", unit = 1, map = \"{map}\"");
    assert_eq!(modbus(&driver("map.toml"), "").mistakes(), [""; 0]);
    // B6-22: no way out of the folder.
    for (map, expected) in [
        ("none.toml", "a file that exists"),
        ("../map.toml", "a path without \"..\""),
        (".", "a regular file"),
    ] {
        assert_eq!(
            modbus(&driver(map), "").mistakes(),
            [format!(
                "elevators[0].driver.map = \"{map}\": expected {expected}"
            )]
        );
    }
    assert_eq!(
        modbus("bus = \"b1\"", "").mistakes(),
        [
            "elevators[0].driver.unit = (left out): expected the Modbus unit",
            "elevators[0].driver.map = (left out): expected the path of a register map",
        ]
    );
}

/// Those of a map come after those of the configuration, once, with the map's own lines.
#[test]
fn mistakes_of_a_map_are_told_with_its_lines() {
    let site = Site::new(&two_elevators("b1", 0));
    let map = example_map();
    let line = map
        .lines()
        .position(|line| line.starts_with("poll_ms"))
        .expect("poll_ms")
        + 1;
    site.write(
        "map.toml",
        &map.replace("poll_ms = 250", "poll_ms = 5"),
        0o644,
    );
    let mistakes = Config::load(&site.path("site.toml")).expect_err("two mistakes");
    let file = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let told: Vec<_> = mistakes
        .iter()
        .map(|m| (file(&m.file), m.line, m.key.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some("site.toml".to_owned()), 11, "elevators[1].driver.unit"),
            (Some("map.toml".to_owned()), line, "poll_ms"),
        ]
    );
}

#[test]
fn a_map_fits_its_elevator() {
    let driver = "bus = \"b1\", unit = 1, map = \"map.toml\"";
    let unfit =
        "elevators[0].driver.map = \"map.toml\": expected a map that fits the elevator; in it";
    let site = modbus(driver, "presence = \"any\"\nclaim = true\nhold_max_s = 61");
    assert_eq!(
        site.mistakes(),
        [format!(
            "{unfit} front.buttons.hold_s.max = 60: expected at least 61, the elevator's hold_max_s"
        )]
    );
    let site = modbus(driver, "");
    site.write(
        "map.toml",
        &example_map().replace("count = 8", "count = 1"),
        0o644,
    );
    assert_eq!(
        site.mistakes(),
        [format!(
            "{unfit} floors.count = 1: expected at least 2, the floors of the elevator"
        )]
    );
}

/// Two elevators cannot be one unit, also where two buses lead to it.
#[test]
fn a_unit_is_one_elevator() {
    for bus in ["b1", "b2"] {
        let second_bus = BUS.replace("b1", "b2");
        let site = Site::new(&format!("{}{second_bus}", two_elevators(bus, 1)));
        site.write("map.toml", &example_map(), 0o644);
        assert_eq!(
            site.mistakes(),
            [
                "elevators[1].driver.unit = 1: expected a unit that no elevator above has on this bus"
            ]
        );
    }
}
