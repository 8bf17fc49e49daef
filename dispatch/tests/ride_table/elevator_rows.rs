//! Section 3 of the table: where the car stands.

use crate::grid::{Case, Faults, Sheet, plain, report, tell};
use crate::support::{Building, Situation::*};
use crate::{command_rows, door_rows, mode_rows};

const EXPECTED: &str = "OPEN at the expected landing";
const ANOTHER: &str = "OPEN at another landing (3F)";

fn watch(building: &mut Building) -> &'static str {
    building.run(2_500);
    ""
}

fn opens_at_6f(building: &mut Building) -> &'static str {
    building.plant().open_at("6F");
    watch(building)
}

fn opens_at_3f(building: &mut Building) -> &'static str {
    building.plant().open_at("3F");
    watch(building)
}

pub(crate) const LANDINGS: &[Case] = &[
    Case {
        event: EXPECTED,
        at: "GRANTED, WAITING_HALL_CALL",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().open_at("1F");
            building.plant().answers = true;
            building.run(3_000);
            ""
        },
        expected: "-> WAITING_HALL_CALL approach -> ELEVATOR_ARRIVED enter; hold_door 1F",
    },
    Case {
        event: EXPECTED,
        at: "ROBOT_ENTERED",
        site: plain,
        from: Some(EnteredOpen),
        script: watch,
        expected: "=",
    },
    Case {
        event: EXPECTED,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: opens_at_6f,
        expected: "-> TARGET_ARRIVED exit; hold_door 6F",
    },
    Case {
        event: EXPECTED,
        at: "ROBOT_EXITED",
        site: plain,
        from: Some(Exited),
        script: watch,
        expected: "=",
    },
    Case {
        event: EXPECTED,
        at: "HOLD(CONTROLLER_LOST) from RUNNING, at `to`",
        site: plain,
        from: Some(HoldRunning),
        script: opens_at_6f,
        expected: "-> TARGET_ARRIVED exit; hold_door 6F",
    },
    Case {
        event: EXPECTED,
        at: "HOLD(CONTROLLER_LOST) from RUNNING, at `from`",
        site: plain,
        from: Some(HoldRunning),
        script: |building| {
            building.plant().open_at("1F");
            watch(building)
        },
        expected: "=; hold_door 1F",
    },
    Case {
        event: EXPECTED,
        at: "HOLD(CONTROLLER_LOST) from ELEVATOR_ARRIVED, at `from`",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.plant().answers = false;
            building.run(12_000);
            building.plant().answers = true;
            watch(building)
        },
        expected: "-> HOLD(CONTROLLER_LOST) stay -> ELEVATOR_ARRIVED enter; hold_door 1F",
    },
    Case {
        event: EXPECTED,
        at: "HOLD(EXIT_REFUSED), at `to`",
        site: plain,
        from: Some(HoldTarget),
        script: watch,
        expected: "=",
    },
    Case {
        event: ANOTHER,
        at: "GRANTED",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().answers = true;
            opens_at_3f(building)
        },
        expected: "-> WAITING_HALL_CALL approach; hall_call 1F",
    },
    Case {
        event: ANOTHER,
        at: "WAITING_HALL_CALL",
        site: plain,
        from: Some(Waiting),
        script: opens_at_3f,
        expected: "=",
    },
    Case {
        event: ANOTHER,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: opens_at_3f,
        expected: "-> HOLD(WRONG_FLOOR) stay; hold_door 3F",
    },
    Case {
        event: ANOTHER,
        at: "ROBOT_ENTERED",
        site: plain,
        from: Some(EnteredShut),
        script: opens_at_3f,
        expected: "-> HOLD(WRONG_FLOOR) stay; hold_door 3F",
    },
    Case {
        event: ANOTHER,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: opens_at_3f,
        expected: "=",
    },
    Case {
        event: ANOTHER,
        at: "RUNNING, then SHUT and stopped",
        site: plain,
        from: Some(RunningOpened),
        script: |building| {
            building.plant().shut_at("3F");
            watch(building)
        },
        expected: "=; car_call 6F",
    },
    Case {
        event: ANOTHER,
        at: "TARGET_ARRIVED",
        site: plain,
        from: Some(Target),
        script: opens_at_3f,
        expected: "-> RUNNING ride; car_call 6F",
    },
    Case {
        event: ANOTHER,
        at: "TARGET_ARRIVED, for the second time",
        site: plain,
        from: Some(Target),
        script: |building| {
            opens_at_3f(building);
            opens_at_6f(building);
            opens_at_3f(building)
        },
        expected: "-> RUNNING ride -> TARGET_ARRIVED exit -> HOLD(TRAVEL_TIMEOUT) stay; \
                   car_call 6F, hold_door 6F, hold_door 3F",
    },
    Case {
        event: ANOTHER,
        at: "ROBOT_EXITED",
        site: plain,
        from: Some(Exited),
        script: opens_at_3f,
        expected: "=",
    },
    Case {
        event: ANOTHER,
        at: "HOLD(EXIT_REFUSED)",
        site: plain,
        from: Some(HoldTarget),
        script: opens_at_3f,
        expected: "-> HOLD(EXIT_REFUSED) stay; hold_door 3F",
    },
    Case {
        event: ANOTHER,
        at: "HOLD(FIRE_MODE)",
        site: plain,
        from: Some(HoldFire),
        script: opens_at_3f,
        expected: "=",
    },
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets = tell(LANDINGS, faults);
    sheets.extend(door_rows::sheets(faults));
    sheets.extend(command_rows::sheets(faults));
    sheets.extend(mode_rows::sheets(faults));
    sheets
}

#[test]
fn landings() {
    let mut faults = Faults::new();
    tell(LANDINGS, &mut faults);
    report(&faults);
}
