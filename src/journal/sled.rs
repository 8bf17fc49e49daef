//! The journal in sled 0.34.7.
//!
//! What sled does not do by itself is done here: `flush` reaches the system's cache only, so each
//! one is followed by a sync of the data file; values stay small; identifiers are ours.
//!
//! | tree | key | value |
//! |---|---|---|
//! | `records` | number of the first | records (`dispatch::edge::record`), one behind the other |
//! | `ledger` | order id with its workflow's tag | a row that may change or changed lately, sealed |
//! | `blocks` | number | what a block of `ended` holds: the rows of ended orders; sealed |
//! | `snapshots` | number covered, number of the chunk | up to 4,000 bytes of a snapshot, sealed |
//! | `meta` | a name | format, id, owner, snapshot, tally of the ledger; sealed |

mod anew;
mod handle;
mod ledger;
mod open;
mod pages;
mod read;
mod write;

use std::fs::File;
use std::io;

use ::sled::{Batch as Writes, Tree};
use dispatch::edge::{Batch, Chain, Journal, JournalError, Loaded, Seq};
pub use read::{Inspection, StoredRow};
use tempfile::TempDir;

use super::before::Before;
use super::blocks::Blocks;
use super::directory::{DataDir, JournalId};
use super::guard::reading;
use super::rows::{corrupt, unseal};
use super::witness::Witness;
use handle::Handle;
use ledger::Ledger;
use pages::Pages;
use write::Pending;

/// The version of the store's format that is written; every version up to it is read. It also
/// covers the version of records. Format 1 had no blocks: its ledger lies loose. Up to format 2
/// each record had a value of its own.
pub const FORMAT: u64 = 3;
/// Values written or removed in one go while tidying up.
const GROUP: usize = 256;

const FORMAT_KEY: &[u8] = b"format";
const ID_KEY: &[u8] = b"id";
const OWNER_KEY: &[u8] = b"owner";
const SNAPSHOT_KEY: &[u8] = b"snapshot";
const TALLY_KEY: &[u8] = b"ledger";

/// The journal of one machine.
#[derive(Debug)]
pub struct SledJournal {
    db: Handle,
    pages: Pages,
    ledger_tree: Tree,
    blocks: Tree,
    snapshots: Tree,
    meta: Tree,
    /// sled's data file, to sync it by.
    data: File,
    /// Rows of ended orders.
    ended: Blocks,
    witness: Witness,
    /// The last record known durable when the journal was opened.
    durable: Seq,
    id: JournalId,
    /// Whose it is from now on.
    owner: Option<String>,
    chain: Chain,
    ledger: Ledger,
    /// Appended and not in the store.
    pending: Pending,
    /// The last record that the snapshot covers. Pages with no other are removed step by step.
    covered: Seq,
    state: Stage,
    /// After the store.
    before: Before,
    /// After all else, so that the lock outlives it.
    _dir: DataDir,
    /// The directory of a copy, last of all.
    copy: Option<TempDir>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Opened,
    Loaded,
    Failed,
}

impl SledJournal {
    /// The data directory was restored from a backup: what is there is all that is expected, also
    /// where more records were durable once. To be called before [`Journal::load`].
    pub fn restored(&mut self) {
        self.durable = 0;
    }

    /// Which journal this is.
    #[must_use]
    pub fn id(&self) -> JournalId {
        self.id
    }

    /// Whose journal this is, as it was last told; `None` before the first time.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it cannot be read.
    pub fn owner(&self) -> Result<Option<String>, JournalError> {
        let Some(sealed) = self.meta.get(OWNER_KEY).map_err(store)? else {
            return Ok(None);
        };
        let owner = unseal("meta", OWNER_KEY, &sealed)?.to_vec();
        let no_text = |_| corrupt("meta `owner` is no text".to_owned());
        String::from_utf8(owner).map(Some).map_err(no_text)
    }

    /// Tells whose journal this is; it is kept by [`Journal::load`].
    pub fn set_owner(&mut self, owner: String) {
        self.owner = Some(owner);
    }

    /// What was loaded is used: from here on the data directory is not put back as it was before.
    pub fn settle(&mut self) {
        self.before.forget();
    }

    /// Makes all that was appended durable, and then says so.
    fn flush(&mut self) -> Result<(), JournalError> {
        self.write_pending()?;
        self.ended
            .sync()
            .map_err(failed("sync the blocks of ended orders"))?;
        self.db.flush().map_err(store)?;
        crash_point!(with_the_system());
        self.data
            .sync_data()
            .map_err(failed("sync the data file"))?;
        self.ended.left();
        self.ledger.synced();
        self.chain.synced();
        self.witness
            .note(self.chain.durable())
            .map_err(failed("write the witness"))?;
        self.ledger
            .pack(self.chain.durable(), &mut self.ended)
            .map_err(failed("write a block of ended orders"))
    }

    /// Does something to the store; nothing more once that failed.
    fn doing<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match self.state {
            Stage::Loaded => {}
            Stage::Opened => return Err(JournalError::Store("it was not loaded".to_owned())),
            Stage::Failed => return Err(JournalError::Store("it failed before".to_owned())),
        }
        self.settle();
        let result = act(self);
        if result.is_err() {
            self.state = Stage::Failed;
        }
        result
    }
}

impl Journal for SledJournal {
    fn load(&mut self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Loaded, JournalError> {
        let before = self.before.put_back();
        let mut found = reading(before.clone(), || self.read_all(row))?;
        self.chain = Chain::new(found.end);
        reading(before, || self.tidy(&mut found))?;
        self.flush()?;
        self.witness
            .set(found.end.seq)
            .map_err(failed("write the witness"))?;
        self.state = Stage::Loaded;
        Ok(found.loaded)
    }

    fn append(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        if batch.facts.is_empty() {
            if batch.ledger.is_empty() {
                return Ok(self.chain.end().seq);
            }
            // Nobody would wait for it to be durable.
            return Err(JournalError::Store(
                "a ledger row changed without a fact".to_owned(),
            ));
        }
        self.doing(|journal| journal.append_step(batch))
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.doing(Self::flush)
    }

    fn snapshot(&mut self, covers: Seq, state: &[u8]) -> Result<(), JournalError> {
        self.doing(|journal| {
            let end = journal.chain.end().seq;
            if covers > end {
                let detail = format!("a snapshot of record {covers}, the last is {end}");
                return Err(JournalError::Store(detail));
            }
            // Nothing happened since the last one.
            if covers <= journal.covered {
                return Ok(());
            }
            journal.write_pending()?;
            journal.write_snapshot(covers, state)
        })
    }

    fn close(&mut self) -> Result<(), JournalError> {
        self.doing(|journal| {
            journal.flush()?;
            let durable = journal.chain.durable();
            journal
                .witness
                .set(durable)
                .map_err(failed("write the witness"))
        })
    }
}

fn remove(tree: &Tree, keys: impl IntoIterator<Item = Vec<u8>>) -> Result<(), JournalError> {
    write(tree, keys.into_iter().map(|key| (key, None)))
}

fn write(
    tree: &Tree,
    rows: impl IntoIterator<Item = (Vec<u8>, Option<Vec<u8>>)>,
) -> Result<(), JournalError> {
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut writes = Writes::default();
        for (key, row) in rows.by_ref().take(GROUP) {
            match row {
                Some(row) => writes.insert(key, row),
                None => writes.remove(key),
            }
        }
        tree.apply_batch(writes).map_err(store)?;
    }
    Ok(())
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> JournalError {
    move |error| JournalError::Store(format!("cannot {what}: {error}"))
}

fn store(error: ::sled::Error) -> JournalError {
    use ::sled::Error::{CollectionNotFound, Corruption, Io, ReportableBug, Unsupported};
    match error {
        Io(error) => JournalError::Store(error.to_string()),
        error @ (CollectionNotFound(_) | Corruption { .. } | ReportableBug(_) | Unsupported(_)) => {
            corrupt(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests;
