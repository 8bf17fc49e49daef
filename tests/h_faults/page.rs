//! `docs/faults.md`: what the cells came to, for operators.

use std::fmt::Write;

use protocol::ops::Presence;

use crate::rows::Row;
use crate::trial::Outcome;
use crate::{Cells, STATES, TABLES};

const HEAD: &str = "\
# Faults of the hardware, and what becomes of a ride

What a ride comes to when its elevator's controller, its serial line or its door goes wrong, by the
state that the ride was in when that began. States and codes are those of [ride.md](ride.md) and
[errors.md](errors.md); what to do about a code is there.

Nobody typed the table: `cargo test --test h_faults` plays each cell as a whole ride and fails where
this page says something else, where a ride ends otherwise than ride.md says, or where any law of
[architecture.md](architecture.md) is broken at any step. After a change that is meant:

```sh
FAULTS=write cargo test --test h_faults
```

A cell is a ride from 1F to 4F on a virtual clock, of one robot, with the gateway's own core, bus
task, RTU master and register map over a serial line of 19,200 baud that is read every 0.4 s, with
the waits of wire.md section 7. The car of the first table has a presence signal that senses robots.
The robot keeps wire.md: above all it has eyes, and goes through no door that is not open. `HOLD` was
reached by a robot that did not leave the car in `exit_s`; it wants to leave 6 s after the fault
began.

## How to read it

| a cell says | it means |
|---|---|
| `DONE` | The robot got out where it wanted. |
| `DONE +4 s` | The same, so much later than without the fault. |
| `HOLD(code) 10 s` | It stays in HOLD from so long after the beginning of the fault: a person decides, `hallcall elevator resolve`. The elevator is given to nobody else. |
| `FAILED(code) 60 s` | It ended so, after so long; the robot is not in the car. |
| `QUEUED(code) 5 s` | It waits for an elevator since then, and is served when there is one. |
| `, BLOCK` | The elevator is given to nobody until `hallcall elevator reset`. |

A fault with a time lasts for that time, at every request; *for ever* is longer than the ride, *twice*
the next two times that the door shuts. The words in the second column are those of `hallcall sim line
--fault`, by which each can be tried.

";

/// What stands before the table of elevators without a presence signal.
const BLIND: &str = "
## Without a presence signal

The same where the elevator says `presence = \"none\"`: nothing but the robot's word tells whether it is
in the car. One row for each kind of fault whose ends that changes, and two that it does not.

";

/// The whole page.
pub fn page(all: &[Cells]) -> String {
    let mut page = HEAD.to_owned();
    let mut rest = all;
    for table in &TABLES {
        let (own, others) = rest.split_at(table.rows.len() + 1);
        rest = others;
        if table.presence == Presence::None {
            page += BLIND;
        }
        write(&mut page, table.rows, own);
    }
    page
}

fn write(page: &mut String, rows: &[Row], cells: &[Cells]) {
    let states: Vec<_> = STATES.iter().map(ToString::to_string).collect();
    writeln!(page, "| fault | words | lasts | {} |", states.join(" | ")).unwrap();
    writeln!(page, "|---|---|---|{}", "---|".repeat(STATES.len())).unwrap();
    let (plain, faulty) = cells.split_first().unwrap();
    let times: Vec<_> = plain
        .iter()
        .map(|cell| format!("{} {} s", cell.end, seconds(cell.took_ms)))
        .collect();
    writeln!(page, "| none | | | {} |", times.join(" | ")).unwrap();
    for (row, cells) in rows.iter().zip(faulty) {
        let cells: Vec<_> = cells
            .iter()
            .zip(plain)
            .map(|(cell, plain)| text(cell, plain))
            .collect();
        writeln!(page, "{} {} |", start(row), cells.join(" | ")).unwrap();
    }
}

fn start(row: &Row) -> String {
    let Row {
        id, name, words, ..
    } = row;
    let words = if row.has_words() {
        format!("`{words}`")
    } else {
        String::new()
    };
    format!("| {id} {name} | {words} | {} |", row.lasts())
}

/// A cell in words; times in whole seconds.
fn text(cell: &Outcome, plain: &Outcome) -> String {
    let (end, and) = cell.end.split_once(", ").unwrap_or((&cell.end, ""));
    let mut text = if end == "DONE" {
        match seconds(cell.took_ms).saturating_sub(seconds(plain.took_ms)) {
            0 => "DONE".to_owned(),
            cost => format!("DONE +{cost} s"),
        }
    } else {
        format!("{end} {} s", seconds(cell.took_ms))
    };
    if !and.is_empty() {
        text = format!("{text}, {and}");
    }
    text
}

fn seconds(ms: u64) -> u64 {
    (ms + 500) / 1_000
}
