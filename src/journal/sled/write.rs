//! Writing: a step, all or none; a snapshot, and the end of what it covers.

use std::collections::BTreeMap;

use ::sled::Batch as Writes;
use ::sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};
use dispatch::edge::record::{ChainHash, RecordError, checksum};
use dispatch::edge::{Anchor, Batch, JournalError, Seq};

use super::{SNAPSHOT_KEY, SledJournal, TALLY_KEY, store, write};
use crate::journal::rows::{LedgerRow, SnapshotHead, seal};

/// Bytes of a snapshot in one value; sled moves large values into files that it does not sync.
const CHUNK_BYTES: usize = 4000;
/// Records that a snapshot covers are removed with the appends after it, so many with each at
/// least, so that none of them waits long.
const TRIM_MIN: u64 = 8;

/// Records that wait in memory at most; the committer syncs sooner.
const PENDING_MAX: usize = 1024;

/// Steps that were appended and are not in the store: they go there at the next sync, all or none,
/// as sled writes and waits for each batch by itself.
#[derive(Debug, Default)]
pub(super) struct Pending {
    records: Vec<(Seq, Vec<u8>)>,
    /// Sealed rows, by their key; `None` removes one.
    rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl SledJournal {
    pub(super) fn append_step(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        let last = self.chain.end().seq + batch.facts.len() as u64;
        let records = self.chain.extend(&batch.facts).map_err(too_large)?;
        self.pending.records.extend(records);
        for change in &batch.ledger {
            self.change_row(&change.key, change.row.as_deref(), last)?;
        }
        if self.pending.records.len() >= PENDING_MAX {
            self.write_pending()?;
        }
        Ok(last)
    }

    /// Changes a row of the ledger, and the tally with it.
    fn change_row(
        &mut self,
        key: &[u8],
        row: Option<&[u8]>,
        last: Seq,
    ) -> Result<(), JournalError> {
        let stored;
        let before = match self.pending.rows.get(key) {
            Some(row) => row.as_deref(),
            None => {
                stored = self.ledger.get(key).map_err(store)?;
                stored.as_deref()
            }
        };
        let mut made = last;
        if let Some(sealed) = before {
            self.tally.remove(sealed);
            made = LedgerRow::read(key, sealed)?.made;
        }
        let sealed = row.map(|row| {
            let row = LedgerRow {
                made,
                changed: last,
                row: row.to_vec(),
            };
            row.write(key)
        });
        if let Some(sealed) = &sealed {
            self.tally.add(sealed);
        }
        self.pending.rows.insert(key.to_vec(), sealed);
        Ok(())
    }

    /// Gives what is pending to the store, in one batch.
    pub(super) fn write_pending(&mut self) -> Result<(), JournalError> {
        let Pending { records, rows } = std::mem::take(&mut self.pending);
        if records.is_empty() {
            return Ok(());
        }
        let mut in_records = Writes::default();
        let (from, to) = self.trim;
        let trimmed = to.min(from + TRIM_MIN.max(2 * records.len() as u64));
        for seq in from..trimmed {
            in_records.remove(&seq.to_be_bytes());
        }
        for (seq, record) in records {
            in_records.insert(&seq.to_be_bytes(), record);
        }
        let mut in_ledger = Writes::default();
        let mut in_meta = Writes::default();
        if !rows.is_empty() {
            in_meta.insert(TALLY_KEY, self.tally.write(TALLY_KEY));
        }
        for (key, row) in rows {
            match row {
                Some(sealed) => in_ledger.insert(key, sealed),
                None => in_ledger.remove(key),
            }
        }
        (&self.records, &self.ledger, &self.meta)
            .transaction(|(records, ledger, meta)| {
                records.apply_batch(&in_records)?;
                ledger.apply_batch(&in_ledger)?;
                meta.apply_batch(&in_meta)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(|error| match error {
                TransactionError::Storage(error) => store(error),
                TransactionError::Abort(()) => {
                    JournalError::Store("a step was given up".to_owned())
                }
            })?;
        self.trim.0 = trimmed;
        Ok(())
    }

    pub(super) fn write_snapshot(&mut self, covers: Seq, state: &[u8]) -> Result<(), JournalError> {
        let mut chunks = Vec::new();
        for (index, chunk) in (0_u32..).zip(state.chunks(CHUNK_BYTES)) {
            let key = [&covers.to_be_bytes()[..], &index.to_be_bytes()[..]].concat();
            let sealed = seal(&key, chunk);
            chunks.push((key, Some(sealed)));
        }
        write(&self.snapshots, chunks)?;
        self.flush()?;
        let covers = Anchor {
            seq: covers,
            hash: self.hash_of(covers)?,
        };
        let head = SnapshotHead {
            covers,
            bytes: state.len() as u64,
            sum: checksum(&[state]),
        };
        self.meta
            .insert(SNAPSHOT_KEY, head.write(SNAPSHOT_KEY))
            .map_err(store)?;
        self.flush()?;
        self.remove_snapshots_except(covers.seq)?;
        self.trim.1 = covers.seq + 1;
        Ok(())
    }

    fn hash_of(&self, seq: Seq) -> Result<ChainHash, JournalError> {
        if seq == self.chain.end().seq {
            return Ok(self.chain.end().hash);
        }
        let record = self.records.get(seq.to_be_bytes()).map_err(store)?;
        let missing = || JournalError::Corrupt {
            seq,
            detail: "it is missing".to_owned(),
        };
        record
            .map(|record| ChainHash::of(&record))
            .ok_or_else(missing)
    }
}

fn too_large(error: RecordError) -> JournalError {
    if let RecordError::TooLarge(bytes) = error {
        return JournalError::TooLarge(bytes);
    }
    JournalError::Store(error.to_string())
}
