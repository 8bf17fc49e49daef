//! Leases and deadlines: what renews them, and when they stand still.

use dispatch::Input;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::ConnectionState;

use crate::support::{Building, R1, Situation, T1};

const WAITS: [Situation; 3] = [Situation::Queued, Situation::Waiting, Situation::Withheld];

#[test]
fn any_message_renews_the_lease_of_a_robot_that_waits() {
    let words: [fn(&mut Building); 4] = [
        |building| building.status(R1),
        |building| building.connection(R1, ConnectionState::Online),
        |building| {
            building.request(R1, T1);
        },
        |building| {
            building.event(R1, T1, protocol::robot::RobotEvent::Query);
        },
    ];
    for situation in WAITS {
        for say in words {
            let mut building = situation.building(Presence::None);
            let state = situation.state();
            building.status(R1);
            building.run(29_900);
            say(&mut building);
            building.run(29_900);
            assert!(
                building.is_in(T1, state),
                "{situation:?}: {}",
                building.describe(T1)
            );
            building.run(200);
            let told = building.describe(T1);
            assert_eq!(told, "FAILED(ROBOT_LOST) clear", "{situation:?}");
        }
    }
}

/// The will is the broker's word: recorded, and no other effect.
#[test]
fn a_connection_that_broke_renews_no_lease() {
    for state in [ConnectionState::Offline, ConnectionState::ConnectionBroken] {
        let mut building = Situation::Queued.building(Presence::None);
        building.status(R1);
        building.run(29_900);
        building.connection(R1, state);
        building.run(200);
        assert_eq!(building.describe(T1), "FAILED(ROBOT_LOST) clear");
    }
}

#[test]
fn leases_stand_still_while_ingest_is_away() {
    for situation in WAITS {
        let mut building = situation.building(Presence::None);
        building.status(R1);
        building.run(20_000);
        building.step(Input::Broker { up: false });
        building.run(45_000);
        assert!(
            building.is_in(T1, situation.state()),
            "{}",
            building.describe(T1)
        );
        building.step(Input::Broker { up: true });
        building.run(9_900);
        assert!(
            building.is_in(T1, situation.state()),
            "{}",
            building.describe(T1)
        );
        building.run(200);
        assert_eq!(
            building.describe(T1),
            "FAILED(ROBOT_LOST) clear",
            "{situation:?}"
        );
    }
}

#[test]
fn deadlines_stand_still_while_ingest_is_away() {
    let table = [
        (Situation::Arrived, 60_000, "HOLD(BOARDING_TIMEOUT) stay"),
        (Situation::Running, 180_000, "HOLD(TRAVEL_TIMEOUT) stay"),
        (Situation::EnteredOpen, 15_000, "HOLD(DOOR_FAULT) exit"),
    ];
    for (situation, deadline_ms, after) in table {
        let mut building = situation.building(Presence::None);
        building.run(deadline_ms - 3_000);
        building.step(Input::Broker { up: false });
        building.run(deadline_ms);
        assert!(
            building.is_in(T1, situation.state()),
            "{situation:?}: {}",
            building.describe(T1)
        );
        building.step(Input::Broker { up: true });
        building.run(1_000);
        assert!(
            building.is_in(T1, situation.state()),
            "{situation:?}: {}",
            building.describe(T1)
        );
        building.run(5_500);
        assert_eq!(building.describe(T1), after, "{situation:?}");
    }
}

#[test]
fn an_elevator_that_is_kept_back_waits_longer_while_ingest_is_away() {
    let mut building = Situation::Exited.building(Presence::None);
    let before = building.plant().count("close_door");
    building.step(Input::Broker { up: false });
    building.run(120_000);
    assert_eq!(
        building.plant().count("close_door"),
        before,
        "its deadline stands still"
    );
    building.step(Input::Broker { up: true });
    building.run(10_000);
    assert_eq!(building.plant().count("close_door"), before);
    building.run(6_000);
    assert_eq!(building.plant().count("close_door"), before + 1);
}

#[test]
fn nothing_is_granted_while_ingest_is_away() {
    let mut building = Situation::Queued.building(Presence::None);
    building.step(Input::Broker { up: false });
    building.plant().reading.fault = None;
    building.run(10_000);
    assert!(building.is_in(T1, RideState::Queued));
    building.step(Input::Broker { up: true });
    building.run(100);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
}

/// The hold of an open car goes on without the broker (law 9).
#[test]
fn the_door_is_held_while_ingest_is_away() {
    for situation in [
        Situation::Arrived,
        Situation::Target,
        Situation::HoldBoarding,
    ] {
        let mut building = situation.building(Presence::None);
        let before = building.plant().count("hold_door");
        building.step(Input::Broker { up: false });
        building.run(30_000);
        assert!(
            building.plant().count("hold_door") >= before + 9,
            "{situation:?}"
        );
    }
}

#[test]
fn after_a_start_leases_begin_anew_in_full() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.run(25_000);
    building.restart(60_000, false);
    building.step(Input::Broker { up: true });
    building.run(29_900);
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "{}",
        building.describe(T1)
    );
    building.run(200);
    assert_eq!(building.describe(T1), "FAILED(ROBOT_LOST) clear");
}
