//! The journal from outside: random histories, the end of the process at any moment, damage, and
//! the command that looks at it.

#![allow(clippy::unwrap_used)]

mod command;
mod crash;
mod damage;
mod model;

use std::fs;
use std::path::Path;

use dispatch::edge::{Batch, LedgerChange};
use dispatch::{ElevatorFact, Fact};
use protocol::ElevatorId;

/// A fact that is told apart by its name.
fn fact(name: &str) -> Fact {
    Fact::Elevator(ElevatorFact::Freed {
        elevator: ElevatorId::new(name).unwrap(),
    })
}

/// A step of facts and of ledger rows.
fn step(names: &[String], ledger: &[(String, Option<String>)]) -> Batch {
    Batch {
        facts: names.iter().map(|name| fact(name)).collect(),
        ledger: ledger
            .iter()
            .map(|(key, row)| LedgerChange {
                key: key.clone().into_bytes(),
                row: row.clone().map(String::into_bytes),
            })
            .collect(),
    }
}

/// Copies a directory. Of one that a process writes to, the copy is what would be left of it had
/// the process been killed at this moment.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
