//! Bytes on a serial line, heard as the answer to a request.
//!
//! The first byte of an input says which request was asked (lowest three bits) and what is known of
//! the line's echo (the next two, modulo 3), the second how many of the requests are owed an answer
//! (modulo 8); the rest is what comes over the line.

use std::fmt::Write as _;

use adapters::map::Table;
use adapters::rtu::{Answer, Echo, Event, Hearing, Reply, Request, Shape};

const UNIT: u8 = 1;

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let [which, owed, heard @ ..] = data else {
        return String::new();
    };
    let all = requests();
    let request = &all[usize::from(which % 8)];
    let shape = Shape::of(UNIT, request);
    let owed: Vec<Shape> = all
        .iter()
        .take(usize::from(owed % 8))
        .map(|request| Shape::of(UNIT, request))
        .filter(|owed| !owed.is_like(&shape))
        .collect();
    let echo = [Echo::Unknown, Echo::Absent, Echo::Present][usize::from(which / 8 % 4 % 3)];
    let sent = request.frame(UNIT).expect("a good request");
    let mut hearing = Hearing::new(sent.clone(), shape.clone(), echo);
    let mut log = String::new();
    for (at, byte) in heard.iter().enumerate() {
        let so_far = &heard[..=at];
        match hearing.feed(*byte, &owed) {
            Some(Event::Answer(answer)) => {
                let frame = &so_far[so_far.len() - shape.answer_len(&answer)..];
                check(request, frame, &answer);
                let before = &so_far[..so_far.len() - frame.len()];
                let has_echo = before.windows(sent.len()).any(|bytes| bytes == sent);
                let is_twin = frame == sent && matches!(answer, Answer::Reply(_));
                assert!(
                    has_echo || echo == Echo::Absent || (echo == Echo::Unknown && !is_twin),
                    "{answer:?} in front of the echo"
                );
                let _ = writeln!(log, "{at}: {answer:?}");
            }
            Some(Event::Late(which)) => {
                let answer = owed[which].answer(so_far);
                assert!(answer.is_some(), "late without a frame");
                let _ = writeln!(log, "{at}: late {which}");
            }
            None => {}
        }
    }
    let _ = writeln!(log, "{} {:?}", hearing.miss(), hearing.echo());
    log
}

/// An answer is a frame of the unit and the function, with its checksum, and says what it holds.
fn check(request: &Request, frame: &[u8], answer: &Answer) {
    assert_eq!(crc(frame), 0, "{frame:02x?}");
    assert_eq!(frame[0], UNIT, "{frame:02x?}");
    match answer {
        Answer::Exception(exception) => {
            assert_eq!(frame[1], request.function() | 0x80, "{frame:02x?}");
            assert_eq!(frame[2], exception.0, "{frame:02x?}");
        }
        Answer::Reply(Reply::Written) => {
            let sent = request.frame(UNIT).expect("a good request");
            assert_eq!(frame[..6], sent[..6], "{frame:02x?}");
        }
        Answer::Reply(Reply::Points(points)) => {
            assert_eq!(frame[1], request.function(), "{frame:02x?}");
            let data = &frame[3..frame.len() - 2];
            assert_eq!(usize::from(frame[2]), data.len(), "{frame:02x?}");
            if frame[1] >= 3 {
                let bytes: Vec<u8> = points.iter().flat_map(|word| word.to_be_bytes()).collect();
                assert_eq!(bytes, data, "{frame:02x?}");
            } else {
                assert!(points.iter().all(|bit| *bit <= 1), "{points:?}");
                assert_eq!(points.len().div_ceil(8), data.len(), "{frame:02x?}");
            }
        }
    }
}

/// One of each function.
fn requests() -> [Request; 8] {
    let read = |table, address, count| Request::Read {
        table,
        address,
        count,
    };
    [
        read(Table::Coil, 0, 12),
        read(Table::Discrete, 7, 1),
        read(Table::Holding, 0, 3),
        read(Table::Input, 9, 1),
        Request::WriteCoil {
            address: 3,
            value: 0xFF00,
        },
        Request::WriteRegister {
            address: 1,
            value: 3,
        },
        Request::WriteCoils {
            address: 2,
            states: vec![true; 9],
        },
        Request::WriteRegisters {
            address: 4,
            words: vec![1, 2],
        },
    ]
}

/// The checksum, bit by bit (Modbus over Serial Line V1.02, section 6.2.2); 0 over a whole frame.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xA001 } else { 0 }
        })
    })
}
