//! Section 1 of the table, second part: `cancel_enter`, `exited`, `cancel_exit`, `ride/cancel`,
//! `hold_door`.

use protocol::ride::RideReply;
use protocol::robot::RobotEvent;

use crate::grid::{Faults, Row, Sheet, Signal, report, walk};
use crate::support::{Building, R1, Situation::*, T1};

const REFUSED: &str = "R:WRONG_STATE =";
const BACK_OUT: &str =
    "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; open_door 1F, hold_door 1F";

pub(crate) const ROWS: &[Row] = &[
    Row {
        event: "`cancel_enter`",
        signal: Signal::Absent,
        window_ms: 3_000,
        act: cancel_enter,
        cells: &[
            (&[Queued], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear"),
            (&[Granted], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; F"),
            (
                &[Waiting],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; cancel_call 1F; B until CLEARCALL, F",
            ),
            (
                &[Arrived, Withheld],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; B until SHUT",
            ),
            (
                &[EnteredOpen],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F, \
                 open_door 1F",
            ),
            (&[EnteredShut], BACK_OUT),
            (&[Running, RunningOpened, Target, Exited], REFUSED),
            (
                &[HoldBoarding],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT",
            ),
            (&[HoldFire], "A -> FAILED(FIRE_MODE) clear; B until SHUT"),
            (&[HoldBoardingShut], "A ="),
            (&[HoldRunning, HoldTarget], REFUSED),
            (&[Cancelled], "D ="),
            (&[Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`cancel_enter`",
        signal: Signal::Empty,
        window_ms: 3_000,
        act: cancel_enter,
        cells: &[
            (&[Queued], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear"),
            (&[Granted], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; F"),
            (
                &[Waiting],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; cancel_call 1F; B until CLEARCALL, F",
            ),
            (
                &[Arrived, Withheld],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; B until SHUT",
            ),
            (
                &[EnteredOpen],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F, \
                 open_door 1F",
            ),
            (&[EnteredShut], BACK_OUT),
            (&[Running, RunningOpened, Target, Exited], REFUSED),
            (
                &[HoldBoarding],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT",
            ),
            (&[HoldFire], "A -> FAILED(FIRE_MODE) clear; B until SHUT"),
            (
                &[HoldBoardingShut],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT, F",
            ),
            (&[HoldRunning, HoldTarget], REFUSED),
            (&[Cancelled], "D ="),
            (&[Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`cancel_enter`",
        signal: Signal::Full,
        window_ms: 4_000,
        act: cancel_enter,
        cells: &[
            (&[Queued], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear"),
            (&[Granted], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; F"),
            (
                &[Waiting],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; cancel_call 1F; B until CLEARCALL, F",
            ),
            (
                &[Arrived],
                "A -> ELEVATOR_ARRIVED stay -> HOLD(ENTRY_UNCONFIRMED) stay -> \
                 HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F",
            ),
            (
                &[Withheld],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; B until SHUT",
            ),
            (
                &[EnteredOpen],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F, \
                 open_door 1F",
            ),
            (&[EnteredShut], BACK_OUT),
            (&[Running, RunningOpened, Target, Exited], REFUSED),
            (&[HoldBoarding, HoldBoardingShut, HoldFire], "A ="),
            (&[HoldRunning, HoldTarget], REFUSED),
            (&[Cancelled], "D ="),
            (&[Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`cancel_enter` with `again`",
        signal: Signal::Absent,
        window_ms: 3_000,
        act: |building| Some(building.event(R1, T1, RobotEvent::CancelEnter { again: true })),
        cells: &[
            (&[Queued], "A ="),
            (&[Granted], "A -> QUEUED wait -> GRANTED approach; F, K"),
            (
                &[Waiting],
                "A -> QUEUED wait -> GRANTED approach -> WAITING_HALL_CALL approach; cancel_call \
                 1F, hall_call 1F; B until CLEARCALL, F, K",
            ),
            (&[Arrived, Withheld], "A -> QUEUED wait; B until SHUT"),
            (
                &[EnteredOpen],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F, \
                 open_door 1F",
            ),
            (&[EnteredShut], BACK_OUT),
            (&[Running, RunningOpened, Target, Exited], REFUSED),
            (
                &[HoldBoarding],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT",
            ),
            (&[HoldFire], "A -> FAILED(FIRE_MODE) clear; B until SHUT"),
            (&[HoldBoardingShut], "A ="),
            (&[HoldRunning, HoldTarget], REFUSED),
            (&[Cancelled], "D ="),
            (&[Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`exited`",
        signal: Signal::Absent,
        window_ms: 3_000,
        act: exited,
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
                ],
                REFUSED,
            ),
            (
                &[RunningOpened],
                "A -> HOLD(WRONG_FLOOR) stay -> FAILED(WRONG_FLOOR) clear; B until SHUT",
            ),
            (
                &[Target, HoldTarget],
                "A -> ROBOT_EXITED clear; close_door 6F; B until SHUT or EMPTY, F",
            ),
            (&[Exited], "D ="),
            (
                &[HoldBoarding],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT",
            ),
            (
                &[HoldBoardingShut],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT, F",
            ),
            (&[HoldFire], "A -> FAILED(FIRE_MODE) clear; B until SHUT"),
            (&[HoldRunning], REFUSED),
            (&[Cancelled, Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`exited`",
        signal: Signal::Empty,
        window_ms: 3_000,
        act: exited,
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
                ],
                REFUSED,
            ),
            (
                &[RunningOpened],
                "A -> HOLD(WRONG_FLOOR) stay -> FAILED(WRONG_FLOOR) clear; B until SHUT",
            ),
            (
                &[Target, HoldTarget],
                "A -> ROBOT_EXITED clear; close_door 6F; B until SHUT or EMPTY, F",
            ),
            (&[Exited], "D ="),
            (
                &[HoldBoarding],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT",
            ),
            (
                &[HoldBoardingShut],
                "A -> FAILED(ENTRY_UNCONFIRMED) clear; B until SHUT, F",
            ),
            (&[HoldFire], "A -> FAILED(FIRE_MODE) clear; B until SHUT"),
            (&[HoldRunning], REFUSED),
            (&[Cancelled, Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`exited`",
        signal: Signal::Full,
        window_ms: 4_000,
        act: exited,
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
                ],
                REFUSED,
            ),
            (
                &[RunningOpened],
                "A -> HOLD(WRONG_FLOOR) stay; hold_door 3F",
            ),
            (
                &[Target],
                "A -> HOLD(EXIT_TIMEOUT) stay -> HOLD(EXIT_TIMEOUT) exit; hold_door 6F",
            ),
            (&[Exited], "D ="),
            (&[HoldBoarding, HoldBoardingShut, HoldFire], "A ="),
            (&[HoldTarget], "A ="),
            (&[HoldRunning], REFUSED),
            (&[Cancelled, Expired, Failed], REFUSED),
        ],
    },
    Row {
        event: "`cancel_exit`",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| Some(building.event(R1, T1, RobotEvent::CancelExit)),
        cells: &[
            (
                &[
                    Queued,
                    Granted,
                    Waiting,
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Expired,
                ],
                REFUSED,
            ),
            (
                &[Arrived, Withheld],
                "A -> HOLD(ENTRY_UNCONFIRMED) stay -> HOLD(ENTRY_UNCONFIRMED) exit; hold_door 1F",
            ),
            (
                &[Target],
                "A -> HOLD(EXIT_REFUSED) stay -> HOLD(EXIT_REFUSED) exit; hold_door 6F",
            ),
            (
                &[
                    HoldBoarding,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    HoldTarget,
                ],
                "D =",
            ),
            (
                &[Exited, Cancelled, Failed],
                "R:WRONG_STATE =; BLOCK(UNEXPECTED_OCCUPANT)",
            ),
        ],
    },
    Row {
        event: "`ride/cancel`",
        signal: Signal::Absent,
        window_ms: 3_000,
        act: |building| Some(building.cancel(R1, T1)),
        cells: &[
            (&[Queued], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear"),
            (&[Granted], "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; F"),
            (
                &[Waiting],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; cancel_call 1F; B until CLEARCALL, F",
            ),
            (&[Arrived], REFUSED),
            (
                &[Withheld],
                "A -> CANCELLED(CANCELLED_BY_ROBOT) clear; B until SHUT",
            ),
            (
                &[
                    EnteredOpen,
                    EnteredShut,
                    Running,
                    RunningOpened,
                    Exited,
                    HoldBoardingShut,
                    HoldFire,
                    HoldRunning,
                    Expired,
                    Failed,
                ],
                REFUSED,
            ),
            (&[Target, HoldTarget, HoldBoarding], REFUSED),
            (&[Cancelled], "D ="),
        ],
    },
    Row {
        event: "`hold_door`",
        signal: Signal::Absent,
        window_ms: 1_000,
        act: |building| Some(building.event(R1, T1, RobotEvent::HoldDoor { hold_s: 30 })),
        cells: &[
            (&[Queued, Granted, Waiting], REFUSED),
            (&[Arrived, Withheld], "A = seq+; hold_door 1F"),
            (&[EnteredOpen], "A = seq+; hold_door 1F, open_door 1F"),
            (&[EnteredShut, Running, RunningOpened], REFUSED),
            (&[Target], "A = seq+; hold_door 6F"),
            (&[HoldBoarding], "A =; hold_door 1F"),
            (&[HoldTarget], "A =; hold_door 6F"),
            (&[HoldBoardingShut, HoldFire, HoldRunning], REFUSED),
            (&[Exited, Cancelled, Expired, Failed], REFUSED),
        ],
    },
];

fn cancel_enter(building: &mut Building) -> Option<RideReply> {
    Some(building.event(R1, T1, RobotEvent::CancelEnter { again: false }))
}

fn exited(building: &mut Building) -> Option<RideReply> {
    Some(building.event(R1, T1, RobotEvent::Exited))
}

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    ROWS.iter().map(|row| walk(row, faults)).collect()
}

#[test]
fn leaving_and_holding_in_every_state() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
