//! The same rides over every kind of controller, judged by the simulator's own record; and what
//! serial lines saw of the gateway's manners (AT-LIFT-19, AT-LIFT-20).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::hallcall;

const RIDES: u64 = 8;

/// A demo of as many rides, the same whatever the controllers are, all of which must complete; what
/// each serial line saw.
#[track_caller]
fn ride(controllers: &str, more: &[&str]) -> Vec<Value> {
    let output = hallcall()
        .args(["demo", "--json", "--seed", "4", "--rides", "8"])
        .args(["--timeout-s", "120", "--controllers", controllers])
        .args(more)
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("no report: {text} {told}"));
    assert_eq!(report["completed"], RIDES, "{report} {told}");
    assert_eq!(report["violations"], 0, "{report} {told}");
    assert_eq!(output.status.code(), Some(0), "{told}");
    let lines = told
        .lines()
        .filter_map(|line| line.strip_prefix("serial line: "));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The same on serial lines.
#[track_caller]
fn ride_on_lines(controllers: &str, more: &[&str]) -> Vec<Value> {
    let lines = ride(controllers, more);
    // Three cars, two on a line.
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        assert!(line["answered"]["1"].as_u64() > Some(20), "{line}");
    }
    lines
}

/// `unreadable` proves nothing here: where this machine stood still for longer than the gateway
/// waits, two requests reach the line at once and are one frame.
///
/// AT-LIFT-20: nobody spoke over anybody, and 3.5 characters of silence were kept; at this rate
/// they have their least length of 1.75 ms.
#[track_caller]
fn has_manners(lines: &[Value]) {
    for line in lines {
        assert_eq!(line["breaches"], 0, "{line}");
        assert!(line["silence_min_ms"].as_f64() >= Some(1.75), "{line}");
    }
}

#[test]
fn rides_over_modbus_tcp() {
    assert_eq!(ride("modbus", &[]), [""; 0]);
}

#[test]
fn rides_over_mqtt() {
    assert_eq!(ride("mqtt", &[]), [""; 0]);
}

#[test]
fn rides_over_a_serial_port() {
    let lines = ride_on_lines("rtu", &[]);
    has_manners(&lines);
    assert!(
        lines.iter().all(|line| line["collisions"] == 0),
        "{lines:?}"
    );
}

#[test]
fn rides_over_rtu_frames_behind_tcp() {
    let lines = ride_on_lines("rtu-over-tcp", &[]);
    assert!(
        lines.iter().all(|line| line["collisions"] == 0),
        "{lines:?}"
    );
}

#[test]
fn rides_by_relay_boards_that_press_buttons() {
    has_manners(&ride_on_lines("relays", &[]));
}

/// AT-LIFT-19: the frames of a maker, acknowledged, and reports that nobody asked for.
#[test]
fn rides_over_the_frames_of_a_maker() {
    for line in ride_on_lines("frames", &[]) {
        // A unit that speaks by itself may begin in the same moment as the master, which hears it a
        // portion of bytes later: that it keeps the silences shows in that this is seldom.
        let count = |key: &str| line[key].as_u64().unwrap_or(u64::MAX);
        let asked: u64 = line["requests"]
            .as_object()
            .map_or(0, |units| units.values().filter_map(Value::as_u64).sum());
        assert!(count("breaches") * 20 <= asked, "{line}");
        assert!(count("collisions") * 5 <= asked, "{line}");
        assert_eq!(count("unreadable"), 0, "{line}");
    }
}

/// The same with one answer in a hundred of each kind that goes wrong with frames.
#[test]
fn rides_over_frames_that_go_wrong() {
    let kinds = [
        ("bad_crc:0.01", "H2"),
        ("truncated:0.01", "H4"),
        ("twice:0.01", "H3"),
        ("foreign:0.01", "foreign"),
        ("no_reply:0.01", "H9"),
        ("report:0.02", "report"),
        ("report_inside:0.01", "report"),
    ];
    let more: Vec<&str> = kinds
        .iter()
        .flat_map(|(rule, _)| ["--fault", rule])
        .collect();
    let lines = ride_on_lines("frames", &more);
    for (_, kind) in kinds {
        let fired = |line: &Value| line["faults"][kind].as_u64().unwrap_or(0);
        let fired = lines.iter().map(fired).sum::<u64>();
        assert!(fired > 0, "{kind}: {lines:?}");
    }
}

#[test]
fn rides_with_one_percent_of_crc_errors_and_one_of_lost_replies() {
    let lines = ride_on_lines(
        "rtu",
        &["--fault", "bad_crc:0.01", "--fault", "no_reply:0.01"],
    );
    has_manners(&lines);
    for kind in ["H2", "H9"] {
        let fired = |line: &Value| line["faults"][kind].as_u64().unwrap_or(0);
        assert!(
            lines.iter().map(fired).sum::<u64>() > 0,
            "{kind}: {lines:?}"
        );
    }
}
