//! Law 11: what is not what was written is refused, and a refused start leaves every byte where it
//! was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dispatch::edge::{Journal, JournalError};
use hallcall::journal::SledJournal;
use tempfile::TempDir;

use crate::{change_record, copy, load, open_sled, step, used};

/// Every file below a directory but the lock, with its bytes.
pub(crate) fn bytes(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(bytes(&path));
        } else if !path.ends_with("lock") {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// What is left of a process that was killed: blocks of ended orders, a snapshot, records after it.
fn fill() -> TempDir {
    let (dir, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut journal = SledJournal::open(dir.path()).unwrap();
    load(&mut journal).unwrap();
    for n in 0..600_u64 {
        let row = (format!("r:T-{n}"), Some(format!("ended {n:90}")));
        let last = journal.append(&step(&[format!("A{n}")], &[row])).unwrap();
        if n % 20 == 19 {
            journal.sync().unwrap();
        }
        if n == 300 {
            journal.snapshot(last, &[3; 9000]).unwrap();
        }
    }
    copy(dir.path(), left.path());
    left
}

/// Why the journal is refused; nothing has changed by it.
fn refusal(dir: &Path, what: &str) -> JournalError {
    let before = bytes(dir);
    let opened = SledJournal::open(dir).and_then(|mut journal| load(&mut journal).map(drop));
    let error = opened.expect_err(what);
    let after = bytes(dir);
    assert!(after.keys().eq(before.keys()), "{what}: {:?}", after.keys());
    for (path, bytes) in before {
        assert!(
            after[&path] == bytes,
            "{what}: {} is another",
            path.display()
        );
    }
    error
}

type Change = fn(&sled::Db);

/// Changes the store by sled's own means.
fn change(dir: &Path, change: Change) {
    let db = open_sled(&dir.join("journal"));
    change(&db);
    db.flush().unwrap();
}

fn seal(key: &[u8], value: &[u8]) -> Vec<u8> {
    hallcall::journal::rows::seal(key, value)
}

#[test]
fn an_edited_store_is_refused_and_left_as_it_is() {
    let table: [(&str, u64, Change); 5] = [
        ("record 400 is corrupt", 400, |db| {
            change_record(db, 400, |record| record[45] ^= 1);
        }),
        ("record 450 is corrupt", 450, |db| {
            change_record(db, 450, Vec::clear);
        }),
        (
            "the store has format 4, this program reads up to 3",
            0,
            |db| {
                let meta = db.open_tree("meta").unwrap();
                let newer = seal(b"format", &4_u64.to_be_bytes());
                meta.insert("format", newer).unwrap();
            },
        ),
        (
            "the snapshot that covers record 301 is not whole",
            0,
            |db| {
                let snapshots = db.open_tree("snapshots").unwrap();
                let (first, _) = snapshots.first().unwrap().unwrap();
                snapshots.remove(first).unwrap();
            },
        ),
        ("the ledger has", 0, |db| {
            let ledger = db.open_tree("ledger").unwrap();
            let (first, _) = ledger.first().unwrap().unwrap();
            ledger.remove(first).unwrap();
        }),
    ];
    for (words, record, edit) in table {
        let dir = fill();
        change(dir.path(), edit);
        let error = refusal(dir.path(), words);
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(
            matches!(error, JournalError::Corrupt { seq, .. } if seq == record),
            "{error}"
        );
    }
}

#[test]
fn a_missing_or_emptied_file_is_refused_and_left_as_it_is() {
    for name in ["db", "conf", "durable", "ended"] {
        for empty in [true, false] {
            let dir = fill();
            let path = dir.path().join("journal").join(name);
            if empty {
                fs::write(&path, "").unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }
            let error = refusal(dir.path(), name);
            assert!(
                matches!(error, JournalError::Corrupt { seq: 0, .. }),
                "{name}: {error}"
            );
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
    }
}

/// sled opens a damaged file as a shorter store, and writes over what it did not read.
#[test]
fn a_flipped_bit_is_refused_and_left_as_it_is() {
    let dir = fill();
    let whole = fs::read(dir.path().join("journal/db")).unwrap();
    let mut refused = 0;
    for place in 0..40 {
        let at = (place * used(&whole) / 40 + place * 997) % used(&whole);
        let left = tempfile::tempdir().unwrap();
        copy(dir.path(), left.path());
        let path = left.path().join("journal/db");
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (place % 8);
        fs::write(&path, &damaged).unwrap();
        let opened = SledJournal::open(left.path());
        if opened.and_then(|mut journal| load(&mut journal)).is_err() {
            assert!(fs::read(&path).unwrap() == damaged, "byte {at}");
            refusal(left.path(), "a second time");
            refused += 1;
        }
    }
    assert!(refused >= 5, "{refused} refused");
}

#[test]
fn what_is_used_is_not_put_back() {
    let dir = fill();
    let before = bytes(dir.path());
    let mut journal = SledJournal::open(dir.path()).unwrap();
    load(&mut journal).unwrap();
    assert!(dir.path().join("journal.before").exists());
    drop(journal);
    assert!(bytes(dir.path()) == before, "it was looked at and not used");
    let mut journal = SledJournal::open(dir.path()).unwrap();
    load(&mut journal).unwrap();
    assert_eq!(journal.append(&step(&["B".to_owned()], &[])).unwrap(), 601);
    assert!(!dir.path().join("journal.before").exists());
    journal.close().unwrap();
    drop(journal);
    // A process that was killed before it used what it read.
    fs::create_dir(dir.path().join("journal.before")).unwrap();
    fs::write(dir.path().join("journal.before/db"), "half a copy").unwrap();
    let mut journal = SledJournal::open(dir.path()).unwrap();
    assert_eq!(load(&mut journal).unwrap().last(), 601);
}
