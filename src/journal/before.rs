//! The journal as it was before it was opened (law 11: a refused start leaves the data directory as
//! it was).
//!
//! sled changes what it opens, also where it then says that it cannot read it: it cuts off what it
//! takes for a torn end and writes over what it takes for free. So a copy of its files is made before,
//! and takes their place where the journal is refused. It costs a copy within the page cache; it is
//! never synced, since it is needed only while the process lives.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use dispatch::edge::JournalError;

use super::blocks;
use super::directory::{BEFORE, DataDir, bytes_of, copy_by, exchange, failed};
use super::disk::LOW_BYTES;

/// The copy, until it is forgotten; it is put back when this is dropped.
#[derive(Debug, Default)]
pub struct Before {
    put_back: Option<PutBack>,
    /// The data directory stays locked until then.
    _lock: Option<File>,
}

/// How to put it back.
#[derive(Debug, Clone)]
pub struct PutBack {
    data_dir: PathBuf,
    journal: PathBuf,
    before: PathBuf,
}

impl Before {
    /// Copies the journal; where there is no room for that, none is made, and the log says so.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn of(dir: &DataDir) -> Result<Self, JournalError> {
        let journal = dir.journal();
        let before = dir.path().join(BEFORE);
        let space = rustix::fs::statvfs(&journal)
            .map_err(io::Error::from)
            .map_err(failed("look at the room of", &journal))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        let needed = bytes_of(&journal).map_err(failed("read", &journal))?;
        let needed = needed.saturating_sub(size(&journal.join(blocks::NAME)));
        if free < needed.saturating_add(LOW_BYTES) {
            tracing::warn!(
                free,
                needed,
                "no room for a copy of the journal: a refused start may change it"
            );
            return Ok(Self::default());
        }
        copy_by(&journal, &before, &|from, to| {
            // Nothing is written to it before it is settled.
            if from.ends_with(blocks::NAME) && fs::hard_link(from, to).is_ok() {
                return Ok(());
            }
            fs::copy(from, to).map(drop)
        })
        .map_err(failed("copy", &journal))?;
        Ok(Self {
            put_back: Some(PutBack {
                data_dir: dir.path().to_owned(),
                journal,
                before,
            }),
            _lock: Some(dir.lock().map_err(failed("lock", dir.path()))?),
        })
    }

    /// How to put it back, for who ends the process at once.
    #[must_use]
    pub fn put_back(&self) -> Option<PutBack> {
        self.put_back.clone()
    }

    /// It is not needed any more.
    pub fn forget(&mut self) {
        if let Some(PutBack { before, .. }) = self.put_back.take() {
            remove(&before);
        }
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        if let Some(put_back) = self.put_back.take() {
            put_back.put_back();
        }
    }
}

impl PutBack {
    /// Puts the copy in the place of the journal.
    pub fn put_back(&self) {
        let Self {
            data_dir,
            journal,
            before,
        } = self;
        match exchange(journal, before, data_dir) {
            Ok(()) => remove(before),
            Err(error) => tracing::error!(
                %error,
                "the journal as it was before is {}, and cannot be put back", before.display()
            ),
        }
    }
}

fn remove(before: &Path) {
    if let Err(error) = fs::remove_dir_all(before) {
        tracing::warn!(%error, "cannot remove {}", before.display());
    }
}
