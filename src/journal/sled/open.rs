//! Opening a journal, in its place or a copy of it, and creating one.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use ::sled::Tree;
use dispatch::edge::{Anchor, Chain, JournalError};

use super::handle::Handle;
use super::ledger::Ledger;
use super::pages::Pages;
use super::write::Pending;
use super::{FORMAT, FORMAT_KEY, ID_KEY, SledJournal, Stage, TALLY_KEY, failed, store, write};
use crate::journal::before::Before;
use crate::journal::blocks::{self, Blocks};
use crate::journal::directory::{DataDir, JournalId, SETTINGS};
use crate::journal::guard::reading;
use crate::journal::rows::{Tally, corrupt, read_number, seal, unseal};
use crate::journal::witness::Witness;

/// sled's cache, 16 MiB (its own default is 1 GiB).
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// sled's segments in a new store, 2 MiB (its own default is 512 KiB). sled frees a segment when each
/// page in it has been written anew elsewhere, and moves one page each time it writes another one
/// anew: per segment that is the more often the larger it is, while the pages that change all the
/// time are as many as ever. With 512 KiB it does not get to those that never change; each keeps a
/// segment, and the file grows by 250 bytes per order for ever. With 2 MiB it stays at 10 MiB.
const SEGMENT_BYTES: usize = 2 * 1024 * 1024;
/// How long the file of a dropped store may stay locked.
const UNLOCK_WAIT: Duration = Duration::from_secs(5);

impl SledJournal {
    /// Opens the journal below the data directory, and creates it where there is none. Until it is
    /// settled ([`SledJournal::settle`], or the first append) the data directory is put back as it
    /// was when the journal is dropped (law 11).
    ///
    /// # Errors
    /// [`JournalError::InUse`]; [`JournalError::Corrupt`] where there is something that is no
    /// journal of a known version; [`JournalError::Store`] where it cannot be read or created.
    pub fn open(data_dir: &Path) -> Result<Self, JournalError> {
        Self::open_alone(DataDir::take(data_dir)?)
    }

    /// [`SledJournal::open`] by who has the data directory.
    pub(in crate::journal) fn open_alone(dir: DataDir) -> Result<Self, JournalError> {
        dir.remove_leftovers()?;
        if !dir.has_journal() {
            dir.create(create)?;
        }
        dir.check()?;
        let before = Before::of(&dir)?;
        let mut journal = reading(before.put_back(), || Self::open_in(dir))?;
        journal.before = before;
        Ok(journal)
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
        Self::open_copy_of(&dir).map(Some)
    }

    /// [`SledJournal::open_copy`] by who has the data directory; there is a journal.
    pub(in crate::journal) fn open_copy_of(dir: &DataDir) -> Result<Self, JournalError> {
        let copy = tempfile::tempdir().map_err(failed("make a directory for a copy"))?;
        dir.copy_to(copy.path())?;
        let in_copy = DataDir::take(copy.path())?;
        in_copy.check()?;
        let mut journal = reading(None, || Self::open_in(in_copy))?;
        journal.copy = Some(copy);
        Ok(journal)
    }

    fn open_in(dir: DataDir) -> Result<Self, JournalError> {
        dir.remove_unfinished()?;
        let db = open_sled(&dir.journal())?;
        let tree = |name: &str| db.open_tree(name).map_err(store);
        let meta = tree("meta")?;
        let format = read_number(FORMAT_KEY, &need(&meta, FORMAT_KEY)?)?;
        if !(1..=FORMAT).contains(&format) {
            let known = format!("this program reads up to {FORMAT}");
            return Err(corrupt(format!("the store has format {format}, {known}")));
        }
        let id = need(&meta, ID_KEY)?;
        let id = <[u8; 16]>::try_from(unseal("meta", ID_KEY, &id)?)
            .map_err(|_| corrupt("meta `id` is no id".to_owned()))?;
        if format == 1 && !dir.journal().join(blocks::NAME).exists() {
            Blocks::create(&dir.journal()).map_err(failed("make the file of blocks"))?;
        }
        let (witness, durable) = Witness::open(&dir.journal())?;
        let data = dir.data_file()?;
        Ok(Self {
            pages: Pages::new(tree("records")?),
            ledger_tree: tree("ledger")?,
            blocks: tree("blocks")?,
            snapshots: tree("snapshots")?,
            ended: Blocks::open(&dir.journal())?,
            data,
            witness,
            durable,
            meta,
            db,
            id: JournalId(u128::from_be_bytes(id)),
            owner: None,
            chain: Chain::new(Anchor::default()),
            ledger: Ledger::default(),
            pending: Pending::default(),
            covered: 0,
            state: Stage::Opened,
            before: Before::default(),
            _dir: dir,
            copy: None,
        })
    }
}

fn need(meta: &Tree, key: &[u8]) -> Result<::sled::IVec, JournalError> {
    let lost = || corrupt(format!("meta `{}` is lost", key.escape_ascii()));
    meta.get(key).map_err(store)?.ok_or_else(lost)
}

/// Makes an empty journal in an empty directory.
fn create(path: &Path) -> Result<(), JournalError> {
    create_as(JournalId::random(), path)
}

pub(super) fn create_as(id: JournalId, path: &Path) -> Result<(), JournalError> {
    let db = open_sled(path)?;
    for name in ["records", "ledger", "blocks", "snapshots"] {
        db.open_tree(name).map_err(store)?;
    }
    let meta = db.open_tree("meta").map_err(store)?;
    let rows = [
        (FORMAT_KEY, seal(FORMAT_KEY, &FORMAT.to_be_bytes())),
        (ID_KEY, seal(ID_KEY, &id.0.to_be_bytes())),
        (TALLY_KEY, Tally::default().write(TALLY_KEY)),
    ];
    write(&meta, rows.map(|(key, row)| (key.to_vec(), Some(row))))?;
    db.flush().map_err(store)?;
    Blocks::create(path).map_err(failed("make the file of blocks"))?;
    Witness::create(path).map_err(failed("make the witness"))
}

fn open_sled(path: &Path) -> Result<Handle, JournalError> {
    let config = ::sled::Config::new()
        .path(path)
        .segment_size(segment_bytes(path)?)
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

/// The segments of the store in a directory, which keeps them, or those of a new one.
fn segment_bytes(path: &Path) -> Result<usize, JournalError> {
    let settings = match fs::read(path.join(SETTINGS)) {
        Ok(settings) => settings,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SEGMENT_BYTES),
        Err(error) => return Err(failed("read sled's settings")(error)),
    };
    // Lines of text, and a checksum after them.
    let bytes = String::from_utf8_lossy(&settings)
        .lines()
        .find_map(|line| line.strip_prefix("segment_size: ")?.parse().ok());
    bytes.ok_or_else(|| corrupt("sled's settings, `conf`, name no segment size".to_owned()))
}
