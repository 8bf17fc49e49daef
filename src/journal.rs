//! Where facts are kept on one machine.
//!
//! # Layout
//!
//! * [`sled`]: the journal in sled 0.34.7 ([`SledJournal`]). [`directory`]: its files, how they are
//!   created all or none, and who may open them. [`rows`]: what stands in its trees. [`blocks`]: the
//!   rows of ended orders, packed. [`witness`]: what was durable, apart from sled. [`guard`]: damage
//!   that sled panics on. [`before`]: a refused start changes nothing.
//! * [`committer`]: the one thread that writes: group commit, then release in order.
//! * [`fence_mark`]: the second small file, so that a lost journal reuses no fence (law 3).
//! * [`compact`], [`backup`]: what an operator does with it. [`disk`]: whether there is room for more.

pub mod backup;
pub mod before;
pub mod blocks;
pub mod committer;
pub mod compact;
pub mod directory;
pub mod disk;
pub mod fence_mark;
pub mod guard;
pub mod rows;
pub mod sled;
pub mod witness;

use std::fs::File;
use std::io;
use std::path::Path;

use dispatch::edge::JournalError;

pub use committer::{Committer, Options, Sink, SubmitError};
pub use directory::JournalId;
pub use disk::DiskWatch;
pub use fence_mark::{FenceMarkError, FenceMarks, Verdict};
pub use sled::SledJournal;

use crate::exit;

/// The exit code that a journal's error ends the process with (`wire.md` section 7).
#[must_use]
pub fn exit_code(error: &JournalError) -> u8 {
    match error {
        JournalError::InUse => exit::IN_USE,
        JournalError::Corrupt { .. } => exit::CORRUPT,
        JournalError::TooLarge(_) | JournalError::Store(_) => exit::JOURNAL_FAILED,
    }
}

/// Makes the names in a directory durable.
fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
