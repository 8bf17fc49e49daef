use std::time::Duration;

use super::{Bench, FIVE, FIVE_OF_2, NOTHING, READ_5, READ_5_OF_2};
use crate::live::rtu::{Breach, Fault, Plan, Rule, Talker};

/// The silence of 19,200 baud: 3.5 x 11 / 19200 s.
const SILENCE: Duration = Duration::from_nanos(2_005_208);

#[test]
fn two_units_of_one_line_answer_for_themselves() {
    let mut bench = Bench::plain(Plan::new(1));
    assert_eq!(bench.ask(&READ_5).0, FIVE);
    assert_eq!(bench.ask(&READ_5_OF_2).0, FIVE_OF_2);
    // Unit 7 is not there: silence, and no breach.
    let (heard, _) = bench.ask(&[0x07, 0x03, 0x00, 0x05, 0x00, 0x01, 0x94, 0x6D]);
    assert_eq!(heard, NOTHING);
    // A broadcast is done by all and answered by none: register 5 is 7.
    let (heard, _) = bench.ask(&[0x00, 0x06, 0x00, 0x05, 0x00, 0x07, 0xD9, 0xD8]);
    assert_eq!(heard, NOTHING);
    for request in [READ_5, READ_5_OF_2] {
        assert_eq!(bench.ask(&request).0[4], 7);
    }
    let record = bench.devices.wire.record();
    assert_eq!(record.breach_count(), 0);
    assert_eq!(record.requests[&1], 2);
    assert_eq!((record.requests[&7], record.answered.get(&7)), (1, None));
}

#[test]
fn a_unit_that_is_dead_says_nothing_and_the_other_goes_on() {
    let mut bench = Bench::plain(Plan::new(1));
    bench.devices.dead.insert(1);
    assert_eq!(bench.ask(&READ_5).0, NOTHING);
    assert_eq!(bench.ask(&READ_5_OF_2).0, FIVE_OF_2);
    bench.devices.dead.clear();
    assert_eq!(bench.ask(&READ_5).0, FIVE);
}

#[test]
fn after_junk_and_a_silence_the_line_is_understood_again() {
    let mut bench = Bench::plain(Plan::new(1));
    // Junk and a request without a silence between them are one frame that nobody can read.
    bench.send(&[0xFF; 60]);
    bench.send(&READ_5);
    assert_eq!(bench.listen(Duration::from_secs(1)).0, NOTHING);
    bench.send(&vec![0x01; 2_000]);
    assert_eq!(bench.listen(Duration::from_secs(3)).0, NOTHING);
    assert_eq!(bench.devices.wire.record().unreadable, 2);
    bench.send(&READ_5[..5]);
    bench.listen(60 * Duration::from_micros(572) + SILENCE);
    assert_eq!(bench.devices.wire.record().unreadable, 3);
    assert_eq!(bench.ask(&READ_5).0, FIVE);
}

#[test]
fn who_speaks_over_a_device_or_too_soon_is_noted() {
    let heard = |wait: Duration| {
        let mut bench = Bench::plain(Plan::new(1));
        bench.send(&READ_5);
        bench.listen(wait);
        bench.send(&READ_5_OF_2);
        bench.listen(Duration::from_secs(1));
        let record = bench.devices.wire.record();
        (record.breaches().to_vec(), record.collisions)
    };
    // The request is on the line for 4.583 ms, silence until 6.589, the answer from 11.589 to 15.599.
    let (breaches, collisions) = heard(Duration::from_micros(15_300));
    let over = Breach::SpokeOver {
        at: Duration::from_micros(15_300),
        talker: Talker::Unit(1),
    };
    assert_eq!((breaches, collisions), (vec![over], 1));
    // A millisecond after the answer began, no master can know of it.
    assert_eq!(heard(Duration::from_micros(12_600)), (vec![], 1));
    // 1 ms after the end of the answer.
    let (breaches, collisions) = heard(Duration::from_nanos(16_599_477));
    let [Breach::TooSoon { silence, .. }] = breaches.as_slice() else {
        panic!("{breaches:?}");
    };
    assert!(
        silence.abs_diff(Duration::from_millis(1)) < Duration::from_micros(5),
        "{silence:?}"
    );
    assert_eq!(collisions, 0);
    assert_eq!(
        heard(Duration::from_nanos(15_599_500) + SILENCE),
        (vec![], 0)
    );
    // 1 ms after its own request, which then is no request any more.
    let (breaches, _) = heard(Duration::from_micros(5_583));
    assert!(
        matches!(breaches[..], [Breach::TooSoon { .. }]),
        "{breaches:?}"
    );
}

#[test]
fn two_that_speak_at_once_are_not_understood() {
    // Unit 1 is late into the answer of unit 2, by 25 ms.
    let late = Rule::nth(1, Fault::Late(Duration::from_millis(25))).unit(1);
    let mut bench = Bench::plain(Plan::new(1).with(late));
    bench.send(&READ_5);
    bench.listen(Duration::from_millis(24));
    let (heard, _) = bench.ask(&READ_5_OF_2);
    assert_ne!(heard, [FIVE, FIVE_OF_2].concat());
    assert!(!heard.is_empty());
    assert!(
        heard
            .windows(7)
            .all(|frame| frame != FIVE && frame != FIVE_OF_2),
        "{heard:?}"
    );
    assert_eq!(bench.devices.wire.record().breach_count(), 0);
}

#[test]
fn a_master_that_hears_itself_hears_itself_in_time() {
    let mut bench = Bench::plain(Plan::new(1));
    bench.devices.wire = super::Wire::new(super::Speed::default(), true);
    bench.send(&READ_5);
    // 8 x 11 / 19200 s.
    let (heard, _) = bench.listen(Duration::from_micros(4_584));
    assert_eq!(heard, READ_5);
    assert_eq!(bench.listen(Duration::from_secs(1)).0, FIVE);
    assert_eq!(bench.devices.wire.record().breach_count(), 0);
}

#[test]
fn a_converter_keeps_the_silence_for_its_master() {
    let mut bench = Bench::plain(Plan::new(1));
    bench.devices.wire.convert();
    bench.send(&READ_5);
    // In the middle of the answer.
    bench.listen(Duration::from_millis(14));
    bench.send(&READ_5_OF_2);
    let (heard, _) = bench.listen(Duration::from_secs(1));
    assert!(heard.ends_with(&FIVE_OF_2), "{heard:?}");
    let record = bench.devices.wire.record();
    assert_eq!((record.breach_count(), record.kept_back), (0, 1));
    let spoken: Vec<_> = record.frames().collect();
    let [_, answer, second, _] = spoken.as_slice() else {
        panic!("{spoken:?}");
    };
    assert_eq!(answer.bytes, FIVE);
    let silence = second.from - answer.to;
    assert!(
        silence.abs_diff(SILENCE) < Duration::from_micros(1),
        "{silence:?}"
    );
}
