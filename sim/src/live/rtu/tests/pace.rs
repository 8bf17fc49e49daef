use std::collections::BTreeMap;
use std::time::Duration;

use super::{Bench, NOTHING, building};
use crate::live::modbus::Unit;
use crate::live::rtu::{Plan, Speed};

/// Unit 1, eight holding registers from 0, and what a plain device answers.
const READ_8: [u8; 8] = [0x01, 0x03, 0x00, 0x00, 0x00, 0x08, 0x44, 0x0C];
const EIGHT: [u8; 21] = [
    0x01, 0x03, 0x10, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0xD1, 0x93,
];
/// Unit 1, holding register 5 to 9; the answer is the same.
const WRITE: [u8; 8] = [0x01, 0x06, 0x00, 0x05, 0x00, 0x09, 0x59, 0xCD];

/// Milliseconds from the first bit of a request to the end of the silence after its answer.
fn cycle_ms(baud: u32, reply_ms: u64, request: &[u8], answer: &[u8]) -> f64 {
    let speed = Speed::new(baud).unwrap();
    let units = BTreeMap::from([(1, Unit::Plain)]);
    let mut bench = Bench::new(building(), units, speed, reply_ms, Plan::new(1));
    let (heard, last) = bench.ask(request);
    assert_eq!(heard, answer);
    (last + speed.silence()).as_secs_f64() * 1000.0
}

#[test]
fn exchanges_take_what_the_baud_rate_makes_of_them() {
    // Baud; eight registers with replies after 0, 5 and 20 ms; one register written at 0 ms. The
    // figures are 29 or 16 characters of 11 bits and two silences.
    let table: [(u32, [f64; 4]); 4] = [
        (9_600, [41.2, 46.2, 61.2, 26.4]),
        (19_200, [20.6, 25.6, 40.6, 13.2]),
        (38_400, [11.8, 16.8, 31.8, 8.1]),
        (115_200, [6.3, 11.3, 26.3, 5.0]),
    ];
    for (baud, expected) in table {
        let taken = [
            cycle_ms(baud, 0, &READ_8, &EIGHT),
            cycle_ms(baud, 5, &READ_8, &EIGHT),
            cycle_ms(baud, 20, &READ_8, &EIGHT),
            cycle_ms(baud, 0, &WRITE, &WRITE),
        ];
        for (taken, expected) in taken.into_iter().zip(expected) {
            // The figures are rounded to 0.1 ms; a byte more or less would be 1 % at least.
            assert!(
                (taken - expected).abs() < 0.06,
                "{baud}: {taken} {expected}"
            );
        }
    }
}

#[test]
fn bytes_come_at_their_time_and_never_before() {
    let mut bench = Bench::plain(Plan::new(1));
    bench.send(&READ_8);
    // 8 characters, 3.5 of silence, 5 ms, and the first of the answer: 12.5 x 11 / 19200 s + 5 ms.
    let first = Duration::from_nanos(12_161_458);
    let (early, _) = bench.listen(first - Duration::from_micros(2));
    assert_eq!(early, NOTHING);
    let (heard, _) = bench.listen(Duration::from_micros(4));
    assert_eq!(heard, EIGHT[..1]);
    // Half of the answer later there is half of it, but for one portion of a millisecond.
    let (heard, _) = bench.listen(Duration::from_nanos(10 * 572_917));
    assert_eq!(heard, EIGHT[1..11]);
}
