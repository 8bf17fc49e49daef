//! The journal from outside: random histories, the end of the process at any moment, damage, and
//! the command that looks at it.

#![allow(clippy::unwrap_used)]

mod churn;
mod command;
mod crash;
mod damage;
mod model;
mod refused;
mod upkeep;

use std::fs;
use std::ops::Deref;
use std::path::Path;

use dispatch::edge::record::split;
use dispatch::edge::{Batch, Journal, JournalError, LedgerChange, Loaded, Seq};
use dispatch::{ElevatorFact, Fact};
use hallcall::journal::SledJournal;
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
                settled: row.as_ref().is_some_and(|row| row.starts_with("ended")),
            })
            .collect(),
    }
}

/// What was loaded, with the ledger's rows.
#[derive(Debug, PartialEq)]
struct Read {
    loaded: Loaded,
    ledger: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Deref for Read {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}

/// Changes what stands in the store for a record, which is its bytes, or nothing to remove it.
fn change_record(db: &sled::Db, seq: Seq, change: impl FnOnce(&mut Vec<u8>)) {
    let records = db.open_tree("records").unwrap();
    let page = records.range(..=seq.to_be_bytes()).next_back();
    let (key, page) = page.unwrap().unwrap();
    let first = Seq::from_be_bytes(key.as_ref().try_into().unwrap());
    let mut stored: Vec<_> = split(&page).map(<[u8]>::to_vec).collect();
    change(&mut stored[usize::try_from(seq - first).unwrap()]);
    records.insert(key, stored.concat()).unwrap();
}

fn load(journal: &mut SledJournal) -> Result<Read, JournalError> {
    let mut ledger = Vec::new();
    let loaded = journal.load(&mut |key, row| ledger.push((key.to_vec(), row.to_vec())))?;
    Ok(Read { loaded, ledger })
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

/// Opens the store by sled's own means; its segments are those of new stores.
fn open_sled(journal: &Path) -> sled::Db {
    let config = sled::Config::new().segment_size(2 * 1024 * 1024);
    config.path(journal).open().unwrap()
}

/// How much of sled's file is written; the rest of its last segment is zeros.
fn used(db: &[u8]) -> usize {
    db.iter().rposition(|byte| *byte != 0).unwrap() + 1
}
