//! Sides, directions and zones: what a site of more than one kind of door or fire does.

use dispatch::{Input, SiteConfig, ZoneConfig};
use protocol::Side;
use protocol::hardware::{Action, Direction, Door, Mode};
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::site::{car, elevator, floor, one_car, site, two_cars, zone};
use crate::support::{Building, E1, E2, R1, R2, T1, T2};

/// The car opens in front at 1F and 3F, at the rear at 6F.
fn two_sided() -> SiteConfig {
    let mut site = one_car(Presence::None);
    for car in site.elevators.values_mut() {
        car.floors[2].sides = [Side::Rear].into();
    }
    site
}

/// At WAITING_HALL_CALL, in a car with two doors.
fn waiting() -> Building {
    let mut building = Building::new(two_sided());
    building.plant().reading.rear = Some(Door::Closed);
    building.run(2_500);
    building.request(R1, T1);
    building.run(1_000);
    building
}

#[test]
fn only_the_door_of_the_landings_side_lets_anybody_cross() {
    let mut building = waiting();
    building.plant().open_at("1F");
    building.plant().reading.front = Door::Closed;
    building.plant().reading.rear = Some(Door::Open);
    building.run(5_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
    building.plant().reading.front = Door::Open;
    building.plant().reading.rear = Some(Door::Closed);
    building.run_to(RideState::ElevatorArrived);
    building.event(R1, T1, RobotEvent::Entered);
    building.run(1_500);
    assert!(building.plant().reading.is_shut());
    building.plant().pass("3F", protocol::hardware::Motion::Up);
    building.run_to(RideState::Running);
    building.plant().open_at("6F");
    building.run(5_000);
    assert!(
        building.is_in(T1, RideState::Running),
        "the front door is not the rear one"
    );
    building.plant().reading.front = Door::Closed;
    building.plant().reading.rear = Some(Door::Open);
    building.run_to(RideState::TargetArrived);
    let reply = building.event(R1, T1, RobotEvent::Query);
    assert_eq!(reply.side, Some(Side::Rear));
    let held = building
        .plant()
        .log
        .iter()
        .rev()
        .find_map(|sent| match &sent.command.action {
            Action::HoldDoor { landing, .. } => Some(landing.side),
            Action::Query
            | Action::Claim
            | Action::HallCall { .. }
            | Action::CancelCall { .. }
            | Action::CarCall { .. }
            | Action::OpenDoor { .. }
            | Action::CloseDoor { .. }
            | Action::Release => None,
        });
    assert_eq!(held, Some(Side::Rear));
}

/// SHUT means every door.
#[test]
fn a_car_with_one_of_two_doors_open_is_not_shut() {
    let mut building = waiting();
    building.plant().open_at("1F");
    building.run_to(RideState::ElevatorArrived);
    building.plant().deaf.insert("close_door");
    building.event(R1, T1, RobotEvent::Entered);
    building.run(1_000);
    building.plant().reading.front = Door::Closed;
    building.plant().reading.rear = Some(Door::Open);
    building.run(15_000);
    assert!(
        building.describe(T1).starts_with("HOLD(DOOR_FAULT)"),
        "{}",
        building.describe(T1)
    );
}

#[test]
fn the_hall_call_and_its_cancel_name_the_way_the_ride_goes() {
    for (from, to, way) in [("1F", "6F", Direction::Up), ("6F", "3F", Direction::Down)] {
        let mut building = Building::new(one_car(Presence::None));
        building.plant().shut_at("3F");
        building.run(3_000);
        let mut request = building.request_of(T1);
        request.from.floor = floor(from);
        request.to.floor = floor(to);
        building.ask(R1, request);
        building.run(1_000);
        building.cancel(R1, T1);
        building.run(1_000);
        let mut ways = Vec::new();
        for sent in &building.plant().log {
            if let Action::HallCall { landing, direction }
            | Action::CancelCall { landing, direction } = &sent.command.action
            {
                assert_eq!(landing.floor, floor(from));
                ways.push(*direction);
            }
        }
        assert_eq!(ways, [way, way]);
    }
}

/// A reading without a floor founds nothing: it is neither here nor elsewhere.
#[test]
fn a_reading_without_a_floor_only_takes_permission_away() {
    for (situation, state) in [
        (
            crate::support::Situation::Arrived,
            RideState::ElevatorArrived,
        ),
        (crate::support::Situation::Target, RideState::TargetArrived),
    ] {
        let mut building = situation.building(Presence::None);
        building.plant().reading.floor = None;
        building.run(5_000);
        assert!(building.is_in(T1, state), "{}", building.describe(T1));
        assert!(
            building.describe(T1).ends_with("stay"),
            "{}",
            building.describe(T1)
        );
        assert_eq!(
            building.plant().count("open_door"),
            0,
            "only a car known to stand level"
        );
    }
}

fn zoned() -> SiteConfig {
    let mut annex = car("EL003", Presence::None);
    annex.zone = zone("annex");
    site(vec![
        car(E1, Presence::None),
        car(E2, Presence::None),
        annex,
    ])
}

/// Mode fire of one elevator is zone fire for its whole zone, latched until `site resume`.
#[test]
fn the_fire_of_one_elevator_is_the_fire_of_its_zone() {
    let mut building = Building::new(zoned());
    let mut request = building.request_of(T1);
    request.elevators.insert(elevator(E1));
    building.ask(R1, request);
    let mut request = building.request_of(T2);
    request.elevators.insert(elevator("EL003"));
    building.ask(R2, request);
    building.run(1_000);
    building.plant_of(E2).reading.mode = Mode::Fire;
    building.run(2_500);
    assert_eq!(
        building.describe(T1),
        "FAILED(FIRE_MODE) clear",
        "E1 is in the zone of E2"
    );
    assert!(
        building.is_in(T2, RideState::WaitingHallCall),
        "another zone does not burn"
    );
    building.plant_of(E2).reading.mode = Mode::Normal;
    building.run(5_000);
    let mut request = building.request_of("T-3");
    request.elevators.insert(elevator(E1));
    let reply = building.ask(R1, request);
    assert_eq!(reply.code, Some(protocol::Code::SiteSuspended), "latched");
    assert!(building.state().zones[&zone("main")].fire.is_some());
}

/// Without a fire nothing but `query` and `release` is said in another mode; see the laws.
#[test]
fn an_elevator_out_of_its_mode_is_given_to_nobody() {
    let mut building = Building::new(two_cars());
    building.plant_of(E1).reading.mode = Mode::Attendant;
    building.plant_of(E1).shut_at("1F");
    building.run(3_000);
    let reply = building.request(R1, T1);
    assert_eq!(reply.elevator_id, Some(elevator(E2)));
}

/// A fire input that was not read yet is not clear, and not a fire either.
#[test]
fn a_zone_whose_input_was_never_read_grants_by_its_mode_signal_alone() {
    let mut site = one_car(Presence::None);
    site.zones
        .insert(zone("main"), ZoneConfig { fire_input: true });
    let mut building = Building::new(site);
    building.request(R1, T1);
    building.run(1_000);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
    let zone = zone("main");
    building.step(Input::ZoneFire { zone, clear: false });
    building.run(100);
    assert_eq!(building.describe(T1), "FAILED(FIRE_MODE) clear");
}
