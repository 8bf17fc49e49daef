//! Polls, queries and commands between them, with a device that behaves.

use protocol::hardware::{Door, Motion};

use super::device::{Device, Play};
use super::*;

#[tokio::test]
async fn a_poll_is_one_whole_reading_asked_for_when_it_began() {
    let device = Device::start(|_, _| Play::Answer).await;
    device.set(1, 3, 0, 4);
    device.set(1, 1, 1, 1);
    device.set(1, 1, 2, 1);
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let reports = run_until(&mut line, |reports| readings(reports, 1).len() == 2).await;
    assert_eq!(
        reports[..2],
        [DriverReport::Bus { up: true }, link(1, true)]
    );
    let readings = readings(&reports, 1);
    let (first, asked_ms) = &readings[0];
    assert_eq!(first.floor, Some(floor("5F")));
    assert_eq!((first.front, first.motion), (Door::Closed, Motion::Up));
    // The clock ticks at each look, and a poll looks once.
    assert_eq!((*asked_ms, readings[1].1), (1_000, 1_001));
    let requests = device.requests();
    // Two blocks each: discrete inputs 0 to 3, input register 0.
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[0], (1, vec![2, 0, 0, 0, 4]));
    assert_eq!(requests[1], (1, vec![4, 0, 0, 0, 1]));
}

#[tokio::test]
async fn a_query_reads_at_once_and_is_done() {
    let device = Device::start(|_, _| Play::Answer).await;
    device.set(1, 1, 0, 1);
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let (outcome, reports) = execute(&mut line, command(1, Action::Query)).await;
    assert_eq!(outcome, Outcome::Done);
    let readings = readings(&reports, 1);
    assert_eq!(readings.len(), 1);
    assert_eq!((readings[0].0.front, readings[0].1), (Door::Open, 1_000));
    let writes = device
        .requests()
        .iter()
        .filter(|(_, pdu)| pdu[0] >= 5)
        .count();
    assert_eq!(writes, 0);
}

#[tokio::test]
async fn a_command_goes_between_two_blocks_and_the_reading_begins_anew() {
    let device = Device::start(|_, _| Play::Answer).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let mut reports = Vec::new();
    // Opens the line, then reads the first block.
    for _ in 0..2 {
        line.ready().await;
        line.read(&mut reports).await;
    }
    assert_eq!(device.requests().len(), 1);
    let (outcome, _) = execute(
        &mut line,
        command(1, Action::OpenDoor { landing: at("1F") }),
    )
    .await;
    assert_eq!(outcome, Outcome::Accepted);
    let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
    let functions: Vec<u8> = device.requests().iter().map(|(_, pdu)| pdu[0]).collect();
    assert_eq!(functions, [2, 5, 2, 4]);
    assert_eq!(
        readings(&reports, 1)[0].1,
        1_001,
        "asked for after the command"
    );
}

#[tokio::test]
async fn elevators_on_one_line_are_read_in_turn() {
    let device = Device::start(|_, _| Play::Answer).await;
    for number in 1..=3 {
        device.set(number, 3, 0, u16::from(number));
    }
    let units = (1..=3).map(|number| unit(number, MAP)).collect();
    let mut line = line_to(&device.address, units, Vec::new(), TIMING);
    let enough = |reports: &[DriverReport]| (1..=3).all(|n| readings(reports, n).len() >= 3);
    let reports = run_until(&mut line, enough).await;
    for (number, label) in [(1, "2F"), (2, "3F"), (3, "4F")] {
        let readings = readings(&reports, number);
        assert!(
            readings
                .iter()
                .all(|(reading, _)| reading.floor == Some(floor(label)))
        );
        assert!(
            readings.len() <= 5,
            "{} readings of unit {number}",
            readings.len()
        );
    }
    assert_eq!(device.connections(), 1);
}

#[tokio::test]
async fn a_button_is_let_go_after_its_time_and_polls_go_on_meanwhile() {
    let device = Device::start(|_, _| Play::Answer).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let pressed_at = std::time::Instant::now();
    let (outcome, _) = execute(&mut line, command(1, Action::CarCall { landing: at("2F") })).await;
    assert_eq!(outcome, Outcome::Accepted);
    let off = (1, vec![5, 0, 33, 0, 0]);
    let reports = run_until(&mut line, |_| device.requests().contains(&off)).await;
    assert!(pressed_at.elapsed() >= Duration::from_millis(200));
    assert!(has_reading(&reports, 1));
    let writes: Vec<_> = device
        .requests()
        .into_iter()
        .filter(|(_, pdu)| pdu[0] == 5)
        .collect();
    assert_eq!(writes, [(1, vec![5, 0, 33, 0xFF, 0]), off]);
}

#[tokio::test]
async fn a_second_press_lets_the_first_one_go_and_the_end_lets_all_go() {
    let device = Device::start(|_, _| Play::Answer).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    for label in ["2F", "2F", "3F"] {
        let call = command(1, Action::CarCall { landing: at(label) });
        assert_eq!(execute(&mut line, call).await.0, Outcome::Accepted);
    }
    timeout(PATIENCE, line.finish()).await.unwrap();
    let (on, off) = (
        |coil| (1, vec![5, 0, coil, 0xFF, 0]),
        |coil| (1, vec![5, 0, coil, 0, 0]),
    );
    assert_eq!(
        device.requests(),
        [on(33), off(33), on(33), on(34), off(33), off(34)]
    );
}

#[tokio::test]
async fn commands_that_the_map_or_the_line_lacks_fail_by_name() {
    let device = Device::start(|_, _| Play::Answer).await;
    let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let (outcome, _) = execute(&mut line, command(1, Action::Claim)).await;
    let detail = "the map has no point commands.claim".to_owned();
    assert_eq!(outcome, Outcome::Failed { detail });
    let (outcome, _) = execute(&mut line, command(2, Action::Query)).await;
    let detail = format!("elevator EL002 is not on the line to {}", device.address);
    assert_eq!(outcome, Outcome::Failed { detail });
    assert!(device.requests().is_empty());
}

/// What may have pressed the button all the same is let go; what was not even tried is not.
#[tokio::test]
async fn a_button_is_let_go_where_nobody_knows_whether_it_is_pressed() {
    for (code, is_let_go) in [(2, false), (6, false), (4, true), (5, true), (11, true)] {
        let mut answered = false;
        let device = Device::start(move |_, pdu| {
            let is_on = pdu[0] == 5 && pdu[3] == 0xFF;
            if is_on && !std::mem::replace(&mut answered, true) {
                return Play::Exception(code);
            }
            Play::Answer
        })
        .await;
        let mut line = line_to(&device.address, vec![unit(1, MAP)], Vec::new(), TIMING);
        let call = command(1, Action::CarCall { landing: at("2F") });
        let (outcome, _) = execute(&mut line, call).await;
        assert_ne!(outcome, Outcome::Accepted, "exception {code}");
        timeout(PATIENCE, line.finish()).await.unwrap();
        let off = (1, vec![5, 0, 33, 0, 0]);
        assert_eq!(device.requests().contains(&off), is_let_go, "{code}");
    }
}

/// At the end a dead unit keeps no button of another one pressed.
#[tokio::test]
async fn the_end_lets_go_past_a_unit_that_does_not_answer() {
    let device = Device::start(|unit, pdu| {
        let is_off = pdu[0] == 5 && pdu[3] == 0;
        if unit == 1 && is_off {
            Play::Silence
        } else {
            Play::Answer
        }
    })
    .await;
    let units = vec![unit(1, MAP), unit(2, MAP)];
    let mut line = line_to(&device.address, units, Vec::new(), TIMING);
    for elevator in [1, 2] {
        let call = command(elevator, Action::CarCall { landing: at("2F") });
        assert_eq!(execute(&mut line, call).await.0, Outcome::Accepted);
    }
    timeout(PATIENCE, line.finish()).await.unwrap();
    assert!(device.requests().contains(&(2, vec![5, 0, 33, 0, 0])));
}

/// Function 05 with a time in its value goes over RTU only; `hallcall check` says so before.
#[tokio::test]
async fn a_flash_over_modbus_tcp_is_failed_and_not_sent() {
    let device = Device::start(|_, _| Play::Answer).await;
    let map = MAP.replace("address = 48 }", "address = 0x0200, flash_ms = 700 }");
    let mut line = line_to(&device.address, vec![unit(1, &map)], Vec::new(), TIMING);
    let open = command(1, Action::OpenDoor { landing: at("1F") });
    let (outcome, _) = execute(&mut line, open).await;
    let detail = "unit 1: function 05 takes no value 7 over Modbus TCP".to_owned();
    assert_eq!(outcome, Outcome::Failed { detail });
    assert!(device.requests().is_empty());
}
