//! Section 1 of the table, first part: requests, `query`, `at_door`, `entered`, heartbeats.

use protocol::robot::{ConnectionState, RobotEvent};

use crate::grid::{Faults, Row, Sheet, Signal, report, walk};
use crate::support::{Building, R1, Situation, Situation::*, T1, T2};

const REFUSED: &str = "R:WRONG_STATE =";

pub(crate) const ROWS: &[Row] = &[
    Row {
        event: "request, same order and digest",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| Some(building.request(R1, T1)),
        cells: &[(Situation::ALL, "D =")],
    },
    Row {
        event: "request, same order, other digest",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| {
            let mut request = building.request_of(T1);
            request.priority = 6;
            Some(building.ask(R1, request))
        },
        cells: &[(Situation::ALL, "R:ORDER_CONFLICT =")],
    },
    Row {
        event: "request, other order",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| Some(building.request(R1, T2)),
        cells: &[
            (
                &[
                    Queued,
                    Granted,
                    Waiting,
                    Arrived,
                    Withheld,
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Target,
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldRunning,
                    HoldTarget,
                ],
                "R:ROBOT_BUSY =",
            ),
            // The fire is the whole zone's, and wire.md section 3 names it first.
            (&[HoldFire], "R:SITE_SUSPENDED ="),
            (&[Exited, Expired], "A ="),
            (&[Cancelled, Failed], "A =; hall_call 1F; K"),
        ],
    },
    Row {
        event: "`query`",
        signal: Signal::Absent,
        window_ms: 500,
        act: |building| Some(building.event(R1, T1, RobotEvent::Query)),
        cells: &[(Situation::ALL, "A =")],
    },
    Row {
        event: "`query`, no reading for more than `reading_fresh_s`",
        signal: Signal::Absent,
        window_ms: 500,
        act: |building| {
            building.plant().answers = false;
            building.run(3_100);
            // What the silence itself does is another row.
            building.forget();
            Some(building.event(R1, T1, RobotEvent::Query))
        },
        cells: &[
            (
                &[
                    Queued,
                    Granted,
                    Waiting,
                    Withheld,
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Exited,
                    HoldBoardingShut,
                    HoldRunning,
                    Cancelled,
                    Expired,
                    Failed,
                ],
                "A =",
            ),
            (&[HoldBoarding], "A -> HOLD(ENTRY_UNCONFIRMED) stay"),
            (&[HoldFire], "A -> HOLD(FIRE_MODE) stay"),
            (&[HoldTarget], "A -> HOLD(EXIT_REFUSED) stay"),
            (&[Arrived], "A -> ELEVATOR_ARRIVED stay"),
            (&[Target], "A -> TARGET_ARRIVED stay"),
        ],
    },
    Row {
        event: "`at_door`",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| Some(building.event(R1, T1, RobotEvent::AtDoor)),
        cells: &[
            (&[Queued, Granted, Waiting, Arrived], "A ="),
            (&[Withheld], "A -> ELEVATOR_ARRIVED enter"),
            (
                &[
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Target,
                    Exited,
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    HoldTarget,
                    Cancelled,
                    Expired,
                    Failed,
                ],
                REFUSED,
            ),
        ],
    },
    Row {
        event: "`entered`",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: entered,
        cells: &[
            (&[Queued], REFUSED),
            (
                &[Granted, Waiting],
                "R:WRONG_STATE -> HOLD(ENTRY_UNCONFIRMED) stay",
            ),
            (
                &[Arrived, Withheld, HoldBoarding],
                "A -> ROBOT_ENTERED ride; car_call 6F, close_door 1F",
            ),
            (
                &[EnteredOpen, EnteredShut, Running, RunningOpened, Target],
                "D =",
            ),
            (&[Exited], REFUSED),
            (
                &[HoldBoardingShut, HoldFire, HoldRunning, HoldTarget],
                "A =",
            ),
            (
                &[Cancelled, Failed],
                "R:WRONG_STATE =; BLOCK(UNEXPECTED_OCCUPANT)",
            ),
            (&[Expired], REFUSED),
        ],
    },
    Row {
        event: "`entered`",
        signal: Signal::Full,
        window_ms: 1_000,
        act: entered,
        cells: &[
            (&[Queued], REFUSED),
            (
                &[Granted, Waiting],
                "R:WRONG_STATE -> HOLD(ENTRY_UNCONFIRMED) stay",
            ),
            (
                &[Arrived, Withheld, HoldBoarding],
                "A -> ROBOT_ENTERED ride; car_call 6F, close_door 1F",
            ),
            (
                &[EnteredOpen, EnteredShut, Running, RunningOpened, Target],
                "D =",
            ),
            (&[Exited], REFUSED),
            (
                &[HoldBoardingShut, HoldFire, HoldRunning, HoldTarget],
                "A =",
            ),
            (
                &[Cancelled, Failed],
                "R:WRONG_STATE =; BLOCK(UNEXPECTED_OCCUPANT)",
            ),
            (&[Expired], REFUSED),
        ],
    },
    Row {
        event: "`entered`",
        signal: Signal::Empty,
        window_ms: 4_000,
        act: entered,
        cells: &[
            (&[Queued], REFUSED),
            (
                &[Granted, Waiting],
                "R:WRONG_STATE -> HOLD(ENTRY_UNCONFIRMED) stay",
            ),
            (
                &[Arrived, Withheld],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F",
            ),
            (
                &[EnteredOpen, EnteredShut, Running, RunningOpened, Target],
                "D =",
            ),
            (&[Exited], REFUSED),
            (
                &[
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    HoldTarget,
                ],
                "A =",
            ),
            (&[Cancelled, Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`status.in_car = true`",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: in_car,
        cells: &[
            (
                &[
                    Queued,
                    Arrived,
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Target,
                    Exited,
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    HoldTarget,
                    Expired,
                ],
                "- =",
            ),
            (&[Granted, Waiting], "- -> HOLD(ENTRY_UNCONFIRMED) stay"),
            (&[Withheld], "- = INSIDE"),
            (&[Cancelled, Failed], "- =; BLOCK(UNEXPECTED_OCCUPANT)"),
        ],
    },
    Row {
        event: "`status.in_car = true`",
        signal: Signal::Empty,
        window_ms: 500,
        act: in_car,
        cells: &[
            (
                &[
                    Queued,
                    Arrived,
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Target,
                    Exited,
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    HoldTarget,
                    Cancelled,
                    Expired,
                    Failed,
                ],
                "- =",
            ),
            (&[Granted, Waiting], "- -> HOLD(ENTRY_UNCONFIRMED) stay"),
            (&[Withheld], "- = INSIDE"),
        ],
    },
    Row {
        event: "any message (here a bare `status`)",
        signal: Signal::Absent,
        window_ms: 500,
        act: |building| {
            building.status(R1);
            None
        },
        cells: &[(Situation::ALL, "- =")],
    },
    Row {
        event: "OFFLINE",
        signal: Signal::Absent,
        window_ms: 500,
        act: |building| {
            building.connection(R1, ConnectionState::Offline);
            None
        },
        cells: &[(Situation::ALL, "- =")],
    },
    Row {
        event: "CONNECTIONBROKEN",
        signal: Signal::Absent,
        window_ms: 500,
        act: |building| {
            building.connection(R1, ConnectionState::ConnectionBroken);
            None
        },
        cells: &[(Situation::ALL, "- =")],
    },
];

fn entered(building: &mut Building) -> Option<protocol::ride::RideReply> {
    Some(building.event(R1, T1, RobotEvent::Entered))
}

fn in_car(building: &mut Building) -> Option<protocol::ride::RideReply> {
    building.in_car(R1, true);
    None
}

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    ROWS.iter().map(|row| walk(row, faults)).collect()
}

#[test]
fn requests_queries_and_entries_in_every_state() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
