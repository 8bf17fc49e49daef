//! The gateway starts again (`ride.md` section 4, gateway start and restored data).

use dispatch::Input;
use protocol::Fence;
use protocol::hardware::Motion;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use crate::support::site::{elevator, one_car, order, robot};
use crate::support::{Building, E1, R1, Situation, T1};

const LIVE: [Situation; 13] = [
    Situation::Queued,
    Situation::Granted,
    Situation::Waiting,
    Situation::Arrived,
    Situation::Withheld,
    Situation::EnteredOpen,
    Situation::EnteredShut,
    Situation::Running,
    Situation::Target,
    Situation::Exited,
    Situation::HoldBoarding,
    Situation::HoldRunning,
    Situation::HoldTarget,
];

#[test]
fn the_first_word_to_the_elevator_is_a_query_and_nothing_else_before_its_answer() {
    for situation in LIVE {
        let mut building = situation.building(Presence::None);
        let owner = building.state().elevator(&elevator(E1)).owner;
        building.plant().log.clear();
        building.plant().answers = false;
        building.restart(1_000, false);
        building.step(Input::Broker { up: true });
        building.run(4_000);
        let words: Vec<&str> = building
            .plant()
            .log
            .iter()
            .map(|sent| sent.command.action.word())
            .collect();
        assert!(!words.is_empty());
        assert!(
            words.iter().all(|word| *word == "query"),
            "{situation:?}: {words:?}"
        );
        assert!(
            building.is_in(T1, situation.state()),
            "{situation:?}: {}",
            building.describe(T1)
        );
        assert_eq!(
            building.state().elevator(&elevator(E1)).owner,
            owner,
            "{situation:?}"
        );
    }
}

/// From each state the ride goes on to its end.
#[test]
fn a_ride_goes_on_from_where_it_was() {
    for situation in [
        Situation::Queued,
        Situation::Granted,
        Situation::Waiting,
        Situation::Arrived,
        Situation::Withheld,
        Situation::EnteredOpen,
        Situation::EnteredShut,
        Situation::Running,
        Situation::Target,
    ] {
        let mut building = situation.building(Presence::None);
        building.plant().reading.fault = None;
        building.plant().answers = true;
        building.restart(1_000, false);
        building.step(Input::Broker { up: true });
        building.run(3_000);
        ride_to_the_end(&mut building);
        assert!(
            building.is_in(T1, RideState::RobotExited),
            "{situation:?}: {}",
            building.describe(T1)
        );
        building.run(3_000);
        assert!(
            building.state().elevator(&elevator(E1)).owner.is_none(),
            "{situation:?}"
        );
    }
}

fn ride_to_the_end(building: &mut Building) {
    for _ in 0..12 {
        let state = building.state().rides[&order(T1)].state;
        match state {
            RideState::WaitingHallCall => building.plant().open_at("1F"),
            RideState::ElevatorArrived => {
                building.event(R1, T1, RobotEvent::Entered);
            }
            RideState::RobotEntered if building.plant().reading.is_shut() => {
                building.plant().pass("3F", Motion::Up);
            }
            RideState::Running => building.plant().open_at("6F"),
            RideState::TargetArrived => {
                building.event(R1, T1, RobotEvent::Exited);
            }
            RideState::Queued
            | RideState::Granted
            | RideState::RobotEntered
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {}
        }
        building.run(3_000);
        building.status(R1);
    }
}

#[test]
fn a_call_that_stands_is_not_ordered_again() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run_alive(20_000);
    assert_eq!(building.plant().count("hall_call"), 1);
    let mut building = Situation::EnteredOpen.building(Presence::None);
    building.plant().reading.calls = Some(vec![protocol::hardware::Call::Car {
        floor: crate::support::site::floor("6F"),
        side: None,
    }]);
    let before = building.plant().count("car_call");
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run(3_000);
    assert_eq!(building.plant().count("car_call"), before);
    assert_eq!(building.plant().count("close_door"), 1);
}

/// Live rides are published again with the same seq where nothing changed, and those that ended.
#[test]
fn rides_are_published_again() {
    for situation in [Situation::Waiting, Situation::Running, Situation::Cancelled] {
        let mut building = situation.building(Presence::None);
        let seq = building.state().rides[&order(T1)].seq;
        building.shown.clear();
        building.restart(1_000, false);
        let shown: Vec<u64> = building.shown.iter().map(|(_, view)| view.seq).collect();
        assert_eq!(shown, [seq], "{situation:?}");
    }
    let mut building = Situation::Arrived.building(Presence::None);
    let seq = building.state().rides[&order(T1)].seq;
    building.restart(1_000, false);
    let (_, view) = building.shown.last().expect("a state");
    assert_eq!(view.seq, seq + 1, "stay is new");
}

#[test]
fn a_retained_ride_that_is_not_known_is_overwritten_before_the_first_grant() {
    let mut building = Building::cold(one_car(Presence::None), dispatch::State::default());
    building.step(Input::Start { restored: false });
    building.step(Input::OwnRide {
        robot: robot(R1),
        order: order("T-lost"),
        terminal: false,
    });
    assert_eq!(building.cleared, [robot(R1)]);
    let mut building = Situation::Waiting.building(Presence::None);
    building.restart(1_000, false);
    building.shown.clear();
    building.step(Input::OwnRide {
        robot: robot(R1),
        order: order("T-lost"),
        terminal: false,
    });
    let shown: Vec<String> = building
        .shown
        .iter()
        .map(|(_, view)| view.order_id.to_string())
        .collect();
    assert_eq!(shown, [T1], "the robot's own ride takes its place");
}

#[test]
fn no_command_id_is_used_by_two_starts() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run(10_000);
    let ids: Vec<_> = building
        .plant()
        .log
        .iter()
        .map(|sent| sent.command.command_id.clone())
        .collect();
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn restored_data_raises_every_fence_and_nothing_is_given_before_a_reading() {
    let mut building = Situation::Cancelled.building(Presence::None);
    building.plant().answers = false;
    building.restart(1_000, true);
    building.step(Input::Broker { up: true });
    building.request(R1, "T-2");
    building.run(3_000);
    assert!(building.is_in("T-2", RideState::Queued));
    let record = building.state().elevator(&elevator(E1));
    assert!(record.fence > Fence(1_000), "{:?}", record.fence);
    assert!(record.must_be_read);
    building.plant().answers = true;
    building.run(5_000);
    assert!(
        building.is_in("T-2", RideState::WaitingHallCall),
        "{}",
        building.describe("T-2")
    );
    assert!(building.fence("T-2") > Some(record.fence));
}

/// The broker's retained word shows a higher fence than ours: our data is not the newest.
#[test]
fn a_higher_fence_at_the_broker_is_restored_data() {
    let mut building = Situation::Waiting.building(Presence::None);
    building.restart(1_000, false);
    let own = |fence: u64| Input::OwnElevator {
        elevator: elevator(E1),
        fence: Fence(fence),
    };
    building.step(own(1));
    assert!(
        building.is_in(T1, RideState::WaitingHallCall),
        "our own fence is no news"
    );
    building.step(own(40));
    assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) stay");
    assert!(building.fence(T1) > Some(Fence(40)));
    assert!(building.state().elevator(&elevator(E1)).owner.is_some());
}

/// May be inside outlives the process: after a start the robot's word alone proves nothing.
#[test]
fn after_a_start_cancel_enter_without_a_signal_proves_no_empty_car() {
    let mut building = Situation::Arrived.building(Presence::None);
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run(3_000);
    building.event(R1, T1, RobotEvent::CancelEnter { again: false });
    building.run(5_000);
    assert!(
        building.is_in(T1, RideState::Hold),
        "{}",
        building.describe(T1)
    );
}

/// A robot said that it is inside, the signal was blind, and the gateway was killed: the word still
/// counts, and nobody else gets the car.
#[test]
fn an_accepted_word_of_the_robot_outlives_the_gateway() {
    let mut building = Situation::Arrived.building(Presence::Robot);
    building.event(R1, T1, RobotEvent::Entered);
    building.in_car(R1, true);
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run(5_000);
    assert_eq!(building.describe(T1), "HOLD(ENTRY_UNCONFIRMED) exit");

    let mut building = Situation::Arrived.building(Presence::Robot);
    building.in_car(R1, true);
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.plant().shut_at("1F");
    building.run(120_000);
    let told = building.describe(T1);
    assert!(
        told.starts_with("HOLD"),
        "no no-show of a robot that says it is in: {told}"
    );
}
