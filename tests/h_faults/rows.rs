//! The faults, and what `docs/ride.md` says of each in each state: written by hand from there.

mod blind;

use std::time::Duration;

use sim::live::modbus::Position;
use sim::live::rtu::{Fault, FaultKind, Rule};

pub use self::blind::BLIND;

/// A fault that does not end.
pub const FOR_EVER: u64 = u64::MAX;
/// Shorter than any wait of the table, also with the wait until the unit is asked again.
const SHORT: u64 = 2_000;
/// What the command line has no word for.
const OFF_BY_ONE: &str = "a floor too high";

/// The ends of rides by column.
pub type Ends = [&'static str; 8];

/// A fault: a row of the table.
pub struct Row {
    /// Its letter in the list of hardware faults.
    pub id: &'static str,
    pub name: &'static str,
    /// How long it lasts, in milliseconds.
    pub for_ms: u64,
    /// What goes wrong, in the words of `hallcall sim line --fault`.
    pub words: &'static str,
    pub ends: Ends,
}

impl Row {
    pub fn rule(&self) -> Rule {
        if self.has_words() {
            return self.words.parse().unwrap();
        }
        let time = Duration::from_millis(self.for_ms);
        Rule::nth(1, Fault::Position(Position::Off(1), time))
    }

    pub fn has_words(&self) -> bool {
        self.words != OFF_BY_ONE
    }

    pub fn kind(&self) -> FaultKind {
        let is_it = |kind: &FaultKind| kind.name() == self.id;
        FaultKind::ALL.into_iter().find(is_it).unwrap()
    }

    pub fn lasts(&self) -> String {
        match self.for_ms {
            FOR_EVER if self.words.starts_with("reopens=2#") => "twice".to_owned(),
            FOR_EVER => "for ever".to_owned(),
            ms => format!("{} s", ms / 1_000),
        }
    }

    pub fn title(&self) -> String {
        format!("{} {}, {}", self.id, self.name, self.lasts())
    }
}

/// Nothing that the fault takes away is missed, or it is made good: a reading is asked for again, a
/// command whose effect is not seen is sent once more, a hold is repeated.
pub const DONE: Ends = ["DONE"; 8];

/// Nothing is read any more. GRANTED: `grant_check_s`, no other candidate. WAITING_HALL_CALL: its
/// deadline, then FAILED(CONTROLLER_LOST), BLOCK. ELEVATOR_ARRIVED, TARGET_ARRIVED: the robot is
/// over the threshold and says so, EMPTY or FULL cannot be read in three looks. ROBOT_ENTERED,
/// RUNNING: `silent_s`. ROBOT_EXITED: BLOCK at its deadline. HOLD: `stay`, kept.
const SILENT: Ends = [
    "QUEUED(UNAVAILABLE)",
    "FAILED(CONTROLLER_LOST), BLOCK",
    "HOLD(ENTRY_UNCONFIRMED)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(EXIT_TIMEOUT)",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// The same for 20 s, longer than `silent_s`. Before the robot is in, the ride goes on: QUEUED is
/// granted again, the call is placed once more. TARGET_ARRIVED: the robot repeats `exited`, EMPTY at
/// the target. In the others the door has shut meanwhile, which ends no HOLD; BLOCK stays.
const SILENT_20_S: Ends = [
    "DONE",
    "DONE",
    "HOLD(ENTRY_UNCONFIRMED)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(CONTROLLER_LOST)",
    "DONE",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// The controller says that it did not and will not. GRANTED: next candidate, and again. The hall
/// call is refused twice; the call is seen not to be there, so the elevator is free. The car call is
/// refused once: HOLD with `exit`, and the robot leaves. `close_door` refused in ROBOT_EXITED: BLOCK.
/// In the others no command falls into the time.
const REFUSED: Ends = [
    "DONE",
    "FAILED(CALL_REFUSED)",
    "DONE",
    "FAILED(CALL_REFUSED)",
    "DONE",
    "DONE",
    "DONE, BLOCK",
    "DONE",
];

/// As [`SILENT`], since no reading is answered either; what is refused is known at once.
const REFUSED_FOR_EVER: Ends = [
    "QUEUED(UNAVAILABLE)",
    "FAILED(CALL_REFUSED), BLOCK",
    "HOLD(ENTRY_UNCONFIRMED)",
    "HOLD(CALL_REFUSED)",
    "HOLD(CONTROLLER_LOST)",
    "HOLD(EXIT_TIMEOUT)",
    "DONE, BLOCK",
    "HOLD(EXIT_TIMEOUT)",
];

/// The car comes and is never open: twice `hall_call_s`. A door that is held open stays so; behind
/// it the car travels and is never open at the target: `travel_s`.
const NEVER_OPENS: Ends = [
    "FAILED(HALL_CALL_TIMEOUT)",
    "FAILED(HALL_CALL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "DONE",
    "DONE",
    "DONE",
];

/// ROBOT_ENTERED ends by `door_close_s` in HOLD(DOOR_FAULT) with `exit`; the robot leaves, and the
/// door is never seen shut. Once the car travels, the door has nothing to do but to open; open and
/// EMPTY frees the elevator.
const NEVER_SHUTS: Ends = [
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "FAILED(DOOR_FAULT), BLOCK",
    "DONE",
    "DONE",
    "DONE",
    "DONE",
];

/// A restart forgets the hold, too: the door shuts on the robot that did not leave, which ends no
/// HOLD. In the others forgotten calls are placed again.
const RESTART: Ends = [
    "DONE",
    "DONE",
    "DONE",
    "DONE",
    "DONE",
    "DONE",
    "DONE",
    "HOLD(EXIT_TIMEOUT)",
];

/// The landing that is shown stays: from the hall that the car left (GRANTED, WAITING_HALL_CALL:
/// open at another landing, never `enter`) or from where the robot got in (never OPEN at the target).
const FROZEN: Ends = NEVER_OPENS;

/// Open at another landing: ELEVATOR_ARRIVED and ROBOT_ENTERED hold at once. RUNNING calls once more
/// when it is shut, and finds the target when it is shown right. TARGET_ARRIVED: RUNNING again; the
/// robot that is out says `exited`: HOLD(WRONG_FLOOR), EMPTY elsewhere.
const OFF_20_S: Ends = [
    "DONE",
    "DONE",
    "HOLD(WRONG_FLOOR)",
    "HOLD(WRONG_FLOOR)",
    "DONE",
    "FAILED(WRONG_FLOOR)",
    "DONE",
    "DONE",
];

/// The same where it is never shown right.
const OFF: Ends = [
    "FAILED(HALL_CALL_TIMEOUT)",
    "FAILED(HALL_CALL_TIMEOUT)",
    "HOLD(WRONG_FLOOR)",
    "HOLD(WRONG_FLOOR)",
    "HOLD(TRAVEL_TIMEOUT)",
    "FAILED(WRONG_FLOOR)",
    "DONE",
    "HOLD(EXIT_TIMEOUT)",
];

/// No landing is shown: as [`FROZEN`], and in HOLD the door is not known to be open at any, so that
/// it is not held and the robot told `stay`.
const NOT_LEVEL: Ends = [
    "FAILED(HALL_CALL_TIMEOUT)",
    "FAILED(HALL_CALL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "HOLD(TRAVEL_TIMEOUT)",
    "DONE",
    "DONE",
    "HOLD(EXIT_TIMEOUT)",
];

/// As [`NOT_LEVEL`] in HOLD, whose door has shut meanwhile; else it is waited out.
const NOT_LEVEL_20_S: Ends = RESTART;

/// All rows.
pub const ROWS: &[Row] = &[
    row("H1", "reply 0.9 s late", SHORT, "late=900:1", DONE),
    row("H1", "reply 0.9 s late", FOR_EVER, "late=900:1", SILENT),
    row("H1", "reply with the next", SHORT, "into_next:1", DONE),
    row("H2", "CRC error", SHORT, "bad_crc:1", DONE),
    row("H2", "CRC error", FOR_EVER, "bad_crc:1", SILENT),
    row("H3", "reply twice", FOR_EVER, "twice=20:1", DONE),
    row("H4", "reply cut short", SHORT, "truncated=3:1", DONE),
    row("H4", "reply cut short", FOR_EVER, "truncated=3:1", SILENT),
    row("H4", "replies merged", FOR_EVER, "merged:1", DONE),
    row("H5", "wrong unit", SHORT, "wrong_unit=2:1", DONE),
    row("H5", "wrong unit", FOR_EVER, "wrong_unit=2:1", SILENT),
    row("H6", "wrong function", SHORT, "wrong_function:1", DONE),
    row("H6", "wrong function", FOR_EVER, "wrong_function:1", SILENT),
    row("H6", "wrong length", SHORT, "wrong_length:1", DONE),
    row("H6", "wrong length", FOR_EVER, "wrong_length:1", SILENT),
    row("H7", "busy (06)", SHORT, "busy:1", DONE),
    row("H7", "busy (06)", FOR_EVER, "busy:1", SILENT),
    row("H7", "failure (04)", SHORT, "failure:1", REFUSED),
    row(
        "H7",
        "failure (04)",
        FOR_EVER,
        "failure:1",
        REFUSED_FOR_EVER,
    ),
    row("H8", "echo", FOR_EVER, "echo:1", DONE),
    row("H9", "reply lost", SHORT, "no_reply:1", DONE),
    row("H9", "reply lost", FOR_EVER, "no_reply:1", SILENT),
    row("H9", "request lost", SHORT, "no_request:1", DONE),
    row("H9", "request lost", 5_000, "no_request:1", DONE),
    row("H9", "request lost", 20_000, "no_request:1", SILENT_20_S),
    row("H9", "request lost", FOR_EVER, "no_request:1", SILENT),
    row(
        "H10",
        "door does not open",
        12_000,
        "stuck_closed=12000#1",
        DONE,
    ),
    row(
        "H10",
        "door does not open",
        FOR_EVER,
        "stuck_closed=3600000#1",
        NEVER_OPENS,
    ),
    row(
        "H10",
        "door does not shut",
        12_000,
        "stuck_open=12000#1",
        DONE,
    ),
    row(
        "H10",
        "door does not shut",
        FOR_EVER,
        "stuck_open=3600000#1",
        NEVER_SHUTS,
    ),
    row("H10", "door opens again", FOR_EVER, "reopens=2#1", DONE),
    row(
        "H10",
        "door opens again",
        FOR_EVER,
        "reopens=1000000#1",
        NEVER_SHUTS,
    ),
    row(
        "H11",
        "controller restarts",
        3_000,
        "restart=3000#1",
        RESTART,
    ),
    row(
        "H12",
        "power lost",
        20_000,
        "power_loss=20000#1",
        SILENT_20_S,
    ),
    row(
        "H12",
        "power lost",
        FOR_EVER,
        "power_loss=3600000#1",
        SILENT,
    ),
    row("H13", "position frozen", 20_000, "frozen=20000#1", DONE),
    row(
        "H13",
        "position frozen",
        FOR_EVER,
        "frozen=3600000#1",
        FROZEN,
    ),
    row("H13", "position off by one", 20_000, OFF_BY_ONE, OFF_20_S),
    row("H13", "position off by one", FOR_EVER, OFF_BY_ONE, OFF),
    row("H13", "not level", 20_000, "lost=20000#1", NOT_LEVEL_20_S),
    row("H13", "not level", FOR_EVER, "lost=3600000#1", NOT_LEVEL),
];

const fn row(
    id: &'static str,
    name: &'static str,
    for_ms: u64,
    words: &'static str,
    ends: Ends,
) -> Row {
    Row {
        id,
        name,
        for_ms,
        words,
        ends,
    }
}
