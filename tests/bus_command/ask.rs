//! Units asked and written to by hand.

use serde_json::json;

use crate::line::{Line, bus, text, told, words};

#[test]
fn a_scan_finds_the_units_that_are_there_and_no_other() {
    let line = Line::start(&words("--unit 3=car --unit 5=plain --unit 18=relays"));
    let output = line.bus("scan", &["--to", "20", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let found = told(&output);
    assert_eq!(found["asked"], 20);
    let units: Vec<_> = found["units"].as_array().unwrap().iter().collect();
    let numbers: Vec<_> = units.iter().map(|unit| unit["unit"].clone()).collect();
    assert_eq!(numbers, [3, 5, 18], "{found}");
    // A plain device shows its own addresses.
    assert_eq!(units[1]["value"], 0, "{found}");

    let none = line.bus("scan", &words("--from 6 --to 8 --json"));
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    assert_eq!(told(&none)["units"], json!([]));

    let record = line.end();
    assert_eq!(
        record["answered"],
        json!({ "3": 1, "5": 1, "18": 1 }),
        "{record}"
    );
    assert_eq!(record["breaches"], 0, "{record}");
}

/// A table that a unit does not have is an answer too: an exception, told with its name.
#[test]
fn a_scan_tells_exceptions() {
    let line = Line::start(&words("--unit 3=plain --fault busy@3:1"));
    let output = line.bus("scan", &words("--from 2 --to 4 --json"));
    let found = told(&output);
    assert_eq!(found["units"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["units"][0]["exception"], 6, "{found}");
    assert_eq!(found["units"][0]["says"], "SERVER DEVICE BUSY");
}

#[test]
fn points_are_read_in_hex_and_decimal() {
    let line = Line::start(&["--unit", "3=plain"]);
    let args = words("--unit 3 --table holding --address 100 --count 2");
    let output = line.bus("read", &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "holding    100  0x0064    100",
            "holding    101  0x0065    101"
        ]
    );
    assert!(lines[2].starts_with("read in "), "{said}");
    let args = words("--unit 4 --table holding --address 100 --json");
    let dead = line.bus("read", &args);
    assert_eq!(dead.status.code(), Some(1), "{dead:?}");
    let why = told(&dead)["failed"].as_str().unwrap().to_owned();
    assert!(why.starts_with("unit 4: no reply within "), "{why}");
}

/// Nothing is on the wire before `--yes`, and one write with it.
#[test]
fn a_write_needs_yes() {
    let write = words("--unit 3 --table holding --address 7 --value 0x10");
    let line = Line::start(&["--unit", "3=plain"]);
    let output = line.bus("write", &write);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let said = text(&output.stdout);
    let begin = format!(
        "{}: unit 3, holding 7 = 16 (0x0010), by function 06\n",
        line.port().display()
    );
    assert!(said.starts_with(&begin), "{said}");
    let why = "refused: nothing was written: --yes writes it\n";
    assert_eq!(text(&output.stderr), why);
    let record = line.end();
    assert_eq!(record["requests"], json!({}), "{record}");

    let line = Line::start(&["--unit", "3=plain"]);
    let output = line.bus("write", &[&write[..], &["--yes", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(told(&output)["written"], true);
    let read = words("--unit 3 --table holding --address 7 --json");
    let read = told(&line.bus("read", &read));
    assert_eq!(read["points"][0]["value"], 16, "{read}");
}

/// Each names its field and value, and nothing is on the wire.
#[test]
fn bad_input_is_named_and_sends_nothing() {
    let line = Line::start(&["--unit", "3=plain"]);
    let read = "--unit 3 --table holding --address";
    let write = "--yes --unit 3 --address 1 --table";
    for (verb, arguments, said) in [
        ("read", format!("{read} 65535 --count 2"), "--count = 2"),
        (
            "read",
            format!("{read} 0 --count 126"),
            "--count = 126: expected 1 to 125",
        ),
        ("read", format!("{read} 65536"), "65536"),
        ("read", "--unit 3".to_owned(), "--table is missing"),
        (
            "read",
            "--unit 248 --table coil --address 0".to_owned(),
            "248",
        ),
        ("write", format!("{write} input --value 1"), "--table input"),
        ("write", format!("{write} coil --value 2"), "--value 2"),
        ("write", format!("{write} holding --value on"), "--value on"),
        ("write", format!("{write} holding --value 65536"), "'65536'"),
        (
            "scan",
            "--from 9 --to 8".to_owned(),
            "--from 9: expected at most --to 8",
        ),
        ("watch", String::new(), "--unit"),
        ("scan", "--parity mark".to_owned(), "'mark'"),
    ] {
        let arguments = words(&arguments);
        let output = line.bus(verb, &arguments);
        let told = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{verb} {arguments:?}: {told}"
        );
        assert!(told.contains(said), "{verb} {arguments:?}: {told}");
    }
    let nowhere = bus("scan", &[], &[]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(
        text(&nowhere.stderr).contains("no line is named"),
        "{nowhere:?}"
    );
    let record = line.end();
    assert_eq!(record["requests"], json!({}), "{record}");
}
