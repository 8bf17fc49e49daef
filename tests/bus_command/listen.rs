//! What passes over a line, and peers that are played byte by byte.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::Value;

use crate::line::{Line, bus, text, told, words};
use crate::support::SOON;

/// The second answer is damaged; the line `watch` shows for it is whatever came.
#[test]
fn frames_are_shown_in_hex_and_in_words_with_what_is_wrong() {
    let line = Line::start(&words("--unit 1=plain --fault bad_crc#2"));
    let args = words("--unit 1 --table holding --address 5 --every-ms 600 --seconds 1");
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
        &words("--listen --seconds 1 --json"),
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
