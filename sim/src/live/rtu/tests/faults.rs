use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::hardware::{Action, Command, Door};
use protocol::{CommandId, Fence, FloorLabel, Landing, Side};
use tokio_modbus::prelude::ExceptionCode;

use super::{Bench, FIVE, FIVE_OF_2, NOTHING, READ_5, building, elevator};
use crate::car::DoorStuck;
use crate::live::building::Building;
use crate::live::modbus::{Position, Unit};
use crate::live::rtu::{Fault, FaultKind, Plan, Rule, Speed, Talker};

/// Unit 1, input registers 0 to 3 of a car: floor, door, mode, load.
const READ_CAR: [u8; 8] = [0x01, 0x04, 0x00, 0x00, 0x00, 0x04, 0xF1, 0xC9];

/// Asks unit 1 three times, with the fault on the second; what came second, and how much later than
/// an undisturbed answer its last byte came. The first and the third are undisturbed.
fn struck(fault: Fault) -> (Vec<u8>, Duration) {
    let kind = fault.kind();
    let mut bench = Bench::plain(Plan::new(1).with(Rule::nth(2, fault)));
    let took = |bench: &mut Bench| {
        let begun = bench.now;
        bench.send(&READ_5);
        let (heard, last) = bench.listen(Duration::from_secs(20));
        (heard, last - begun)
    };
    let (first, usual) = took(&mut bench);
    assert_eq!(first, FIVE);
    assert_eq!(bench.fired(), BTreeMap::new());
    let (second, taken) = took(&mut bench);
    assert_eq!(
        bench.fired(),
        BTreeMap::from([(kind, 1)]),
        "it fires and is counted"
    );
    assert_eq!(took(&mut bench).0, FIVE, "after {kind:?}");
    assert_eq!(bench.devices.wire.record().breach_count(), 0);
    (second, taken.saturating_sub(usual))
}

#[test]
fn h1_late() {
    let (heard, later) = struck(Fault::Late(Duration::from_millis(700)));
    assert_eq!(heard, FIVE);
    assert!(
        later.abs_diff(Duration::from_millis(700)) < Duration::from_micros(2),
        "{later:?}"
    );
}

#[test]
fn h1_a_late_device_still_answers_in_the_order_in_which_it_is_asked() {
    let late = Rule::nth(1, Fault::Late(Duration::from_millis(400)));
    let mut bench = Bench::plain(Plan::new(1).with(late));
    bench.send(&READ_5);
    assert_eq!(bench.listen(Duration::from_millis(200)).0, NOTHING);
    // Unit 1, holding register 8.
    let (heard, _) = bench.ask(&[0x01, 0x03, 0x00, 0x08, 0x00, 0x01, 0x05, 0xC8]);
    let eight = [0x01, 0x03, 0x02, 0x00, 0x08, 0xB9, 0x82];
    assert_eq!(heard, [FIVE, eight].concat());
}

#[test]
fn h1_into_the_next_transaction_of_its_unit() {
    let held = Rule::nth(1, Fault::IntoNext).unit(1);
    let mut bench = Bench::plain(Plan::new(1).with(held));
    assert_eq!(bench.ask(&READ_5).0, NOTHING);
    assert_eq!(bench.ask(&super::READ_5_OF_2).0, FIVE_OF_2);
    // Unit 1, holding register 8: the late answer comes first, then its own.
    let (heard, _) = bench.ask(&[0x01, 0x03, 0x00, 0x08, 0x00, 0x01, 0x05, 0xC8]);
    let eight = [0x01, 0x03, 0x02, 0x00, 0x08, 0xB9, 0x82];
    assert_eq!(heard, [FIVE, eight].concat());
    let frames: Vec<_> = bench.devices.wire.record().frames().rev().take(2).collect();
    let gap = frames[0].from - frames[1].to;
    assert!(gap >= Speed::default().silence(), "{gap:?}");
    assert_eq!(bench.ask(&READ_5).0, FIVE);
}

#[test]
fn h2_crc() {
    let (heard, _) = struck(Fault::BadCrc);
    let turned: u32 = heard
        .iter()
        .zip(FIVE)
        .map(|(a, b)| (a ^ b).count_ones())
        .sum();
    assert_eq!((heard.len(), turned), (7, 1));
}

#[test]
fn h3_twice() {
    let (heard, _) = struck(Fault::Twice(Duration::from_millis(4)));
    assert_eq!(heard, [FIVE, FIVE].concat());
}

#[test]
fn h4_truncated_and_merged() {
    assert_eq!(struck(Fault::Truncated(3)).0, FIVE[..4]);
    assert_eq!(struck(Fault::Truncated(99)).0, FIVE[..1]);
    let (heard, later) = struck(Fault::Merged);
    assert_eq!(heard, [FIVE, FIVE].concat());
    // Seven characters more and no silence: 7 x 11 / 19200 s.
    assert!(
        later.abs_diff(Duration::from_nanos(4_010_416)) < Duration::from_micros(2),
        "{later:?}"
    );
}

#[test]
fn h5_wrong_unit_and_h6_wrong_function_and_length() {
    assert_eq!(struck(Fault::WrongUnit(2)).0, FIVE_OF_2);
    let other_function = [0x01, 0x04, 0x02, 0x00, 0x05, 0x79, 0x33];
    assert_eq!(struck(Fault::WrongFunction).0, other_function);
    assert_eq!(struck(Fault::WrongLength).0, [0x01, 0x03, 0x00, 0x20, 0xF0]);
    // The echo of a write of 9 to register 5, one byte short.
    let mut bench = Bench::plain(Plan::new(1).with(Rule::always(Fault::WrongLength)));
    let (heard, _) = bench.ask(&[0x01, 0x06, 0x00, 0x05, 0x00, 0x09, 0x59, 0xCD]);
    assert_eq!(heard, [0x01, 0x06, 0x00, 0x05, 0x00, 0x1A, 0x18]);
}

#[test]
fn h7_exceptions_and_what_they_do() {
    let frames = [
        (
            ExceptionCode::ServerDeviceFailure,
            [0x01, 0x83, 0x04, 0x40, 0xF3],
        ),
        (ExceptionCode::Acknowledge, [0x01, 0x83, 0x05, 0x81, 0x33]),
        (
            ExceptionCode::ServerDeviceBusy,
            [0x01, 0x83, 0x06, 0xC1, 0x32],
        ),
    ];
    for (code, frame) in frames {
        assert_eq!(struck(Fault::Refuse(code)).0, frame);
        // 9 into register 5: done for an acknowledge, not done else.
        let mut bench = Bench::plain(Plan::new(1).with(Rule::nth(1, Fault::Refuse(code))));
        bench.ask(&[0x01, 0x06, 0x00, 0x05, 0x00, 0x09, 0x59, 0xCD]);
        let kept = bench.ask(&READ_5).0[4];
        assert_eq!(kept == 9, code == ExceptionCode::Acknowledge, "{code:?}");
    }
}

#[test]
fn h8_echo() {
    assert_eq!(struck(Fault::Echo).0, [&READ_5[..], &FIVE].concat());
}

#[test]
fn h9_silence_with_the_write_done_or_not() {
    for (fault, expected) in [(Fault::NoReply, 9), (Fault::NoRequest, 5)] {
        assert_eq!(struck(fault.clone()).0, NOTHING);
        let mut bench = Bench::plain(Plan::new(1).with(Rule::nth(1, fault)));
        let (heard, _) = bench.ask(&[0x01, 0x06, 0x00, 0x05, 0x00, 0x09, 0x59, 0xCD]);
        assert_eq!(heard, NOTHING);
        assert_eq!(bench.ask(&READ_5).0[4], expected);
    }
}

#[test]
fn junk_foreign_frames_and_babble() {
    let (heard, _) = struck(Fault::Junk(40));
    assert_eq!((heard.len(), &heard[40..]), (47, &FIVE[..]));
    let (heard, _) = struck(Fault::Foreign);
    assert_eq!((heard[0], heard.len(), &heard[7..]), (200, 14, &FIVE[..]));
    // 2 s at 19,200 baud are 3490 characters.
    let (heard, _) = struck(Fault::Babble(Duration::from_secs(2)));
    assert_eq!(heard.len(), 3_490);
}

#[test]
fn a_babbling_unit_is_heard_over_by_a_master_that_does_not_listen() {
    let babble = Rule::nth(1, Fault::Babble(Duration::from_secs(2))).unit(1);
    let mut bench = Bench::plain(Plan::new(1).with(babble));
    bench.send(&READ_5);
    bench.listen(Duration::from_millis(500));
    bench.send(&super::READ_5_OF_2);
    bench.listen(Duration::from_secs(5));
    let record = bench.devices.wire.record();
    assert_eq!((record.breach_count(), record.collisions), (1, 1));
    assert!(
        record
            .frames()
            .any(|spoken| spoken.talker == Talker::Unit(1))
    );
    assert_eq!(bench.ask(&READ_5).0, FIVE);
}

/// A car with a call to 3F that it has not answered, on a line where the fault strikes at once.
fn car_with(fault: Fault) -> (Arc<Building>, Bench) {
    let building = building();
    let kind = fault.kind();
    let units = BTreeMap::from([(1, Unit::Car(elevator()))]);
    let plan = Plan::new(1).with(Rule::nth(1, fault));
    let mut bench = Bench::new(Arc::clone(&building), units, Speed::default(), 5, plan);
    let command = Command {
        elevator_id: elevator(),
        command_id: CommandId::new("c-1").unwrap(),
        fence: Fence(1),
        order_id: None,
        action: Action::CarCall {
            landing: Landing {
                floor: FloorLabel::new("3F").unwrap(),
                side: Side::Front,
            },
        },
        expires_in_ms: 0,
    };
    building.command(&command, false).unwrap();
    bench.send(&READ_CAR);
    bench.listen(Duration::from_millis(100));
    assert_eq!(bench.fired(), BTreeMap::from([(kind, 1)]));
    (building, bench)
}

fn calls(building: &Building) -> usize {
    let reading = building.snapshot(&elevator()).unwrap();
    reading.calls.unwrap().len()
}

#[test]
fn h10_a_door_sticks_and_comes_free() {
    let minute = Duration::from_secs(60);
    let (building, mut bench) = car_with(Fault::Door(DoorStuck::Closed, minute));
    // The building is 50 times as fast; the line's clock stands while the car travels.
    let arrived = || {
        let reading = building.snapshot(&elevator()).unwrap();
        let at_3f = reading
            .floor
            .as_ref()
            .is_some_and(|floor| floor.as_str() == "3F");
        at_3f && reading.motion == protocol::hardware::Motion::Stopped
    };
    wait_for(arrived);
    assert_eq!(building.snapshot(&elevator()).unwrap().front, Door::Closed);
    bench.listen(minute);
    wait_for(|| building.snapshot(&elevator()).unwrap().front == Door::Open);
}

#[test]
fn h11_a_restart_loses_calls_and_is_silent_meanwhile() {
    let (building, mut bench) = car_with(Fault::Restart(Duration::from_secs(3)));
    assert_eq!(calls(&building), 0);
    bench.send(&READ_CAR);
    assert_eq!(bench.listen(Duration::from_millis(2_700)).0, NOTHING);
    bench.listen(Duration::from_millis(300));
    assert_eq!(bench.ask(&READ_CAR).0.len(), 13);
}

#[test]
fn h12_without_power_the_car_stands_until_it_is_back() {
    let (building, mut bench) = car_with(Fault::PowerLoss(Duration::from_secs(30)));
    let stands = || building.snapshot(&elevator()).unwrap().floor.is_none();
    assert!(stands(), "it stands between floors");
    assert_eq!(calls(&building), 0);
    assert_eq!(bench.ask(&READ_CAR).0, NOTHING);
    bench.listen(Duration::from_secs(30));
    assert!(!stands());
    assert_eq!(bench.ask(&READ_CAR).0.len(), 13);
}

#[test]
fn h13_the_position_is_frozen_off_or_lost() {
    let floor = |bench: &mut Bench| {
        let (heard, _) = bench.ask(&READ_CAR);
        u16::from_be_bytes([heard[3], heard[4]])
    };
    let hour = Duration::from_secs(3_600);
    let (building, mut bench) = car_with(Fault::Position(Position::Frozen, hour));
    wait_for(|| building.snapshot(&elevator()).unwrap().front == Door::Open);
    assert_eq!(floor(&mut bench), 0, "it left 1F and shows it");
    bench.listen(hour);
    assert_eq!(floor(&mut bench), 2, "3F");
    let (building, mut bench) = car_with(Fault::Position(Position::Off(1), hour));
    wait_for(|| building.snapshot(&elevator()).unwrap().front == Door::Open);
    assert_eq!(floor(&mut bench), 3, "one more than 3F");
    let (_, mut bench) = car_with(Fault::Position(Position::Lost, hour));
    assert_eq!(floor(&mut bench), u16::MAX);
}

#[test]
fn every_kind_of_fault_fires_by_rate() {
    let second = Duration::from_secs(1);
    let all = [
        Fault::Late(second / 10),
        Fault::BadCrc,
        Fault::Twice(Duration::ZERO),
        Fault::Truncated(1),
        Fault::WrongUnit(9),
        Fault::WrongLength,
        Fault::Refuse(ExceptionCode::ServerDeviceBusy),
        Fault::Echo,
        Fault::NoReply,
        Fault::Door(DoorStuck::Open, second),
        Fault::Restart(second / 2),
        Fault::PowerLoss(second / 2),
        Fault::Position(Position::Frozen, second),
        Fault::Junk(5),
        Fault::Foreign,
        Fault::Babble(second / 10),
    ];
    let plan = all.into_iter().fold(Plan::new(5), |plan, fault| {
        plan.with(Rule::rate(0.05, fault))
    });
    let units = BTreeMap::from([(1, Unit::Car(elevator()))]);
    let mut bench = Bench::new(building(), units, Speed::default(), 5, plan);
    for _ in 0..1_000 {
        bench.ask(&READ_CAR);
    }
    // A Modbus unit never speaks by itself.
    for kind in FaultKind::ALL {
        let fired = bench.fired().contains_key(&kind);
        assert_eq!(fired, kind != FaultKind::Report, "{kind:?}");
    }
}

/// Waits for something of the building, whose time is real.
#[track_caller]
fn wait_for(is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "it did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}
