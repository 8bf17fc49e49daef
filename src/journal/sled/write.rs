//! Writing: a step, all or none; a snapshot, and the end of what it covers.

use std::collections::BTreeMap;

use ::sled::Batch as Writes;
use ::sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};
use dispatch::edge::record::{ChainHash, RecordError, checksum};
use dispatch::edge::{Anchor, Batch, JournalError, Seq};

use super::{SNAPSHOT_KEY, SledJournal, TALLY_KEY, store, write};
use crate::journal::rows::{LedgerRow, SnapshotHead, Tally, seal};

/// Bytes of a snapshot in one value; sled moves large values into files that it does not sync.
const CHUNK_BYTES: usize = 4000;
/// Records that a snapshot covers are removed with the appends after it, so many with each at
/// least, so that none of them waits long.
const TRIM_MIN: u64 = 8;

impl SledJournal {
    /// The rows of a step's ledger changes, and the tally with them.
    fn ledger_writes(&self, batch: &Batch, last: Seq) -> Result<(Writes, Tally), JournalError> {
        let mut tally = self.tally;
        let mut now: BTreeMap<&[u8], Option<Vec<u8>>> = BTreeMap::new();
        for change in &batch.ledger {
            let key = change.key.as_slice();
            let before = match now.get(key) {
                Some(row) => row.clone(),
                None => self.ledger.get(key).map_err(store)?.map(|row| row.to_vec()),
            };
            let mut made = last;
            if let Some(sealed) = &before {
                tally.remove(sealed);
                made = LedgerRow::read(key, sealed)?.made;
            }
            let row = change.row.clone().map(|row| LedgerRow {
                made,
                changed: last,
                row,
            });
            let row = row.map(|row| row.write(key));
            row.iter().for_each(|sealed| tally.add(sealed));
            now.insert(key, row);
        }
        let mut writes = Writes::default();
        for (key, row) in now {
            match row {
                Some(sealed) => writes.insert(key, sealed),
                None => writes.remove(key),
            }
        }
        Ok((writes, tally))
    }

    pub(super) fn append_step(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        let last = self.chain.end().seq + batch.facts.len() as u64;
        let (rows, tally) = self.ledger_writes(batch, last)?;
        let mut records = Writes::default();
        for (seq, record) in self.chain.extend(&batch.facts).map_err(too_large)? {
            records.insert(&seq.to_be_bytes(), record);
        }
        let (from, to) = self.trim;
        let trimmed = to.min(from + TRIM_MIN.max(2 * batch.facts.len() as u64));
        for seq in from..trimmed {
            records.remove(&seq.to_be_bytes());
        }
        let mut meta = Writes::default();
        if tally != self.tally {
            meta.insert(TALLY_KEY, tally.write(TALLY_KEY));
        }
        (&self.records, &self.ledger, &self.meta)
            .transaction(|(in_records, in_ledger, in_meta)| {
                in_records.apply_batch(&records)?;
                in_ledger.apply_batch(&rows)?;
                in_meta.apply_batch(&meta)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(|error| match error {
                TransactionError::Storage(error) => store(error),
                TransactionError::Abort(()) => {
                    JournalError::Store("a step was given up".to_owned())
                }
            })?;
        self.tally = tally;
        self.trim.0 = trimmed;
        Ok(last)
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
