//! Writing a journal anew from what another holds.

use std::path::Path;

use dispatch::edge::record::checksum;
use dispatch::edge::{JournalError, LedgerChange, Loaded, Seq};

use super::open::create_as;
use super::{OWNER_KEY, SNAPSHOT_KEY, SledJournal, TALLY_KEY, failed, store};
use crate::journal::blocks::{self, BLOCK_BYTES};
use crate::journal::directory::DataDir;
use crate::journal::rows::LedgerRow;

/// All that a journal says, to compare two.
#[derive(Debug, PartialEq)]
pub(in crate::journal) struct Said {
    pub(in crate::journal) loaded: Loaded,
    /// Over all rows of the ledger, whatever their order.
    rows: u64,
}

impl SledJournal {
    /// Everything, read.
    pub(in crate::journal) fn all_said(&self) -> Result<Said, JournalError> {
        let mut rows = 0_u64;
        let inspection = self.inspect(&mut |key, row| {
            let sums = [checksum(&[key, row]), checksum(&[row, key])];
            rows = rows.wrapping_add(u64::from(sums[0]) << 32 | u64::from(sums[1]));
        })?;
        let mut loaded = inspection.loaded;
        // A tail that is cut off is not taken over.
        loaded.cut = 0;
        Ok(Said { loaded, rows })
    }

    /// Creates a journal below another data directory that holds the same as this one, whose
    /// records end with `last`: what stands is taken over, ended orders are packed.
    pub(in crate::journal) fn write_anew(
        &self,
        data_dir: &Path,
        last: Seq,
    ) -> Result<(), JournalError> {
        let dir = DataDir::take(data_dir)?;
        dir.create(|path| create_as(self.id, path))?;
        let mut new = Self::open_alone(dir)?;
        new.settle();
        self.copy_records(&mut new, last)?;
        self.copy_ledger(&mut new, last)?;
        let tally = new.ledger.tally.write(TALLY_KEY);
        new.meta.insert(TALLY_KEY, tally).map_err(store)?;
        new.flush()?;
        new.witness.set(last).map_err(failed("write the witness"))
    }

    fn copy_records(&self, new: &mut Self, last: Seq) -> Result<(), JournalError> {
        let mut first = 1;
        if let Some(head) = self.snapshot_head()? {
            first = head.covers.seq + 1;
            for row in self.snapshots.scan_prefix(head.covers.seq.to_be_bytes()) {
                let (key, chunk) = row.map_err(store)?;
                new.snapshots.insert(key, chunk).map_err(store)?;
                new.flush()?;
            }
        }
        for key in [SNAPSHOT_KEY, OWNER_KEY] {
            if let Some(value) = self.meta.get(key).map_err(store)? {
                new.meta.insert(key, value).map_err(store)?;
            }
        }
        self.pages.records::<JournalError>(first, |seq, record| {
            if seq > last {
                return Ok(());
            }
            new.take_record(seq, record)
        })?;
        new.flush()
    }

    fn copy_ledger(&self, new: &mut Self, last: Seq) -> Result<(), JournalError> {
        let mut loose = Vec::new();
        self.rows::<JournalError>(|row| {
            let row = row?;
            match row.changed {
                // The blocks come first.
                None => new.take_settled(row.key, row.row, last),
                Some(_) => {
                    loose.push(row.key.to_vec());
                    Ok(())
                }
            }
        })?;
        for key in loose {
            let Some(sealed) = self.ledger_tree.get(&key).map_err(store)? else {
                continue;
            };
            let row = LedgerRow::read(&key, &sealed)?;
            if row.made > last {
                continue;
            }
            if row.settled && blocks::bytes_of(&key, &row.row) <= BLOCK_BYTES {
                new.take_settled(&key, &row.row, row.changed)?;
            } else {
                new.ledger.found_loose(&key, &sealed, &row);
                new.ledger_tree.insert(key, sealed).map_err(store)?;
            }
        }
        new.write_blocks(0)
    }

    fn take_settled(&mut self, key: &[u8], row: &[u8], changed: Seq) -> Result<(), JournalError> {
        let change = LedgerChange {
            key: key.to_vec(),
            row: Some(row.to_vec()),
            settled: true,
        };
        let writes = &mut self.pending.ledger;
        self.ledger
            .change(&change, changed, &mut self.ended, writes)?;
        if self.ledger.settled_bytes() > BLOCK_BYTES {
            self.write_blocks(BLOCK_BYTES)?;
        }
        Ok(())
    }

    /// Packs settled rows as long as there are more than so many bytes of them.
    fn write_blocks(&mut self, than_bytes: usize) -> Result<(), JournalError> {
        let put = failed("write a block of ended orders");
        while self.ledger.settled_bytes() > than_bytes
            && self
                .ledger
                .pack_one(Seq::MAX, &mut self.ended)
                .map_err(&put)?
        {}
        self.ended.sync().map_err(&put)?;
        self.ledger.synced();
        // Those that wait for their block were never in the ledger's tree.
        let mut writes = std::mem::take(&mut self.pending.ledger);
        self.ledger.name_blocks(&mut self.ended, &mut writes);
        self.blocks.apply_batch(writes.blocks).map_err(store)
    }
}
