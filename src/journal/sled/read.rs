//! Reading the journal back, and tidying up what a crash or a snapshot left.

use dispatch::edge::record::checksum;
use dispatch::edge::{Anchor, JournalError, Loaded, Replay, Seq, replay};

use super::{SNAPSHOT_KEY, SledJournal, TALLY_KEY, remove, store};
use crate::journal::guard::reading;
use crate::journal::rows::{LedgerRow, SnapshotHead, Tally, corrupt, unseal};

/// What a journal holds, and what `load` would do about it.
#[derive(Debug)]
pub struct Inspection {
    /// What it holds.
    pub loaded: Loaded,
    /// The last record that stands.
    pub end: Anchor,
    /// The records of an unacknowledged tail.
    pub tail: Vec<Seq>,
    /// As it is stored.
    tally: Tally,
    /// Ledger rows that steps of the tail made.
    undone: Keys,
}

type Keys = Vec<Vec<u8>>;

impl SledJournal {
    /// Reads everything and changes nothing; gives each row of the ledger (key, row) to `row`.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] with the first record that is.
    pub fn inspect(&self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Inspection, JournalError> {
        reading(|| self.read_all(row))
    }

    /// Every record that is there, also those that a snapshot covers and those of a tail, in
    /// order, until `each` has had enough.
    ///
    /// # Errors
    /// What the store says, or the first error of `each`.
    pub fn records<E: From<JournalError>>(
        &self,
        mut each: impl FnMut(Seq, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for row in &self.records {
            let (key, record) = row.map_err(store).map_err(E::from)?;
            each(number(&key)?, &record)?;
        }
        Ok(())
    }

    /// Every row of the ledger that is there, in order of its key.
    ///
    /// # Errors
    /// What the store says, or the first error of `each`.
    pub fn rows<E: From<JournalError>>(
        &self,
        mut each: impl FnMut(&[u8], Result<LedgerRow, JournalError>) -> Result<(), E>,
    ) -> Result<(), E> {
        for row in &self.ledger {
            let (key, sealed) = row.map_err(store).map_err(E::from)?;
            each(&key, LedgerRow::read(&key, &sealed))?;
        }
        Ok(())
    }

    fn read_all(&self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Inspection, JournalError> {
        let head = self.snapshot_head()?;
        let covers = head.map_or_else(Anchor::default, |head| head.covers);
        let snapshot = match head {
            Some(head) => Some((head.covers.seq, self.read_snapshot(&head)?)),
            None => None,
        };
        let mut stored = Vec::new();
        for row in self.records.range((covers.seq + 1).to_be_bytes()..) {
            let (key, record) = row.map_err(store)?;
            stored.push((number(&key)?, record));
        }
        let Replay { facts, end, cut } = replay(covers, self.durable, stored)?;
        let (undone, tally) = self.read_ledger(end.seq, row)?;
        let loaded = Loaded {
            snapshot,
            rows: tally.rows() - undone.len() as u64,
            facts,
            cut: cut.len() as u64,
        };
        Ok(Inspection {
            loaded,
            end,
            tail: cut,
            undone,
            tally,
        })
    }

    fn snapshot_head(&self) -> Result<Option<SnapshotHead>, JournalError> {
        let head = self.meta.get(SNAPSHOT_KEY).map_err(store)?;
        head.map(|sealed| SnapshotHead::read(SNAPSHOT_KEY, &sealed))
            .transpose()
    }

    fn read_snapshot(&self, head: &SnapshotHead) -> Result<Vec<u8>, JournalError> {
        let mut state = Vec::new();
        for row in self.snapshots.scan_prefix(head.covers.seq.to_be_bytes()) {
            let (key, sealed) = row.map_err(store)?;
            state.extend_from_slice(unseal("snapshots", &key, &sealed)?);
        }
        if state.len() as u64 != head.bytes || checksum(&[&state]) != head.sum {
            let seq = head.covers.seq;
            return Err(corrupt(format!(
                "the snapshot that covers record {seq} is not whole"
            )));
        }
        Ok(state)
    }

    /// Gives the rows of the ledger as they are after record `end` to `each`, and returns the keys of
    /// those that were made after it. A row that was changed after it had another value before, which is not known:
    /// then what comes after `end` cannot be cut off.
    fn read_ledger(
        &self,
        end: Seq,
        each: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(Keys, Tally), JournalError> {
        let lost = || corrupt("meta `ledger` is lost".to_owned());
        let tally = self.meta.get(TALLY_KEY).map_err(store)?.ok_or_else(lost)?;
        let tally = Tally::read(TALLY_KEY, &tally)?;
        let mut undone = Vec::new();
        let mut counted = Tally::default();
        for row in &self.ledger {
            let (key, sealed) = row.map_err(store)?;
            counted.add(&sealed);
            let row = LedgerRow::read(&key, &sealed)?;
            if row.made > end {
                undone.push(key.to_vec());
            } else if row.changed > end {
                let key = key.escape_ascii();
                let detail =
                    format!("it is not whole, and the ledger row `{key}` was changed since");
                return Err(JournalError::Corrupt {
                    seq: end + 1,
                    detail,
                });
            } else {
                each(&key, &row.row);
            }
        }
        if counted != tally {
            let (is, was) = (counted.rows(), tally.rows());
            return Err(corrupt(format!(
                "the ledger has {is} rows that are not the {was} written"
            )));
        }
        Ok((undone, tally))
    }

    /// Removes an unacknowledged tail, and what a snapshot made needless.
    pub(super) fn tidy(&mut self, found: &Inspection) -> Result<(), JournalError> {
        self.tally = found.tally;
        let covers = found
            .loaded
            .snapshot
            .as_ref()
            .map_or(0, |(covers, _)| *covers);
        let tail = found
            .tail
            .iter()
            .map(|seq| seq.to_be_bytes().to_vec())
            .collect();
        remove(&self.records, tail)?;
        for key in &found.undone {
            if let Some(sealed) = self.ledger.remove(key).map_err(store)? {
                self.tally.remove(&sealed);
            }
        }
        self.meta
            .insert(TALLY_KEY, self.tally.write(TALLY_KEY))
            .map_err(store)?;
        let mut covered = Vec::new();
        for row in self.records.range(..=covers.to_be_bytes()) {
            covered.push(row.map_err(store)?.0.to_vec());
        }
        remove(&self.records, covered)?;
        self.remove_snapshots_except(covers)
    }

    pub(super) fn remove_snapshots_except(&self, covers: Seq) -> Result<(), JournalError> {
        let mut old = Vec::new();
        for row in &self.snapshots {
            let (key, _) = row.map_err(store)?;
            if !key.starts_with(&covers.to_be_bytes()) {
                old.push(key.to_vec());
            }
        }
        remove(&self.snapshots, old)
    }
}

fn number(key: &[u8]) -> Result<Seq, JournalError> {
    let number = <[u8; 8]>::try_from(key).map(u64::from_be_bytes);
    number.map_err(|_| corrupt(format!("`{}` is no number of a record", key.escape_ascii())))
}
