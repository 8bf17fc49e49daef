//! `hallcall bus` against simulated lines. What was on the wire is told by the simulator's own
//! record, or by a peer that is played byte by byte (issue 4, part 5).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Output, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Gateway, Mosquitto, SOON, Site, hallcall};
use tempfile::TempDir;

/// A simulated line; it is ended when dropped.
struct Line {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
    folder: TempDir,
}

impl Line {
    #[track_caller]
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = hallcall();
        command.args(["sim", "line", "--baud", "115200"]);
        command
            .args(arguments)
            .arg("--link")
            .arg(folder.path().join("adapter"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut says = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = says.next().unwrap().unwrap();
        assert!(ready.starts_with("ready: "), "{ready}");
        Self {
            child,
            says,
            folder,
        }
    }

    fn port(&self) -> PathBuf {
        self.folder.path().join("adapter")
    }

    /// `hallcall bus` on the port by hand.
    fn bus(&self, verb: &str, arguments: &[&str]) -> Output {
        let port = self.port();
        bus(
            verb,
            &["--baud", "115200", "--port", port.to_str().unwrap()],
            arguments,
        )
    }

    /// Ends it; its own record.
    #[track_caller]
    fn end(mut self) -> Value {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let record = self.says.next().unwrap().unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        serde_json::from_str(&record).unwrap()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bus(verb: &str, place: &[&str], arguments: &[&str]) -> Output {
    hallcall()
        .args(["bus", verb])
        .args(place)
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn told(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_scan_finds_the_units_that_are_there_and_no_other() {
    let line = Line::start(&[
        "--unit",
        "3=car",
        "--unit",
        "5=plain",
        "--unit",
        "18=relays",
    ]);
    let output = line.bus("scan", &["--to", "20", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let found = told(&output);
    assert_eq!(found["asked"], 20);
    let units: Vec<_> = found["units"].as_array().unwrap().iter().collect();
    let numbers: Vec<_> = units.iter().map(|unit| unit["unit"].clone()).collect();
    assert_eq!(numbers, [3, 5, 18], "{found}");
    // A plain device shows its own addresses.
    assert_eq!(units[1]["value"], 0, "{found}");

    let none = line.bus("scan", &["--from", "6", "--to", "8", "--json"]);
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
    let line = Line::start(&["--unit", "3=plain", "--fault", "busy@3:1"]);
    let output = line.bus("scan", &["--from", "2", "--to", "4", "--json"]);
    let found = told(&output);
    assert_eq!(found["units"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["units"][0]["exception"], 6, "{found}");
    assert_eq!(found["units"][0]["says"], "SERVER DEVICE BUSY");
}

#[test]
fn points_are_read_in_hex_and_decimal() {
    let line = Line::start(&["--unit", "3=plain"]);
    let args = [
        "--unit",
        "3",
        "--table",
        "holding",
        "--address",
        "100",
        "--count",
        "2",
    ];
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
    let args = [
        "--unit",
        "4",
        "--table",
        "holding",
        "--address",
        "100",
        "--json",
    ];
    let dead = line.bus("read", &args);
    assert_eq!(dead.status.code(), Some(1), "{dead:?}");
    let why = told(&dead)["failed"].as_str().unwrap().to_owned();
    assert!(why.starts_with("unit 4: no reply within "), "{why}");
}

/// Nothing is on the wire before `--yes`, and one write with it.
#[test]
fn a_write_needs_yes() {
    let write = [
        "--unit",
        "3",
        "--table",
        "holding",
        "--address",
        "7",
        "--value",
        "0x10",
    ];
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
    let read = [
        "--unit",
        "3",
        "--table",
        "holding",
        "--address",
        "7",
        "--json",
    ];
    let read = told(&line.bus("read", &read));
    assert_eq!(read["points"][0]["value"], 16, "{read}");
}

/// Each names its field and value, and nothing is on the wire.
#[test]
fn bad_input_is_named_and_sends_nothing() {
    let line = Line::start(&["--unit", "3=plain"]);
    let read = ["--unit", "3", "--table", "holding", "--address"];
    let write = ["--yes", "--unit", "3", "--address", "1", "--table"];
    for (verb, arguments, said) in [
        (
            "read",
            [&read[..], &["65535", "--count", "2"]].concat(),
            "--count = 2",
        ),
        (
            "read",
            [&read[..], &["0", "--count", "126"]].concat(),
            "--count = 126: expected 1 to 125",
        ),
        ("read", [&read[..], &["65536"]].concat(), "65536"),
        ("read", vec!["--unit", "3"], "--table is missing"),
        (
            "read",
            vec!["--unit", "248", "--table", "coil", "--address", "0"],
            "248",
        ),
        (
            "write",
            [&write[..], &["input", "--value", "1"]].concat(),
            "--table input",
        ),
        (
            "write",
            [&write[..], &["coil", "--value", "2"]].concat(),
            "--value 2",
        ),
        (
            "write",
            [&write[..], &["holding", "--value", "on"]].concat(),
            "--value on",
        ),
        (
            "write",
            [&write[..], &["holding", "--value", "65536"]].concat(),
            "'65536'",
        ),
        (
            "scan",
            vec!["--from", "9", "--to", "8"],
            "--from 9: expected at most --to 8",
        ),
        ("watch", vec![], "--unit"),
        ("scan", vec!["--parity", "mark"], "'mark'"),
    ] {
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

/// The second answer is damaged; the line `watch` shows for it is whatever came.
#[test]
fn frames_are_shown_in_hex_and_in_words_with_what_is_wrong() {
    let line = Line::start(&["--unit", "1=plain", "--fault", "bad_crc#2"]);
    let args = [
        "--unit",
        "1",
        "--table",
        "holding",
        "--address",
        "5",
        "--every-ms",
        "600",
        "--seconds",
        "1",
    ];
    let output = line.bus("watch", &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    // Each begins with its time in ten columns.
    let frames: Vec<&str> = said.lines().map(|line| line[10..].trim_start()).collect();
    assert_eq!(
        frames[0], "> 01 03 00 05 00 01 94 0B  unit 1: read holding 5",
        "{said}"
    );
    assert_eq!(
        frames[1], "< 01 03 02 00 05 78 47  unit 1: holding 5 = 5",
        "{said}"
    );
    assert_eq!(frames[2], frames[0], "{said}");
    assert!(frames[3].starts_with("< "), "{said}");
    assert!(
        frames[3].ends_with("!! an answer that is cut off or damaged"),
        "{said}"
    );
    assert!(
        frames[4].starts_with("!! unit 1: a damaged reply within "),
        "{said}"
    );
    let times: Vec<f64> = said
        .lines()
        .map(|line| line[..10].trim().parse().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times[2] - times[0] > 500.0,
        "{times:?}"
    );
}

/// Unit 1 reads holding register 5, is answered, and is answered once more; the bytes are those of
/// the specification with independent checksums.
#[test]
fn others_are_listened_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let read = [0x01, 0x03, 0x00, 0x05, 0x00, 0x01, 0x94, 0x0B];
        let five = [0x01, 0x03, 0x02, 0x00, 0x05, 0x78, 0x47];
        stream
            .write_all(&[&read[..], &five, &five].concat())
            .unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        heard
    });
    let output = bus(
        "watch",
        &["--rtu-over-tcp", &address],
        &["--listen", "--seconds", "1", "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    let frames: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let says: Vec<_> = frames.iter().map(|frame| frame["says"].clone()).collect();
    assert_eq!(
        says,
        [
            "unit 1: read holding 5",
            "unit 1: holding 5 = 5",
            "unit 1: holding = 5"
        ]
    );
    assert_eq!(frames[2]["wrong"], "nobody asked for it");
    assert!(peer.join().unwrap().is_empty(), "who listens says nothing");
}

/// A converter answers for unit 1, and for unit 2 that nobody is there.
#[test]
fn units_behind_modbus_tcp_are_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut asked = Vec::new();
        let mut request = [0; 12];
        while stream.read_exact(&mut request).is_ok() {
            let reply: &[u8] = match request[6] {
                1 => &[0, 0, 0, 5, 1, 3, 2, 0x0A, 0xBC],
                unit => &[0, 0, 0, 3, unit, 0x83, 0x0B],
            };
            answer(&mut stream, request, reply);
            asked.push(request[6..].to_vec());
        }
        asked
    });
    let output = bus("scan", &["--tcp", &address], &["--to", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let found = told(&output);
    assert_eq!(found["units"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["units"][0]["value"], 2_748, "{found}");
    let asked = peer.join().unwrap();
    assert_eq!(asked, [[1, 3, 0, 0, 0, 1], [2, 3, 0, 0, 0, 1]]);
}

fn answer(stream: &mut TcpStream, request: [u8; 12], reply: &[u8]) {
    stream.write_all(&[&request[..2], reply].concat()).unwrap();
}

/// A car on unit 1 of a port, and a plain unit 5 that only the commands touch.
fn site(broker: &Mosquitto, line: &Line, more: &str) -> Site {
    let map = line.folder.path().join("map.toml");
    let printed = hallcall()
        .args(["sim", "map", "--floors", "2"])
        .output()
        .unwrap();
    fs::write(&map, printed.stdout).unwrap();
    let port = line.port();
    let buses = format!("[[buses]]\nid = \"b1\"\nserial = {port:?}\nbaud = 115200\n{more}");
    Site::new(broker)
        .with(&buses)
        .elevator_with("EL001", &by("modbus_rtu", "b1", &map))
}

fn by(kind: &str, bus: &str, map: &Path) -> String {
    format!(
        "presence = \"robot\"\nhold_max_s = 15\n\
         driver = {{ kind = \"{kind}\", bus = \"{bus}\", unit = 1, map = {map:?} }}\n"
    )
}

#[test]
fn a_configuration_names_the_elevator_and_the_points() {
    let broker = Mosquitto::start();
    let line = Line::start(&["--unit", "1=car", "--unit", "5=plain", "--floors", "2"]);
    let site = site(&broker, &line, "");
    let config = site.config();
    let place = ["--config", config.to_str().unwrap()];

    let found = told(&bus("scan", &place, &["--to", "6", "--json"]));
    assert_eq!(found["units"][0]["is"], "EL001", "{found}");
    assert_eq!(found["units"][1]["is"], Value::Null, "{found}");

    // A car at rest at its lowest floor, with its door shut.
    let read = told(&bus("read", &place, &["--unit", "1", "--json"]));
    for (key, word) in [
        ("floor", "1F"),
        ("front.door", "closed"),
        ("motion", "stopped"),
        ("front.lamps", "none"),
    ] {
        assert_eq!(read["words"][key], word, "{read}");
    }

    // The map says where the door is opened.
    let map: toml::Table = fs::read_to_string(line.folder.path().join("map.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let open = &map["front"]["buttons"]["open"];
    let (table, address) = (open["point"].as_str().unwrap(), open["address"].to_string());
    let write = [
        "--unit",
        "1",
        "--table",
        table,
        "--address",
        &address,
        "--value",
        "1",
        "--json",
    ];
    let output = bus("write", &[&place[..], &["--bus", "b1"]].concat(), &write);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let first = text(&output.stdout);
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let touched = json!([{ "elevator": "EL001", "what": "EL001: front.buttons.open" }]);
    assert_eq!(first["touches"], touched, "{first}");
    let wrong = bus("scan", &[&place[..], &["--bus", "b9"]].concat(), &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert_eq!(text(&wrong.stderr), "wrong: --bus b9: expected one of b1\n");
}

/// While the gateway has the bus, nobody else asks on it: not by the configuration, and not by the
/// port.
#[test]
fn a_bus_of_a_running_gateway_is_refused() {
    let broker = Mosquitto::start();
    let line = Line::start(&["--unit", "1=car", "--unit", "5=plain", "--floors", "2"]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let map = line.folder.path().join("map.toml");
    let site = site(
        &broker,
        &line,
        &format!("[[buses]]\nid = \"b2\"\naddress = \"{address}\"\n"),
    )
    .elevator_with("EL002", &by("modbus_tcp", "b2", &map));
    let gateway = Gateway::start(&site);
    let config = site.config();
    let config = config.to_str().unwrap();
    let write = [
        "--unit",
        "5",
        "--table",
        "coil",
        "--address",
        "1",
        "--value",
        "on",
        "--yes",
    ];
    for bus_id in ["b1", "b2"] {
        let place = ["--config", config, "--bus", bus_id];
        for (verb, arguments) in [
            ("write", &write[..]),
            ("scan", &["--from", "5", "--to", "5"]),
        ] {
            let output = bus(verb, &place, arguments);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{bus_id} {verb}: {told}");
            assert!(told.starts_with("in use: a gateway runs on "), "{told}");
        }
    }
    let output = line.bus("write", &write);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("is in use by another program"), "{told}");
    drop(gateway);
    let record = line.end();
    assert!(record["requests"]["1"].as_u64() > Some(0), "{record}");
    assert_eq!(record["requests"]["5"], Value::Null, "{record}");
}
