//! A disk that keeps what was synced and, after a power cut, of the rest only what it likes.

use std::collections::BTreeMap;

use dispatch::edge::{
    Anchor, Batch, Chain, Journal, JournalError, LedgerChange, Loaded, Seq, replay,
};

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
    ledger: BTreeMap<Vec<u8>, Vec<u8>>,
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
    syncs: u64,
}

impl ModelDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The power goes: of the batches that were not synced only the first `kept` are there later.
    pub fn power_cut(&mut self, kept: usize) {
        let survived: Vec<_> = std::mem::take(&mut self.unsynced)
            .into_iter()
            .take(kept)
            .collect();
        for batch in survived {
            self.write(batch);
        }
        self.chain = None;
        self.anchors.clear();
    }

    /// From here on every append and every sync fails, or works again.
    pub fn set_failing(&mut self, failing: bool) {
        self.failing = failing;
    }

    /// The last record that is there for good.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.durable
    }

    /// The last record that a process would find, where none is torn.
    #[must_use]
    pub fn last(&self) -> Seq {
        let last = self.records.last_key_value();
        last.map_or(self.anchor.seq, |(seq, _)| *seq)
    }

    /// Whether it was made to fail.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.failing
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
        self.records.extend(batch.records);
        for change in batch.ledger {
            match change.row {
                Some(row) => self.ledger.insert(change.key, row),
                None => self.ledger.remove(&change.key),
            };
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
        let read = replay(
            self.anchor,
            self.durable,
            self.records.iter().map(|(n, r)| (*n, r)),
        )?;
        for seq in &read.cut {
            self.records.remove(seq);
        }
        self.chain = Some(Chain::new(read.end));
        self.durable = read.end.seq;
        for (key, bytes) in &self.ledger {
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
mod tests {
    use dispatch::edge::{Batch, Journal, LedgerChange};
    use dispatch::{Fact, SiteFact};
    use protocol::ZoneId;

    use super::ModelDisk;

    fn batch(zone: &str) -> Batch {
        let row = LedgerChange {
            key: zone.as_bytes().to_vec(),
            row: Some(vec![1]),
            settled: false,
        };
        let fact = Fact::Site(SiteFact::Resumed {
            zone: ZoneId::new(zone).unwrap(),
        });
        Batch {
            facts: vec![fact],
            ledger: vec![row],
        }
    }

    #[test]
    fn a_power_cut_takes_what_was_not_synced() {
        let mut disk = ModelDisk::new();
        disk.load(&mut |_, _| ()).unwrap();
        disk.append(&batch("a")).unwrap();
        disk.sync().unwrap();
        disk.append(&batch("b")).unwrap();
        disk.append(&batch("c")).unwrap();
        disk.power_cut(0);
        let loaded = disk.load(&mut |_, _| ()).unwrap();
        assert_eq!((loaded.facts.len(), loaded.rows), (1, 1));
        assert_eq!(disk.append(&batch("d")).unwrap(), 2);
    }

    #[test]
    fn what_the_disk_kept_of_the_rest_is_a_tail_that_stands() {
        let mut disk = ModelDisk::new();
        disk.load(&mut |_, _| ()).unwrap();
        disk.append(&batch("a")).unwrap();
        disk.append(&batch("b")).unwrap();
        disk.power_cut(1);
        assert_eq!(disk.load(&mut |_, _| ()).unwrap().facts.len(), 1);
    }

    #[test]
    fn a_snapshot_removes_what_it_covers() {
        let mut disk = ModelDisk::new();
        disk.load(&mut |_, _| ()).unwrap();
        disk.append(&batch("a")).unwrap();
        let covers = disk.append(&batch("b")).unwrap();
        disk.sync().unwrap();
        disk.snapshot(covers, b"state").unwrap();
        disk.append(&batch("c")).unwrap();
        disk.sync().unwrap();
        disk.power_cut(0);
        let loaded = disk.load(&mut |_, _| ()).unwrap();
        assert_eq!(loaded.snapshot, Some((2, b"state".to_vec())));
        assert_eq!(
            loaded.facts.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
            [3]
        );
    }

    #[test]
    fn a_failing_disk_says_so() {
        let mut disk = ModelDisk::new();
        disk.load(&mut |_, _| ()).unwrap();
        disk.set_failing(true);
        assert!(disk.append(&batch("a")).is_err() && disk.sync().is_err());
    }
}
