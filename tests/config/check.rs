//! `hallcall check`, as it is called.

use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hallcall"))
        .arg("check")
        .args(arguments)
        .output()
        .expect("hallcall")
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn twelve_mistakes_are_twelve_lines_and_exit_2() {
    let output = check(&["--config", "tests/fixtures/config/twelve-mistakes.toml"]);
    let lines = lines(&output);
    assert_eq!(lines.len(), 12, "{lines:#?}");
    assert_eq!(
        lines[0],
        "tests/fixtures/config/twelve-mistakes.toml:2: gateway.site = (left out): expected the \
         site's identifier"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_good_file_is_summed_up_and_exit_0() {
    let output = check(&["--config", "configs/tcp-site.toml"]);
    assert_eq!(
        lines(&output),
        [
            "ok: gateway gw-1, site harbour-hospital, broker mqtt://127.0.0.1:1883, elevators: 0 by \
          MQTT and 2 by Modbus, floors: 4, buses: 2, fire inputs: 1"
        ]
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn json_is_one_object_on_the_last_line() {
    let output = check(&["--config", "configs/mqtt-site.toml", "--json"]);
    let good: serde_json::Value = last_line(&output);
    assert_eq!((&good["ok"], &good["elevators"]), (&true.into(), &3.into()));
    assert_eq!(output.status.code(), Some(0));

    let output = check(&[
        "--json",
        "--config",
        "tests/fixtures/config/twelve-mistakes.toml",
    ]);
    let bad: serde_json::Value = last_line(&output);
    assert_eq!(bad["ok"], false);
    let mistakes = bad["mistakes"].as_array().expect("mistakes");
    assert_eq!(mistakes.len(), 12);
    assert_eq!(
        mistakes[3],
        serde_json::json!({
            "file": "tests/fixtures/config/twelve-mistakes.toml",
            "line": 10,
            "key": "timing.travl_s",
            "value": "180",
            "expected": "one of the known keys, the nearest is travel_s",
        })
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_file_is_needed() {
    let output = check(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--config"));
}

fn last_line(output: &Output) -> serde_json::Value {
    serde_json::from_str(lines(output).last().expect("a line")).expect("JSON")
}
