//! A bit that flipped on the disk.

use std::fs;
use std::path::Path;

use dispatch::edge::{Journal, JournalError};
use hallcall::journal::SledJournal;

use crate::{Read, copy, step, used};

/// What is left of a process that was killed when all was synced: a journal of more than one sled
/// segment, with a snapshot in its middle.
fn fill(left: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(dir.path()).unwrap();
    crate::load(&mut journal).unwrap();
    for n in 0..1500_u64 {
        let row = (
            format!("r:T-{n}"),
            Some(if n % 3 == 0 {
                "x".repeat(80)
            } else {
                format!("ended {n:80}")
            }),
        );
        let last = journal
            .append(&step(&[format!("A{n}"), format!("B{n}")], &[row]))
            .unwrap();
        if n % 50 == 49 {
            journal.sync().unwrap();
        }
        if n == 700 {
            journal.snapshot(last, &[3; 20_000]).unwrap();
        }
    }
    copy(dir.path(), left);
}

fn load(dir: &Path) -> Result<Read, JournalError> {
    SledJournal::open(dir).and_then(|mut journal| crate::load(&mut journal))
}

/// Law 11: a corrupt store is never an empty one, nor a shorter one. sled by itself opens a
/// damaged file as a shorter store.
#[test]
fn a_flipped_bit_in_the_store_is_harmless_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let whole = {
        let left = tempfile::tempdir().unwrap();
        copy(dir.path(), left.path());
        load(left.path()).unwrap()
    };
    assert_eq!((whole.last(), whole.ledger.len()), (3000, 1500));
    let bytes = fs::read(dir.path().join("journal/db")).unwrap();
    let (mut same, mut refused) = (0, 0);
    for place in 0..48 {
        // Spread over the file, at places that share no factor with its segments.
        let at = (place * used(&bytes) / 48 + place * 997) % used(&bytes);
        let left = tempfile::tempdir().unwrap();
        copy(dir.path(), left.path());
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (place % 8);
        fs::write(left.path().join("journal/db"), damaged).unwrap();
        match load(left.path()) {
            Ok(loaded) => {
                assert!(
                    loaded == whole,
                    "byte {at}: another history, up to {}",
                    loaded.last()
                );
                same += 1;
            }
            Err(JournalError::Corrupt { .. }) => {
                refused += 1;
                // A second try sees the same.
                assert!(matches!(
                    load(left.path()),
                    Err(JournalError::Corrupt { .. })
                ));
            }
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
    assert!(refused >= 20, "{refused} refused, {same} harmless");
}

#[test]
fn a_store_cut_short_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let bytes = fs::read(dir.path().join("journal/db")).unwrap();
    for part in [0, 1, 4, 7] {
        let left = tempfile::tempdir().unwrap();
        copy(dir.path(), left.path());
        let length = used(&bytes) * part / 8;
        fs::write(left.path().join("journal/db"), &bytes[..length]).unwrap();
        let error = load(left.path()).unwrap_err();
        assert!(
            matches!(error, JournalError::Corrupt { .. }),
            "{part}/8: {error}"
        );
    }
}
