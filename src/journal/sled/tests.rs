mod damage;
mod formats;

use std::fs;
use std::ops::Deref;

use dispatch::edge::LedgerChange;
use dispatch::{ElevatorFact, Fact};
use protocol::ElevatorId;
use tempfile::TempDir;

use super::*;

fn fact(name: &str) -> Fact {
    Fact::Elevator(ElevatorFact::Freed {
        elevator: ElevatorId::new(name).unwrap(),
    })
}

fn batch(names: &[&str], ledger: &[(&str, Option<&str>)]) -> Batch {
    let change = |(key, row): &(&str, Option<&str>)| LedgerChange {
        key: key.as_bytes().to_vec(),
        row: row.map(|row| row.as_bytes().to_vec()),
        settled: row.is_some_and(|row| row.starts_with("ended")),
    };
    Batch {
        facts: names.iter().map(|name| fact(name)).collect(),
        ledger: ledger.iter().map(change).collect(),
    }
}

/// What was loaded, with the ledger's rows.
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

fn load(journal: &mut SledJournal) -> Result<Read, JournalError> {
    let mut ledger = Vec::new();
    let loaded = journal.load(&mut |key, row| ledger.push((key.to_vec(), row.to_vec())))?;
    Ok(Read { loaded, ledger })
}

fn open(dir: &TempDir) -> (SledJournal, Read) {
    let mut journal = SledJournal::open(dir.path()).unwrap();
    let loaded = load(&mut journal).unwrap();
    journal.settle();
    (journal, loaded)
}

/// Every record that is stored.
fn records(journal: &SledJournal) -> Vec<(Seq, Vec<u8>)> {
    let mut records = Vec::new();
    journal
        .records::<JournalError>(|seq, record| {
            records.push((seq, record.to_vec()));
            Ok(())
        })
        .unwrap();
    records
}

/// Stores these records instead, so many in a value.
fn store_records(journal: &SledJournal, records: &[(Seq, Vec<u8>)], in_a_value: usize) {
    journal.pages.tree.clear().unwrap();
    for page in records.chunks(in_a_value) {
        let bytes: Vec<u8> = page.iter().flat_map(|(_, record)| record.clone()).collect();
        let first = page[0].0.to_be_bytes();
        journal.pages.tree.insert(first, bytes).unwrap();
    }
}

/// Steps of two and one records with ledger rows, synced, then one more, closed.
fn filled(dir: &TempDir) {
    let (mut journal, loaded) = open(dir);
    assert_eq!(*loaded, Loaded::default());
    assert_eq!(
        journal
            .append(&batch(&["A", "B"], &[("r:T-1", Some("one"))]))
            .unwrap(),
        2
    );
    assert_eq!(
        journal
            .append(&batch(&["C"], &[("r:T-2", Some("two"))]))
            .unwrap(),
        3
    );
    journal.sync().unwrap();
    assert_eq!(
        journal
            .append(&batch(&["D"], &[("r:T-1", Some("done"))]))
            .unwrap(),
        4
    );
    journal.close().unwrap();
}

fn corrupt_seq(error: &JournalError) -> Seq {
    match error {
        JournalError::Corrupt { seq, .. } => *seq,
        JournalError::InUse | JournalError::TooLarge(_) | JournalError::Store(_) => {
            panic!("{error}")
        }
    }
}

/// Why the journal does not load.
fn refusal(dir: &TempDir) -> JournalError {
    match SledJournal::open(dir.path()) {
        Ok(mut journal) => load(&mut journal).err().unwrap(),
        Err(error) => error,
    }
}

#[test]
fn what_was_appended_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, loaded) = open(&dir);
    let facts = [
        (1, fact("A")),
        (2, fact("B")),
        (3, fact("C")),
        (4, fact("D")),
    ];
    assert_eq!(loaded.facts, facts);
    let row = |key: &str, row: &str| (key.as_bytes().to_vec(), row.as_bytes().to_vec());
    assert_eq!(loaded.ledger, [row("r:T-1", "done"), row("r:T-2", "two")]);
    assert_eq!(
        (loaded.cut, loaded.snapshot.clone(), loaded.last()),
        (0, None, 4)
    );
    assert_eq!(
        journal.append(&batch(&["E"], &[("r:T-2", None)])).unwrap(),
        5
    );
    journal.close().unwrap();
    drop(journal);
    let (_, loaded) = open(&dir);
    assert_eq!(loaded.last(), 5);
    assert_eq!(loaded.ledger, [row("r:T-1", "done")]);
}

#[test]
fn a_snapshot_takes_the_place_of_what_it_covers() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    // Three chunks, the last one short.
    let state: Vec<u8> = (0..9000_u32).map(|n| n.to_be_bytes()[3]).collect();
    journal.snapshot(3, &state).unwrap();
    assert_eq!(journal.append(&batch(&["E"], &[])).unwrap(), 5);
    journal.close().unwrap();
    drop(journal);
    let (mut journal, loaded) = open(&dir);
    assert_eq!(loaded.snapshot, Some((3, state)));
    assert_eq!(loaded.facts, [(4, fact("D")), (5, fact("E"))]);
    assert_eq!(loaded.ledger.len(), 2, "the ledger is apart from it");
    assert_eq!(records(&journal).last().unwrap().0, 5);

    journal.snapshot(5, b"").unwrap();
    drop(journal);
    let (journal, loaded) = open(&dir);
    assert_eq!(loaded.snapshot, Some((5, Vec::new())));
    assert_eq!((loaded.facts.len(), loaded.last()), (0, 5));
    assert_eq!(journal.snapshots.len(), 0);
    let left: Vec<_> = records(&journal).iter().map(|(seq, _)| *seq).collect();
    assert!(left.len() <= 1, "only the last page may stay: {left:?}");
}

#[test]
fn a_snapshot_ahead_of_the_records_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    assert!(journal.snapshot(5, b"state").is_err());
}

#[test]
fn a_second_process_is_kept_out() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = open(&dir);
    assert!(
        matches!(SledJournal::open(dir.path()), Err(JournalError::InUse)),
        "T-STACK-12"
    );
    let looked = SledJournal::open_copy(dir.path());
    assert!(matches!(looked, Err(JournalError::InUse)));
    drop(journal);
    assert!(SledJournal::open(dir.path()).is_ok());
}

#[test]
fn looking_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    assert!(SledJournal::open_copy(&path).unwrap().is_none());
    assert!(!path.exists());
    assert!(SledJournal::open_copy(dir.path()).unwrap().is_none());
    assert!(!dir.path().join("journal").exists());
}

#[test]
fn looking_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let path = dir.path().join("journal/db");
    let mut damaged = fs::read(&path).unwrap();
    damaged[3000] ^= 1;
    fs::write(&path, &damaged).unwrap();
    // Whatever it says.
    if let Ok(Some(copy)) = SledJournal::open_copy(dir.path()) {
        let _ = copy.inspect(&mut |_, _| ());
    }
    assert!(fs::read(&path).unwrap() == damaged);
}

#[test]
fn restored_data_may_be_shorter_than_what_was_durable() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    journal.witness.set(9).unwrap();
    drop(journal);
    assert_eq!(corrupt_seq(&refusal(&dir)), 5);
    let mut journal = SledJournal::open(dir.path()).unwrap();
    journal.restored();
    assert_eq!(load(&mut journal).unwrap().last(), 4);
    journal.settle();
    drop(journal);
    assert_eq!(open(&dir).1.last(), 4, "and from then on it is whole");
}

#[test]
fn a_store_that_is_gone_from_its_directory_is_not_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    fs::remove_file(dir.path().join("journal/db")).unwrap();
    assert_eq!(corrupt_seq(&refusal(&dir)), 0, "law 11");
}

#[test]
fn nothing_is_done_before_the_load_or_after_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(dir.path()).unwrap();
    assert!(journal.append(&batch(&["A"], &[])).is_err());
    load(&mut journal).unwrap();
    assert_eq!(journal.append(&Batch::default()).unwrap(), 0);
    assert!(
        journal
            .append(&batch(&[], &[("r:T-1", Some("row"))]))
            .is_err()
    );
    let huge = Fact::Site(dispatch::SiteFact::Operator {
        operator: "op".to_owned(),
        reason: "r".repeat(5000),
        action: dispatch::OperatorAction::ElevatorList,
        at: protocol::Timestamp(0),
    });
    let huge = Batch {
        facts: vec![huge],
        ledger: Vec::new(),
    };
    assert!(matches!(
        journal.append(&huge),
        Err(JournalError::TooLarge(_))
    ));
    assert!(
        journal.append(&batch(&["A"], &[])).is_err(),
        "memory is ahead of the store"
    );
    assert!(journal.sync().is_err());
}

#[test]
fn a_row_changed_twice_in_one_step_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, _) = open(&dir);
    let changes = [
        ("k", Some("1")),
        ("k", Some("2")),
        ("l", Some("3")),
        ("l", None),
    ];
    journal.append(&batch(&["A"], &changes)).unwrap();
    journal.close().unwrap();
    drop(journal);
    let (_, loaded) = open(&dir);
    assert_eq!(loaded.ledger, [(b"k".to_vec(), b"2".to_vec())]);
}

/// Many orders that are accepted, ended and forgotten leave a store of bounded size (T-STACK-20).
#[test]
fn the_store_stays_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, _) = open(&dir);
    let mut sizes = Vec::new();
    for round in 0..6 {
        for n in 0..2000_u64 {
            let order = round * 2000 + n;
            let (new, old) = (
                format!("r:T-{order}"),
                format!("r:T-{}", order.saturating_sub(500)),
            );
            let changes = [(new.as_str(), Some("accepted")), (old.as_str(), None)];
            let last = journal.append(&batch(&["A", "B", "C"], &changes)).unwrap();
            if n % 250 == 249 {
                journal.snapshot(last, &[1; 5000]).unwrap();
            }
        }
        let stored = records(&journal).len();
        assert!(stored <= 1600, "{stored}");
        assert!(journal.ledger_tree.len() <= 501);
        assert_eq!(journal.snapshots.len(), 2);
        sizes.push(journal.db.size_on_disk().unwrap());
    }
    let half = sizes[2];
    assert!(sizes[5] <= half + half / 2 + (4 << 20), "{sizes:?}");
}
