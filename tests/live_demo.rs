//! `hallcall demo` as a newcomer runs it: a gateway, controllers and robots as real processes'
//! worth of TCP.

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Client, Mosquitto, hallcall};

/// Runs the demo; returns its exit code and the object on the last line of its output.
fn demo(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let output = hallcall()
        .arg("demo")
        .arg("--json")
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap_or_default();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        output.status.code(),
        serde_json::from_str(last).unwrap_or_default(),
        told,
    )
}

/// A whole run, judged by the simulator's own record.
#[track_caller]
fn all_is_right(rides: u64, (code, report, told): (Option<i32>, Value, String)) -> Value {
    assert_eq!(report["rides"], rides, "{report} {told}");
    assert_eq!(report["completed"], rides, "{report} {told}");
    assert_eq!(report["failed"], 0, "{report} {told}");
    assert_eq!(report["violations"], 0, "{report} {told}");
    assert_eq!(code, Some(0), "{report} {told}");
    report
}

#[test]
fn the_demo_of_the_readme_completes_20_rides() {
    let report = all_is_right(20, demo(&["--seed", "7"]));
    assert_eq!(report["seed"], 7);
    assert_eq!(report["speed"], 10);
    let keys =
        |object: &Value| -> Vec<String> { object.as_object().unwrap().keys().cloned().collect() };
    // wire.md section 7.
    let mut wanted = [
        "rides",
        "completed",
        "failed",
        "violations",
        "seed",
        "speed",
    ]
    .to_vec();
    wanted.extend(["decision_ms", "wait_s"]);
    wanted.sort_unstable();
    let mut found = keys(&report);
    found.sort_unstable();
    assert_eq!(found, wanted);
    let mut decision = keys(&report["decision_ms"]);
    decision.sort_unstable();
    assert_eq!(decision, ["max", "mean", "p50", "p99"]);
    let mut wait = keys(&report["wait_s"]);
    wait.sort_unstable();
    assert_eq!(wait, ["max", "mean", "p95"]);
    assert!(
        report["decision_ms"]["mean"].as_f64().unwrap() > 0.0,
        "{report}"
    );
    assert!(report["wait_s"]["mean"].as_f64().unwrap() > 0.0, "{report}");
}

#[test]
fn controllers_that_speak_mqtt_beside_modbus_ones_on_a_mosquitto() {
    let broker = Mosquitto::start();
    let ear = Client::connect(&broker, "ear");
    ear.subscribe("hallcall/v1/demo/robots/+/connection");
    let url = format!("mqtt://127.0.0.1:{}", broker.port());
    let arguments = [
        "--broker",
        &url,
        "--controllers",
        "both",
        "--elevators",
        "4",
        "--rides",
        "12",
    ];
    all_is_right(12, demo(&arguments));
    // Each robot lost the radio in the car, and the broker said so for it.
    let heard = ear.heard();
    let lost = heard
        .iter()
        .filter(|m| m.text("connection_state") == "CONNECTIONBROKEN");
    assert_eq!(lost.count(), 12);
    let left = heard
        .iter()
        .filter(|m| m.text("connection_state") == "OFFLINE");
    assert_eq!(left.count(), 6);
}

#[test]
fn a_ride_that_is_not_at_its_end_in_time_has_failed_and_is_exit_code_1() {
    let (code, report, told) = demo(&["--rides", "6", "--timeout-s", "1"]);
    assert_eq!(code, Some(1), "{report} {told}");
    let failed = report["failed"].as_u64().unwrap();
    assert!(failed > 0, "{report} {told}");
    assert_eq!(report["completed"], 6 - failed);
    assert_eq!(report["violations"], 0, "{report} {told}");
}

#[test]
fn plain_lines_where_no_terminal_is_watching() {
    let arguments = ["demo", "--rides", "2", "--robots", "2", "--speed", "20"];
    let output = hallcall().args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\x1b'), "{text}");
    assert!(
        text.contains("2 of 2 rides completed, 0 failed, 0 violations"),
        "{text}"
    );
}

#[test]
fn what_makes_no_sense_is_named_and_is_exit_code_2() {
    for (arguments, named) in [
        (["--speed", "0"], "speed 0"),
        (["--ride-s", "0"], "ride-s 0"),
        (["--broker", "mqtts://h:8883"], "mqtts://h:8883"),
        (["--robots", "0"], "0"),
    ] {
        let (code, _, told) = demo(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
        assert!(told.contains(named), "{arguments:?}: {told}");
    }
}
