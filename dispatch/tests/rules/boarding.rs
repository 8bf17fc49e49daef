//! ELEVATOR_ARRIVED: `enter` withheld and given, NOSHOW, and links that come and go.

use protocol::hardware::Report;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::{Building, R1, Situation, T1};

fn status(building: &mut Building, at_door: Option<bool>, eta_s: Option<u32>) {
    let mut status = building.status_of();
    status.at_door = at_door;
    status.eta_s = eta_s;
    building.tell(R1, status);
}

#[test]
fn a_status_lifts_approach_to_enter() {
    for (at_door, eta_s) in [(Some(true), None), (None, Some(0)), (Some(true), Some(9))] {
        let mut building = Situation::Withheld.building(Presence::None);
        status(&mut building, Some(false), Some(20));
        assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED approach");
        status(&mut building, at_door, eta_s);
        building.run(50);
        assert_eq!(
            building.describe(T1),
            "ELEVATOR_ARRIVED enter",
            "{at_door:?} {eta_s:?}"
        );
    }
}

#[test]
fn once_given_enter_is_not_withheld_again() {
    let mut building = Situation::Arrived.building(Presence::None);
    status(&mut building, Some(false), Some(60));
    building.run(3_000);
    assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED enter");
    building.plant().shut_at("1F");
    building.run(5_000);
    assert_eq!(
        building.describe(T1),
        "ELEVATOR_ARRIVED enter",
        "after the door was opened again"
    );
}

#[test]
fn a_robot_that_is_on_its_way_is_told_to_approach() {
    let mut building = Building::new(crate::support::site::one_car(Presence::None));
    let mut request = building.request_of(T1);
    request.at_door = None;
    request.eta_s = Some(15);
    building.ask(R1, request);
    building.run(500);
    building.plant().open_at("1F");
    building.run_to(RideState::ElevatorArrived);
    assert_eq!(building.describe(T1), "ELEVATOR_ARRIVED approach");
    let ride = &building.state().rides[&T1.parse().expect("an id")];
    assert!(!ride.inside, "nobody may be inside");
}

/// NOSHOW: not before 2 x `valid_s` after the last permission (AT-LIFT-23).
#[test]
fn no_show_waits_for_the_last_permission_to_run_out() {
    let mut building = Situation::Arrived.building(Presence::Robot);
    building.run_alive(59_000);
    let reply = building.event(R1, T1, RobotEvent::Query);
    assert!(reply.valid_s.is_some(), "a permission");
    let given_ms = building.now_ms();
    building.run(1_500);
    building.plant().shut_at("1F");
    while building.now_ms() < given_ms + 9_900 {
        building.run(100);
        assert!(
            building.is_in(T1, RideState::ElevatorArrived),
            "{}",
            building.describe(T1)
        );
    }
    building.run(4_000);
    assert_eq!(building.describe(T1), "FAILED(BOARDING_TIMEOUT) clear");
}

/// A car that never shows EMPTY while SHUT is held, and nobody else gets it.
#[test]
fn people_in_the_car_make_a_hold_of_a_no_show() {
    let mut building = Situation::Arrived.building(Presence::Any);
    building.plant().occupied(true);
    building.run_alive(61_000);
    building.plant().shut_at("1F");
    building.run_alive(45_000);
    assert_eq!(building.describe(T1), "HOLD(BOARDING_TIMEOUT) stay");
    assert_eq!(
        building.plant().count("close_door"),
        0,
        "no close_door before a confirmed entry"
    );
}

/// A link that opens again and again without a reading is silence all the same.
#[test]
fn a_link_that_comes_and_goes_is_silent_after_silent_s() {
    let mut building = Situation::Running.building(Presence::None);
    building.plant().answers = false;
    for _ in 0..6 {
        building.report(Report::Link { up: false });
        building.run(1_000);
        building.report(Report::Link { up: true });
        building.run(1_000);
    }
    assert_eq!(building.describe(T1), "HOLD(CONTROLLER_LOST) stay");
}

#[test]
fn a_robot_that_says_entered_twice_is_told_that_it_is_known() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.event(R1, T1, RobotEvent::Entered);
    let again = building.event(R1, T1, RobotEvent::Entered);
    assert_eq!(again.result, protocol::ride::ReplyResult::Duplicate);
}

/// The signal is looked at three times, once a second, and a late one counts (T-LIFT-23, 24, 25).
#[test]
fn a_signal_that_comes_late_bears_the_word_out() {
    let mut building = Situation::Arrived.building(Presence::Robot);
    building.read_again();
    building.event(R1, T1, RobotEvent::Entered);
    assert!(building.is_in(T1, RideState::ElevatorArrived));
    building.run(1_500);
    building.plant().occupied(true);
    building.run(1_000);
    assert!(
        building.is_in(T1, RideState::RobotEntered),
        "{}",
        building.describe(T1)
    );
    let mut building = Situation::Target.building(Presence::Robot);
    building.event(R1, T1, RobotEvent::Exited);
    building.run(2_500);
    building.plant().occupied(false);
    building.run(1_000);
    assert!(
        building.is_in(T1, RideState::RobotExited),
        "{}",
        building.describe(T1)
    );
}

/// EMPTY without a signal is the robot's word with no SHUT read since `enter`, in whatever state
/// that was read: the car may have been shut with the robot in it.
#[test]
fn a_shut_door_since_enter_takes_the_proof_from_cancel_enter() {
    let cancel = || RobotEvent::CancelEnter { again: false };
    let mut building = Situation::EnteredShut.building(Presence::None);
    building.event(R1, T1, cancel());
    building.run(3_000);
    assert_eq!(
        building.describe(T1),
        "HOLD(ENTRY_UNCONFIRMED) exit",
        "opened again"
    );
    building.event(R1, T1, cancel());
    building.run(5_000);
    assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) exit");
    let mut building = Situation::Arrived.building(Presence::None);
    building.plant().deaf.insert("open_door");
    building.plant().shut_at("1F");
    building.read_again();
    building.event(R1, T1, RobotEvent::CancelExit);
    building.plant().open_at("1F");
    building.run(3_000);
    assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) exit");
    building.event(R1, T1, cancel());
    building.run(1_000);
    assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) exit");
}

/// The robot's word is proof where no door was seen shut.
#[test]
fn cancel_enter_at_an_open_door_proves_an_empty_car_without_a_signal() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.run(10_000);
    building.event(R1, T1, RobotEvent::CancelEnter { again: false });
    assert_eq!(building.describe(T1), "CANCELLED(CANCELLED_BY_ROBOT) clear");
}

/// `exited` counts where the door was seen open since RUNNING began, in the HOLD after it too.
#[test]
fn exited_on_the_way_counts_after_the_signal_disagreed_first() {
    let mut building = Situation::RunningOpened.building(Presence::Robot);
    let first = building.event(R1, T1, RobotEvent::Exited);
    assert_eq!(first.result, protocol::ride::ReplyResult::Accepted);
    assert_eq!(
        building.describe(T1),
        "HOLD(WRONG_FLOOR) stay",
        "the signal says FULL"
    );
    building.plant().shut_at("3F");
    building.plant().occupied(false);
    building.read_again();
    building.event(R1, T1, RobotEvent::Exited);
    assert_eq!(building.describe(T1), "FAILED(WRONG_FLOOR) clear");
}

/// An unanswered `open_door` is not sent once more to a car that moves by then.
#[test]
fn open_door_is_not_sent_again_where_the_car_left_meanwhile() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.plant().loses.insert("open_door");
    building.plant().shut_at("1F");
    building.run_until("the first open_door", 3_000, |building| {
        building
            .plants
            .values()
            .any(|plant| plant.count("open_door") == 1)
    });
    building.plant().pass("3F", protocol::hardware::Motion::Up);
    building.run(6_000);
    assert_eq!(building.plant().count("open_door"), 1);
    assert_eq!(building.describe(T1), "HOLD(DOOR_FAULT) stay");
}

/// HOLD: what was to go on does not go out any more, least of all a closing door.
#[test]
fn no_close_door_and_no_call_of_before_goes_out_in_hold() {
    for word in ["car_call", "close_door"] {
        let mut building = Situation::Arrived.building(Presence::None);
        building.plant().loses.insert(word);
        building.event(R1, T1, RobotEvent::Entered);
        building.run(1_500);
        assert_eq!(building.plant().count(word), 1);
        building.event(R1, T1, RobotEvent::CancelEnter { again: false });
        building.run(10_000);
        assert_eq!(
            building.plant().count(word),
            1,
            "{word} is not sent once more"
        );
        assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) exit");
    }
}
