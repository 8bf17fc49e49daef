//! Section 3 of the table: fire, other modes, and the mode normal again.

use dispatch::{SiteConfig, ZoneConfig};
use protocol::hardware::Mode;

use crate::grid::{Case, Faults, Line, Sheet, plain, report, tell};
use crate::support::site::zone;
use crate::support::{Building, Situation, Situation::*, T1};

/// A mode or a fire in every state of section 3, and what the table says.
struct ModeRow {
    event: &'static str,
    causes: &'static [fn(&mut Building)],
    cells: &'static [(Situation, &'static str)],
}

fn with_fire_input() -> SiteConfig {
    let mut site = plain();
    site.zones
        .insert(zone("main"), ZoneConfig { fire_input: true });
    site
}

fn becomes(building: &mut Building, mode: Mode) {
    building.plant().reading.mode = mode;
    building.plant().answers = true;
    building.run(2_500);
}

fn input(building: &mut Building, clear: bool) {
    let zone = zone("main");
    building.step(dispatch::Input::ZoneFire { zone, clear });
    building.plant().answers = true;
    building.run(2_500);
}

const FIRES: &[fn(&mut Building)] = &[
    |building| becomes(building, Mode::Fire),
    |building| becomes(building, Mode::Emergency),
    |building| input(building, false),
];

const OTHERS: &[fn(&mut Building)] = &[
    |building| becomes(building, Mode::Maintenance),
    |building| becomes(building, Mode::Attendant),
    |building| becomes(building, Mode::OutOfService),
    |building| becomes(building, Mode::Unknown),
];

const ROWS: &[ModeRow] = &[
    ModeRow {
        event: "zone fire, mode `fire` or `emergency`, or loss of the zone's fire input",
        causes: FIRES,
        cells: &[
            (Queued, "=; release"),
            (
                Granted,
                "-> FAILED(FIRE_MODE) clear; release; B until mode normal",
            ),
            (
                Waiting,
                "-> FAILED(FIRE_MODE) clear; release; B until CLEARCALL",
            ),
            (
                Arrived,
                "-> HOLD(FIRE_MODE) stay -> HOLD(FIRE_MODE) exit; release",
            ),
            (
                Withheld,
                "-> FAILED(FIRE_MODE) clear; release; B until SHUT",
            ),
            (
                EnteredOpen,
                "-> HOLD(FIRE_MODE) stay -> HOLD(FIRE_MODE) exit; release",
            ),
            (EnteredShut, "-> HOLD(FIRE_MODE) stay; release"),
            (Running, "-> HOLD(FIRE_MODE) stay; release"),
            (
                RunningOpened,
                "-> HOLD(FIRE_MODE) stay -> HOLD(FIRE_MODE) exit; release",
            ),
            (
                Target,
                "-> HOLD(FIRE_MODE) stay -> HOLD(FIRE_MODE) exit; release",
            ),
            (Exited, "=; release"),
            (HoldBoarding, "-> HOLD(FIRE_MODE) exit; release"),
            (HoldBoardingShut, "-> HOLD(FIRE_MODE) stay; release"),
            (HoldRunning, "-> HOLD(FIRE_MODE) stay; release"),
            (HoldTarget, "-> HOLD(FIRE_MODE) exit; release"),
        ],
    },
    ModeRow {
        event: "`maintenance`, `attendant`, `out_of_service`, mode `unknown`",
        causes: OTHERS,
        cells: &[
            (Queued, "=; release"),
            (Granted, "-> QUEUED wait; release; F"),
            (Waiting, "-> QUEUED wait; release; B until CLEARCALL"),
            (
                Arrived,
                "-> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release",
            ),
            (Withheld, "-> QUEUED wait; release; B until SHUT"),
            (
                EnteredOpen,
                "-> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release",
            ),
            (EnteredShut, "-> HOLD(OUT_OF_SERVICE) stay; release"),
            (Running, "-> HOLD(OUT_OF_SERVICE) stay; release"),
            (
                RunningOpened,
                "-> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release",
            ),
            (
                Target,
                "-> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release",
            ),
            (Exited, "=; release"),
            (HoldBoarding, "=; release"),
            (HoldBoardingShut, "=; release"),
            (HoldRunning, "=; release"),
            (HoldTarget, "=; release"),
        ],
    },
];

const AGAIN: &str = "mode normal again";

const NORMAL_AGAIN: &[Case] = &[
    Case {
        event: AGAIN,
        at: "QUEUED from WAITING_HALL_CALL, B",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            becomes(building, Mode::Maintenance);
            becomes(building, Mode::Normal);
            building.run(3_000);
            ""
        },
        expected: "-> QUEUED wait -> GRANTED approach -> WAITING_HALL_CALL approach; release, \
                   cancel_call 1F, hall_call 1F; B until CLEARCALL, F, K",
    },
    Case {
        event: AGAIN,
        at: "ROBOT_EXITED, B",
        site: plain,
        from: Some(Exited),
        script: |building| {
            becomes(building, Mode::Attendant);
            building.plant().shut_at("6F");
            building.run(2_500);
            assert!(
                building
                    .state()
                    .elevators
                    .values()
                    .all(|car| car.kept.is_some())
            );
            becomes(building, Mode::Normal);
            ""
        },
        expected: "=; release; F",
    },
    Case {
        event: AGAIN,
        at: "HOLD(OUT_OF_SERVICE) from TARGET_ARRIVED, OPEN(to)",
        site: plain,
        from: Some(Target),
        script: |building| {
            becomes(building, Mode::OutOfService);
            becomes(building, Mode::Normal);
            building.run(3_000);
            ""
        },
        expected: "-> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit -> \
                   HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release, hold_door 6F",
    },
    Case {
        event: AGAIN,
        at: "HOLD(FIRE_MODE): the fire is latched until `site resume`",
        site: plain,
        from: Some(HoldFire),
        script: |building| {
            becomes(building, Mode::Normal);
            building.run(3_000);
            ""
        },
        expected: "=",
    },
];

fn walk(row: &ModeRow, faults: &mut Faults) -> Sheet {
    let mut lines = Vec::new();
    for (situation, expected) in row.cells {
        let mut outcome = String::new();
        for (cause, act) in row.causes.iter().enumerate() {
            let mut building = Building::new(with_fire_input());
            input(&mut building, true);
            building.reach(*situation);
            let before = building.look(T1, false);
            act(&mut building);
            outcome = building.seen(&before).trim().to_owned();
            if outcome != *expected {
                faults.push(format!(
                    "{} (cause {cause}) in {}:\n  table: {expected}\n  code:  {outcome}",
                    row.event,
                    situation.words()
                ));
            }
        }
        lines.push(Line {
            left: situation.words().to_owned(),
            right: outcome,
        });
    }
    Sheet {
        title: row.event.to_owned(),
        lines,
    }
}

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> = ROWS.iter().map(|row| walk(row, faults)).collect();
    sheets.extend(tell(NORMAL_AGAIN, faults));
    sheets
}

#[test]
fn fire_and_other_modes_in_every_state() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
