//! Reading the journal back, and tidying up what a crash or a snapshot left.

use ::sled::Batch as Writes;
use ::sled::transaction::Transactional;
use dispatch::edge::record::checksum;
use dispatch::edge::{Anchor, JournalError, Loaded, Replay, Seq, replay};

use super::ledger::Ledger;
use super::write::at_once;
use super::{FORMAT, FORMAT_KEY, OWNER_KEY, SNAPSHOT_KEY, SledJournal, TALLY_KEY, remove, store};
use crate::journal::blocks::{self, BlockNumber};
use crate::journal::guard::reading;
use crate::journal::rows::{BlockHead, LedgerRow, SnapshotHead, Tally, corrupt, seal, unseal};

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
    ledger: Ledger,
    /// Ledger rows that steps of the tail made.
    undone: Keys,
}

type Keys = Vec<Vec<u8>>;

/// A row of the ledger as it is stored, to be looked at.
#[derive(Debug)]
pub struct StoredRow<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The last record of the step that changed it last; `None` in a block of ended orders.
    pub changed: Option<Seq>,
    /// The row.
    pub row: &'a [u8],
}

impl SledJournal {
    /// Reads everything and changes nothing; gives each row of the ledger (key, row) to `row`.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] with the first record that is.
    pub fn inspect(&self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Inspection, JournalError> {
        reading(None, || self.read_all(row))
    }

    /// Every record that is there, also those that a snapshot covers and those of a tail, in
    /// order, until `each` has had enough.
    ///
    /// # Errors
    /// What the store says, or the first error of `each`.
    pub fn records<E: From<JournalError>>(
        &self,
        each: impl FnMut(Seq, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pages.records(0, each)
    }

    /// Every row of the ledger that can be read, those of ended orders first, or what is wrong with
    /// it, until `each` has had enough.
    ///
    /// # Errors
    /// What the store says, or the first error of `each`.
    pub fn rows<E: From<JournalError>>(
        &self,
        mut each: impl FnMut(Result<StoredRow<'_>, JournalError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bytes = Vec::new();
        for row in &self.blocks {
            let (key, sealed) = row.map_err(store).map_err(E::from)?;
            match self.read_block(&key, &sealed, &mut bytes) {
                Err(error) => each(Err(error))?,
                Ok((_, head)) => {
                    for (key, row) in standing(&head, &bytes) {
                        let changed = None;
                        each(Ok(StoredRow { key, changed, row }))?;
                    }
                }
            }
        }
        for row in &self.ledger_tree {
            let (key, sealed) = row.map_err(store).map_err(E::from)?;
            match LedgerRow::read(&key, &sealed) {
                Err(error) => each(Err(error))?,
                Ok(LedgerRow { changed, row, .. }) => each(Ok(StoredRow {
                    key: &key,
                    changed: Some(changed),
                    row: &row,
                }))?,
            }
        }
        Ok(())
    }

    pub(super) fn read_all(
        &self,
        row: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<Inspection, JournalError> {
        let head = self.snapshot_head()?;
        let covers = head.map_or_else(Anchor::default, |head| head.covers);
        let snapshot = match head {
            Some(head) => Some((head.covers.seq, self.read_snapshot(&head)?)),
            None => None,
        };
        let mut stored = Vec::new();
        self.pages
            .records::<JournalError>(covers.seq + 1, |seq, record| {
                stored.push((seq, record.to_vec()));
                Ok(())
            })?;
        let Replay { facts, end, cut } = replay(covers, self.durable, stored)?;
        let (ledger, undone) = self.read_ledger(end.seq, row)?;
        let loaded = Loaded {
            snapshot,
            rows: ledger.rows().saturating_sub(undone.len() as u64),
            facts,
            cut: cut.len() as u64,
        };
        Ok(Inspection {
            loaded,
            end,
            tail: cut,
            undone,
            ledger,
        })
    }

    pub(super) fn snapshot_head(&self) -> Result<Option<SnapshotHead>, JournalError> {
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

    /// Gives the rows of the ledger as they are after record `end` to `each`, and returns the keys
    /// of those that were made after it. A row that was changed after it had another value before,
    /// which is not known: then what comes after `end` cannot be cut off.
    fn read_ledger(
        &self,
        end: Seq,
        each: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(Ledger, Keys), JournalError> {
        let lost = || corrupt("meta `ledger` is lost".to_owned());
        let tally = self.meta.get(TALLY_KEY).map_err(store)?.ok_or_else(lost)?;
        let tally = Tally::read(TALLY_KEY, &tally)?;
        let changed_since = |what: String| JournalError::Corrupt {
            seq: end + 1,
            detail: format!("it is not whole, and {what} was changed since"),
        };
        let mut ledger = Ledger::default();
        let mut bytes = Vec::new();
        for row in &self.blocks {
            let (key, sealed) = row.map_err(store)?;
            let (number, head) = self.read_block(&key, &sealed, &mut bytes)?;
            if head.changed > end {
                return Err(changed_since(format!("block {number} of the ledger")));
            }
            standing(&head, &bytes).for_each(|(key, row)| each(key, row));
            let keys = blocks::rows(&bytes).map(|(key, _)| key);
            ledger.found_block((number, &sealed), head, keys);
        }
        let mut undone = Vec::new();
        for row in &self.ledger_tree {
            let (key, sealed) = row.map_err(store)?;
            let row = LedgerRow::read(&key, &sealed)?;
            ledger.found_loose(&key, &sealed, &row);
            if row.made > end {
                undone.push(key.to_vec());
            } else if row.changed > end {
                return Err(changed_since(format!(
                    "the ledger row `{}`",
                    key.escape_ascii()
                )));
            } else {
                each(&key, &row.row);
            }
        }
        ledger.found_all();
        if ledger.tally != tally {
            let (is, was) = (ledger.tally.values(), tally.values());
            return Err(corrupt(format!(
                "the ledger has {is} values that are not the {was} written"
            )));
        }
        Ok((ledger, undone))
    }

    fn read_block(
        &self,
        key: &[u8],
        sealed: &[u8],
        bytes: &mut Vec<u8>,
    ) -> Result<(BlockNumber, BlockHead), JournalError> {
        let number = <[u8; 4]>::try_from(key).map(BlockNumber::from_be_bytes);
        let number = number
            .map_err(|_| corrupt(format!("`{}` is no number of a block", key.escape_ascii())))?;
        let head = BlockHead::read(key, sealed)?;
        self.ended.read(number, &head, bytes)?;
        Ok((number, head))
    }

    /// Removes an unacknowledged tail, and what a snapshot made needless.
    pub(super) fn tidy(&mut self, found: &mut Inspection) -> Result<(), JournalError> {
        let covers = found
            .loaded
            .snapshot
            .as_ref()
            .map_or(0, |(covers, _)| *covers);
        self.pages.cut_after(found.end.seq)?;
        self.ledger = std::mem::take(&mut found.ledger);
        let mut rows = Writes::default();
        for key in found.undone.drain(..) {
            self.ledger.forget_loose(&key);
            rows.remove(key);
        }
        self.ended.in_use(&self.ledger.blocks());
        let mut meta = Writes::default();
        meta.insert(TALLY_KEY, self.ledger.tally.write(TALLY_KEY));
        meta.insert(FORMAT_KEY, seal(FORMAT_KEY, &FORMAT.to_be_bytes()));
        if let Some(owner) = &self.owner {
            meta.insert(OWNER_KEY, seal(OWNER_KEY, owner.as_bytes()));
        }
        // All or none: the tally without the rows that it counts would pass for a loss.
        at_once(
            (&self.ledger_tree, &self.meta).transaction(|(in_ledger, in_meta)| {
                in_ledger.apply_batch(&rows)?;
                in_meta.apply_batch(&meta)?;
                Ok(())
            }),
        )?;
        self.covered = covers;
        self.pages.count()?;
        let covered: Vec<_> = self.pages.covered(covers, usize::MAX).collect();
        let keys = covered.iter().map(|first| first.to_be_bytes().to_vec());
        remove(&self.pages.tree, keys)?;
        self.pages.count()?;
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

/// The rows of a block that are not gone.
fn standing<'a>(head: &BlockHead, bytes: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    let gone = head.gone;
    let rows = (0_u32..).zip(blocks::rows(bytes));
    rows.filter(move |(index, _)| gone & (1 << index) == 0)
        .map(|(_, row)| row)
}
