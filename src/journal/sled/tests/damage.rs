//! What is refused, and what is cut off as a tail that nobody was told of.

use super::*;
use crate::journal::rows::{LedgerRow, seal};

#[test]
fn a_damaged_record_is_named() {
    for (seq, in_a_value) in [
        (1, 1),
        (2, 1),
        (3, 2),
        (4, 2),
        (1, 4),
        (2, 3),
        (3, 4),
        (4, 4),
    ] {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        let mut stored = records(&journal);
        stored[seq - 1].1[45] ^= 1;
        store_records(&journal, &stored, in_a_value);
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), seq as u64, "law 11");
        let left = records(&SledJournal::open(dir.path()).unwrap());
        assert_eq!(left, stored, "nothing was cut off");
    }
}

/// Where records lie one behind the other, a wrong length hides those after it.
#[test]
fn a_damaged_length_is_named() {
    for (at, byte) in [(2, 0x80), (3, 1), (4, 1), (5, 1), (5, 0x7f)] {
        for seq in 1..=4 {
            let dir = tempfile::tempdir().unwrap();
            filled(&dir);
            let (journal, _) = open(&dir);
            let mut stored = records(&journal);
            stored[seq - 1].1[at] ^= byte;
            store_records(&journal, &stored, 4);
            drop(journal);
            assert_eq!(corrupt_seq(&refusal(&dir)), seq as u64, "byte {at}");
        }
    }
}

#[test]
fn a_missing_record_is_named() {
    for (seq, in_a_value) in [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (1, 3),
        (2, 3),
        (3, 3),
        (4, 4),
    ] {
        let dir = tempfile::tempdir().unwrap();
        filled(&dir);
        let (journal, _) = open(&dir);
        let mut stored = records(&journal);
        stored.remove(seq - 1);
        store_records(&journal, &stored, in_a_value);
        drop(journal);
        assert_eq!(corrupt_seq(&refusal(&dir)), seq as u64);
    }
}

#[test]
fn an_unacknowledged_tail_is_cut_off_with_its_ledger_rows() {
    for in_a_value in [1, 2, 3, 4, 7] {
        cut_off(in_a_value);
    }
}

fn cut_off(in_a_value: usize) {
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
    let mut stored = records(&journal);
    stored[5].1.truncate(50);
    store_records(&journal, &stored, in_a_value);
    drop(journal);

    let found = SledJournal::open(dir.path())
        .unwrap()
        .inspect(&mut |_, _| ())
        .unwrap();
    assert_eq!(found.tail[..2], [5, 6], "5 and 6 are one step");
    // Behind a torn record, what lies in the same value cannot be told apart.
    let tail = found.tail.len();
    assert!((2..=3).contains(&tail), "{tail}, {in_a_value} in a value");
    assert_eq!((found.loaded.last(), found.loaded.rows), (4, 2));

    let (mut journal, loaded) = open(&dir);
    assert_eq!((loaded.cut, loaded.last()), (tail as u64, 4));
    assert_eq!(loaded.ledger.len(), 2);
    assert_eq!(records(&journal), stored[..4]);
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
    store_records(&journal, &records(&journal)[..4], 1);
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
        .insert(FORMAT_KEY, seal(FORMAT_KEY, &4_u64.to_be_bytes()))
        .unwrap();
    drop(journal);
    let said = refusal(&dir).to_string();
    assert!(
        said.contains("the store has format 4, this program reads up to 3"),
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
