//! `driver`, `[[buses]]` and register maps.

use std::fs;

use hallcall::config::Config;

use super::{BUS, ELEVATOR, GATEWAY, Site, assert_beside_refused, assert_elevator_refused};

#[test]
fn drivers_that_this_version_lacks_are_refused_clearly() {
    for kind in ["modbus_rtu", "modbus_rtu_over_tcp"] {
        assert_elevator_refused(
            &format!("driver = {{ kind = \"{kind}\", bus = \"b1\", unit = 1, map = \"m.toml\" }}"),
            &format!(
                "elevators[0].driver.kind = \"{kind}\": expected \"modbus_tcp\" or \"mqtt\": Modbus \
                 RTU is not part of this version, a serial line needs a Modbus TCP gateway in \
                 front of it"
            ),
        );
    }
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\nbaud = 19200\nparity = \"even\"\n",
        "buses[0].serial = \"/dev/ttyS0\": expected address = \"host:port\" of a Modbus TCP server: \
         serial lines are not part of this version",
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
        "buses[0].address = (left out): expected the host:port of a Modbus TCP server",
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
