//! Section 4 of the table: suspension, the end of a fire, gateway start, restored data.

use dispatch::{Input, OperatorAction, SiteConfig, ZoneConfig};
use protocol::hardware::Mode;

use crate::grid::{Case, Faults, Line, Sheet, plain, report, tell};
use crate::operator_rows::act;
use crate::support::site::zone;
use crate::support::{Building, Situation, Situation::*, T1};

const SUSPEND: &str = "`site suspend`";
const RESUME: &str = "`site resume`";

fn with_fire_input() -> SiteConfig {
    let mut site = plain();
    site.zones
        .insert(zone("main"), ZoneConfig { fire_input: true });
    site
}

fn fire_input(building: &mut Building, clear: bool) {
    let zone = zone("main");
    building.step(Input::ZoneFire { zone, clear });
}

fn suspend(building: &mut Building) -> &'static str {
    act(building, OperatorAction::SiteSuspend { zone: None })
}

fn resume(building: &mut Building) -> &'static str {
    act(building, OperatorAction::SiteResume { zone: None })
}

pub(crate) const CASES: &[Case] = &[
    Case {
        event: SUSPEND,
        at: "QUEUED, an elevator becomes fit",
        site: plain,
        from: Some(Queued),
        script: |building| {
            let answer = suspend(building);
            building.plant().reading.fault = None;
            building.run(11_000);
            answer
        },
        expected: "ok = seq+",
    },
    Case {
        event: SUSPEND,
        at: "GRANTED",
        site: plain,
        from: Some(Granted),
        script: |building| {
            let answer = suspend(building);
            building.plant().answers = true;
            building.run(3_000);
            answer
        },
        expected: "ok -> WAITING_HALL_CALL approach; hall_call 1F",
    },
    Case {
        event: SUSPEND,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: suspend,
        expected: "ok =",
    },
    Case {
        event: RESUME,
        at: "QUEUED, suspended",
        site: plain,
        from: Some(Queued),
        script: |building| {
            suspend(building);
            building.plant().reading.fault = None;
            building.read_again();
            let answer = resume(building);
            building.run(500);
            answer
        },
        expected: "ok -> GRANTED approach -> WAITING_HALL_CALL approach; hall_call 1F; K",
    },
    Case {
        event: RESUME,
        at: "HOLD(FIRE_MODE), the elevator is in mode `fire` still",
        site: plain,
        from: Some(HoldFire),
        script: resume,
        expected: "refused =",
    },
    Case {
        event: RESUME,
        at: "HOLD(FIRE_MODE), mode normal read",
        site: plain,
        from: Some(HoldFire),
        script: |building| {
            building.plant().reading.mode = Mode::Normal;
            building.read_again();
            let answer = resume(building);
            building.run(200);
            answer
        },
        expected: "ok -> HOLD(FIRE_MODE) stay -> HOLD(FIRE_MODE) exit; hold_door 1F",
    },
    Case {
        event: RESUME,
        at: "RUNNING held by the zone's fire input, which is not clear",
        site: with_fire_input,
        from: Some(Running),
        script: |building| {
            fire_input(building, false);
            building.run(100);
            resume(building)
        },
        expected: "refused -> HOLD(FIRE_MODE) stay; release",
    },
    Case {
        event: RESUME,
        at: "RUNNING held by the zone's fire input, which is clear again",
        site: with_fire_input,
        from: Some(Running),
        script: |building| {
            fire_input(building, false);
            building.run(100);
            fire_input(building, true);
            resume(building)
        },
        expected: "ok -> HOLD(FIRE_MODE) stay; release",
    },
    Case {
        event: RESUME,
        at: "QUEUED, the fire is over, no READ in 30 s",
        site: with_fire_input,
        from: Some(Queued),
        script: |building| {
            fire_input(building, false);
            building.plant().answers = false;
            building.run_alive(31_000);
            fire_input(building, true);
            resume(building)
        },
        expected: "ok = seq+; release; BLOCK(FIRE_MODE)",
    },
];

/// What each ride is told when the gateway starts, and what its elevator is told first.
const STARTS: &[(Situation, &str, &str)] = &[
    (Queued, "=; query", "=; query; fence raised, unknown"),
    (
        Granted,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        Waiting,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        Arrived,
        "-> ELEVATOR_ARRIVED stay; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        Withheld,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        EnteredOpen,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        EnteredShut,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        Running,
        "=; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (
        Target,
        "-> TARGET_ARRIVED stay; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (Exited, "=; query", "=; query; fence raised, unknown"),
    (
        HoldBoarding,
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query",
        "-> HOLD(ENTRY_UNCONFIRMED) stay; query; fence raised",
    ),
    (HoldRunning, "=; query", "=; query; fence raised"),
    (
        HoldTarget,
        "-> HOLD(EXIT_REFUSED) stay; query",
        "-> HOLD(EXIT_REFUSED) stay; query; fence raised",
    ),
    (Cancelled, "=; query", "=; query; fence raised, unknown"),
    (Expired, "=; query", "=; query; fence raised, unknown"),
    (Failed, "=; query", "=; query; fence raised, unknown"),
];

fn starts(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for (restored, title) in [
        (
            false,
            "gateway start, before the first answer of a controller",
        ),
        (
            true,
            "restored data (`--restored`), before the first answer of a controller",
        ),
    ] {
        let mut lines = Vec::new();
        for (situation, kept, raised) in STARTS {
            let expected = if restored { raised } else { kept };
            let mut building = Building::new(plain());
            building.reach(*situation);
            let before = building.look(T1, true);
            building.restart(1_000, restored);
            building.step(Input::Broker { up: true });
            let right = building.seen(&before).trim().to_owned();
            if right != *expected {
                let left = situation.words();
                faults.push(format!(
                    "{title}, {left}:\n  table: {expected}\n  code:  {right}"
                ));
            }
            let left = situation.words().to_owned();
            lines.push(Line { left, right });
        }
        let title = title.to_owned();
        sheets.push(Sheet { title, lines });
    }
    sheets
}

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets = tell(CASES, faults);
    sheets.extend(starts(faults));
    sheets
}

/// A ride that was cut where its robot had entered, and whose car went on to the target.
#[test]
fn a_car_that_arrived_while_no_gateway_looked_lets_its_robot_out() {
    for open in [true, false] {
        let mut building = Building::new(plain());
        building.reach(EnteredShut);
        building.restart(1_000, false);
        if open {
            building.plant().open_at("6F");
        } else {
            building.plant().shut_at("6F");
        }
        building.step(Input::Broker { up: true });
        building.run(10_000);
        assert_eq!(building.describe(T1), "TARGET_ARRIVED exit", "open: {open}");
        assert_eq!(
            building.plant().count("car_call"),
            1,
            "the one before the start"
        );
    }
}

#[test]
fn suspension_fire_and_start() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
