//! The journal made anew from what it holds, so that its size on disk is that of its content.
//!
//! It is made below `compact.new`, read back and compared, synced, and then takes the other's place
//! in one go. Whenever the process ends, `journal` is whole: the old one before that moment, the new
//! one after it. The fence file names the journal by its id, which it keeps.

use std::fs;
use std::path::Path;

use dispatch::edge::{JournalError, Seq};

use super::SledJournal;
use super::directory::{COMPACTING, DataDir, bytes_of, exchange, failed, sync_all};
use super::rows::corrupt;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// The last record.
    pub last: Seq,
    /// Rows of the ledger.
    pub rows: u64,
    /// Records of an unacknowledged tail that were cut off.
    pub cut: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk after.
    pub bytes_after: u64,
}

/// Makes the journal below a data directory anew; `None` where there is none.
///
/// # Errors
/// [`JournalError::InUse`]; [`JournalError::Corrupt`] where it is damaged, which this mends not; or
/// [`JournalError::Store`]. The journal is as it was then.
pub fn compact(data_dir: &Path) -> Result<Option<Compacted>, JournalError> {
    if !data_dir.is_dir() {
        return Ok(None);
    }
    let dir = DataDir::take(data_dir)?;
    if !dir.has_journal() {
        return Ok(None);
    }
    dir.remove_leftovers()?;
    dir.check()?;
    let below = dir.path().join(COMPACTING);
    let result = compact_in(&dir, &below);
    if below.exists() {
        fs::remove_dir_all(&below).map_err(failed("remove", &below))?;
    }
    result.map(Some)
}

fn compact_in(dir: &DataDir, below: &Path) -> Result<Compacted, JournalError> {
    let old = SledJournal::open_copy_of(dir)?;
    let inspection = old.inspect(&mut |_, _| ())?;
    let (last, cut) = (inspection.end.seq, inspection.loaded.cut);
    drop(inspection);
    let was = old.all_said()?;
    old.write_anew(below, last)?;
    let new = SledJournal::open(below)?;
    if new.all_said()? != was || new.id() != old.id() {
        return Err(corrupt("what was written anew is not the same".to_owned()));
    }
    drop(new);
    sync_all(below).map_err(failed("sync", below))?;
    let (made, journal) = (below.join("journal"), dir.journal());
    let bytes = |path: &Path| bytes_of(path).map_err(failed("read", path));
    let (bytes_before, bytes_after) = (bytes(&journal)?, bytes(&made)?);
    exchange(&made, &journal, dir.path())
        .map_err(failed("put the new one in place of", &journal))?;
    Ok(Compacted {
        last,
        rows: was.loaded.rows,
        cut,
        bytes_before,
        bytes_after,
    })
}
