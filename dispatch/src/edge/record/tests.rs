use protocol::{ElevatorId, ZoneId};

use super::*;
use crate::fact::{ElevatorFact, SiteFact};

/// Three records of version 1, computed apart from this code: EL001 freed and fire ended in one
/// step, then EL002 freed.
const VERSION_1: &str = include_str!("version_1.hex");

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

fn fixture() -> Vec<Vec<u8>> {
    VERSION_1.lines().map(bytes).collect()
}

fn freed(elevator: &str) -> Fact {
    Fact::Elevator(ElevatorFact::Freed {
        elevator: ElevatorId::new(elevator).unwrap(),
    })
}

#[test]
fn the_header_is_laid_out_as_the_table_says() {
    let mut chain = [0; 16];
    chain[0] = 0xaa;
    chain[15] = 0xbb;
    let header = Header {
        seq: 0x0102,
        last: true,
        durable: 0x0100,
        previous: ChainHash(chain),
    };
    let record = encode(&header, &freed("EL001")).unwrap();
    let golden = [
        "01",                               // version
        "01",                               // last of its step
        "00000021",                         // 33 bytes of payload
        "0000000000000102",                 // seq
        "0000000000000100",                 // durable mark
        "aa0000000000000000000000000000bb", // chain
    ];
    assert_eq!(record[..HEADER_BYTES], bytes(&golden.concat()));
    // {"elevator": {"freed": {"elevator": "EL001"}}}
    let payload = "a168656c657661746f72a1656672656564a168656c657661746f7265454c303031";
    assert_eq!(record[HEADER_BYTES..record.len() - 4], bytes(payload));
}

/// A word of a payload is shown in the error; it stays one line of bounded length (B6, 12).
#[test]
fn a_payload_cannot_write_lines() {
    let none = Header {
        seq: 1,
        last: true,
        durable: 0,
        previous: ChainHash::default(),
    };
    let name = format!("\n\u{1b}[2J{}", "x".repeat(900));
    let mut payload = Vec::new();
    ciborium::into_writer(&std::collections::BTreeMap::from([(name, 1)]), &mut payload).unwrap();
    let mut record = encode(&none, &freed("EL001")).unwrap();
    record.truncate(HEADER_BYTES);
    record[2..6].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_be_bytes());
    record.extend_from_slice(&payload);
    let sum = checksum(&[&record]);
    record.extend_from_slice(&sum.to_be_bytes());
    let RecordError::BadPayload(why) = decode(&record).unwrap_err() else {
        panic!("another error");
    };
    assert!(why.contains(r"\n\u{1b}[2Jxxx"), "{why}");
    assert!(why.len() <= 256, "{} bytes", why.len());
}

#[test]
fn the_checksum_is_crc_32c() {
    // The check value of CRC-32C (RFC 3720, appendix B.4, tests the same polynomial).
    assert_eq!(checksum(&[b"123456789"]), 0xe306_9283);
    assert_eq!(checksum(&[b"1234", b"", b"56789"]), 0xe306_9283);
}

#[test]
fn records_of_version_1_are_read_and_written_as_ever() {
    let records = fixture();
    let fire_ended = Fact::Site(SiteFact::FireEnded {
        zone: ZoneId::new("main").unwrap(),
    });
    let none = ChainHash::default();
    let first = ChainHash(
        *bytes("8eca435ea74105c34325004a6c5c0972")
            .first_chunk()
            .unwrap(),
    );
    let second = ChainHash(
        *bytes("955d0f25da643edf68a62f52d9bcf945")
            .first_chunk()
            .unwrap(),
    );
    let table = [
        (
            Header {
                seq: 1,
                last: false,
                durable: 0,
                previous: none,
            },
            freed("EL001"),
        ),
        (
            Header {
                seq: 2,
                last: true,
                durable: 0,
                previous: first,
            },
            fire_ended,
        ),
        (
            Header {
                seq: 3,
                last: true,
                durable: 2,
                previous: second,
            },
            freed("EL002"),
        ),
    ];
    for (record, (header, fact)) in records.iter().zip(table) {
        assert_eq!(decode(record).unwrap(), (header, fact.clone()));
        assert_eq!(encode(&header, &fact).unwrap(), *record);
    }
}

#[test]
fn a_record_torn_anywhere_is_an_error() {
    for record in fixture() {
        for end in 0..record.len() {
            let error = decode(&record[..end]).unwrap_err();
            let is = end;
            let said = record.len() as u64;
            if end < 42 {
                assert_eq!(error, RecordError::Torn(end));
            } else {
                assert_eq!(error, RecordError::WrongLength { said, is });
            }
        }
        let mut longer = record.clone();
        longer.push(0);
        assert!(matches!(
            decode(&longer),
            Err(RecordError::WrongLength { .. })
        ));
    }
}

#[test]
fn a_flipped_bit_anywhere_is_an_error() {
    for record in fixture() {
        for bit in 0..record.len() * 8 {
            let mut flipped = record.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = decode(&flipped).unwrap_err();
            let expected = match bit / 8 {
                0 => matches!(error, RecordError::UnknownVersion(_)),
                2..6 => matches!(error, RecordError::WrongLength { .. }),
                _ => matches!(error, RecordError::WrongChecksum { .. }),
            };
            assert!(expected, "bit {bit}: {error}");
        }
    }
}

#[test]
fn a_newer_version_is_named() {
    let mut record = fixture().remove(0);
    record[0] = 2;
    let said = decode(&record).unwrap_err().to_string();
    assert_eq!(said, "it has version 2, this program reads up to 1");
}

/// A record around any payload and flags, with a right checksum.
fn framed(flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut record = vec![1, flags, 0, 0];
    record.extend_from_slice(&u16::try_from(payload.len()).unwrap().to_be_bytes());
    record.extend_from_slice(&[0; 32]);
    record.extend_from_slice(payload);
    let sum = checksum(&[&record]);
    record.extend_from_slice(&sum.to_be_bytes());
    record
}

#[test]
fn what_a_right_checksum_covers_is_read_with_care_too() {
    let mut twice = bytes("a168656c657661746f72a1656672656564a168656c657661746f7265454c303031");
    assert!(decode(&framed(1, &twice)).is_ok());
    assert_eq!(
        decode(&framed(2, &twice)),
        Err(RecordError::UnknownFlags(2))
    );
    twice.push(0xf6);
    let table: [&[u8]; 5] = [&twice, b"", b"\xa1", b"\x9f\x9f\x9f\x9f", &[0x81; 3000]];
    for payload in table {
        let error = decode(&framed(1, payload)).unwrap_err();
        assert!(matches!(error, RecordError::BadPayload(_)), "{error}");
    }
    assert!(matches!(
        decode(&framed(1, &[0; 5000])),
        Err(RecordError::TooLarge(5042))
    ));
}

#[test]
fn a_fact_that_fills_the_record_fits_and_one_byte_more_does_not() {
    let header = Header {
        seq: 1,
        last: true,
        durable: 0,
        previous: ChainHash::default(),
    };
    let fact = |bytes: usize| {
        Fact::Site(SiteFact::Operator {
            operator: "op".to_owned(),
            reason: "r".repeat(bytes),
            action: crate::input::OperatorAction::ElevatorList,
            at: protocol::Timestamp(0),
        })
    };
    // A text of 256 to 65,535 bytes has 3 bytes before it.
    let around = encode(&header, &fact(1000)).unwrap().len() - 1000;
    let fits = encode(&header, &fact(RECORD_BYTES_MAX - around)).unwrap();
    assert_eq!(fits.len(), RECORD_BYTES_MAX);
    assert!(decode(&fits).is_ok());
    let error = encode(&header, &fact(RECORD_BYTES_MAX - around + 1)).unwrap_err();
    assert_eq!(error, RecordError::TooLarge(RECORD_BYTES_MAX + 1));
}
