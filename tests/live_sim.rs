//! `hallcall sim`: the building in one process, the robots in another, the gateway in a third, and
//! a real Mosquitto between them.

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use support::{Gateway, Mosquitto, SCALED_TIMING, SimBuilding, Site, free_port, sim_map};

#[test]
fn robots_ride_in_a_building_elsewhere() {
    let broker = Mosquitto::start();
    let folder = tempfile::tempdir().unwrap();
    let map = sim_map(folder.path(), "map.toml", &["--poll-ms", "50"]);
    let modbus = |unit: u8| {
        format!(
            "presence = \"robot\"\nhold_max_s = 2.4\n\
             driver = {{ kind = \"modbus_tcp\", bus = \"b1\", unit = {unit}, map = {map:?} }}\n"
        )
    };
    let buses = format!(
        "[[buses]]\nid = \"b1\"\naddress = \"127.0.0.1:{}\"\n[[zones]]\nid = \"main\"\n\
         fire = {{ bus = \"b1\", unit = 9, point = \"discrete\", address = 0, clear = true }}\n",
        free_port()
    );
    let site = Site::new(&broker)
        .with(SCALED_TIMING)
        .with(&buses)
        .elevator_with("EL001", &modbus(1))
        .elevator_with("EL002", &modbus(2))
        .elevator_with("EL003", "presence = \"robot\"\nhold_max_s = 2.4\n");
    let mut building = SimBuilding::start(&site.config(), "10", &[]);
    assert_eq!(building.line(), "ready: 3 elevators");
    let _gateway = Gateway::start(&site);
    building.ride(9);
    building.end();
}
