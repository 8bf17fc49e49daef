//! The port behind which facts are kept.

use crate::fact::Fact;

/// The number of a record, from 1, without a gap.
pub type Seq = u64;

/// A change of the ledger: what an accepted order is remembered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerChange {
    /// The order id, with its workflow's tag before it.
    pub key: Vec<u8>,
    /// The row; `None` removes it.
    pub row: Option<Vec<u8>>,
    /// Whether the row stays as it is until it is removed: a journal may pack it with others then.
    pub settled: bool,
}

/// What one step keeps, all or none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The facts, in order.
    pub facts: Vec<Fact>,
    /// The ledger rows that follow from them.
    pub ledger: Vec<LedgerChange>,
}

/// What a journal holds at start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The newest snapshot of the live state, and the last record that it covers.
    pub snapshot: Option<(Seq, Vec<u8>)>,
    /// How many rows the ledger has.
    pub rows: u64,
    /// The facts after the snapshot, in order.
    pub facts: Vec<(Seq, Fact)>,
    /// Records of an unacknowledged tail that were cut off.
    pub cut: u64,
}

impl Loaded {
    /// The number of the last record that stands; 0 before the first.
    #[must_use]
    pub fn last(&self) -> Seq {
        let covered = self.snapshot.as_ref().map_or(0, |(covers, _)| *covers);
        self.facts.last().map_or(covered, |(seq, _)| *seq)
    }
}

/// Why a journal did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process has the directory.
    #[error("the data directory is in use by another process")]
    InUse,
    /// A record is not what was written.
    #[error("{} is corrupt: {detail}", what(*.seq))]
    Corrupt {
        /// Which record; 0 where it cannot be told.
        seq: Seq,
        /// What is wrong with it.
        detail: String,
    },
    /// A record is larger than a record may be.
    #[error("a record of {0} bytes is larger than 4096")]
    TooLarge(usize),
    /// The store could not be read or written.
    #[error("the store failed: {0}")]
    Store(String),
}

fn what(seq: Seq) -> String {
    if seq == 0 {
        return "the journal".to_owned();
    }
    format!("record {seq}")
}

/// Where facts are kept.
pub trait Journal: Send {
    /// Reads everything back, and gives each row of the ledger (key, row) to `row`. Called once,
    /// before the first append.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when what is there is not what was written; it is never taken for
    /// an empty store.
    fn load(&mut self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Loaded, JournalError>;

    /// Appends a batch, all or none. It is durable only after the next [`Journal::sync`].
    /// Returns the number of its last record.
    ///
    /// # Errors
    /// Any error means that memory is ahead of the store: the process must end.
    fn append(&mut self, batch: &Batch) -> Result<Seq, JournalError>;

    /// Makes all that was appended durable, against a power cut too.
    ///
    /// # Errors
    /// As for `append`.
    fn sync(&mut self) -> Result<(), JournalError>;

    /// Keeps a snapshot of the live state that covers all records up to `covers`, makes it
    /// durable, and removes what it covers (at once or with the appends that follow).
    ///
    /// # Errors
    /// As for `append`.
    fn snapshot(&mut self, covers: Seq, state: &[u8]) -> Result<(), JournalError>;

    /// Notes that all that was appended and synced is durable, at the end of the process; nothing
    /// is called after it. Without it the last step counts as a tail that may be cut off.
    ///
    /// # Errors
    /// As for `append`.
    fn close(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}
