//! Section 4 of the table: orders cancelled, HOLD resolved.

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::hardware::Door;
use protocol::robot::{ConnectionState, RobotEvent};

use crate::grid::{Case, Faults, Sheet, case, plain, report, sensing, tell};
use crate::reset_rows::{maintain, reset};
use crate::support::site::{elevator, order};
use crate::support::{Building, E1, R1, Situation::*, T1};
use crate::{gateway_rows, reset_rows};

const CANCEL: &str = "`order cancel`";
const CONTINUE: &str = "`elevator resolve --outcome continue`";
const OUT: &str = "`elevator resolve --outcome robot-out`";

/// `ok` or `refused`; what is missing is looked at in the test of the answers.
pub(crate) fn act(building: &mut Building, action: OperatorAction) -> &'static str {
    let answer = building.operator(action);
    if answer.is_ok() { "ok" } else { "refused" }
}

fn cancel(building: &mut Building) -> &'static str {
    let answer = act(building, OperatorAction::OrderCancel(order(T1)));
    building.run(3_000);
    answer
}

fn resolve(
    building: &mut Building,
    outcome: ResolveOutcome,
    empty: bool,
    force: bool,
) -> &'static str {
    let answer = act(
        building,
        OperatorAction::ElevatorResolve {
            elevator: elevator(E1),
            order: order(T1),
            outcome,
            car_seen_empty: empty,
            force,
        },
    );
    building.run(1_000);
    answer
}

fn go_on(building: &mut Building) -> &'static str {
    resolve(building, ResolveOutcome::Continue, false, false)
}

fn out(building: &mut Building, empty: bool) -> &'static str {
    resolve(building, ResolveOutcome::RobotOut, empty, false)
}

pub(crate) const CANCELS: &[Case] = &[
    case!(
        CANCEL,
        "QUEUED",
        plain,
        Queued,
        cancel,
        "ok -> CANCELLED(CANCELLED_BY_OPERATOR) clear"
    ),
    case!(
        CANCEL,
        "GRANTED",
        plain,
        Granted,
        cancel,
        "ok -> CANCELLED(CANCELLED_BY_OPERATOR) clear; F"
    ),
    case!(
        CANCEL,
        "WAITING_HALL_CALL",
        plain,
        Waiting,
        cancel,
        "ok -> CANCELLED(CANCELLED_BY_OPERATOR) clear; cancel_call 1F; B until CLEARCALL, F"
    ),
    case!(
        CANCEL,
        "ELEVATOR_ARRIVED",
        plain,
        Arrived,
        cancel,
        "refused ="
    ),
    case!(
        CANCEL,
        "ELEVATOR_ARRIVED, `enter` withheld",
        plain,
        Withheld,
        cancel,
        "ok -> CANCELLED(CANCELLED_BY_OPERATOR) clear; B until SHUT"
    ),
    case!(
        CANCEL,
        "ROBOT_ENTERED",
        plain,
        EnteredShut,
        cancel,
        "refused ="
    ),
    case!(CANCEL, "RUNNING", plain, Running, cancel, "refused ="),
    case!(CANCEL, "TARGET_ARRIVED", plain, Target, cancel, "refused ="),
    case!(CANCEL, "ROBOT_EXITED", plain, Exited, cancel, "refused ="),
    case!(CANCEL, "HOLD", plain, HoldBoarding, cancel, "refused ="),
    case!(CANCEL, "CANCELLED", plain, Cancelled, cancel, "refused ="),
];

pub(crate) const RESOLUTIONS: &[Case] = &[
    case!(
        CONTINUE,
        "not in HOLD (RUNNING)",
        plain,
        Running,
        go_on,
        "refused ="
    ),
    case!(
        CONTINUE,
        "HOLD, moving",
        plain,
        HoldRunning,
        go_on,
        "refused ="
    ),
    case!(
        CONTINUE,
        "HOLD, no READ in 30 s",
        plain,
        HoldBoardingShut,
        |building| {
            building.plant().answers = false;
            building.run(31_000);
            go_on(building)
        },
        "refused ="
    ),
    case!(
        CONTINUE,
        "HOLD, mode `fire`",
        plain,
        HoldFire,
        go_on,
        "refused ="
    ),
    case!(
        CONTINUE,
        "HOLD, SHUT at any floor",
        plain,
        HoldRunning,
        |building| {
            building.plant().shut_at("3F");
            building.read_again();
            go_on(building)
        },
        "ok -> RUNNING ride; car_call 6F"
    ),
    case!(
        CONTINUE,
        "HOLD, OPEN(to)",
        plain,
        HoldTarget,
        go_on,
        "ok -> TARGET_ARRIVED stay -> TARGET_ARRIVED exit"
    ),
    case!(
        CONTINUE,
        "HOLD, OPEN(from)",
        plain,
        HoldBoarding,
        go_on,
        "ok -> ELEVATOR_ARRIVED stay -> ELEVATOR_ARRIVED enter"
    ),
    case!(
        CONTINUE,
        "HOLD, OPEN at another landing",
        plain,
        HoldBoardingShut,
        |building| {
            building.plant().open_at("3F");
            building.read_again();
            building.forget();
            go_on(building)
        },
        "refused ="
    ),
    case!(
        OUT,
        "not in HOLD (TARGET_ARRIVED)",
        plain,
        Target,
        |building| out(building, true),
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, no signal",
        plain,
        HoldTarget,
        |building| out(building, false),
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, no signal, `--car-seen-empty`",
        plain,
        HoldTarget,
        |building| out(building, true),
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT"
    ),
    case!(
        OUT,
        "HOLD, no signal, `--car-seen-empty`, then SHUT",
        plain,
        HoldTarget,
        |building| {
            let answer = out(building, true);
            building.plant().shut_at("6F");
            building.run(2_500);
            answer
        },
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT, F"
    ),
    case!(
        OUT,
        "HOLD, the signal says FULL",
        sensing,
        HoldTarget,
        |building| out(building, true),
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, the signal says EMPTY",
        sensing,
        HoldTarget,
        |building| {
            building.plant().occupied(false);
            building.read_again();
            out(building, false)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT"
    ),
    case!(
        OUT,
        "HOLD, the robot is ONLINE and says `in_car`",
        plain,
        HoldTarget,
        |building| {
            building.connection(R1, ConnectionState::Online);
            building.in_car(R1, true);
            out(building, true)
        },
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, the robot is ONLINE, says `in_car` and was not heard for `lease_s`",
        plain,
        HoldTarget,
        |building| {
            building.connection(R1, ConnectionState::Online);
            building.in_car(R1, true);
            building.run(30_000);
            out(building, true)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT"
    ),
    case!(
        OUT,
        "HOLD, the robot is ONLINE, said `in_car`, and `exited` after that",
        sensing,
        HoldTarget,
        |building| {
            building.connection(R1, ConnectionState::Online);
            building.in_car(R1, true);
            building.event(R1, T1, RobotEvent::Exited);
            building.plant().occupied(false);
            building.read_again();
            out(building, false)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT"
    ),
    case!(
        OUT,
        "HOLD, the robot said `in_car` and is OFFLINE",
        plain,
        HoldTarget,
        |building| {
            building.in_car(R1, true);
            building.connection(R1, ConnectionState::Offline);
            out(building, true)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; B until SHUT"
    ),
    case!(
        OUT,
        "HOLD, moving",
        plain,
        HoldRunning,
        |building| out(building, true),
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, a door is not known",
        plain,
        HoldBoardingShut,
        |building| {
            building.plant().reading.front = Door::Unknown;
            building.read_again();
            out(building, true)
        },
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, no READ in 30 s",
        plain,
        HoldBoardingShut,
        |building| {
            building.plant().answers = false;
            building.run(31_000);
            out(building, true)
        },
        "refused ="
    ),
    case!(
        OUT,
        "HOLD, no READ in 30 s, `--force`",
        plain,
        HoldBoardingShut,
        |building| {
            building.plant().answers = false;
            building.run(31_000);
            resolve(building, ResolveOutcome::RobotOut, false, true)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; release; B until SHUT, BLOCK(OPERATOR_RESET), \
         maintenance on"
    ),
    case!(
        OUT,
        "after `--force`: `maintenance off` frees nothing, a reset with a reading does",
        plain,
        HoldBoardingShut,
        |building| {
            resolve(building, ResolveOutcome::RobotOut, false, true);
            building.read_again();
            maintain(building, false);
            building.run(3_000);
            reset(building, true, false)
        },
        "ok -> FAILED(OPERATOR_RESET) clear; release; B until SHUT, BLOCK(OPERATOR_RESET), \
         maintenance on, maintenance off, unblocked, F"
    ),
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets = tell(CANCELS, faults);
    sheets.extend(tell(RESOLUTIONS, faults));
    sheets.extend(reset_rows::sheets(faults));
    sheets.extend(gateway_rows::sheets(faults));
    sheets
}

#[test]
fn operators_cancel_and_resolve() {
    let mut faults = Faults::new();
    tell(CANCELS, &mut faults);
    tell(RESOLUTIONS, &mut faults);
    report(&faults);
}
