//! Section 3 of the table: commands that fail or are not answered, controllers that are silent.

use dispatch::SiteConfig;
use protocol::hardware::{Outcome, Report};
use protocol::robot::RobotEvent;

use crate::grid::{Case, Faults, Sheet, plain, report, tell};
use crate::support::{Building, R1, Situation::*, T1};

const FAILED: &str = "command failed or refused";
const UNANSWERED: &str = "command unanswered";
const SILENT: &str = "controller silent (`silent_s`)";
const BACK: &str = "controller back: query first";

fn patient() -> SiteConfig {
    let mut site = plain();
    site.timing.grant_check_ms = 20_000;
    site
}

fn goes_silent(building: &mut Building) -> &'static str {
    building.plant().answers = false;
    building.run(11_000);
    ""
}

fn is_back(building: &mut Building) -> &'static str {
    building.plant().answers = false;
    building.report(Report::Link { up: false });
    building.run(200);
    building.report(Report::Link { up: true });
    ""
}

pub(crate) const CASES: &[Case] = &[
    Case {
        event: FAILED,
        at: "GRANTED",
        site: plain,
        from: Some(Granted),
        script: |building| {
            let query = building.plant().ids("query").pop().expect("a query");
            building.report(Report::Outcome {
                command_id: query,
                outcome: Outcome::Failed {
                    detail: "busy".to_owned(),
                },
            });
            ""
        },
        expected: "-> QUEUED wait; F",
    },
    Case {
        event: FAILED,
        at: "WAITING_HALL_CALL, once",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().refuses.insert("hall_call");
            building.plant().answers = true;
            building.run_until("the first call", 3_000, |building| {
                building
                    .plants
                    .values()
                    .any(|plant| plant.count("hall_call") == 1)
            });
            building.plant().refuses.clear();
            building.run(3_000);
            ""
        },
        expected: "-> WAITING_HALL_CALL approach; 2 x hall_call 1F",
    },
    Case {
        event: FAILED,
        at: "WAITING_HALL_CALL, twice",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().refuses.insert("hall_call");
            building.plant().answers = true;
            building.run(4_000);
            ""
        },
        expected: "-> WAITING_HALL_CALL approach -> FAILED(CALL_REFUSED) clear; 2 x hall_call 1F, \
                   cancel_call 1F; B until CLEARCALL, F",
    },
    Case {
        event: FAILED,
        at: "WAITING_HALL_CALL: the hold, twice",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().refuses.insert("hold_door");
            building.plant().open_at("1F");
            building.run(4_000);
            ""
        },
        expected: "-> FAILED(CALL_REFUSED) clear; hold_door 1F, cancel_call 1F; B until CLEARCALL",
    },
    Case {
        event: FAILED,
        at: "ELEVATOR_ARRIVED: the hold",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.plant().refuses.insert("hold_door");
            building.run(4_000);
            ""
        },
        expected: "-> HOLD(DOOR_FAULT) stay; hold_door 1F",
    },
    Case {
        event: FAILED,
        at: "ROBOT_ENTERED: the car call",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.plant().refuses.insert("car_call");
            building.event(R1, T1, RobotEvent::Entered);
            building.run(2_000);
            ""
        },
        expected: "-> ROBOT_ENTERED ride -> HOLD(CALL_REFUSED) stay -> HOLD(CALL_REFUSED) exit; \
                   car_call 6F, hold_door 1F, open_door 1F",
    },
    Case {
        event: FAILED,
        at: "RUNNING: the car call after a stop for people",
        site: plain,
        from: Some(RunningOpened),
        script: |building| {
            building.plant().refuses.insert("car_call");
            building.plant().shut_at("3F");
            building.run(3_000);
            ""
        },
        expected: "=; car_call 6F",
    },
    Case {
        event: FAILED,
        at: "TARGET_ARRIVED: the hold",
        site: plain,
        from: Some(Target),
        script: |building| {
            building.plant().refuses.insert("hold_door");
            building.run(4_000);
            ""
        },
        expected: "-> HOLD(DOOR_FAULT) stay; hold_door 6F, open_door 6F",
    },
    Case {
        event: FAILED,
        at: "ROBOT_EXITED: close_door",
        site: plain,
        from: Some(Target),
        script: |building| {
            building.plant().refuses.insert("close_door");
            building.event(R1, T1, RobotEvent::Exited);
            building.run(1_000);
            ""
        },
        expected: "-> ROBOT_EXITED clear; close_door 6F; B until SHUT or EMPTY, BLOCK(DOOR_FAULT)",
    },
    Case {
        event: FAILED,
        at: "HOLD: the hold",
        site: plain,
        from: Some(HoldTarget),
        script: |building| {
            building.plant().refuses.insert("hold_door");
            building.run(4_000);
            ""
        },
        expected: "=",
    },
    Case {
        event: UNANSWERED,
        at: "WAITING_HALL_CALL: done, the answer is lost",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().mutes.insert("hall_call");
            building.plant().answers = true;
            building.run_alive(20_000);
            ""
        },
        expected: "-> WAITING_HALL_CALL approach; hall_call 1F",
    },
    Case {
        event: UNANSWERED,
        at: "WAITING_HALL_CALL: lost, twice",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().loses.insert("hall_call");
            building.plant().answers = true;
            building.run_alive(20_000);
            ""
        },
        expected: "-> WAITING_HALL_CALL approach; 2 x hall_call 1F",
    },
    Case {
        event: UNANSWERED,
        at: "ROBOT_ENTERED: the car call is lost once",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.plant().loses.insert("car_call");
            building.event(R1, T1, RobotEvent::Entered);
            building.run(1_000);
            building.plant().loses.clear();
            building.run(5_000);
            ""
        },
        expected: "-> ROBOT_ENTERED ride; 2 x car_call 6F, close_door 1F",
    },
    Case {
        event: SILENT,
        at: "GRANTED",
        site: patient,
        from: Some(Granted),
        script: goes_silent,
        expected: "-> QUEUED wait; F",
    },
    Case {
        event: SILENT,
        at: "WAITING_HALL_CALL, at its deadline",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().answers = false;
            building.run_alive(61_000);
            ""
        },
        expected: "-> FAILED(CONTROLLER_LOST) clear; B until CLEARCALL, BLOCK(CONTROLLER_LOST)",
    },
    Case {
        event: SILENT,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: goes_silent,
        expected: "-> HOLD(CONTROLLER_LOST) stay",
    },
    Case {
        event: SILENT,
        at: "ROBOT_ENTERED",
        site: plain,
        from: Some(EnteredOpen),
        script: goes_silent,
        expected: "-> HOLD(CONTROLLER_LOST) stay",
    },
    Case {
        event: SILENT,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: goes_silent,
        expected: "-> HOLD(CONTROLLER_LOST) stay",
    },
    Case {
        event: SILENT,
        at: "TARGET_ARRIVED",
        site: plain,
        from: Some(Target),
        script: goes_silent,
        expected: "-> HOLD(CONTROLLER_LOST) stay",
    },
    Case {
        event: SILENT,
        at: "ROBOT_EXITED, at its deadline",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.plant().answers = false;
            building.run(16_000);
            ""
        },
        expected: "=; BLOCK(CONTROLLER_LOST)",
    },
    Case {
        event: SILENT,
        at: "HOLD(EXIT_REFUSED)",
        site: plain,
        from: Some(HoldTarget),
        script: goes_silent,
        expected: "-> HOLD(EXIT_REFUSED) stay",
    },
    Case {
        event: BACK,
        at: "WAITING_HALL_CALL",
        site: plain,
        from: Some(Waiting),
        script: is_back,
        expected: "=; query",
    },
    Case {
        event: BACK,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            is_back(building);
            building.plant().answers = true;
            building.run(3_000);
            ""
        },
        expected: "-> ELEVATOR_ARRIVED stay -> ELEVATOR_ARRIVED enter; query",
    },
    Case {
        event: BACK,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: is_back,
        expected: "=; query",
    },
    Case {
        event: BACK,
        at: "HOLD(CONTROLLER_LOST) from RUNNING",
        site: plain,
        from: Some(HoldRunning),
        script: is_back,
        expected: "=; query",
    },
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    tell(CASES, faults)
}

#[test]
fn failed_unanswered_and_silent() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
