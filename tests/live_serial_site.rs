//! `hallcall sim building` behind a configuration with serial lines: a controller and a relay board
//! on one port, a controller behind a converter, and the gateway as it runs on a site (AT-LIFT-19).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
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
    lease_s = 10\ngrant_check_s = 3\nhall_call_s = 10\nentry_s = 10\nentry_recheck_s = 0.3\n\
    door_close_s = 3\ntravel_s = 20\nexit_s = 10\nvalid_s = 1\nsettle_s = 0.05\n\
    requery_s = 0.2\nsweep_s = 0.5\nreading_fresh_s = 1\naccept_s = 0.6\npoll_s = 0.2\n\
    silent_s = 6\nheal_s = 1\n[limits]\nrobot_messages_per_s = 200\n";

#[test]
fn robots_ride_over_serial_lines_of_a_building_elsewhere() {
    let broker = Mosquitto::start();
    let folder = tempfile::tempdir().unwrap();
    let map = |name: &str, more: &[&str]| -> PathBuf {
        let path = folder.path().join(name);
        let printed = hallcall()
            .args(["sim", "map", "--floors", "2", "--poll-ms", "100"])
            .args(more)
            .output()
            .unwrap();
        fs::write(&path, printed.stdout).unwrap();
        path
    };
    let (map, board) = (map("map.toml", &[]), map("board.toml", &["--relays"]));
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
        .with(TIMING)
        .with(&buses)
        .elevator_with("EL001", &by("modbus_rtu", "b1", 1, &map))
        .elevator_with("EL002", &by("modbus_rtu", "b1", 2, &board))
        .elevator_with("EL003", &by("modbus_rtu_over_tcp", "b2", 1, &map));
    let config = site.config();
    let truth = format!("127.0.0.1:{}", free_port());

    let mut building = hallcall();
    building.args(["sim", "building", "--speed", "5", "--baud", "115200"]);
    building.args(["--truth", &truth, "--config"]).arg(&config);
    let mut building = Ended(building.stdout(Stdio::piped()).spawn().unwrap());
    let mut says = BufReader::new(building.0.stdout.take().unwrap()).lines();
    let place = says.next().unwrap().unwrap();
    let named = format!("serial: {} is /dev/pts/", port.display());
    assert!(place.starts_with(&named), "{place}");
    assert_eq!(says.next().unwrap().unwrap(), "ready: 3 elevators");
    let _gateway = Gateway::start(&site);

    let robots = hallcall()
        .args([
            "sim", "robots", "--speed", "5", "--robots", "4", "--rides", "9", "--json",
        ])
        .args(["--timeout-s", "120", "--truth", &truth, "--config"])
        .arg(&config)
        .output()
        .unwrap();
    let text = String::from_utf8(robots.stdout).unwrap();
    let told = String::from_utf8_lossy(&robots.stderr);
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("no report: {text} {told}"));
    assert_eq!(report["completed"], 9, "{report} {told}");

    kill_process(Pid::from_child(&building.0), Signal::TERM).unwrap();
    let ended = wait_for("the building to end", || building.0.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0), "its own record shows a broken law");
    assert!(
        fs::symlink_metadata(&port).is_err(),
        "the port is gone with it"
    );
    let prefix = format!("{}: ", port.display());
    let seen = says.find_map(|line| line.unwrap().strip_prefix(&prefix).map(str::to_owned));
    let seen: Value = serde_json::from_str(&seen.unwrap()).unwrap();
    assert_eq!(seen["breaches"], 0, "{seen}");
    for unit in ["1", "2", "9"] {
        assert!(seen["answered"][unit].as_u64() > Some(20), "{seen}");
    }
}
