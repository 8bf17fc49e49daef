//! Section 3 of the table: what the door does, and cars that move away.

use protocol::hardware::{Change, Door, Motion, Report};

use crate::grid::{Case, Faults, Sheet, plain, report, sensing, tell};
use crate::support::{Building, Situation::*};

const SHUT: &str = "door closing or shut, robot not confirmed";
const AWAY: &str = "car moves away";

fn watch(building: &mut Building) -> &'static str {
    building.run(2_500);
    ""
}

fn shuts_and_obeys(building: &mut Building) -> &'static str {
    building.plant().reading.front = Door::Closed;
    building.run(4_500);
    ""
}

fn shuts_and_stays_shut(building: &mut Building) -> &'static str {
    building.plant().deaf.insert("open_door");
    building.plant().reading.front = Door::Closed;
    building.run(16_000);
    ""
}

fn moves(building: &mut Building) -> &'static str {
    building.plant().pass("3F", Motion::Up);
    watch(building)
}

fn says(change: Change) -> Report {
    Report::Change(change)
}

pub(crate) const DOORS: &[Case] = &[
    Case {
        event: SHUT,
        at: "WAITING_HALL_CALL",
        site: plain,
        from: Some(Waiting),
        script: watch,
        expected: "=",
    },
    Case {
        event: SHUT,
        at: "ELEVATOR_ARRIVED, at once by an unasked word",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.report(says(Change {
                front: Some(Door::Closing),
                ..Change::default()
            }));
            ""
        },
        expected: "-> ELEVATOR_ARRIVED stay",
    },
    Case {
        event: SHUT,
        at: "ELEVATOR_ARRIVED, open_door opens it",
        site: plain,
        from: Some(Arrived),
        script: shuts_and_obeys,
        expected: "-> ELEVATOR_ARRIVED stay -> ELEVATOR_ARRIVED enter; open_door 1F, hold_door 1F",
    },
    Case {
        event: SHUT,
        at: "ELEVATOR_ARRIVED, it does not open",
        site: plain,
        from: Some(Arrived),
        script: shuts_and_stays_shut,
        expected: "-> ELEVATOR_ARRIVED stay -> HOLD(DOOR_FAULT) stay; 3 x open_door 1F",
    },
    Case {
        event: SHUT,
        at: "ELEVATOR_ARRIVED after `entry_s`",
        site: sensing,
        from: Some(Arrived),
        script: |building| {
            building.run_alive(61_000);
            building.plant().reading.front = Door::Closing;
            watch(building)
        },
        expected: "-> ELEVATOR_ARRIVED(BOARDING_TIMEOUT) stay",
    },
    Case {
        event: SHUT,
        at: "ROBOT_ENTERED",
        site: plain,
        from: Some(EnteredShut),
        script: watch,
        expected: "=",
    },
    Case {
        event: SHUT,
        at: "TARGET_ARRIVED, at once by an unasked word",
        site: plain,
        from: Some(Target),
        script: |building| {
            building.report(says(Change {
                front: Some(Door::Closing),
                ..Change::default()
            }));
            ""
        },
        expected: "-> TARGET_ARRIVED stay",
    },
    Case {
        event: SHUT,
        at: "TARGET_ARRIVED, open_door opens it",
        site: plain,
        from: Some(Target),
        script: shuts_and_obeys,
        expected: "-> TARGET_ARRIVED stay -> TARGET_ARRIVED exit; open_door 6F, hold_door 6F",
    },
    Case {
        event: SHUT,
        at: "TARGET_ARRIVED, it does not open",
        site: plain,
        from: Some(Target),
        script: shuts_and_stays_shut,
        expected: "-> TARGET_ARRIVED stay -> HOLD(DOOR_FAULT) stay; 3 x open_door 6F",
    },
    Case {
        event: SHUT,
        at: "ROBOT_EXITED",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.plant().shut_at("6F");
            watch(building)
        },
        expected: "=; F",
    },
    Case {
        event: SHUT,
        at: "HOLD(EXIT_REFUSED)",
        site: plain,
        from: Some(HoldTarget),
        script: |building| {
            building.plant().shut_at("6F");
            watch(building)
        },
        expected: "-> HOLD(EXIT_REFUSED) stay",
    },
    Case {
        event: AWAY,
        at: "GRANTED",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.report(says(Change {
                motion: Some(Motion::Down),
                ..Change::default()
            }));
            ""
        },
        expected: "=",
    },
    Case {
        event: AWAY,
        at: "WAITING_HALL_CALL",
        site: plain,
        from: Some(Waiting),
        script: moves,
        expected: "=",
    },
    Case {
        event: AWAY,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: moves,
        expected: "-> HOLD(DOOR_FAULT) stay",
    },
    Case {
        event: AWAY,
        at: "ROBOT_ENTERED, registered and SHUT",
        site: plain,
        from: Some(EnteredShut),
        script: moves,
        expected: "-> RUNNING ride",
    },
    Case {
        event: AWAY,
        at: "ROBOT_ENTERED, not registered",
        site: plain,
        from: Some(EnteredOpen),
        script: moves,
        expected: "-> HOLD(DOOR_FAULT) stay",
    },
    Case {
        event: AWAY,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: moves,
        expected: "=",
    },
    Case {
        event: AWAY,
        at: "TARGET_ARRIVED",
        site: plain,
        from: Some(Target),
        script: moves,
        expected: "-> RUNNING ride; car_call 6F",
    },
    Case {
        event: AWAY,
        at: "ROBOT_EXITED, seen shut",
        site: plain,
        from: Some(Exited),
        script: moves,
        expected: "=; F",
    },
    Case {
        event: AWAY,
        at: "ROBOT_EXITED, not seen shut",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.plant().reading.motion = Motion::Down;
            watch(building)
        },
        expected: "=; BLOCK(DOOR_FAULT)",
    },
    Case {
        event: AWAY,
        at: "HOLD(EXIT_REFUSED)",
        site: plain,
        from: Some(HoldTarget),
        script: moves,
        expected: "-> HOLD(EXIT_REFUSED) stay",
    },
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    tell(DOORS, faults)
}

#[test]
fn doors_and_cars_that_move() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
