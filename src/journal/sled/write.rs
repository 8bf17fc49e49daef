//! Writing: a step, all or none; a snapshot, and the end of what it covers.

use ::sled::Batch as Writes;
use ::sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};
use dispatch::edge::record::{ChainHash, RecordError, checksum};
use dispatch::edge::{Anchor, Batch, JournalError, Seq};

use super::ledger::LedgerWrites;
use super::{SNAPSHOT_KEY, SledJournal, TALLY_KEY, store, write};
use crate::journal::rows::{SnapshotHead, seal};

/// Bytes of a snapshot in one value; sled moves large values into files that it does not sync.
const CHUNK_BYTES: usize = 4000;
/// Chunks of a snapshot from one sync to the next: sled writes over a segment when what was in it has
/// been moved and two segments were written since. All of those must be durable by then.
const SYNC_CHUNKS: usize = 64;
/// Records that a snapshot covers are removed with the appends after it, so many with each at
/// least, so that none of them waits long.
const TRIM_MIN: u64 = 8;

/// Records that wait in memory at most; the committer syncs sooner.
const PENDING_MAX: u64 = 1024;

/// Steps that were appended and are not in the store: they go there at the next sync, all or none,
/// since sled writes and waits for each batch by itself.
#[derive(Debug, Default)]
pub(super) struct Pending {
    records: Writes,
    /// How many records.
    count: u64,
    pub(super) ledger: LedgerWrites,
}

impl SledJournal {
    pub(super) fn append_step(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        let last = self.chain.end().seq + batch.facts.len() as u64;
        for (seq, record) in self.chain.extend(&batch.facts).map_err(too_large)? {
            self.pending.records.insert(&seq.to_be_bytes(), record);
            self.pending.count += 1;
        }
        let writes = &mut self.pending.ledger;
        for change in &batch.ledger {
            self.ledger.change(change, last, &mut self.ended, writes)?;
        }
        if self.pending.count >= PENDING_MAX {
            self.write_pending()?;
        }
        Ok(last)
    }

    /// Gives what is pending to the store, in one batch.
    pub(super) fn write_pending(&mut self) -> Result<(), JournalError> {
        if self.pending.count == 0 {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.ledger
            .name_blocks(&mut self.ended, &mut pending.ledger);
        let (from, to) = self.trim;
        let trimmed = to.min(from + TRIM_MIN.max(2 * pending.count));
        for seq in from..trimmed {
            pending.records.remove(&seq.to_be_bytes());
        }
        let mut meta = Writes::default();
        meta.insert(TALLY_KEY, self.ledger.tally.write(TALLY_KEY));
        let Pending {
            records, ledger, ..
        } = &pending;
        (&self.records, &self.ledger_tree, &self.blocks, &self.meta)
            .transaction(|(in_records, in_ledger, in_blocks, in_meta)| {
                in_records.apply_batch(records)?;
                in_ledger.apply_batch(&ledger.loose)?;
                in_blocks.apply_batch(&ledger.blocks)?;
                in_meta.apply_batch(&meta)?;
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
        for group in chunks.chunks(SYNC_CHUNKS) {
            write(&self.snapshots, group.iter().cloned())?;
            self.flush()?;
        }
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
