//! What a ride meets between two floors that `ride.md` names no cell for.

use protocol::hardware::Door;
use protocol::ops::Presence;
use protocol::ride::RideState;

use crate::support::{Building, Situation, T1};

/// The door opened and shut at the target while nobody could look: it is opened again.
#[test]
fn a_car_that_stands_shut_at_the_target_is_opened_after_requery_s() {
    let mut building = Situation::Running.building(Presence::None);
    building.plant().shut_at("6F");
    building.read_again();
    assert_eq!(
        building.plant().count("open_door"),
        0,
        "its door may be about to open"
    );
    building.run_until("the exit", 8_000, |building: &Building| {
        building.is_in(T1, RideState::TargetArrived)
    });
    assert_eq!(building.plant().count("open_door"), 1);
}

/// A trip so short that nothing of it was read: the target is the target, though its door is not
/// open yet.
#[test]
fn a_car_whose_door_is_opening_at_the_target_is_under_way_not_at_a_wrong_floor() {
    let mut building = Situation::EnteredOpen.building(Presence::None);
    building.run(600);
    building.plant().shut_at("6F");
    building.plant().reading.front = Door::Opening;
    building.read_again();
    assert_eq!(building.describe(T1), "RUNNING ride");
}
