//! A plain ride from the request to the free elevator (`wire.md` sections 4 and 6).

use dispatch::{OperatorAction, OperatorAnswer};
use protocol::hardware::Motion;
use protocol::ops::Presence;
use protocol::ride::{RideState, RideView};
use protocol::robot::RobotEvent;

use crate::support::site::{elevator, one_car};
use crate::support::{Building, E1, R1, T1};

fn ride(presence: Presence, claim: bool) -> Building {
    let mut site = one_car(presence);
    site.elevators
        .values_mut()
        .for_each(|car| car.claim = claim);
    let mut building = Building::new(site);
    building.request(R1, T1);
    building.run(1_000);
    building.plant().open_at("1F");
    building.run_to(RideState::ElevatorArrived);
    building.plant().occupied(true);
    building.run(2_500);
    building.event(R1, T1, RobotEvent::Entered);
    building.run(2_500);
    building.plant().pass("3F", Motion::Up);
    building.run_to(RideState::Running);
    building.plant().open_at("6F");
    building.run_to(RideState::TargetArrived);
    building.plant().occupied(false);
    building.run(2_500);
    building.event(R1, T1, RobotEvent::Exited);
    building.run(3_000);
    building
}

#[test]
fn the_states_of_a_plain_ride() {
    for presence in [Presence::None, Presence::Robot, Presence::Any] {
        let building = ride(presence, false);
        let told: Vec<(u64, String)> = building
            .shown
            .iter()
            .map(|(_, view)| (view.seq, format!("{} {}", view.state, view.instruction)))
            .collect();
        let expected = [
            (1, "QUEUED wait"),
            (2, "GRANTED approach"),
            (3, "WAITING_HALL_CALL approach"),
            (4, "ELEVATOR_ARRIVED enter"),
            (5, "ROBOT_ENTERED ride"),
            (6, "RUNNING ride"),
            (7, "TARGET_ARRIVED exit"),
            (8, "ROBOT_EXITED clear"),
        ];
        let expected: Vec<(u64, String)> = expected
            .iter()
            .map(|(seq, text)| (*seq, (*text).to_owned()))
            .collect();
        assert_eq!(told, expected, "{presence:?}");
        assert!(building.state().elevator(&elevator(E1)).owner.is_none());
        assert!(building.alarms.is_empty());
    }
}

#[test]
fn the_fields_of_each_state() {
    let building = ride(Presence::None, false);
    let field = |view: &RideView| {
        (
            view.floor.as_ref().map(ToString::to_string),
            view.valid_s.map(|valid| valid.ms),
            view.deadline_s.map(|left| left.ms),
            view.queue_position,
            view.fence.map(|fence| fence.0),
        )
    };
    let at = |floor: &str| Some(floor.to_owned());
    let fields: Vec<_> = building.shown.iter().map(|(_, view)| field(view)).collect();
    assert_eq!(
        fields,
        [
            (None, None, None, Some(1), None),
            (at("1F"), None, Some(5_000), None, Some(1)),
            (at("1F"), None, Some(60_000), None, Some(1)),
            (at("1F"), Some(5_000), Some(60_000), None, Some(1)),
            (at("6F"), None, Some(15_000), None, Some(1)),
            (at("6F"), None, Some(180_000), None, Some(1)),
            (at("6F"), Some(5_000), Some(60_000), None, Some(1)),
            (None, None, None, None, Some(1)),
        ]
    );
    for (_, view) in &building.shown {
        assert_eq!(view.held_from, None);
        assert_eq!(view.deadline.is_some(), view.deadline_s.is_some());
    }
}

/// query, [claim], hall_call, hold_door, car_call, close_door, hold_door, close_door, [release].
#[test]
fn the_commands_of_a_plain_ride() {
    for claim in [false, true] {
        let building = ride(Presence::None, claim);
        let log = building.plants.values().flat_map(|plant| &plant.log);
        let mut words: Vec<&str> = log.map(|sent| sent.command.action.word()).collect();
        assert_eq!(words.first(), Some(&"query"));
        words.retain(|word| *word != "query");
        words.dedup();
        let mut expected = vec![
            "hall_call",
            "hold_door",
            "car_call",
            "close_door",
            "hold_door",
            "close_door",
        ];
        if claim {
            expected.insert(0, "claim");
            expected.push("release");
        }
        assert_eq!(words, expected);
    }
}

/// `health`: no reading for `reading_fresh_s` is stale, for `silent_s` offline.
#[test]
fn the_health_of_an_elevator_follows_its_readings() {
    let mut building = Building::new(one_car(Presence::None));
    let health = |building: &mut Building| {
        let show = OperatorAction::ElevatorShow(elevator(E1));
        let Ok(OperatorAnswer::Elevators(cars)) = building.operator(show) else {
            panic!("an elevator");
        };
        cars[0].health.as_str().to_owned()
    };
    building.read_again();
    building.plant().answers = false;
    let table = [
        (2_900, "ok"),
        (200, "stale"),
        (6_800, "stale"),
        (200, "offline"),
    ];
    for (pause_ms, expected) in table {
        building.run(pause_ms);
        assert_eq!(health(&mut building), expected);
    }
    building.plant().answers = true;
    building.run(3_000);
    assert_eq!(health(&mut building), "ok");
}
