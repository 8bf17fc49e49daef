//! A disk that keeps what was synced and, after a power cut, of the rest only what it likes.

mod cut;

use std::collections::BTreeMap;

use dispatch::edge::{
    Anchor, Batch, Chain, Journal, JournalError, LedgerChange, Loaded, Seq, replay,
};

pub use self::cut::Cut;

/// One batch that was appended and not synced.
#[derive(Debug, Clone)]
struct Unsynced {
    records: Vec<(Seq, Vec<u8>)>,
    ledger: Vec<LedgerChange>,
}

/// The model of a disk under a journal: the third implementation of the port, with real records.
#[derive(Debug, Clone, Default)]
pub struct ModelDisk {
    records: BTreeMap<Seq, Vec<u8>>,
    /// Each row with the record that it was made with.
    ledger: BTreeMap<Vec<u8>, (Seq, Vec<u8>)>,
    snapshot: Option<(Seq, Vec<u8>)>,
    /// The record that the snapshot covers last.
    anchor: Anchor,
    /// The last record known durable.
    durable: Seq,
    unsynced: Vec<Unsynced>,
    /// The growing end, once loaded.
    chain: Option<Chain>,
    /// Hashes by number, so that a snapshot knows its anchor.
    anchors: BTreeMap<Seq, Anchor>,
    failing: bool,
    /// So many more syncs fail, though appends do not.
    failing_syncs: u32,
    /// It failed since it was loaded last.
    failed: bool,
    /// After a power cut: all up to this record is whole.
    whole_to: Option<Seq>,
    /// A record that was altered, as it was before.
    altered: Option<(Seq, Vec<u8>)>,
    syncs: u64,
}

impl ModelDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From here on every append and every sync fails, or works again.
    pub fn set_failing(&mut self, failing: bool) {
        self.failing = failing;
    }

    /// So many of the next syncs fail.
    pub fn fail_syncs(&mut self, times: u32) {
        self.failing_syncs = times;
    }

    /// The last record that is there for good.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.durable
    }

    /// The last record that a process would find.
    #[must_use]
    pub fn last(&self) -> Seq {
        let last = self.records.last_key_value();
        let last = last.map_or(self.anchor.seq, |(seq, _)| *seq);
        self.whole_to.unwrap_or(last)
    }

    /// Whether it failed since it was loaded last, or fails still.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed || self.is_failing()
    }

    /// Whether it was made to fail.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.failing || self.altered.is_some() || self.failing_syncs > 0
    }

    /// How often it was synced.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.syncs
    }

    /// How many batches are not synced.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.unsynced.len()
    }

    fn write(&mut self, batch: Unsynced) {
        let end = batch.records.last().map_or(0, |(seq, _)| *seq);
        self.records.extend(batch.records);
        for change in batch.ledger {
            match (change.row, self.ledger.get_mut(&change.key)) {
                (Some(row), Some((_, known))) => *known = row,
                (Some(row), None) => {
                    self.ledger.insert(change.key, (end, row));
                }
                (None, _) => {
                    self.ledger.remove(&change.key);
                }
            }
        }
    }

    fn check(&self) -> Result<(), JournalError> {
        if self.failing {
            return Err(JournalError::Store("the disk fails".to_owned()));
        }
        Ok(())
    }
}

impl Journal for ModelDisk {
    fn load(&mut self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Loaded, JournalError> {
        self.check()?;
        self.failed = false;
        let read = replay(
            self.anchor,
            self.durable,
            self.records.iter().map(|(n, r)| (*n, r)),
        )?;
        for seq in &read.cut {
            self.records.remove(seq);
        }
        // Rows that steps of the tail made are undone with it.
        self.ledger.retain(|_, (made, _)| *made <= read.end.seq);
        self.whole_to = None;
        self.chain = Some(Chain::new(read.end));
        self.durable = read.end.seq;
        for (key, (_, bytes)) in &self.ledger {
            row(key, bytes);
        }
        Ok(Loaded {
            snapshot: self.snapshot.clone(),
            rows: self.ledger.len() as u64,
            facts: read.facts,
            cut: read.cut.len() as u64,
        })
    }

    fn append(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        self.check()?;
        let Some(chain) = &mut self.chain else {
            return Err(JournalError::Store("append before load".to_owned()));
        };
        let records = chain
            .extend(&batch.facts)
            .map_err(|error| JournalError::Store(error.to_string()))?;
        let end = chain.end();
        self.anchors.insert(end.seq, end);
        self.unsynced.push(Unsynced {
            records,
            ledger: batch.ledger.clone(),
        });
        Ok(end.seq)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.check()?;
        if let Some(left) = self.failing_syncs.checked_sub(1) {
            self.failing_syncs = left;
            self.failed = true;
            return Err(JournalError::Store("the disk fails to sync".to_owned()));
        }
        self.syncs += 1;
        for batch in std::mem::take(&mut self.unsynced) {
            self.write(batch);
        }
        if let Some(chain) = &mut self.chain {
            chain.synced();
            self.durable = chain.durable();
        }
        Ok(())
    }

    fn snapshot(&mut self, covers: Seq, state: &[u8]) -> Result<(), JournalError> {
        self.check()?;
        let Some(anchor) = self.anchors.get(&covers).copied() else {
            return Err(JournalError::Store(format!(
                "no step ends with record {covers}"
            )));
        };
        self.anchor = anchor;
        self.snapshot = Some((covers, state.to_vec()));
        self.records = self.records.split_off(&(covers + 1));
        self.anchors = self.anchors.split_off(&(covers + 1));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
