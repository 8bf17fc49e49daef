//! What is refused, and what is cut off as a tail that nobody was told of.

use super::*;
use crate::journal::rows::{LedgerRow, seal};

#[test]
fn a_damaged_record_is_named() {
    for seq in 1..=4_u64 {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        let mut record = journal
            .records
            .get(seq.to_be_bytes())
            .unwrap()
            .unwrap()
            .to_vec();
        record[45] ^= 1;
        journal.records.insert(seq.to_be_bytes(), record).unwrap();
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), seq, "law 11");
        let count = SledJournal::open(dir.path()).unwrap().records.len();
        assert_eq!(count, 4, "nothing was cut off");
    }
}

#[test]
fn a_missing_record_is_named() {
    for seq in 1..=4_u64 {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        journal.records.remove(seq.to_be_bytes()).unwrap();
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), seq);
    }
}

#[test]
fn an_unacknowledged_tail_is_cut_off_with_its_ledger_rows() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    journal
        .append(&batch(&["E", "F"], &[("r:T-3", Some("three"))]))
        .unwrap();
    journal
        .append(&batch(&["G"], &[("r:T-4", Some("four"))]))
        .unwrap();
    journal.write_pending().unwrap();
    let torn = journal.records.get(6_u64.to_be_bytes()).unwrap().unwrap();
    journal
        .records
        .insert(6_u64.to_be_bytes(), &torn[..50])
        .unwrap();
    drop(journal);

    let found = SledJournal::open(dir.path())
        .unwrap()
        .inspect(&mut |_, _| ())
        .unwrap();
    assert_eq!(found.tail, [5, 6, 7], "5 and 6 are one step");
    assert_eq!((found.loaded.last(), found.loaded.rows), (4, 2));

    let (mut journal, loaded) = open(&dir);
    assert_eq!((loaded.cut, loaded.last(), loaded.ledger.len()), (3, 4, 2));
    assert_eq!(journal.records.len(), 4);
    assert_eq!(journal.append(&batch(&["H"], &[])).unwrap(), 5);
    journal.close().unwrap();
    drop(journal);
    let (_, loaded) = open(&dir);
    assert_eq!((loaded.cut, loaded.last(), loaded.ledger.len()), (0, 5, 2));
}

#[test]
fn a_tail_that_changed_an_older_ledger_row_cannot_be_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    journal
        .append(&batch(&["E"], &[("r:T-1", Some("other"))]))
        .unwrap();
    journal.write_pending().unwrap();
    journal.records.remove(5_u64.to_be_bytes()).unwrap();
    drop(journal);
    let error = refusal(&dir);
    assert_eq!(corrupt_seq(&error), 5);
    assert!(error.to_string().contains("r:T-1"), "{error}");
}

#[test]
fn a_lost_a_changed_and_a_foreign_ledger_row_are_found() {
    type Damage = fn(&SledJournal);
    let table: [(&str, Damage); 4] = [
        ("lost", |journal| {
            journal.ledger_tree.remove("r:T-2").unwrap();
        }),
        ("added", |journal| {
            let row = LedgerRow {
                made: 1,
                changed: 1,
                settled: false,
                row: b"x".to_vec(),
            };
            journal
                .ledger_tree
                .insert("r:T-9", row.write(b"r:T-9"))
                .unwrap();
        }),
        ("changed", |journal| {
            let mut row = journal.ledger_tree.get("r:T-2").unwrap().unwrap().to_vec();
            row[17] ^= 1;
            journal.ledger_tree.insert("r:T-2", row).unwrap();
        }),
        ("another's", |journal| {
            let row = journal.ledger_tree.get("r:T-1").unwrap().unwrap();
            journal.ledger_tree.insert("r:T-2", row).unwrap();
        }),
    ];
    for (name, damage) in table {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        damage(&journal);
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), 0, "{name}");
    }
}

#[test]
fn a_snapshot_that_is_not_whole_is_found() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (mut journal, _) = open(&dir);
    journal.snapshot(4, &[7; 9000]).unwrap();
    let chunk = [&4_u64.to_be_bytes()[..], &1_u32.to_be_bytes()[..]].concat();
    journal.snapshots.remove(chunk).unwrap();
    drop(journal);
    let said = refusal(&dir).to_string();
    assert!(said.contains("snapshot that covers record 4"), "{said}");
}

#[test]
fn a_newer_format_and_lost_meta_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (journal, _) = open(&dir);
    journal
        .meta
        .insert(FORMAT_KEY, seal(FORMAT_KEY, &3_u64.to_be_bytes()))
        .unwrap();
    drop(journal);
    let said = refusal(&dir).to_string();
    assert!(
        said.contains("the store has format 3, this program reads up to 2"),
        "{said}"
    );

    for key in [FORMAT_KEY, ID_KEY, TALLY_KEY] {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        journal.meta.remove(key).unwrap();
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), 0);
    }
}
