//! Permission is fresh or it is none (`wire.md` section 4).

use dispatch::Input;
use protocol::hardware::{Change, Door, Mode, Report};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::robot::RobotEvent;

use crate::support::{Building, R1, Situation, T1};

fn asked(building: &mut Building) -> (Option<Instruction>, Option<u64>) {
    let reply = building.event(R1, T1, RobotEvent::Query);
    (reply.instruction, reply.seq)
}

#[test]
fn a_fresh_reading_and_a_hold_that_outlasts_it_give_permission() {
    for (situation, word) in [
        (Situation::Arrived, Instruction::Enter),
        (Situation::Target, Instruction::Exit),
        (Situation::HoldBoarding, Instruction::Exit),
        (Situation::HoldTarget, Instruction::Exit),
        // No hold may be sent there: the open door alone is the way out.
        (Situation::HoldFire, Instruction::Exit),
    ] {
        let mut building = situation.building(Presence::None);
        let before = building.state().rides[&T1.parse().expect("an id")].seq;
        let (told, seq) = asked(&mut building);
        assert_eq!(told, Some(word), "{situation:?}");
        assert_eq!(seq, Some(before), "{situation:?}");
    }
}

#[test]
fn an_old_reading_turns_permission_into_stay_with_a_new_seq() {
    for situation in [Situation::Arrived, Situation::Target] {
        let mut building = situation.building(Presence::None);
        let before = building.state().rides[&T1.parse().expect("an id")].seq;
        building.plant().answers = false;
        building.run(3_100);
        let (told, seq) = asked(&mut building);
        assert_eq!(told, Some(Instruction::Stay), "{situation:?}");
        assert!(seq > Some(before), "{situation:?}");
        // It comes back with the next reading.
        building.plant().answers = true;
        building.run(5_000);
        let (told, _) = asked(&mut building);
        assert!(matches!(told, Some(Instruction::Enter | Instruction::Exit)));
    }
}

#[test]
fn a_hold_that_does_not_last_turns_permission_into_stay() {
    for situation in [Situation::Arrived, Situation::Target, Situation::HoldTarget] {
        let mut building = situation.building(Presence::None);
        building.plant().loses.insert("hold_door");
        // The hold of 10 s was taken just before; after 5 s it lasts less than `valid_s`.
        building.run(5_500);
        let (told, _) = asked(&mut building);
        assert_eq!(told, Some(Instruction::Stay), "{situation:?}");
    }
}

/// AT-LIFT-10: the word of the door comes late, and a robot asks in between.
#[test]
fn a_door_that_closes_is_told_at_once() {
    for situation in [Situation::Arrived, Situation::Target, Situation::HoldTarget] {
        let mut building = situation.building(Presence::None);
        building.plant().answers = false;
        building.report(Report::Change(Change {
            front: Some(Door::Closing),
            ..Change::default()
        }));
        let (told, _) = asked(&mut building);
        assert_eq!(told, Some(Instruction::Stay), "{situation:?}");
    }
}

/// A retained, queued or unasked reading that shows an open door gives nothing (law 6).
#[test]
fn an_unasked_open_door_gives_no_permission() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.plant().open_at("1F");
    let reading = building.plant().reading.clone();
    building.plant().answers = false;
    for _ in 0..5 {
        let reading = reading.clone();
        building.report(Report::Reading {
            reading,
            asked_ms: None,
        });
        building.run(100);
    }
    assert!(building.is_in(T1, RideState::WaitingHallCall));
    assert_eq!(building.plant().count("hold_door"), 0);
}

/// So does one that was asked for before the link opened anew.
#[test]
fn an_answer_of_an_old_connection_gives_no_permission() {
    let mut building = Situation::Waiting.building(Presence::None);
    let asked_ms = Some(building.now_ms() - 500);
    building.plant().answers = false;
    building.report(Report::Link { up: true });
    building.plant().open_at("1F");
    let reading = building.plant().reading.clone();
    building.report(Report::Reading { reading, asked_ms });
    building.run(100);
    assert!(building.is_in(T1, RideState::WaitingHallCall));
    assert_eq!(building.plant().count("hold_door"), 0);
}

#[test]
fn a_gateway_that_ends_gives_no_new_enter_and_keeps_the_exit() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.step(Input::Stopping);
    building.plant().open_at("1F");
    building.run(5_000);
    let ride = &building.state().rides[&T1.parse().expect("an id")];
    assert!(!ride.enter_given, "{}", building.describe(T1));
    let mut building = Situation::Running.building(Presence::None);
    building.step(Input::Stopping);
    building.plant().open_at("6F");
    building.run(3_000);
    assert_eq!(building.describe(T1), "TARGET_ARRIVED exit");
    // Nor where a controller comes back that was silent while the robot stood at the door.
    for (stops, said) in [
        (false, "ELEVATOR_ARRIVED enter"),
        (true, "HOLD(CONTROLLER_LOST) stay"),
    ] {
        let mut building = Situation::Arrived.building(Presence::None);
        building.plant().answers = false;
        building.run(12_000);
        building.plant().answers = true;
        if stops {
            building.step(Input::Stopping);
        }
        building.run(3_000);
        assert_eq!(building.describe(T1), said);
    }
}

#[test]
fn without_a_mode_signal_the_zone_fire_input_stands_for_it() {
    use crate::support::site::{one_car, zone};
    let mut site = one_car(Presence::None);
    site.elevators
        .values_mut()
        .for_each(|car| car.mode_signal = false);
    site.zones
        .values_mut()
        .for_each(|zone| zone.fire_input = true);
    let mut building = Building::new(site);
    building.plant().reading.mode = Mode::Unknown;
    building.run(3_000);
    building.request(R1, T1);
    building.run(3_000);
    assert!(
        building.is_in(T1, RideState::Queued),
        "not before the input was read"
    );
    let zone = zone("main");
    building.step(Input::ZoneFire { zone, clear: true });
    building.run(3_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
}

/// `hold_door` extends a deadline by at most 120 s in all (`wire.md` section 5).
#[test]
fn hold_door_extends_at_most_120_s_in_all() {
    for (situation, left_ms) in [(Situation::Arrived, 60_000), (Situation::Target, 60_000)] {
        let mut building = situation.building(Presence::None);
        for _ in 0..5 {
            building.event(R1, T1, RobotEvent::HoldDoor { hold_s: 60 });
        }
        let (_, shown) = building.shown.last().expect("a ride state");
        let deadline = shown.deadline_s.expect("a deadline").ms;
        assert!(deadline <= left_ms + 120_000, "{deadline}");
        assert!(deadline > left_ms + 110_000, "{deadline}");
    }
}

/// ROBOT_ENTERED: the door is opened, held for as long as asked, and closed later.
#[test]
fn hold_door_after_the_entry_keeps_the_door_open_and_closes_it_later() {
    let mut building = Situation::EnteredOpen.building(Presence::None);
    building.plant().shut_at("1F");
    building.plant().reading.front = Door::Closing;
    building.read_again();
    let before = building.plant().count("hold_door");
    building.event(R1, T1, RobotEvent::HoldDoor { hold_s: 20 });
    building.run(19_000);
    assert_eq!(building.plant().count("open_door"), 1);
    assert!(
        building.plant().count("hold_door") >= before + 3,
        "renewed all the time"
    );
    assert_eq!(building.plant().count("close_door"), 0);
    building.plant().reading.calls = Some(vec![protocol::hardware::Call::Car {
        floor: crate::support::site::floor("6F"),
        side: None,
    }]);
    building.run(6_000);
    assert_eq!(building.plant().count("close_door"), 1);
    assert!(
        building.is_in(T1, RideState::RobotEntered),
        "{}",
        building.describe(T1)
    );
}
