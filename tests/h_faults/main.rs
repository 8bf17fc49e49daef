//! Every hardware fault in every state of a ride (H1 to H13; T-LIFT-27, 40 to 43, AT-LIFT-08, 14, 15,
//! 19 to 21).
//!
//! A cell is a whole ride on a virtual clock: the real core, edge and codec, the real bus task, RTU
//! master and register map, the bytes of a serial line, a car's physics and a robot that keeps
//! `docs/wire.md`. The fault begins when the ride is in the state of the column. Asserted of each:
//!
//! * no law is broken at any step, by the core's own check, by [`laws`] and by the record of the
//!   simulated car;
//! * the fault struck, by the record of the simulated line;
//! * the ride ends as `docs/ride.md` says: [`rows`], written by hand;
//! * `docs/faults.md` says what happened. It is written anew by
//!
//! ```sh
//! FAULTS=write cargo test --test h_faults
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm
)]
#![allow(missing_docs, unreachable_pub)]

mod laws;
mod line;
mod page;
mod rows;
mod stage;
mod trial;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use protocol::ops::Presence;
use protocol::ride::RideState;

use crate::rows::{BLIND, DONE, ROWS, Row};
use crate::trial::{Outcome, run};

/// The columns: the states of a ride that has an elevator, until it has none.
const STATES: [RideState; 8] = [
    RideState::Granted,
    RideState::WaitingHallCall,
    RideState::ElevatorArrived,
    RideState::RobotEntered,
    RideState::Running,
    RideState::TargetArrived,
    RideState::RobotExited,
    RideState::Hold,
];

/// The cells of a row; of the first one, without a fault, there is no [`Row`].
type Cells = Vec<Outcome>;

/// A table: elevators with this presence signal, and the faults of its rows.
pub struct Table {
    pub presence: Presence,
    pub rows: &'static [Row],
}

impl Table {
    /// Its rows; the first is without a fault.
    fn all(&self) -> impl Iterator<Item = Option<&'static Row>> {
        std::iter::once(None).chain(self.rows.iter().map(Some))
    }
}

const TABLES: [Table; 2] = [
    Table {
        presence: Presence::Robot,
        rows: ROWS,
    },
    Table {
        presence: Presence::None,
        rows: BLIND,
    },
];

#[test]
fn every_fault_in_every_state_ends_as_the_ride_table_says_and_breaks_no_law() {
    let rows: Vec<(Presence, Option<&Row>)> = TABLES
        .iter()
        .flat_map(|table| table.all().map(|row| (table.presence, row)))
        .collect();
    let all = play_all(&rows);
    let mut wrong = Vec::new();
    for ((presence, row), cells) in rows.iter().zip(&all) {
        for (column, cell) in cells.iter().enumerate() {
            wrong.extend(judge(*presence, *row, column, cell));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let page = page::page(&all);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/faults.md");
    if std::env::var("FAULTS").is_ok_and(|word| word == "write") {
        fs::write(&path, page).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap();
    for (at, (kept, made)) in kept.lines().zip(page.lines()).enumerate() {
        assert_eq!(kept, made, "docs/faults.md, line {}", at + 1);
    }
    assert_eq!(kept, page, "docs/faults.md; FAULTS=write writes it anew");
}

/// What is wrong with a cell.
fn judge(presence: Presence, row: Option<&Row>, column: usize, cell: &Outcome) -> Vec<String> {
    let name = row.map_or_else(|| "no fault".to_owned(), Row::title);
    let place = format!("{name}, in {}, presence {presence:?}", STATES[column]);
    let mut wrong: Vec<_> = cell
        .broken
        .iter()
        .map(|one| format!("{place}: {one}"))
        .collect();
    let expected = row.map_or(DONE, |row| row.ends)[column];
    if cell.end != expected {
        wrong.push(format!(
            "{place}: {} after {} ms, expected {expected}",
            cell.end, cell.took_ms
        ));
    }
    if row.is_some() && cell.fired == 0 {
        wrong.push(format!("{place}: it never struck"));
    }
    if cell.looks == 0 || (cell.end == "DONE" && column < 3 && cell.commands == 0) {
        wrong.push(format!("{place}: nothing was looked at"));
    }
    wrong
}

/// All cells, as many at a time as there are processors.
fn play_all(rows: &[(Presence, Option<&Row>)]) -> Vec<Cells> {
    let count = rows.len() * STATES.len();
    let next = AtomicUsize::new(0);
    let cells: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; count]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let (presence, row) = rows[at / STATES.len()];
            let outcome = run(presence, row, STATES[at % STATES.len()]);
            cells.lock().unwrap()[at] = Some(outcome);
        }
    };
    let workers = thread::available_parallelism().map_or(2, |count| count.get().min(8));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let cells: Vec<_> = cells.into_inner().unwrap().into_iter().flatten().collect();
    assert_eq!(cells.len(), count);
    cells.chunks(STATES.len()).map(<[_]>::to_vec).collect()
}
