//! Fire inputs: what cannot be read is fire (`wire.md` section 7).

use super::device::{Device, Play};
use super::*;

fn zone(point: Table, address: u16, clear: u16) -> ZoneInput {
    ZoneInput {
        zone: ZoneId::new("main").unwrap(),
        unit: 9,
        point,
        address,
        clear,
    }
}

fn fires(reports: &[DriverReport]) -> Vec<bool> {
    let fire = |report: &DriverReport| match report {
        DriverReport::ZoneFire { clear, .. } => Some(*clear),
        DriverReport::Elevator { .. } | DriverReport::Bus { .. } => None,
    };
    reports.iter().filter_map(fire).collect()
}

async fn next(line: &mut Bus) -> bool {
    fires(&run_until(line, |reports| !fires(reports).is_empty()).await)[0]
}

#[tokio::test]
async fn a_fire_input_is_clear_only_with_its_clear_value_in_every_table() {
    let device = Device::start(|_, _| Play::Answer).await;
    let tables = [
        (Table::Coil, 0),
        (Table::Discrete, 1),
        (Table::Input, 3),
        (Table::Holding, 4),
    ];
    for (point, table) in tables {
        device.set(9, table, 7, 1);
        let mut line = line_to(&device.address, Vec::new(), vec![zone(point, 7, 1)], TIMING);
        assert!(next(&mut line).await, "{point:?} on");
        device.set(9, table, 7, 0);
        assert!(!next(&mut line).await, "{point:?} off");
    }
    // Clear may also be 0.
    let mut line = line_to(
        &device.address,
        Vec::new(),
        vec![zone(Table::Discrete, 7, 0)],
        TIMING,
    );
    assert!(next(&mut line).await);
}

#[tokio::test]
async fn a_fire_input_that_cannot_be_read_is_not_clear() {
    let plays = [
        Play::Exception(2),
        Play::Silence,
        Play::Close,
        Play::Pdu(vec![2, 2, 1, 1]),
        Play::WrongUnit,
    ];
    for play in plays {
        let bad = play.clone();
        let mut requests = 0;
        let device = Device::start(move |_, _| {
            requests += 1;
            if requests == 2 {
                bad.clone()
            } else {
                Play::Answer
            }
        })
        .await;
        device.set(9, 1, 0, 1);
        let input = zone(Table::Discrete, 0, 1);
        let mut line = line_to(&device.address, Vec::new(), vec![input], TIMING);
        assert!(next(&mut line).await);
        assert!(!next(&mut line).await, "{play:?}");
        assert!(next(&mut line).await, "{play:?}: it is read again");
    }
}

#[tokio::test]
async fn a_fire_input_is_lost_only_after_its_time() {
    let mut requests = 0;
    let device = Device::start(move |_, _| {
        requests += 1;
        if requests == 2 {
            Play::Exception(2)
        } else {
            Play::Answer
        }
    })
    .await;
    device.set(9, 1, 0, 1);
    let timing = LineTiming {
        fire_lost_ms: 60_000,
        ..TIMING
    };
    let input = zone(Table::Discrete, 0, 1);
    let mut line = line_to(&device.address, Vec::new(), vec![input.clone()], timing);
    assert!(next(&mut line).await);
    assert!(
        next(&mut line).await,
        "one refused reply between is no fire"
    );

    // The clock of these tests goes on by a millisecond at each look.
    let refuses = Device::start(|_, _| Play::Exception(2)).await;
    let timing = LineTiming {
        fire_lost_ms: 5,
        ..TIMING
    };
    let mut line = line_to(&refuses.address, Vec::new(), vec![input], timing);
    assert!(!next(&mut line).await, "what stays unread is fire");
    assert!(refuses.requests().len() >= 3, "and not at the first try");
}
