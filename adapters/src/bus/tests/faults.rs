//! Silence, late and foreign replies, exceptions, and lines that are down.

use std::sync::atomic::{AtomicU16, AtomicUsize};

use protocol::hardware::Door;
use tokio::net::TcpListener;

use super::device::{Device, Play};
use super::*;

fn open_door() -> Command {
    command(1, Action::OpenDoor { landing: at("1F") })
}

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown { .. })
}

/// A device of which one request, the `bad`th, is played; all others are answered.
async fn device_with_one(bad: usize, play: Play) -> Device {
    let mut requests = 0;
    Device::start(move |_, _| {
        requests += 1;
        if requests == bad {
            play.clone()
        } else {
            Play::Answer
        }
    })
    .await
}

/// A write whose echo is another one's is no confirmation, and panics nowhere.
#[tokio::test]
async fn a_write_without_its_own_echo_is_unknown_and_the_connection_is_dropped() {
    let plays = [
        Play::Silence,
        Play::Close,
        Play::WrongUnit,
        Play::WrongTransaction(vec![5, 0, 48, 0xFF, 0]),
        Play::Pdu(vec![5, 0, 49, 0xFF, 0]),
        Play::Pdu(vec![5, 0, 48, 0, 0]),
        Play::Pdu(vec![5, 0, 48, 0x12, 0x34]),
        Play::Pdu(vec![6, 0, 48, 0xFF, 0]),
        Play::Pdu(vec![15, 0, 48, 0, 1]),
        Play::Pdu(vec![0x86, 2]),
        Play::Pdu(vec![5]),
        Play::Pdu(vec![5, 0, 48, 0xFF, 0, 0]),
    ];
    for play in plays {
        let device = device_with_one(1, play.clone()).await;
        let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
        let (outcome, reports) = execute(&mut line, open_door()).await;
        assert!(is_unknown(&outcome), "{play:?}: {outcome:?}");
        assert!(reports.contains(&link(1, false)), "{play:?}: {reports:?}");
        let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
        assert!(reports.contains(&link(1, true)), "{play:?}");
        assert_eq!(device.connections(), 2, "{play:?}");
        assert_eq!(
            execute(&mut line, open_door()).await.0,
            Outcome::Accepted,
            "{play:?}"
        );
        let writes = device
            .requests()
            .iter()
            .filter(|(_, pdu)| pdu[0] == 5)
            .count();
        assert_eq!(writes, 2, "nothing is written twice by itself");
    }
}

#[tokio::test]
async fn the_echoes_of_register_and_block_writes_are_compared_too() {
    let map = MAP.to_owned()
        + r#"[commands.fence]
        point = "holding"
        address = 1
        words = 2
        order = "low_first"
    "#;
    let hold = || {
        command(
            1,
            Action::HoldDoor {
                landing: at("1F"),
                hold_ms: 10_000,
            },
        )
    };
    // The fence by function 16 is the first request, the hold by 06 the second.
    for (bad, pdu) in [
        (1, vec![16, 0, 1, 0, 1]),
        (1, vec![16, 0, 2, 0, 2]),
        (2, vec![6, 0, 0, 0, 11]),
        (2, vec![6, 0, 1, 0, 10]),
    ] {
        let device = device_with_one(bad, Play::Pdu(pdu.clone())).await;
        let mut line = line_to(&device.address, vec![unit(1, &map)], Vec::new(), TIMING);
        let (outcome, _) = execute(&mut line, hold()).await;
        assert!(is_unknown(&outcome), "{pdu:?}: {outcome:?}");
        assert_eq!(
            device.requests().len(),
            bad,
            "the rest of the command is not sent"
        );
        assert_eq!(execute(&mut line, hold()).await.0, Outcome::Accepted);
    }
}

#[tokio::test]
async fn a_read_of_another_length_or_table_is_no_reading() {
    // The first request reads discrete inputs 0 to 3, the second input register 0.
    for (bad, pdu) in [
        (1, vec![2, 2, 1, 0]),
        (1, vec![2, 0]),
        (1, vec![1, 1, 1]),
        (1, vec![2, 9, 1]),
        (2, vec![4, 4, 0, 1, 0, 2]),
        (2, vec![4, 0]),
        (2, vec![3, 2, 0, 1]),
        (2, vec![4, 1, 0]),
    ] {
        let device = device_with_one(bad, Play::Pdu(pdu.clone())).await;
        let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
        let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
        assert!(reports.contains(&link(1, false)), "{pdu:?}: {reports:?}");
        assert_eq!(device.connections(), 2, "{pdu:?}");
    }
}

/// AT-LIFT-21: each request of a poll is answered with its number. A stale reply comes first, in
/// front of the right one, 1000 times; no reading ever shows another request's number.
#[tokio::test]
async fn a_reply_with_another_transaction_id_never_counts() {
    let asked = Arc::new(AtomicU16::new(0));
    let injected = Arc::new(AtomicUsize::new(0));
    let (count, injections) = (Arc::clone(&asked), Arc::clone(&injected));
    let device = Device::start(move |_, pdu| {
        if pdu[0] != 4 {
            return Play::Answer;
        }
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let [high, low] = (number % 8).to_be_bytes();
        if number % 2 == 0 {
            return Play::Pdu(vec![4, 2, high, low]);
        }
        injections.fetch_add(1, Ordering::SeqCst);
        let [high, low] = (number.wrapping_sub(1) % 8).to_be_bytes();
        Play::WrongTransaction(vec![4, 2, high, low])
    })
    .await;
    let timing = LineTiming {
        backoff_min_ms: 1,
        unit_backoff_max_ms: 1,
        ..TIMING
    };
    let map = MAP.replace("poll_ms = 50", "poll_ms = 50\nread_gap_max = 0");
    let mut line = line_to(&device.address, vec![unit(1, &map)], Vec::new(), timing);
    let mut good = 0;
    while injected.load(Ordering::SeqCst) < 1_000 {
        let (outcome, reports) = execute(&mut line, command(1, Action::Query)).await;
        for (reading, _) in readings(&reports, 1) {
            let number = asked.load(Ordering::SeqCst);
            let expected = format!("{}F", number % 8 + 1);
            assert_eq!(reading.floor, Some(floor(&expected)), "request {number}");
            good += 1;
        }
        if outcome != Outcome::Done {
            line.ready().await;
        }
    }
    assert!(
        good >= 900,
        "{good} good readings beside 1000 stale replies"
    );
}

/// AT-LIFT-21, T-LIFT-43, T-STACK-14: what comes after the time-out is nobody's answer.
#[tokio::test]
async fn a_late_reply_is_not_the_next_ones() {
    let mut requests: u16 = 0;
    let device = Device::start(move |_, pdu| {
        if pdu[0] != 4 {
            return Play::Answer;
        }
        requests += 1;
        if requests % 2 == 1 {
            Play::Late(60)
        } else {
            Play::Answer
        }
    })
    .await;
    let timing = LineTiming {
        request_ms: 40,
        backoff_min_ms: 1,
        unit_backoff_max_ms: 1,
        ..TIMING
    };
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), timing);
    for round in 0..20_u16 {
        device.set(1, 3, 0, 0);
        let (outcome, _) = execute(&mut line, command(1, Action::Query)).await;
        assert!(is_unknown(&outcome), "round {round}: {outcome:?}");
        device.set(1, 3, 0, round % 7 + 1);
        line.ready().await;
        let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
        let expected = format!("{}F", round % 7 + 2);
        assert_eq!(readings(&reports, 1)[0].0.floor, Some(floor(&expected)));
    }
}

#[tokio::test]
async fn an_exception_to_a_poll_is_told_as_a_lost_link_over_a_line_that_stays() {
    let device = device_with_one(2, Play::Exception(4)).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
    let links: Vec<_> = reports
        .iter()
        .filter(|report| !matches!(report, DriverReport::ZoneFire { .. }))
        .collect();
    let bus = DriverReport::Bus { up: true };
    assert_eq!(links[..3], [&bus, &link(1, false), &link(1, true)]);
    assert_eq!(device.connections(), 1);
}

/// T-LIFT-40: of three units on one line, a dead one takes neither the polls of the others nor
/// their links.
#[tokio::test]
async fn a_dead_unit_does_not_starve_the_others() {
    let device = Device::start(|unit, _| {
        if unit == 2 {
            Play::Silence
        } else {
            Play::Answer
        }
    })
    .await;
    let units = (1..=3).map(|number| unit(number, MAP)).collect();
    let timing = LineTiming {
        backoff_min_ms: 200,
        unit_backoff_max_ms: 2_000,
        ..TIMING
    };
    let mut line = line_to(&device.address, units, Vec::new(), timing);
    let asked_dead = || {
        device
            .requests()
            .iter()
            .filter(|(unit, _)| *unit == 2)
            .count()
    };
    let reports = run_until(&mut line, |_| asked_dead() >= 4).await;
    for number in [1, 3] {
        let count = readings(&reports, number).len();
        assert!(count >= 6, "{count} readings of unit {number}");
        assert!(
            !reports.contains(&link(number, false)),
            "unit {number} was never lost"
        );
    }
    assert!(reports.contains(&link(2, false)));
    assert!(
        !reports.contains(&DriverReport::Bus { up: false }),
        "the line itself is well"
    );
    // A query does not wait for a unit that rests; a command is tried.
    let before = asked_dead();
    let (outcome, _) = execute(&mut line, command(2, Action::Query)).await;
    assert!(is_unknown(&outcome), "{outcome:?}");
    assert_eq!(asked_dead(), before);
    let (outcome, _) = execute(
        &mut line,
        command(2, Action::OpenDoor { landing: at("1F") }),
    )
    .await;
    assert!(is_unknown(&outcome), "{outcome:?}");
    assert_eq!(asked_dead(), before + 1);
}

#[tokio::test]
async fn a_line_that_is_down_takes_all_along_and_comes_back_by_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let zone = ZoneInput {
        zone: ZoneId::new("main").unwrap(),
        unit: 9,
        point: Table::Discrete,
        address: 0,
        clear: 1,
    };
    let units = (1..=2).map(|number| unit(number, MAP)).collect();
    let mut line = line_to(&address.to_string(), units, vec![zone.clone()], TIMING);
    let fire = |clear| DriverReport::ZoneFire {
        zone: zone.zone.clone(),
        clear,
    };
    let reports = run_until(&mut line, |reports| !reports.is_empty()).await;
    let down = [
        DriverReport::Bus { up: false },
        link(1, false),
        link(2, false),
        fire(false),
    ];
    assert_eq!(reports, down);
    let (outcome, _) = execute(&mut line, open_door()).await;
    assert!(is_unknown(&outcome), "{outcome:?}");
    let device = Device::on(TcpListener::bind(address).await.unwrap(), |_, _| {
        Play::Answer
    });
    device.set(9, 1, 0, 1);
    device.set(1, 1, 0, 1);
    let enough = |reports: &[DriverReport]| {
        has_reading(reports, 1) && has_reading(reports, 2) && reports.contains(&fire(true))
    };
    let reports = run_until(&mut line, enough).await;
    assert!(reports.contains(&DriverReport::Bus { up: true }));
    assert!(reports.contains(&link(1, true)) && reports.contains(&link(2, true)));
    assert_eq!(readings(&reports, 1)[0].0.front, Door::Open);
    assert_eq!(execute(&mut line, open_door()).await.0, Outcome::Accepted);
}

/// A peer that takes every connection and closes it at the first request is a line that is down,
/// and is tried at a growing distance.
#[tokio::test]
async fn a_line_that_never_answers_is_down_though_it_can_be_opened() {
    let device = Device::start(|_, _| Play::Close).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let started = std::time::Instant::now();
    let reports = run_until(&mut line, |_| device.requests().len() >= 6).await;
    assert!(reports.contains(&DriverReport::Bus { up: false }));
    assert!(!reports.contains(&DriverReport::Bus { up: true }));
    // After the first failure at once, after four more at least 20, 20, 40 and 80 ms.
    assert!(
        started.elapsed() >= Duration::from_millis(160),
        "{:?}",
        started.elapsed()
    );
}

/// A gateway that closes the connection because of one unit takes the others along for no longer
/// than it takes to open it again.
#[tokio::test]
async fn a_unit_that_makes_the_peer_close_the_connection_is_not_the_line() {
    let device = Device::start(|unit, _| if unit == 2 { Play::Close } else { Play::Answer }).await;
    let units = (1..=2).map(|number| unit(number, MAP)).collect();
    let mut line = line_to(&device.address, units, Vec::new(), TIMING);
    let asked_bad = || {
        device
            .requests()
            .iter()
            .filter(|(unit, _)| *unit == 2)
            .count()
    };
    let reports = run_until(&mut line, |_| asked_bad() >= 5).await;
    assert!(reports.contains(&link(2, false)));
    assert!(!reports.contains(&link(1, false)), "{reports:?}");
    assert!(
        !reports.contains(&DriverReport::Bus { up: false }),
        "{reports:?}"
    );
}

/// A future that is dropped in the middle of a request takes its connection along: the reply that
/// comes later is nobody's.
#[tokio::test]
async fn a_command_that_is_dropped_half_way_closes_the_connection() {
    let device = device_with_one(1, Play::Late(50)).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let mut reports = Vec::new();
    let command = open_door();
    let half = timeout(
        Duration::from_millis(20),
        line.execute(&command, &mut open_gate, &mut reports),
    )
    .await;
    assert!(half.is_err());
    let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
    assert_eq!(device.connections(), 2);
    assert!(!reports.contains(&link(1, false)));
}
