//! Bad input (issue 3, T-STACK-03): what the fuzzers were given and found, played again.
//!
//! `fuzz/README.md` says how inputs get into `tests/corpora`.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "targets/configuration.rs"]
mod configuration;
#[path = "targets/decode.rs"]
mod decode;
#[path = "targets/frames.rs"]
mod frames;
#[path = "targets/record.rs"]
mod record;
#[path = "targets/rtu.rs"]
mod rtu;
#[path = "targets/site.rs"]
mod site;
#[path = "targets/topic.rs"]
mod topic;

/// The inputs of a target, by name.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpora")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let data = fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path, data)
    };
    paths.into_iter().map(read).collect()
}

/// Every input twice: no panic, and the same comes of it.
fn replay(target: &str, run: fn(&[u8]) -> String) {
    let corpus = corpus(target);
    assert!(corpus.len() >= 20, "{target}: only {} inputs", corpus.len());
    for (path, data) in corpus {
        let twice = std::panic::catch_unwind(|| (run(&data), run(&data)));
        let (first, second) = twice.unwrap_or_else(|_| panic!("{path:?} broke a promise"));
        assert_eq!(first, second, "{path:?}");
    }
}

/// A named input, and what has to come of it.
fn comes_to(target: &str, run: fn(&[u8]) -> String, table: &[(&str, &str)]) {
    let corpus = corpus(target);
    for (name, expected) in table {
        let input = corpus.iter().find(|(path, _)| path.ends_with(name));
        let (_, data) = input.unwrap_or_else(|| panic!("no {target}/{name}"));
        let log = run(data);
        assert!(log.contains(expected), "{target}/{name}: {log}");
    }
}

#[test]
fn corpus_of_decode() {
    replay("decode", decode::run);
    let table = [
        ("too-large", "code: TooLarge"),
        ("no-utf8", "the payload is no UTF-8 at byte 85"),
        (
            "year-10000",
            "expires_at \\\"9999-12-31T23:59:59-01:00\\\" is no RFC 3339 time stamp",
        ),
        ("deep", "nested deeper than 8 levels"),
        ("duplicate-key", r#"the key \"reason\" comes twice"#),
        ("own-elevator-absurd", "OwnElevator"),
        ("flow-ride", "instruction: Enter"),
        ("flow-applications", "queue_position: Some(1)"),
        ("flow-applications", "state: Some(Initialising)"),
        ("flow-applications", "code: Some(UnknownClaim)"),
        ("flow-conflict", "code: Some(OrderConflict)"),
        ("long-ids", "code: Some(UnknownElevator)"),
    ];
    comes_to("decode", decode::run, &table);
}

#[test]
fn corpus_of_topic() {
    replay("topic", topic::run);
    let table = [
        ("year-9999", "Ok(Timestamp(253402300799999))"),
        ("year-10000", "Err(TimestampError)"),
        ("request", "Some(RideRequest(R001))"),
        ("long-root", "topic root"),
    ];
    comes_to("topic", topic::run, &table);
}

#[test]
fn corpus_of_record() {
    replay("record", record::run);
    let table = [
        ("fact-and-more", "1 bytes follow it"),
        ("snapshot-and-more", "2 bytes follow it"),
        ("row-and-more", "1 bytes follow its end"),
        ("row-version-1", "RobotLost"),
        ("chain-whole", "seq: 6"),
        ("chain-lost", "records up to 5 were durable"),
        (
            "chain-absurd-durable",
            "records up to 18446744073709551615 were durable",
        ),
    ];
    comes_to("record", record::run, &table);
}

#[test]
fn corpus_of_rtu() {
    replay("rtu", rtu::run);
    let table = [
        ("words", "10: Reply(Points([1, 2, 3]))"),
        ("words-behind-noise", "13: Reply(Points([1, 2, 3]))"),
        ("words-turned", "a damaged reply"),
        ("words-cut", "a reply that was cut off: 6 of 11 bytes"),
        ("coil-echo-only", "only the echo"),
        ("coil-echo-and-reply", "15: Reply(Written)"),
        ("late-and-reply", "6: late 2"),
        ("busy", "4: Exception(Exception(6))"),
        ("other-unit", "no reply, but one of unit 2"),
        (
            "echo-of-a-read",
            "18: Reply(Points([1, 2, 3]))\nno reply, only the echo of the request Whole",
        ),
    ];
    comes_to("rtu", rtu::run, &table);
}

#[test]
fn corpus_of_frames() {
    replay("frames", frames::run);
    let table = [
        ("status", "20: unit 1 0x81 Status"),
        ("taken", "9: unit 1 0x06 None"),
        ("refused", "10: unit 1 0x15 None"),
        ("report", "20: unit 1 0x82 Unasked"),
        ("other-unit", "20: unit 9 0x81 Status"),
        ("cut-and-whole", "40: unit 1 0x81 Status"),
        (
            "merged",
            "20: unit 1 0x82 Unasked\n41: unit 1 0x81 Status\n51: unit 1 0x06 None",
        ),
        ("false-beginning", "23: unit 1 0x81 Status"),
        ("report-inside", "29: unit 1 0x82 Unasked"),
        ("own-echo", "29: unit 1 0x81 Status"),
        ("escaped", "unit 13 0x81 Status"),
        ("no-length-cut", "unit 2 0x82 Unasked"),
        ("sum", "unit 1 0x81 Status"),
    ];
    comes_to("frames", frames::run, &table);
    for name in [
        "turned",
        "cut",
        "junk",
        "unknown-code",
        "wrong-length",
        "sum-off-by-one",
    ] {
        let corpus = corpus("frames");
        let input = corpus.iter().find(|(path, _)| path.ends_with(name));
        let (_, data) = input.unwrap_or_else(|| panic!("no frames/{name}"));
        assert_eq!(frames::run(data), "", "{name}");
    }
}

#[test]
fn corpus_of_configuration() {
    replay("configuration", configuration::run);
    let table = [
        ("least.toml", "Ok(Config"),
        ("all-keys.toml", "Ok(Config"),
        ("many-keys.toml", "fewer mistakes, 200 are told"),
        ("map-example.toml", "Ok(RegisterMap"),
    ];
    comes_to("configuration", configuration::run, &table);
}
