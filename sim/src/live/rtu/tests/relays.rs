use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Bench, building, elevator};
use crate::car::CarEvent;
use crate::live::building::Building;
use crate::live::modbus::Unit;
use crate::live::rtu::frame::seal;
use crate::live::rtu::{Plan, Speed};
use crate::record::Entry;

/// The board is unit 3; four floors: relay 0 is the call upwards at 1F, 12 door-open, 13 door-close.
fn bench(building: &Arc<Building>) -> Bench {
    let units = BTreeMap::from([(3, Unit::Relays(elevator()))]);
    Bench::new(
        Arc::clone(building),
        units,
        Speed::default(),
        5,
        Plan::new(1),
    )
}

fn presses(building: &Building) -> usize {
    building.record(|record| record.commands().count())
}

#[test]
fn a_flash_presses_once_and_ends_by_the_boards_own_clock() {
    let building = building();
    let mut bench = bench(&building);
    // Relay 8, the button for 1F in the car, on for 0.1 s; the answer repeats the request.
    let flash = seal(3, &[0x05, 0x02, 0x08, 0x00, 0x01]);
    let begun = Instant::now();
    assert_eq!(bench.ask(&flash).0, flash);
    assert_eq!(presses(&building), 1);
    let coils = seal(3, &[0x01, 0x00, 0x08, 0x00, 0x01]);
    let (on, off) = (seal(3, &[0x01, 0x01, 0x01]), seal(3, &[0x01, 0x01, 0x00]));
    let mut shown = bench.ask(&coils).0;
    if begun.elapsed() < Duration::from_millis(100) {
        assert_eq!(shown, on);
    }
    while shown == on {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "it never fell off"
        );
        shown = bench.ask(&coils).0;
    }
    assert_eq!(shown, off);
    assert!(begun.elapsed() >= Duration::from_millis(100));
    assert_eq!(presses(&building), 1);
    // 1F is where it stands: the car opens.
    let opened = building.record(|record| {
        let opens = |entry: &Entry| {
            matches!(
                entry,
                Entry::Car {
                    event: CarEvent::Door { .. },
                    ..
                }
            )
        };
        record.entries().any(|(_, entry)| opens(entry))
    });
    assert!(opened);
}

#[test]
fn a_contact_that_is_closed_already_presses_nothing_anew() {
    let building = building();
    let mut bench = bench(&building);
    let on = seal(3, &[0x05, 0x00, 0x01, 0xFF, 0x00]);
    assert_eq!(bench.ask(&on).0, on);
    assert_eq!(bench.ask(&on).0, on);
    assert_eq!(presses(&building), 1);
    let off = seal(3, &[0x05, 0x00, 0x01, 0x00, 0x00]);
    assert_eq!(bench.ask(&off).0, off);
    assert_eq!(bench.ask(&on).0, on);
    assert_eq!(presses(&building), 2);
    // Door-close (relay 13) acts for as long as it is held.
    let close = seal(3, &[0x05, 0x00, 0x0D, 0xFF, 0x00]);
    assert_eq!(bench.ask(&close).0, close);
    assert_eq!(bench.ask(&close).0, close);
    assert_eq!(presses(&building), 4);
    // By register: relay 2 (register 3) for a second; its state is 1.
    let momentary = seal(3, &[0x06, 0x00, 0x03, 0x05, 0x00]);
    assert_eq!(bench.ask(&momentary).0, momentary);
    assert_eq!(presses(&building), 5);
    let read = seal(3, &[0x03, 0x00, 0x03, 0x00, 0x01]);
    assert_eq!(bench.ask(&read).0, seal(3, &[0x03, 0x02, 0x00, 0x01]));
}

#[test]
fn the_inputs_show_lamps_limits_and_floors() {
    let building = building();
    let mut bench = bench(&building);
    // All 24 inputs: door closed (1), mode normal (5), at 1F (8): 22 01 00.
    let read = seal(3, &[0x02, 0x00, 0x00, 0x00, 0x18]);
    assert_eq!(bench.ask(&read).0, seal(3, &[0x02, 0x03, 0x22, 0x01, 0x00]));
    // The button of 4F in the car (relay 11): its lamp is input 23, the car moves (2) up (3).
    let press = seal(3, &[0x05, 0x00, 0x0B, 0xFF, 0x00]);
    assert_eq!(bench.ask(&press).0, press);
    let (shown, _) = bench.ask(&read);
    assert_eq!(shown[3] & 0b0000_1100, 0b0000_1100, "{shown:?}");
    assert_eq!(shown[5] & 0b1000_0000, 0b1000_0000, "{shown:?}");
}

#[test]
fn what_the_board_does_not_have_it_refuses() {
    let building = building();
    let mut bench = bench(&building);
    // Relay 14 of 14; a flash of relay 14; a coil value without a meaning; toggle by register.
    for (data, exception) in [
        (&[0x05, 0x00, 0x0E, 0xFF, 0x00], 2),
        (&[0x05, 0x02, 0x0E, 0x00, 0x05], 2),
        (&[0x05, 0x00, 0x01, 0x12, 0x34], 3),
        (&[0x06, 0x00, 0x01, 0x03, 0x00], 3),
    ] {
        let refusal = seal(3, &[data[0] | 0x80, exception]);
        assert_eq!(bench.ask(&seal(3, data)).0, refusal, "{data:?}");
    }
    assert_eq!(presses(&building), 0);
}
