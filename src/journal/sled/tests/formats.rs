//! Stores of older formats are read, and written on in the newest. They are made here by sled's own
//! means, as the head of `sled.rs` tells what they held.

use super::*;
use crate::journal::blocks;
use crate::journal::rows::{read_number, seal};

fn row(key: &str, row: &str) -> (Vec<u8>, Vec<u8>) {
    (key.as_bytes().to_vec(), row.as_bytes().to_vec())
}

/// What [`filled`] leaves, as a program of an older format would have left it.
fn of_format(format: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    filled(&dir);
    let (journal, _) = open(&dir);
    store_records(&journal, &records(&journal), 1);
    journal
        .meta
        .insert(FORMAT_KEY, seal(FORMAT_KEY, &format.to_be_bytes()))
        .unwrap();
    if format == 1 {
        journal.db.drop_tree("blocks").unwrap();
        fs::remove_file(dir.path().join("journal").join(blocks::NAME)).unwrap();
    }
    journal.db.flush().unwrap();
    drop(journal);
    dir
}

#[test]
fn an_older_store_is_read_and_written_on() {
    for format in [1, 2] {
        let dir = of_format(format);
        let (mut journal, loaded) = open(&dir);
        let facts = ["A", "B", "C", "D"].map(fact);
        let numbered: Vec<_> = (1..).zip(facts).collect();
        assert_eq!(loaded.facts, numbered, "format {format}");
        assert_eq!(loaded.ledger, [row("r:T-1", "done"), row("r:T-2", "two")]);
        let written = journal.meta.get(FORMAT_KEY).unwrap().unwrap();
        assert_eq!(read_number(FORMAT_KEY, &written).unwrap(), 3);
        assert_eq!(journal.pages.tree.len(), 4, "they stay as they are");

        let ended = [("r:T-1", Some("ended one"))];
        assert_eq!(journal.append(&batch(&["E", "F"], &ended)).unwrap(), 6);
        journal.snapshot(5, b"state").unwrap();
        journal.append(&batch(&["G"], &[])).unwrap();
        journal.close().unwrap();
        drop(journal);
        let (journal, loaded) = open(&dir);
        assert_eq!(loaded.snapshot, Some((5, b"state".to_vec())));
        assert_eq!(loaded.facts, [(6, fact("F")), (7, fact("G"))]);
        let mut ledger = loaded.ledger;
        ledger.sort();
        assert_eq!(ledger, [row("r:T-1", "ended one"), row("r:T-2", "two")]);
        let first = journal.pages.tree.first().unwrap().unwrap().0;
        assert_eq!(*first, 5_u64.to_be_bytes(), "what is covered is removed");
    }
}
