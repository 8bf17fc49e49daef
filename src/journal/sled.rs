//! The journal in sled 0.34.7.
//!
//! What sled does not do by itself is done here: `flush` reaches the system's cache only, so each
//! one is followed by a sync of the data file; values stay small; identifiers are ours.
//!
//! | tree | key | value |
//! |---|---|---|
//! | `records` | number | a record (`dispatch::edge::record`) |
//! | `ledger` | order id with its workflow's tag | the row, sealed |
//! | `snapshots` | number covered, number of the chunk | up to 4,000 bytes of a snapshot, sealed |
//! | `meta` | a name | format, id, snapshot, tally of the ledger; sealed |

mod handle;
mod read;
mod write;

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use ::sled::{Batch as Writes, Tree};
use dispatch::edge::{Anchor, Batch, Chain, Journal, JournalError, Loaded, Seq};
use handle::Handle;
pub use read::Inspection;
use tempfile::TempDir;

use super::directory::{DataDir, JournalId};
use super::guard::reading;
use super::rows::{Tally, corrupt, read_number, seal, unseal};
use super::witness::Witness;
use write::Pending;

/// The version of the store's format that is written. It also covers the version of records.
pub const FORMAT: u64 = 1;
/// sled's cache, 16 MiB (its own default is 1 GiB).
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Values written or removed in one go while tidying up.
const GROUP: usize = 256;
/// How long the file of a dropped store may stay locked.
const UNLOCK_WAIT: Duration = Duration::from_secs(5);

const FORMAT_KEY: &[u8] = b"format";
const ID_KEY: &[u8] = b"id";
const SNAPSHOT_KEY: &[u8] = b"snapshot";
const TALLY_KEY: &[u8] = b"ledger";

/// The journal of one machine.
#[derive(Debug)]
pub struct SledJournal {
    db: Handle,
    records: Tree,
    ledger: Tree,
    snapshots: Tree,
    meta: Tree,
    /// sled's data file, to sync it by.
    data: File,
    witness: Witness,
    /// The last record known durable when the journal was opened.
    durable: Seq,
    id: JournalId,
    chain: Chain,
    tally: Tally,
    /// Appended and not in the store.
    pending: Pending,
    /// Covered records that are still there: from, up to.
    trim: (Seq, Seq),
    state: Stage,
    /// After the store, so that the lock outlives it.
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
    /// Opens the journal below the data directory, and creates it where there is none.
    ///
    /// # Errors
    /// [`JournalError::InUse`]; [`JournalError::Corrupt`] where there is something that is no
    /// journal of a known version; [`JournalError::Store`] where it cannot be read or created.
    pub fn open(data_dir: &Path) -> Result<Self, JournalError> {
        let dir = DataDir::take(data_dir)?;
        if !dir.has_journal() {
            dir.create(create)?;
        }
        reading(|| Self::open_in(dir))
    }

    /// Opens a copy of the journal below the data directory, to look at it; `None` where there is
    /// no journal. The copy goes with it.
    ///
    /// # Errors
    /// As [`SledJournal::open`].
    pub fn open_copy(data_dir: &Path) -> Result<Option<Self>, JournalError> {
        if !data_dir.is_dir() {
            return Ok(None);
        }
        let dir = DataDir::take(data_dir)?;
        if !dir.has_journal() {
            return Ok(None);
        }
        let copy = tempfile::tempdir().map_err(failed("make a directory for a copy"))?;
        dir.copy_to(copy.path())?;
        let in_copy = DataDir::take(copy.path())?;
        let mut journal = reading(|| Self::open_in(in_copy))?;
        journal.copy = Some(copy);
        Ok(Some(journal))
    }

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

    fn open_in(dir: DataDir) -> Result<Self, JournalError> {
        dir.check()?;
        let db = open_sled(&dir.journal())?;
        let tree = |name: &str| db.open_tree(name).map_err(store);
        let (records, ledger) = (tree("records")?, tree("ledger")?);
        let (snapshots, meta) = (tree("snapshots")?, tree("meta")?);
        let need = |key: &[u8]| {
            let lost = || corrupt(format!("meta `{}` is lost", key.escape_ascii()));
            meta.get(key).map_err(store)?.ok_or_else(lost)
        };
        let format = read_number(FORMAT_KEY, &need(FORMAT_KEY)?)?;
        if format != FORMAT {
            let known = format!("this program reads {FORMAT}");
            return Err(corrupt(format!("the store has format {format}, {known}")));
        }
        let id_value = need(ID_KEY)?;
        let id = <[u8; 16]>::try_from(unseal("meta", ID_KEY, &id_value)?)
            .map_err(|_| corrupt("meta `id` is no id".to_owned()))?;
        let (witness, durable) = Witness::open(&dir.journal())?;
        Ok(Self {
            data: dir.data_file()?,
            witness,
            durable,
            db,
            records,
            ledger,
            snapshots,
            meta,
            id: JournalId(u128::from_be_bytes(id)),
            chain: Chain::new(Anchor::default()),
            tally: Tally::default(),
            pending: Pending::default(),
            trim: (0, 0),
            state: Stage::Opened,
            _dir: dir,
            copy: None,
        })
    }

    /// Makes all that was appended durable, and then says so.
    fn flush(&mut self) -> Result<(), JournalError> {
        self.write_pending()?;
        self.db.flush().map_err(store)?;
        self.data
            .sync_data()
            .map_err(failed("sync the data file"))?;
        self.chain.synced();
        self.witness
            .note(self.chain.durable())
            .map_err(failed("write the witness"))
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
        let result = act(self);
        if result.is_err() {
            self.state = Stage::Failed;
        }
        result
    }
}

impl Journal for SledJournal {
    fn load(&mut self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Loaded, JournalError> {
        let found = self.inspect(row)?;
        self.chain = Chain::new(found.end);
        let next = found
            .loaded
            .snapshot
            .as_ref()
            .map_or(1, |(covers, _)| covers + 1);
        self.trim = (next, next);
        reading(|| self.tidy(&found))?;
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
            let (_, covered) = journal.trim;
            let end = journal.chain.end().seq;
            if covers > end {
                let detail = format!("a snapshot of record {covers}, the last is {end}");
                return Err(JournalError::Store(detail));
            }
            // Nothing happened since the last one.
            if covers < covered {
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

/// Makes an empty journal in an empty directory.
fn create(path: &Path) -> Result<(), JournalError> {
    let db = open_sled(path)?;
    for name in ["records", "ledger", "snapshots"] {
        db.open_tree(name).map_err(store)?;
    }
    let meta = db.open_tree("meta").map_err(store)?;
    let id = JournalId::random().0.to_be_bytes();
    let rows = [
        (FORMAT_KEY, seal(FORMAT_KEY, &FORMAT.to_be_bytes())),
        (ID_KEY, seal(ID_KEY, &id)),
        (TALLY_KEY, Tally::default().write(TALLY_KEY)),
    ];
    write(
        &meta,
        rows.map(|(key, row)| (key.to_vec(), Some(row))).to_vec(),
    )?;
    db.flush().map_err(store)?;
    Witness::create(path).map_err(failed("make the witness"))
}

fn open_sled(path: &Path) -> Result<Handle, JournalError> {
    let config = ::sled::Config::new()
        .path(path)
        .cache_capacity(CACHE_BYTES)
        .flush_every_ms(None);
    let start = Instant::now();
    loop {
        match config.open() {
            // The directory is ours: it is a store that this process dropped, whose threads have
            // not let go of the file yet.
            Err(::sled::Error::Io(error)) if error.to_string().contains("acquire lock") => {
                if start.elapsed() > UNLOCK_WAIT {
                    return Err(JournalError::InUse);
                }
                thread::sleep(Duration::from_millis(10));
            }
            other => return other.map(|db| Handle::new(db, path)).map_err(store),
        }
    }
}

fn remove(tree: &Tree, keys: Vec<Vec<u8>>) -> Result<(), JournalError> {
    write(tree, keys.into_iter().map(|key| (key, None)).collect())
}

fn write(tree: &Tree, rows: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Result<(), JournalError> {
    for group in rows.chunks(GROUP) {
        let mut writes = Writes::default();
        for (key, row) in group {
            match row {
                Some(row) => writes.insert(key.as_slice(), row.as_slice()),
                None => writes.remove(key.as_slice()),
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
