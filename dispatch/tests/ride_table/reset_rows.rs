//! Section 4 of the table: elevators reset and maintained.

use dispatch::OperatorAction;
use protocol::hardware::Motion;
use protocol::robot::RobotEvent;

use crate::grid::{Case, Faults, Sheet, case, plain, report, sensing, tell};
use crate::operator_rows::act;
use crate::support::site::elevator;
use crate::support::{Building, E1, R1, Situation::*, T1};

const RESET: &str = "`elevator reset`";
const MAINTENANCE: &str = "`elevator maintenance on`, `off`";

pub(crate) fn reset(building: &mut Building, empty: bool, force: bool) -> &'static str {
    let answer = act(
        building,
        OperatorAction::ElevatorReset {
            elevator: elevator(E1),
            car_seen_empty: empty,
            force,
        },
    );
    building.run(500);
    answer
}

pub(crate) fn maintain(building: &mut Building, on: bool) -> &'static str {
    let action = OperatorAction::ElevatorMaintenance {
        elevator: elevator(E1),
        on,
    };
    let answer = act(building, action);
    building.run(500);
    answer
}

/// The door did not close after the exit: BLOCK.
fn blocked(building: &mut Building) {
    building.run(61_000);
    building.forget();
}

pub(crate) const RESETS: &[Case] = &[
    case!(
        RESET,
        "neither BLOCK nor B",
        plain,
        Cancelled,
        |building| reset(building, true, false),
        "refused ="
    ),
    case!(
        RESET,
        "BLOCK, no signal",
        plain,
        Exited,
        |building| {
            blocked(building);
            reset(building, false, false)
        },
        "refused ="
    ),
    case!(
        RESET,
        "BLOCK, no signal, `--car-seen-empty`",
        plain,
        Exited,
        |building| {
            blocked(building);
            reset(building, true, false)
        },
        "ok =; unblocked, F"
    ),
    case!(
        RESET,
        "BLOCK, moving",
        plain,
        Exited,
        |building| {
            blocked(building);
            building.plant().pass("3F", Motion::Up);
            building.read_again();
            reset(building, true, false)
        },
        "refused ="
    ),
    case!(
        RESET,
        "BLOCK, the signal says FULL",
        sensing,
        Exited,
        |building| {
            blocked(building);
            reset(building, true, false)
        },
        "refused ="
    ),
    case!(
        RESET,
        "BLOCK, no READ in 30 s, `--force`",
        plain,
        Exited,
        |building| {
            blocked(building);
            building.plant().answers = false;
            building.run(31_000);
            reset(building, false, true)
        },
        "ok =; release; maintenance on"
    ),
    case!(
        RESET,
        "B until CLEARCALL, `--car-seen-empty`",
        plain,
        Waiting,
        |building| {
            building.plant().deaf.insert("cancel_call");
            building.cancel(R1, T1);
            building.run(1_000);
            reset(building, true, false)
        },
        "ok -> CANCELLED(CANCELLED_BY_ROBOT) clear; cancel_call 1F; B until CLEARCALL, F"
    ),
    case!(
        RESET,
        "BLOCK by a robot that says it is inside after the end",
        plain,
        Cancelled,
        |building| {
            building.event(R1, T1, RobotEvent::Entered);
            reset(building, true, false)
        },
        "ok =; BLOCK(UNEXPECTED_OCCUPANT), unblocked"
    ),
    case!(
        MAINTENANCE,
        "WAITING_HALL_CALL",
        plain,
        Waiting,
        |building| maintain(building, true),
        "ok -> QUEUED wait; release; maintenance on, B until CLEARCALL"
    ),
    case!(
        MAINTENANCE,
        "ELEVATOR_ARRIVED",
        plain,
        Arrived,
        |building| maintain(building, true),
        "ok -> HOLD(OUT_OF_SERVICE) stay -> HOLD(OUT_OF_SERVICE) exit; release; maintenance on"
    ),
    case!(
        MAINTENANCE,
        "free, on and off",
        plain,
        Cancelled,
        |building| {
            maintain(building, true);
            building.read_again();
            maintain(building, false)
        },
        "ok =; maintenance on, maintenance off"
    ),
    case!(
        MAINTENANCE,
        "free, on, and off without a READ in 30 s",
        plain,
        Cancelled,
        |building| {
            maintain(building, true);
            building.plant().answers = false;
            building.run(31_000);
            maintain(building, false)
        },
        "refused =; maintenance on"
    ),
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    tell(RESETS, faults)
}

#[test]
fn operators_reset_and_maintain() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
