//! A copy of the data directory that is whole and durable.

use std::fs;
use std::io;
use std::path::Path;

use dispatch::edge::JournalError;

use super::directory::{DataDir, bytes_of, copy, failed, sync_all};
use super::fence_mark::{FILE as FENCES, FenceMarkError};
use super::{FenceMarks, SledJournal, sync_dir};

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is something in its place.
    #[error("{0} is not empty: a backup goes into a directory of its own")]
    NotEmpty(String),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The fence file cannot be used.
    #[error(transparent)]
    Marks(#[from] FenceMarkError),
}

/// Copies journal and fence file into the directory `to`, which is new or empty, syncs the copy and
/// reads it. Returns its bytes; `None` where there is no journal.
///
/// # Errors
/// [`BackupError`]; what was copied is removed then.
pub fn backup(data_dir: &Path, to: &Path) -> Result<Option<u64>, BackupError> {
    if !data_dir.is_dir() {
        return Ok(None);
    }
    let dir = DataDir::take(data_dir)?;
    if !dir.has_journal() {
        return Ok(None);
    }
    match fs::read_dir(to).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {}
        Ok(true) => return Err(BackupError::NotEmpty(to.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed("read", to)(error).into()),
    }
    fs::create_dir_all(to).map_err(failed("make", to))?;
    let result = copy_and_read(&dir, to);
    if result.is_err() {
        fs::remove_dir_all(to).map_err(failed("remove", to))?;
    }
    result.map(Some)
}

fn copy_and_read(dir: &DataDir, to: &Path) -> Result<u64, BackupError> {
    let journal = to.join("journal");
    copy(&dir.journal(), &journal).map_err(failed("copy to", &journal))?;
    let (fences, copied) = (dir.path().join(FENCES), to.join(FENCES));
    if fences.exists() {
        fs::copy(&fences, &copied).map_err(failed("copy to", &copied))?;
    }
    sync_all(to).map_err(failed("sync", to))?;
    if let Some(parent) = to.canonicalize().ok().as_deref().and_then(Path::parent) {
        sync_dir(parent).map_err(failed("sync", parent))?;
    }
    // What lies there, and not what was read.
    let there = SledJournal::open_copy(to)?;
    there.map_or(Ok(()), |journal| journal.inspect(&mut |_, _| ()).map(drop))?;
    FenceMarks::look(to)?;
    fs::remove_file(to.join("lock")).map_err(failed("remove the lock of", to))?;
    bytes_of(to)
        .map_err(failed("read", to))
        .map_err(BackupError::from)
}
