//! What the real process asks of the system, as `strace` sees it: each acknowledgement to the broker
//! leaves after a sync of the data file that covers the message's own record (law 4), and a journal
//! takes its name when all of it is durable.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use crate::support::{Came, Gateway, Packet, PlayedBroker, Site, hallcall, request, wait_for};

const IN: &str = "gw-1-in";
/// One after the other, and then the rest at once.
const ALONE: u16 = 10;
const ALL: u16 = 40;

/// A call of the system, from the line where it began to the line where it ended.
#[derive(Debug)]
struct Call {
    name: String,
    /// What its first argument is: a file, or a socket.
    place: String,
    arguments: String,
    /// The bytes that it was given.
    bytes: Vec<u8>,
    began: usize,
    ended: usize,
}

fn order(id: u16) -> String {
    format!("T-{id:03}-x")
}

#[test]
fn each_acknowledgement_follows_a_sync_of_its_record() {
    let calls = traced();
    let of = |name: &'static str, place: &'static str| {
        let is = move |call: &&Call| call.name == name && call.place.ends_with(place);
        calls.iter().filter(is)
    };
    let connect = format!("\0\u{7}{IN}");
    let is_connect =
        |call: &&Call| call.bytes.first() == Some(&0x10) && find(&call.bytes, connect.as_bytes());
    let ingest = &calls.iter().find(is_connect).expect("its CONNECT").place;
    let mut acknowledged = 0;
    for call in calls.iter().filter(|call| call.place == *ingest) {
        for id in pubacks(&call.bytes) {
            let name = order(id);
            let write = of("pwrite64", "/journal/db")
                .find(|write| find(&write.bytes, name.as_bytes()))
                .unwrap_or_else(|| panic!("{name} was not written"));
            let is_between = |sync: &Call| sync.began > write.ended && sync.ended < call.began;
            assert!(
                of("fdatasync", "/journal/db").any(is_between),
                "{name} was written in line {}, acknowledged in line {}, and not synced between",
                write.began,
                call.began
            );
            acknowledged += 1;
        }
    }
    assert_eq!(acknowledged, ALL);
}

#[test]
fn journal_and_fence_marks_take_their_names_when_they_are_durable() {
    let calls = traced();
    let first = calls.iter().find(|call| call.place.starts_with("socket:"));
    let first = first.expect("it connects").began;
    let named = named(&calls, "journal.new");
    for file in ["db", "conf", "durable"] {
        let place = format!("/journal.new/{file}");
        let written = last_write(&calls, &place, named);
        synced(&calls, &place, written..named);
    }
    synced(&calls, "/journal.new", 0..named);
    synced(&calls, "/data", named..first);
    // Law 3: the marks are ahead before the first grant.
    let named = self::named(&calls, "fences.new");
    let written = last_write(&calls, "/fences.new", named);
    synced(&calls, "/fences.new", written..named);
    synced(&calls, "/data", named..first);
}

/// The line in which a name is given up for another.
fn named(calls: &[Call], name: &str) -> usize {
    let is = |call: &&Call| call.name == "rename" && call.arguments.contains(name);
    let call = calls.iter().find(is);
    call.unwrap_or_else(|| panic!("{name} is not renamed"))
        .began
}

/// The line in which the last change of a file before a line ended.
fn last_write(calls: &[Call], place: &str, before: usize) -> usize {
    let is = |call: &&Call| {
        ["pwrite64", "write", "ftruncate"].contains(&call.name.as_str())
            && call.place.ends_with(place)
            && call.began < before
    };
    let call = calls.iter().rfind(is);
    call.unwrap_or_else(|| panic!("{place} is not written"))
        .ended
}

/// A sync of a file or a directory began and ended between these lines.
fn synced(calls: &[Call], place: &str, lines: Range<usize>) {
    let is = |call: &Call| {
        ["fsync", "fdatasync"].contains(&call.name.as_str())
            && call.place.ends_with(place)
            && call.began > lines.start
            && call.ended < lines.end
    };
    assert!(
        calls.iter().any(is),
        "{place} is not synced in the lines {lines:?}"
    );
}

/// Runs a gateway from its first start on, lets it acknowledge messages, and ends it.
fn traced() -> Vec<Call> {
    let broker = PlayedBroker::start();
    let lines = format!("broker = \"mqtt://127.0.0.1:{}\"", broker.port());
    let site = Site::with_broker(&lines).elevator("EL001");
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let mut gateway = Gateway::start_by(strace(&trace), &site);
    let deliver = |id: u16| {
        let topic = format!("hallcall/v1/demo/robots/R{id}/ride/request");
        let wish = request(&format!("m-{id}"), &order(id), "1F", "6F");
        broker.deliver(IN, id, &topic, &wish.to_string());
    };
    let acknowledged = |id| move |came: &Came| came.packet == Packet::PubAck { id };
    for id in 1..=ALONE {
        deliver(id);
        broker.wait("its PUBACK", acknowledged(id));
    }
    (ALONE + 1..=ALL).for_each(deliver);
    broker.wait("the last PUBACK", acknowledged(ALL));
    gateway.kill();
    let text = wait_for("the end of the trace", || {
        let text = fs::read_to_string(&trace).unwrap();
        text.contains("+++ killed by SIGKILL +++").then_some(text)
    });
    calls(&text)
}

/// The tracer is not the parent, so that the process that is ended is the program itself.
fn strace(trace: &Path) -> Command {
    let mut command = Command::new("strace");
    command
        .args(["-D", "-f", "-y", "-s", "2000000", "-e"])
        .arg("trace=pwrite64,write,ftruncate,fsync,fdatasync,sendto,writev,rename")
        .arg("-o")
        .arg(trace)
        .arg(hallcall().get_program());
    command
}

/// The packet ids of the PUBACKs in what was sent.
fn pubacks(mut bytes: &[u8]) -> Vec<u16> {
    let mut ids = Vec::new();
    while let [0x40, 2, high, low, rest @ ..] = bytes {
        ids.push(u16::from_be_bytes([*high, *low]));
        bytes = rest;
    }
    ids
}

fn find(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Reads the lines `PID name(arguments) = result`, where a call that others interrupt stands in two
/// lines: `PID name(arguments <unfinished ...>` and `PID <... name resumed>) = result`.
fn calls(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let Some((pid, rest)) = text.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if rest.starts_with("<... ") {
            let at = open.iter().position(|(of, _)| *of == pid);
            let (_, call) = open.swap_remove(at.expect("it began"));
            calls[call].ended = line;
        } else if let Some((name, arguments)) = rest.split_once('(') {
            if rest.ends_with("<unfinished ...>") {
                open.push((pid, calls.len()));
            }
            let place = arguments
                .split_once('<')
                .and_then(|(_, rest)| rest.split_once('>'));
            calls.push(Call {
                name: name.to_owned(),
                place: place.map_or_else(String::new, |(place, _)| place.to_owned()),
                arguments: arguments.to_owned(),
                bytes: unquoted(arguments),
                began: line,
                ended: line,
            });
        }
    }
    calls
}

/// The bytes of all strings in the arguments, written as in C.
fn unquoted(arguments: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = arguments.as_bytes();
    let mut inside = false;
    loop {
        rest = match rest {
            [] => return bytes,
            [b'"', more @ ..] => {
                inside = !inside;
                more
            }
            [_, more @ ..] if !inside => more,
            [b'\\', escape @ ..] => {
                let (byte, more) = escaped(escape);
                bytes.push(byte);
                more
            }
            [byte, more @ ..] => {
                bytes.push(*byte);
                more
            }
        };
    }
}

/// The byte that an escape stands for, and what follows it.
fn escaped(escape: &[u8]) -> (u8, &[u8]) {
    let is_digit = |byte: &&u8| (b'0'..=b'7').contains(*byte);
    let digits = escape.iter().take(3).take_while(is_digit).count();
    if digits > 0 {
        let add = |value: u16, digit: &u8| value * 8 + u16::from(digit - b'0');
        let value = escape[..digits].iter().fold(0, add);
        return (u8::try_from(value).expect("a byte"), &escape[digits..]);
    }
    let byte = match escape[0] {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 11,
        b'f' => 12,
        other => other,
    };
    (byte, &escape[1..])
}

#[test]
fn a_trace_is_read() {
    let text = concat!(
        "7 pwrite64(3</d/db>, \"a\\0\\33b\\\"\\n\", 6, 0 <unfinished ...>\n",
        "8 fdatasync(4</d/db>) = 0\n",
        "7 <... pwrite64 resumed>) = 6\n",
        "8 writev(5<socket:[9]>, [{iov_base=\"@\", iov_len=1}, {iov_base=\"\\2\", iov_len=1}], 2) = 2\n",
        "7 +++ exited with 0 +++\n",
    );
    let calls = calls(text);
    let lines: Vec<_> = calls.iter().map(|call| (call.began, call.ended)).collect();
    assert_eq!(lines, [(0, 2), (1, 1), (3, 3)]);
    assert_eq!(calls[0].bytes, b"a\0\x1bb\"\n");
    assert_eq!(
        (calls[2].place.as_str(), &calls[2].bytes[..]),
        ("socket:[9]", &b"@\x02"[..])
    );
    assert_eq!(
        (calls[1].name.as_str(), calls[1].place.as_str()),
        ("fdatasync", "/d/db")
    );
    assert_eq!(pubacks(b"@\x02\0\x07@\x02\x01\0\xc0\0"), [7, 256]);
}
