//! What is newer, what is late, and whose answer it is.

use super::*;

/// T-LIFT-21: late and repeated callbacks of the previous ride move nothing.
#[test]
fn an_event_that_is_not_newer_is_stale() {
    let mut driver = one_sided();
    assert_eq!(driver.event(1, WALL, &of_boot("b-1", 7, state())).len(), 1);
    assert!(is_stale(&driver.event(
        2,
        WALL,
        &of_boot("b-1", 7, state())
    )));
    assert!(is_stale(&driver.event(
        3,
        WALL,
        &of_boot("b-1", 3, state())
    )));
    assert!(!is_stale(&driver.event(
        4,
        WALL,
        &of_boot("b-1", 8, state())
    )));
    let unnumbered = ElevatorEvent {
        seq: Some(8),
        ..state()
    };
    assert!(
        is_stale(&driver.event(5, WALL, &unnumbered)),
        "the same counter without its boot"
    );
    assert!(
        !is_stale(&driver.event(6, WALL, &state())),
        "without seq there is no order"
    );
}

#[test]
fn a_new_boot_opens_the_link_anew_and_ends_what_was_sent_before() {
    let mut driver = one_sided();
    driver.event(1, WALL, &of_boot("b-1", 100, state()));
    driver.command(2, WALL, &command("c-1", hall_call()));
    driver.command(2, WALL, &command("q-1", Action::Query));
    let reports = driver.event(3, WALL, &of_boot("b-2", 1, state()));
    assert_eq!(reports.first(), Some(&Report::Link { up: true }));
    assert_eq!(asked_ms(&reports), None);
    let late = of_boot("b-2", 2, answer(ControllerEvent::Accepted, "c-1"));
    assert!(is_stale(&driver.event(4, WALL, &late)));
    let query = ElevatorEvent {
        command_id: Some(id("q-1")),
        ..state()
    };
    assert_eq!(
        asked_ms(&driver.event(5, WALL, &of_boot("b-2", 3, query))),
        None
    );
    assert!(
        is_stale(&driver.event(6, WALL, &of_boot("b-1", 101, state()))),
        "that boot is over"
    );
    assert!(!is_stale(&driver.event(
        7,
        WALL,
        &of_boot("b-2", 4, state())
    )));
}

#[test]
fn answers_over_an_old_connection_are_stale() {
    let mut driver = one_sided();
    driver.command(1, WALL, &command("c-1", hall_call()));
    driver.command(1, WALL, &command("q-1", Action::Query));
    assert_eq!(driver.disconnected(), [Report::Link { up: false }]);
    assert_eq!(driver.connected(), [Report::Link { up: true }]);
    assert!(is_stale(&driver.event(
        60_000,
        WALL,
        &answer(ControllerEvent::Done, "c-1")
    )));
    let query = ElevatorEvent {
        command_id: Some(id("q-1")),
        ..state()
    };
    assert_eq!(asked_ms(&driver.event(60_001, WALL, &query)), None);
}

#[test]
fn a_clock_that_is_more_than_a_minute_off_is_told_once_a_minute() {
    let mut driver = one_sided();
    let mut heard = |now_ms: u64, theirs: u64| {
        driver.command(now_ms, WALL, &command("q-1", Action::Query));
        let event = ElevatorEvent {
            command_id: Some(id("q-1")),
            timestamp: Timestamp(theirs),
            ..state()
        };
        driver.event(now_ms, WALL, &event)
    };
    let clock = |reports: &[Report]| {
        reports.iter().find_map(|report| match report {
            Report::Clock { ahead_ms } => Some(*ahead_ms),
            Report::Reading { .. }
            | Report::Change(_)
            | Report::Outcome { .. }
            | Report::Stale { .. }
            | Report::Link { .. } => None,
        })
    };
    assert_eq!(clock(&heard(0, WALL.0 + 60_000)), None);
    assert_eq!(clock(&heard(1_000, WALL.0 + 60_001)), Some(60_001));
    assert_eq!(clock(&heard(60_999, WALL.0 + 60_001)), None);
    assert_eq!(clock(&heard(61_000, WALL.0 - 90_000)), Some(-90_000));
    // What nobody asked for may have waited in the broker: it says nothing of the clock.
    let old = ElevatorEvent {
        timestamp: Timestamp(0),
        ..state()
    };
    assert_eq!(clock(&driver.event(200_000, WALL, &old)), None);
}

#[test]
fn of_more_than_64_awaited_commands_the_oldest_is_forgotten() {
    let mut driver = one_sided();
    for number in 0..65 {
        driver.command(
            number,
            WALL,
            &command(&format!("c-{number}"), Action::Claim),
        );
    }
    assert!(is_stale(&driver.event(
        100,
        WALL,
        &answer(ControllerEvent::Done, "c-0")
    )));
    let done = driver.event(100, WALL, &answer(ControllerEvent::Done, "c-1"));
    assert_eq!(done, outcome("c-1", Outcome::Done));
    // A re-send of the same effect is one command, not two.
    for _ in 0..200 {
        driver.command(200, WALL, &command("c-2", Action::Claim));
    }
    let done = driver.event(201, WALL, &answer(ControllerEvent::Done, "c-3"));
    assert_eq!(done, outcome("c-3", Outcome::Done));
}
