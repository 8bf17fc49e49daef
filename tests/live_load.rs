//! AT-LIFT-01 live: 100 robots and 20 elevators over real MQTT and Modbus TCP, with time scaled.

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use support::{Mosquitto, hallcall};

/// 100 robots ask at once for one ride each. Seconds of the building per second of ours.
const SPEED: &str = "20";
/// The mean of the first decisions, in our milliseconds.
const DECISION_MS_MEAN_MAX: f64 = 100.0;

/// One after the other: each alone keeps a machine busy.
static TURN: Mutex<()> = Mutex::new(());

#[track_caller]
fn a_hundred_robots(more: &[&str]) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = hallcall()
        .args([
            "demo",
            "--json",
            "--robots",
            "100",
            "--elevators",
            "20",
            "--rides",
            "100",
        ])
        .args(["--speed", SPEED, "--seed", "100", "--timeout-s", "150"])
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("no report: {text} {told}"));
    assert_eq!(report["violations"], 0, "{report} {told}");
    assert_eq!(report["completed"], 100, "{report} {told}");
    assert_eq!(output.status.code(), Some(0), "{report} {told}");
    let mean = report["decision_ms"]["mean"].as_f64().unwrap();
    assert!(mean < DECISION_MS_MEAN_MAX, "{report}");
}

#[test]
fn at_lift_01_live_on_mosquitto() {
    let broker = Mosquitto::start();
    a_hundred_robots(&["--broker", &format!("mqtt://127.0.0.1:{}", broker.port())]);
}

#[test]
fn at_lift_01_live_on_the_embedded_broker() {
    a_hundred_robots(&[]);
}
