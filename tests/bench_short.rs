//! The measurements measure: short runs whose figures are present and sane. What they measure is no
//! matter here, a debug build on a busy machine says nothing of it; the bars are looked at with a
//! release build by hand (`--check`, docs/performance.md).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::hallcall;

#[track_caller]
fn bench(args: &[&str]) -> Value {
    let output = hallcall()
        .arg("bench")
        .args(args)
        .arg("--json")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {text} {told}");
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{args:?}: no figures: {text} {told}"))
}

#[track_caller]
fn number(of: &Value, name: &str) -> f64 {
    let mut at = of;
    for key in name.split('.') {
        at = &at[key];
    }
    at.as_f64().unwrap_or_else(|| panic!("no {name}: {of}"))
}

/// The keys of `wire.md` section 7, and what the run itself must have kept: every message answered,
/// none refused, every accepted order in the journal, no law broken beside riding elevators.
#[test]
fn a_load_is_answered_and_kept() {
    let figures = bench(&[
        "load",
        "--seconds",
        "4",
        "--robots",
        "40",
        "--elevators",
        "4",
    ]);
    for none in ["lost", "rides_failed", "violations"] {
        assert_eq!(figures[none], 0, "{none}: {figures}");
    }
    assert_eq!(figures["refused"], serde_json::json!({}), "{figures}");
    for some in [
        "accepted_per_s",
        "duplicates_per_s",
        "broker_only_per_s",
        "of_broker",
        "messages_per_s",
        "sync_ms.p50",
        "cpu.gateway",
        "cpu.generator",
        "rss_mib",
    ] {
        assert!(number(&figures, some) > 0.0, "{some}: {figures}");
    }
    let [p50, p99, max] =
        ["p50", "p99", "max"].map(|share| number(&figures, &format!("decision_ms.{share}")));
    assert!(0.0 < p50 && p50 <= p99 && p99 <= max, "{figures}");
    // 40 robots with one message under way each: what is counted fits to how long it takes, but
    // for a stall at an end of the 4 s.
    let (mean, per_s) = (
        number(&figures, "decision_ms.mean"),
        number(&figures, "accepted_per_s"),
    );
    let under_way = per_s * mean / 1000.0;
    assert!((24.0..=60.0).contains(&under_way), "{under_way}: {figures}");
    // Each accepted message was sent, replied to, and changed a state.
    let messages = number(&figures, "messages_per_s") / per_s;
    assert!((2.8..=6.0).contains(&messages), "{messages}: {figures}");
}

#[test]
fn a_grant_waits_for_the_disk() {
    let figures = bench(&["latency", "--rides", "10"]);
    assert_eq!(figures["refused"], 0, "{figures}");
    let granted = number(&figures, "granted_ms.p50");
    assert!(granted > 0.0, "{figures}");
    assert!(granted <= number(&figures, "granted_ms.max"), "{figures}");
    assert!(number(&figures, "sync_ms.p50") > 0.0, "{figures}");
}

#[test]
fn a_start_finds_every_order() {
    let figures = bench(&["recovery", "--orders", "500,2000"]);
    let starts = figures["recoveries"].as_array().unwrap();
    assert_eq!(starts.len(), 2, "{figures}");
    for (start, orders) in starts.iter().zip([500, 2_000]) {
        assert_eq!(start["orders"], orders);
        for some in ["ready_s", "rss_mib", "disk_mib"] {
            assert!(number(start, some) > 0.0, "{some}: {figures}");
        }
        assert!(
            number(start, "peak_mib") >= number(start, "rss_mib"),
            "{figures}"
        );
    }
}

/// Retention bounds what is remembered, while orders go on.
#[test]
fn a_soak_forgets() {
    let figures = bench(&["soak", "--orders", "4000", "--remember", "300"]);
    assert_eq!(figures["orders"], 4_000, "{figures}");
    let remembered = number(&figures, "remembered");
    // The sweep comes every 5 s, and an order every 0.1 s.
    assert!((250.0..=350.0).contains(&remembered), "{figures}");
    assert_eq!(figures["rss_mib"].as_array().unwrap().len(), 4, "{figures}");
}

/// `performance.md` C3, by the line's own record: a poll of 8 registers at 19,200 baud takes 25.6 ms,
/// so 39 a second are the most, and a command lets one poll pass.
#[test]
fn a_line_is_full_and_lets_commands_through() {
    let figures = bench(&["bus", "--seconds", "2", "--commands", "20"]);
    let (floor, polls) = (
        number(&figures, "floor_polls_per_s"),
        number(&figures, "polls_per_s"),
    );
    assert!((39.0..39.1).contains(&floor), "{figures}");
    assert!(polls > floor / 2.0 && polls <= floor + 1.0, "{figures}");
    for part in ["commands", "with_dead"] {
        let turns = &figures[part];
        assert_eq!(turns["count"], 20, "{figures}");
        assert!(turns["behind_max"].as_u64() <= Some(1), "{figures}");
        let max = number(turns, "wait_ms.max");
        assert!(
            0.0 < max && number(turns, "wait_ms.p50") <= max,
            "{figures}"
        );
    }
    assert_eq!(figures["time_outs_of_a_round"], 1, "{figures}");
    assert_eq!(figures["breaches"], 0, "{figures}");
}

/// Every request is answered and kept, no number is missing or told twice.
#[test]
fn requests_are_answered_and_kept() {
    let figures = bench(&["requests", "--seconds", "1", "--applications", "20"]);
    for none in ["lost", "gaps"] {
        assert_eq!(figures[none], 0, "{none}: {figures}");
    }
    assert_eq!(figures["refused"], serde_json::json!({}), "{figures}");
    for some in [
        "numbers.per_s",
        "claims.per_s",
        "broker_only.per_s",
        "of_broker",
        "sync_ms.p50",
        "rss_mib",
    ] {
        assert!(number(&figures, some) > 0.0, "{some}: {figures}");
    }
    // 20 applications with one request under way each, as in a load.
    let under_way =
        number(&figures, "numbers.per_s") * number(&figures, "numbers.ms.mean") / 1000.0;
    assert!((10.0..=30.0).contains(&under_way), "{under_way}: {figures}");
}
