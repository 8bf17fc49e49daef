//! `hallcall sim`: the building in one process, the robots in another, the gateway in a third, and
//! a real Mosquitto between them.

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Gateway, Mosquitto, Site, free_port, hallcall, wait_for};

/// Ends its process when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits of wire.md section 7, a tenth of each where the network leaves room for it.
const TIMING: &str = "[timing]\n\
    lease_s = 10\ngrant_check_s = 2\nhall_call_s = 10\nentry_s = 10\nentry_recheck_s = 0.3\n\
    door_close_s = 3\ntravel_s = 20\nexit_s = 10\nvalid_s = 1\nsettle_s = 0.05\n\
    requery_s = 0.2\nsweep_s = 0.5\nreading_fresh_s = 1\naccept_s = 0.6\npoll_s = 0.2\n\
    silent_s = 6\nheal_s = 1\n[limits]\nrobot_messages_per_s = 200\n";

#[test]
fn robots_ride_in_a_building_elsewhere() {
    let broker = Mosquitto::start();
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.toml");
    let printed = hallcall()
        .args(["sim", "map", "--poll-ms", "50"])
        .output()
        .unwrap();
    fs::write(&map, printed.stdout).unwrap();
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
        .with(TIMING)
        .with(&buses)
        .elevator_with("EL001", &modbus(1))
        .elevator_with("EL002", &modbus(2))
        .elevator_with("EL003", "presence = \"robot\"\nhold_max_s = 2.4\n");
    let config = site.config();
    let truth = format!("127.0.0.1:{}", free_port());

    let mut building = hallcall();
    building.args([
        "sim", "building", "--speed", "10", "--truth", &truth, "--config",
    ]);
    let mut building = Ended(
        building
            .arg(&config)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut says = BufReader::new(building.0.stdout.take().unwrap()).lines();
    assert_eq!(says.next().unwrap().unwrap(), "ready: 3 elevators");
    let _gateway = Gateway::start(&site);

    let robots = hallcall()
        .args([
            "sim", "robots", "--speed", "10", "--robots", "4", "--rides", "9", "--json",
        ])
        .args(["--timeout-s", "100", "--truth", &truth, "--config"])
        .arg(&config)
        .output()
        .unwrap();
    let text = String::from_utf8(robots.stdout).unwrap();
    let told = String::from_utf8_lossy(&robots.stderr);
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("no report: {text} {told}"));
    assert_eq!(report["completed"], 9, "{report} {told}");
    assert_eq!(robots.status.code(), Some(0), "{report} {told}");

    kill_process(Pid::from_child(&building.0), Signal::TERM).unwrap();
    let ended = wait_for("the building to end", || building.0.try_wait().unwrap());
    assert_eq!(
        ended.code(),
        Some(0),
        "the building's own record shows a broken law"
    );
}
