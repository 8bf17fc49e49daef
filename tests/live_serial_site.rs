//! `hallcall sim building` behind a configuration with serial lines: a controller and a relay board
//! on one port, a controller behind a converter, and the gateway as it runs on a site (AT-LIFT-19).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use support::{Gateway, Mosquitto, SCALED_TIMING, SimBuilding, Site, free_port, sim_map};

#[test]
fn robots_ride_over_serial_lines_of_a_building_elsewhere() {
    let broker = Mosquitto::start();
    let folder = tempfile::tempdir().unwrap();
    let floors = ["--floors", "2", "--poll-ms", "100"];
    let map = sim_map(folder.path(), "map.toml", &floors);
    let relays = [&floors[..], &["--relays"]].concat();
    let board = sim_map(folder.path(), "board.toml", &relays);
    let port = folder.path().join("adapter");
    let by = |kind: &str, bus: &str, unit: u8, map: &PathBuf| {
        format!(
            "presence = \"robot\"\nhold_max_s = 2.4\ndriver = {{ kind = \"{kind}\", \
             bus = \"{bus}\", unit = {unit}, map = {map:?} }}\n"
        )
    };
    let buses = format!(
        "[[buses]]\nid = \"b1\"\nserial = {port:?}\nbaud = 115200\n\
         [[buses]]\nid = \"b2\"\naddress = \"127.0.0.1:{}\"\n[[zones]]\nid = \"main\"\n\
         fire = {{ bus = \"b1\", unit = 9, point = \"discrete\", address = 0, clear = true }}\n",
        free_port()
    );
    let site = Site::new(&broker)
        .with(SCALED_TIMING)
        .with(&buses)
        .elevator_with("EL001", &by("modbus_rtu", "b1", 1, &map))
        .elevator_with("EL002", &by("modbus_rtu", "b1", 2, &board))
        .elevator_with("EL003", &by("modbus_rtu_over_tcp", "b2", 1, &map));
    let mut building = SimBuilding::start(&site.config(), "5", &["--baud", "115200"]);
    let place = building.line();
    let named = format!("serial: {} is /dev/pts/", port.display());
    assert!(place.starts_with(&named), "{place}");
    assert_eq!(building.line(), "ready: 3 elevators");
    let _gateway = Gateway::start(&site);
    building.ride(9);

    let said = building.end();
    let has_port = fs::symlink_metadata(&port).is_ok();
    assert!(!has_port, "the port is gone with it");
    let prefix = format!("{}: ", port.display());
    let seen = said.iter().find_map(|line| line.strip_prefix(&prefix));
    let seen: Value = serde_json::from_str(seen.unwrap()).unwrap();
    assert_eq!(seen["breaches"], 0, "{seen}");
    for unit in ["1", "2", "9"] {
        assert!(seen["answered"][unit].as_u64() > Some(20), "{seen}");
    }
}
