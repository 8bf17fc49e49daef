//! Writing: a step, all or none; a snapshot, and the end of what it covers.

use ::sled::Batch as Writes;
use ::sled::transaction::{TransactionError, TransactionResult, Transactional};
use dispatch::edge::record::{RecordError, checksum};
use dispatch::edge::{Anchor, Batch, JournalError, Seq};

use super::ledger::LedgerWrites;
use super::pages::NewPages;
use super::{SNAPSHOT_KEY, SledJournal, TALLY_KEY, store, write};
use crate::journal::rows::{SnapshotHead, seal};

/// Bytes of a snapshot in one value; sled moves large values into files that it does not sync.
const CHUNK_BYTES: usize = 4000;
/// Chunks of a snapshot from one sync to the next: sled writes over a segment when what was in it has
/// been moved and two segments were written since. All of those must be durable by then.
const SYNC_CHUNKS: usize = 64;
/// Pages that a snapshot covers are removed with those that are written after it, so many with each
/// sync at least, so that none of them waits long.
const TRIM_MIN: usize = 2;

/// Records that wait in memory at most; the committer syncs sooner.
const PENDING_MAX: u64 = 1024;

/// Steps that were appended and are not in the store: they go there at the next sync, all or none,
/// since sled writes and waits for each batch by itself.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pages: NewPages,
    pub(super) ledger: LedgerWrites,
}

impl SledJournal {
    pub(super) fn append_step(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        let last = self.chain.end().seq + batch.facts.len() as u64;
        for (seq, record) in self.chain.extend(&batch.facts).map_err(too_large)? {
            self.pending.pages.push(seq, record);
        }
        let writes = &mut self.pending.ledger;
        for change in &batch.ledger {
            self.ledger.change(change, last, &mut self.ended, writes)?;
        }
        if self.pending.pages.records() >= PENDING_MAX {
            self.write_pending()?;
        }
        Ok(last)
    }

    /// Takes over a record of another journal.
    pub(super) fn take_record(&mut self, seq: Seq, record: &[u8]) -> Result<(), JournalError> {
        self.pending.pages.push(seq, record.to_vec());
        if self.pending.pages.records() >= PENDING_MAX {
            self.write_pending()?;
        }
        Ok(())
    }

    /// Gives what is pending to the store, in one batch.
    pub(super) fn write_pending(&mut self) -> Result<(), JournalError> {
        if self.pending.pages.len() == 0 {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.ledger
            .name_blocks(&mut self.ended, &mut pending.ledger);
        let Pending { pages, ledger } = &pending;
        let mut records = Writes::default();
        for (first, page) in pages.iter() {
            records.insert(&first.to_be_bytes(), page);
        }
        let mut trimmed = 0;
        for first in self
            .pages
            .covered(self.covered, TRIM_MIN.max(2 * pages.len()))
        {
            records.remove(&first.to_be_bytes());
            trimmed += 1;
        }
        let mut meta = Writes::default();
        meta.insert(TALLY_KEY, self.ledger.tally.write(TALLY_KEY));
        let trees = (
            &self.pages.tree,
            &self.ledger_tree,
            &self.blocks,
            &self.meta,
        );
        at_once(
            trees.transaction(|(in_records, in_ledger, in_blocks, in_meta)| {
                in_records.apply_batch(&records)?;
                crash_point!(handed_in_part());
                in_ledger.apply_batch(&ledger.loose)?;
                in_blocks.apply_batch(&ledger.blocks)?;
                in_meta.apply_batch(&meta)?;
                Ok(())
            }),
        )?;
        self.pages.written(&pending.pages, trimmed);
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
            crash_point!(in_snapshot());
            self.flush()?;
        }
        let end = self.chain.end();
        let hash = if covers == end.seq {
            end.hash
        } else {
            self.pages.hash_of(covers)?
        };
        let covers = Anchor { seq: covers, hash };
        let head = SnapshotHead {
            covers,
            bytes: state.len() as u64,
            sum: checksum(&[state]),
        };
        self.meta
            .insert(SNAPSHOT_KEY, head.write(SNAPSHOT_KEY))
            .map_err(store)?;
        crash_point!(in_snapshot());
        self.flush()?;
        crash_point!(in_snapshot());
        self.remove_snapshots_except(covers.seq)?;
        crash_point!(in_snapshot());
        self.covered = covers.seq;
        Ok(())
    }
}

/// What became of a transaction.
pub(super) fn at_once(result: TransactionResult<(), ()>) -> Result<(), JournalError> {
    result.map_err(|error| match error {
        TransactionError::Storage(error) => store(error),
        TransactionError::Abort(()) => JournalError::Store("a step was given up".to_owned()),
    })
}

fn too_large(error: RecordError) -> JournalError {
    if let RecordError::TooLarge(bytes) = error {
        return JournalError::TooLarge(bytes);
    }
    JournalError::Store(error.to_string())
}
