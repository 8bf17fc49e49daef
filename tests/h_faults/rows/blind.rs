//! Without a presence signal the robot's word is all that tells whether it is in the car: one row for
//! each kind of fault whose ends that changes, and two that it does not.

use super::{DONE, Ends, FOR_EVER, RESTART, Row, SHORT, row};

/// Nothing is read any more. ELEVATOR_ARRIVED: `entered` counts at once, so that it ends as
/// ROBOT_ENTERED does. TARGET_ARRIVED: so does `exited`; ROBOT_EXITED waits for a door that is seen
/// shut, and ends in BLOCK.
const SILENT: Ends = [
    "QUEUED(UNAVAILABLE)",
    "FAILED(CONTROLLER_LOST), BLOCK",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "DONE, BLOCK",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// The same for 20 s: before the robot is in, the ride goes on; BLOCK stays.
const SILENT_20_S: Ends = [
    "DONE",
    "DONE",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "DONE, BLOCK",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// As [`SILENT`]; what is refused is known at once, the car call behind `entered` too.
const REFUSED_FOR_EVER: Ends = [
    "QUEUED(UNAVAILABLE)",
    "FAILED(CALL_REFUSED), BLOCK",
    "HOLD(CALL_REFUSED)",
    "HOLD(CALL_REFUSED)",
    "HOLD(CONTROLLER_LOST)",
    "DONE, BLOCK",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// No signal says that a car which stands open is empty: behind a robot that has left, only a door
/// that is seen shut frees the elevator.
const NEVER_SHUTS: Ends = [
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "DONE, BLOCK",
    "DONE, BLOCK",
    "DONE, BLOCK",
    "DONE, BLOCK",
];

/// All rows.
pub const BLIND: &[Row] = &[
    row(
        "H7",
        "failure (04)",
        FOR_EVER,
        "failure:1",
        REFUSED_FOR_EVER,
    ),
    row("H9", "request lost", SHORT, "no_request:1", DONE),
    row("H9", "request lost", 20_000, "no_request:1", SILENT_20_S),
    row("H9", "request lost", FOR_EVER, "no_request:1", SILENT),
    row(
        "H10",
        "door does not shut",
        FOR_EVER,
        "stuck_open=3600000#1",
        NEVER_SHUTS,
    ),
    row(
        "H11",
        "controller restarts",
        3_000,
        "restart=3000#1",
        RESTART,
    ),
];
