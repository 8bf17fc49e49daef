//! Commands (law 5, `wire.md` section 6): read first, sent again at most once with the same id, a
//! hold with a new one; and what is late or foreign moves nothing.

use protocol::hardware::{Action, Motion, Outcome, Report};
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::plant::Arrived;
use crate::support::site::one_car;
use crate::support::{Building, R1, Situation, T1};

fn words_since(building: &mut Building, since_ms: u64) -> Vec<(u64, &'static str)> {
    let late = |arrived: &&Arrived| arrived.at_ms >= since_ms;
    let log = building.plant().log.iter().filter(late);
    log.map(|arrived| (arrived.at_ms - since_ms, arrived.command.action.word()))
        .collect()
}

#[test]
fn an_unanswered_call_is_read_first_and_sent_once_more_with_the_same_id() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().loses.insert("hall_call");
    building.request(R1, T1);
    building.run(500);
    let sent_ms = building
        .plant()
        .log
        .last()
        .map(|last| last.at_ms)
        .expect("a command");
    let calls = building.plant().ids("hall_call");
    assert_eq!(calls.len(), 1);
    building.run(20_000);
    let calls = building.plant().ids("hall_call");
    assert_eq!(calls.len(), 2, "at most once more");
    assert_eq!(calls[0], calls[1], "the same id");
    // Between the two there is a query that was asked after `accept_s`.
    let log = words_since(&mut building, sent_ms);
    let again = log
        .iter()
        .rposition(|(_, word)| *word == "hall_call")
        .expect("sent again");
    let read = log[..again]
        .iter()
        .any(|(at, word)| *word == "query" && *at >= 1_900);
    assert!(read, "{log:?}");
    assert!(log[again].0 >= 2_000, "{log:?}");
}

#[test]
fn an_unanswered_call_whose_effect_is_read_is_not_sent_again() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().mutes.insert("hall_call");
    building.request(R1, T1);
    building.run_alive(30_000);
    assert_eq!(building.plant().count("hall_call"), 1);
}

#[test]
fn without_a_reading_nothing_is_sent_again() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().loses.insert("hall_call");
    building.request(R1, T1);
    building.run(500);
    building.plant().answers = false;
    building.run(9_000);
    assert_eq!(
        building.plant().count("hall_call"),
        1,
        "never a blind resend"
    );
}

#[test]
fn what_a_driver_calls_unknown_is_read_first_too() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().loses.insert("hall_call");
    building.request(R1, T1);
    building.run(100);
    let command_id = building.plant().ids("hall_call").pop().expect("a call");
    let detail = "timeout on the bus".to_owned();
    building.report(Report::Outcome {
        command_id,
        outcome: Outcome::Unknown { detail },
    });
    let told_ms = building.now_ms();
    building.run(200);
    let log = words_since(&mut building, told_ms);
    assert_eq!(log.first().map(|(_, word)| *word), Some("query"), "{log:?}");
    assert_eq!(
        log.get(1).map(|(_, word)| *word),
        Some("hall_call"),
        "{log:?}"
    );
}

#[test]
fn an_unanswered_hold_is_repeated_with_a_new_id() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.plant().loses.insert("hold_door");
    building.plant().open_at("1F");
    building.run(8_000);
    let ids = building.plant().ids("hold_door");
    assert!(ids.len() >= 2, "{ids:?}");
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "each a new id");
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "enter waits for the hold"
    );
    building.plant().loses.clear();
    building.run(3_000);
    assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED enter");
}

#[test]
fn a_hold_is_renewed_before_it_lapses() {
    for situation in [Situation::Arrived, Situation::Target, Situation::HoldTarget] {
        let mut building = situation.building(Presence::None);
        let from_ms = building.now_ms() - 3_000;
        building.run(50_000);
        let log = words_since(&mut building, from_ms);
        let holds: Vec<u64> = log
            .iter()
            .filter(|(_, word)| *word == "hold_door")
            .map(|(at, _)| *at)
            .collect();
        let longest = holds
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .max()
            .expect("holds");
        // 10 s of hold, less the 5 s of a permission and the 2 s of an answer.
        assert!(longest <= 3_100, "{situation:?}: {holds:?}");
        let whole = |arrived: &Arrived| match &arrived.command.action {
            Action::HoldDoor { hold_ms, .. } => *hold_ms == 10_000,
            Action::Query
            | Action::Claim
            | Action::HallCall { .. }
            | Action::CancelCall { .. }
            | Action::CarCall { .. }
            | Action::OpenDoor { .. }
            | Action::CloseDoor { .. }
            | Action::Release => true,
        };
        let all = building.plant().log.iter().all(whole);
        assert!(all);
    }
}

#[test]
fn one_command_at_a_time_is_under_way() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.plant().mutes.insert("car_call");
    building.event(R1, T1, RobotEvent::Entered);
    building.run(1_500);
    assert_eq!(building.plant().count("car_call"), 1);
    assert_eq!(
        building.plant().count("close_door"),
        0,
        "it waits for the call"
    );
}

#[test]
fn every_command_carries_the_fence_of_the_owner_and_its_order() {
    let mut building = Situation::Target.building(Presence::None);
    building.event(R1, T1, RobotEvent::Exited);
    building.run(5_000);
    for arrived in &building.plant().log {
        let command = &arrived.command;
        if command.action != Action::Query {
            assert_eq!(command.fence.0, 1, "{command:?}");
            assert_eq!(command.order_id.as_ref().map(|id| id.as_str()), Some(T1));
            assert_eq!(command.expires_in_ms, 5_000);
        }
    }
}

#[test]
fn the_gateway_asks_after_poll_s_of_silence_and_after_each_grant() {
    let mut building = Building::new(one_car(Presence::None));
    let before = building.plant().count("query");
    building.run(20_000);
    let polls = building.plant().count("query") - before;
    assert!((9..=10).contains(&polls), "{polls} in 20 s");
    let before = building.plant().count("query");
    building.request(R1, T1);
    assert_eq!(
        building.plant().count("query"),
        before + 1,
        "in the step of the grant"
    );
}

/// R-LIFT-127, 128; AT-LIFT-10: after `settle_s`, then every `requery_s`, at most three times.
#[test]
fn the_effect_of_a_call_is_asked_for_after_settle_s_three_times() {
    let mut site = one_car(Presence::None);
    site.timing.poll_ms = 60_000;
    site.timing.silent_ms = 120_000;
    let mut building = Building::new(site);
    building.plant().deaf.insert("hall_call");
    building.request(R1, T1);
    building.run(100);
    let sent_ms = building
        .plant()
        .log
        .last()
        .map(|last| last.at_ms)
        .expect("a command");
    building.run_alive(30_000);
    let log = words_since(&mut building, sent_ms);
    let queries: Vec<u64> = log
        .iter()
        .filter(|(_, word)| *word == "query")
        .map(|(at, _)| *at)
        .collect();
    // Answered after 20 ms; 500 ms to settle. The one at 0 ms is that of the state's entry.
    assert_eq!(queries, [0, 520, 2_520, 4_520]);
    assert!(building.is_in(T1, RideState::WaitingHallCall));
}

const EVERYWHERE: [Situation; 12] = [
    Situation::Waiting,
    Situation::Arrived,
    Situation::Withheld,
    Situation::EnteredOpen,
    Situation::EnteredShut,
    Situation::Running,
    Situation::Target,
    Situation::Exited,
    Situation::HoldBoarding,
    Situation::HoldFire,
    Situation::HoldRunning,
    Situation::Cancelled,
];

/// A reading that is late, an answer to an unknown command, a word that is not newer.
fn foreign(building: &Building) -> [Report; 3] {
    let mut reading = building
        .plants
        .values()
        .next()
        .expect("a plant")
        .reading
        .clone();
    reading.motion = Motion::Down;
    [
        Report::Reading {
            reading,
            asked_ms: Some(1),
        },
        Report::Outcome {
            command_id: "somebody-else".parse().expect("an id"),
            outcome: Outcome::Done,
        },
        Report::Stale {
            detail: "seq 4 after 9".to_owned(),
        },
    ]
}

#[test]
fn late_and_foreign_words_move_no_ride_and_ask_at_most_once_every_requery_s() {
    for situation in EVERYWHERE {
        let mut building = situation.building(Presence::None);
        building.plant().answers = false;
        let told = building.describe(T1);
        let before = building.look(T1, false);
        let asked = building.plant().count("query");
        for _ in 0..20 {
            for report in foreign(&building) {
                building.report(report);
            }
            building.run(50);
        }
        let queries = building.plant().count("query") - asked;
        assert!(queries <= 2, "{situation:?}: {queries} queries in 1 s");
        assert_eq!(building.seen(&before), " =", "{situation:?} {told}");
    }
}

#[test]
fn an_unasked_word_causes_one_query_where_a_ride_waits() {
    let mut building = Situation::Running.building(Presence::None);
    building.plant().answers = false;
    let asked = building.plant().count("query");
    let reading = building.plant().reading.clone();
    for _ in 0..10 {
        let reading = reading.clone();
        building.report(Report::Reading {
            reading,
            asked_ms: None,
        });
    }
    assert_eq!(building.plant().count("query"), asked + 1);
}

#[test]
fn a_claim_is_released_where_ownership_ends() {
    let mut site = one_car(Presence::None);
    site.elevators.values_mut().for_each(|car| car.claim = true);
    let mut building = Building::new(site);
    building.request(R1, T1);
    building.run(1_000);
    assert_eq!(building.plant().count("claim"), 1);
    building.cancel(R1, T1);
    building.run(3_000);
    assert_eq!(building.plant().count("release"), 1);
    let words = words_since(&mut building, 0);
    let order: Vec<&str> = words
        .iter()
        .map(|(_, word)| *word)
        .filter(|word| *word != "query")
        .collect();
    assert_eq!(order, ["claim", "hall_call", "cancel_call", "release"]);
}

/// A cancelled ride leaves no call behind that was still to be sent.
#[test]
fn what_a_cancelled_ride_wanted_does_not_go_out_any_more() {
    let mut site = one_car(Presence::None);
    site.elevators.values_mut().for_each(|car| car.claim = true);
    let mut building = Building::new(site);
    building.plant().loses.insert("claim");
    building.request(R1, T1);
    building.run(500);
    building.cancel(R1, T1);
    building.run(20_000);
    assert_eq!(building.plant().count("hall_call"), 0);
    assert_eq!(building.plant().count("claim"), 1);
}

#[test]
fn a_command_dropped_at_the_gate_moves_nothing() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().loses.insert("hall_call");
    building.request(R1, T1);
    building.run(100);
    let command_id = building.plant().ids("hall_call").pop().expect("a call");
    building.report(Report::Outcome {
        command_id,
        outcome: Outcome::Dropped {
            detail: "a higher fence was seen".to_owned(),
        },
    });
    building.run(5_000);
    assert!(building.is_in(T1, RideState::WaitingHallCall));
    assert_eq!(building.plant().count("hall_call"), 1);
}

/// The first answer of ELEVATOR_ARRIVED is lost: the reading that led there keeps the door held, so
/// that it does not close on the robot that was told `enter` (exploration, seed 65, 24 h).
#[test]
fn a_hold_is_renewed_before_anything_was_read_in_its_state() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().open_at("1F");
    building.request(R1, T1);
    building.run_until("the car stands open", 5_000, |building| {
        building.is_in(T1, RideState::ElevatorArrived)
    });
    building.plant().answers = false;
    let before = building.plant().count("hold_door");
    building.run(3_500);
    assert!(building.is_in(T1, RideState::ElevatorArrived));
    assert_eq!(building.plant().count("hold_door"), before + 1);
}

/// A command that is given up is under way still (I4): what the next state wants waits for its
/// answer, for a reading that shows what it did, or for one that was asked for after `accept_s`.
#[test]
fn a_command_that_is_given_up_keeps_its_lane() {
    // The answer of a controller takes 20 ms, `accept_s` is 2 s.
    for (answers, does, span) in [
        (true, true, 19..=25),
        (false, true, 20..=45),
        (false, false, 2_000..=2_045),
    ] {
        let mut building = Situation::Arrived.building(Presence::None);
        building.run(500);
        let plant = building.plant();
        if !answers {
            plant.mutes.insert("car_call");
        }
        if !does {
            plant.loses.insert("car_call");
        }
        building.event(R1, T1, RobotEvent::Entered);
        assert_eq!(building.plant().count("car_call"), 1);
        let sent_ms = building.now_ms();
        building.run(1);
        building.event(R1, T1, RobotEvent::CancelEnter { again: false });
        assert!(building.is_in(T1, RideState::Hold));
        building.run(2_500);
        let log = words_since(&mut building, sent_ms);
        let next = log
            .iter()
            .find(|(_, word)| !matches!(*word, "query" | "car_call"));
        let Some((at_ms, word)) = next else {
            panic!("nothing was sent: {log:?}");
        };
        assert_eq!(*word, "hold_door", "{log:?}");
        assert!(span.contains(at_ms), "{span:?}: {log:?}");
    }
}
