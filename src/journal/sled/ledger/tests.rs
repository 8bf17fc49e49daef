use std::collections::BTreeMap;
use std::fs;

use dispatch::edge::{Batch, Journal, JournalError, LedgerChange};
use dispatch::{ElevatorFact, Fact};
use protocol::ElevatorId;
use tempfile::TempDir;

use super::*;
use crate::journal::SledJournal;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// A journal and what its ledger must hold.
struct Bench {
    dir: TempDir,
    journal: SledJournal,
    rows: Rows,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = SledJournal::open(dir.path()).unwrap();
        journal.load(&mut |_, _| ()).unwrap();
        Self {
            dir,
            journal,
            rows: Rows::new(),
        }
    }

    fn step(&mut self, changes: &[(String, Option<&str>)]) {
        let fact = Fact::Elevator(ElevatorFact::Freed {
            elevator: ElevatorId::new("EL001").unwrap(),
        });
        let mut batch = Batch {
            facts: vec![fact],
            ledger: Vec::new(),
        };
        for (key, row) in changes {
            let key = key.clone().into_bytes();
            let row = row.map(|row| row.as_bytes().to_vec());
            match &row {
                Some(row) => self.rows.insert(key.clone(), row.clone()),
                None => self.rows.remove(&key),
            };
            let settled = row.as_ref().is_some_and(|row| row.starts_with(b"ended"));
            batch.ledger.push(LedgerChange { key, row, settled });
        }
        self.journal.append(&batch).unwrap();
    }

    /// Orders that are accepted, and end ten orders later.
    fn orders(&mut self, orders: std::ops::Range<u32>) {
        let ended = format!("ended{:100}", 0);
        for n in orders.clone().chain(orders.end..orders.end + 10) {
            let mut changes = Vec::new();
            if n < orders.end {
                changes.push((format!("ride/T-{n}"), Some("accepted")));
            }
            if n >= orders.start + 10 {
                changes.push((format!("ride/T-{}", n - 10), Some(ended.as_str())));
            }
            self.step(&changes);
            if n % 8 == 7 {
                self.journal.sync().unwrap();
            }
        }
        self.journal.sync().unwrap();
        self.step(&[]);
        self.journal.sync().unwrap();
    }

    fn forget(&mut self, orders: impl IntoIterator<Item = u32>) {
        for n in orders {
            self.step(&[(format!("ride/T-{n}"), None)]);
        }
        self.journal.sync().unwrap();
    }

    /// Loose rows and blocks in the store.
    fn counts(&self) -> (usize, usize) {
        (self.journal.ledger_tree.len(), self.journal.blocks.len())
    }

    /// Starts again, and compares.
    fn restart(self) -> Self {
        let Self { dir, journal, rows } = self;
        drop(journal);
        let mut journal = SledJournal::open(dir.path()).unwrap();
        let mut found = Rows::new();
        let mut count = 0;
        let loaded = journal.load(&mut |key, row| {
            count += 1;
            found.insert(key.to_vec(), row.to_vec());
        });
        assert_eq!((loaded.unwrap().rows, count), (rows.len() as u64, count));
        assert_eq!(found.len(), rows.len());
        assert!(found == rows);
        Self { dir, journal, rows }
    }
}

#[test]
fn ended_orders_are_packed_and_none_is_lost() {
    let mut bench = Bench::new();
    bench.orders(0..1000);
    let (loose, blocks) = bench.counts();
    // A row takes 4 + 8 or so + 105 bytes, a block of 16 KiB as many as it may: 128.
    assert!(
        (5..=8).contains(&blocks) && loose <= 400,
        "{loose} loose, {blocks} blocks"
    );
    let mut bench = bench.restart();
    assert_eq!(bench.counts(), (loose, blocks));
    bench.orders(1000..1300);
    bench.restart();
}

#[test]
fn forgotten_orders_leave_their_block_and_then_it_is_used_again() {
    let mut bench = Bench::new();
    bench.orders(0..600);
    let (_, blocks) = bench.counts();
    // The first hundred in order, others here and there.
    bench.forget((0..100).chain((100..500).step_by(7)));
    assert_eq!(bench.counts().1, blocks, "some rows of each block stand");
    let mut bench = bench.restart();
    bench.forget((0..600).filter(|n| *n >= 100 && *n % 7 != 2));
    let mut bench = bench.restart();
    let all: Vec<u32> = (0..600).collect();
    bench.forget(all);
    assert_eq!(bench.rows.len(), 0);
    assert_eq!(bench.counts(), (0, 0));
    let path = bench.dir.path().join("journal").join(blocks::NAME);
    let bytes = fs::metadata(&path).unwrap().len();
    let mut bench = bench.restart();
    for round in 0..4 {
        bench.orders(1000..1600);
        bench.forget(1000..1600);
        assert!(
            fs::metadata(&path).unwrap().len() <= bytes + 2 * BLOCK_BYTES as u64,
            "{round}"
        );
    }
    bench.restart();
}

#[test]
fn an_order_that_was_forgotten_may_come_again() {
    let mut bench = Bench::new();
    bench.orders(0..600);
    bench.forget(0..50);
    bench.orders(0..50);
    bench.forget([20]);
    let bench = bench.restart();
    assert_eq!(bench.rows.len(), 599);
}

#[test]
fn a_row_that_settles_changes_or_goes_before_its_block_is_named_is_not_taken_from_it() {
    let mut bench = Bench::new();
    let ended = format!("ended{:100}", 0);
    let settle = |bench: &mut Bench, n: u32| bench.step(&[(format!("ride/T-{n}"), Some(&ended))]);
    (0..400).for_each(|n| settle(&mut bench, n));
    bench.journal.sync().unwrap();
    assert_eq!(bench.counts().1, 0, "written and not named");
    bench.forget_unsynced([0, 1, 5]);
    bench.step(&[("ride/T-2".to_owned(), Some("accepted"))]);
    bench.journal.sync().unwrap();
    bench.step(&[]);
    bench.journal.sync().unwrap();
    assert!(bench.counts().1 >= 1);
    let bench = bench.restart();
    assert_eq!(bench.rows.len(), 397);
}

impl Bench {
    fn forget_unsynced(&mut self, orders: impl IntoIterator<Item = u32>) {
        for n in orders {
            self.step(&[(format!("ride/T-{n}"), None)]);
        }
    }
}

#[test]
fn a_damaged_lost_or_edited_block_is_refused() {
    type Damage = fn(&SledJournal, &std::path::Path);
    let table: [(&str, Damage); 4] = [
        ("block 0 of `ended`", |_, ended| {
            let mut bytes = fs::read(ended).unwrap();
            bytes[1000] ^= 1;
            fs::write(ended, bytes).unwrap();
        }),
        ("`ended`", |_, ended| {
            let bytes = fs::read(ended).unwrap();
            fs::write(ended, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("values that are not the", |journal, _| {
            journal.blocks.remove(0_u32.to_be_bytes()).unwrap();
        }),
        ("the seal of blocks", |journal, _| {
            let key = 0_u32.to_be_bytes();
            let mut head = journal.blocks.get(key).unwrap().unwrap().to_vec();
            // A row that was forgotten comes back, or the other way round.
            head[30] ^= 1;
            journal.blocks.insert(key, head).unwrap();
        }),
    ];
    for (words, damage) in table {
        let mut bench = Bench::new();
        bench.orders(0..600);
        damage(
            &bench.journal,
            &bench.dir.path().join("journal").join(blocks::NAME),
        );
        let Bench { dir, journal, .. } = bench;
        drop(journal);
        let error = SledJournal::open(dir.path()).and_then(|mut journal| {
            let loaded = journal.load(&mut |_, _| ());
            loaded.map(drop)
        });
        let error = error.unwrap_err();
        assert!(
            matches!(error, JournalError::Corrupt { seq: 0, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
}
