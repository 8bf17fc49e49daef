//! Makes sled clean up.
//!
//! sled frees a segment when all pages in it have been moved; it moves one page each time it writes
//! another one anew, which it does at every tenth change of a page. Where most pages change all the
//! time that is too seldom for those that never change: one such page keeps a segment of 512 KiB,
//! and the file grows by a kilobyte per order. So, when the file has grown, a page that costs nothing
//! is changed so often that sled gets to the others.

use ::sled::Tree;

use super::store;
use dispatch::edge::JournalError;

/// A file of less is as it should be.
const SMALL_BYTES: u64 = 8 * 1024 * 1024;
/// Pages to be moved when the file grew: more than wait for it. sled takes those at the front of the
/// file first, which are never at an end under load.
const PAGES_PER_GROWTH: u64 = 4000;
/// Pages that are moved after one sync, in less than a millisecond; they are in less than half a
/// segment.
const PAGES_PER_SYNC: u64 = 24;
/// sled writes a page anew after so many changes, and moves another one then.
const CHANGES_PER_PAGE: u64 = 10;

/// What is left to be done.
#[derive(Debug)]
pub(super) struct Sweep {
    broom: Tree,
    /// The size of the file when it was last looked at.
    bytes: u64,
    pages: u64,
}

impl Sweep {
    /// For a file that was opened with so many bytes.
    pub(super) fn new(broom: Tree, bytes: u64) -> Self {
        Self {
            broom,
            bytes,
            pages: 0,
        }
    }

    /// The file has so many bytes, and all of them are durable.
    pub(super) fn go_on(&mut self, bytes: u64) -> Result<(), JournalError> {
        if bytes > self.bytes.max(SMALL_BYTES) {
            self.pages = PAGES_PER_GROWTH;
        }
        self.bytes = bytes;
        let pages = self.pages.min(PAGES_PER_SYNC);
        self.pages -= pages;
        for _ in 0..pages * CHANGES_PER_PAGE {
            self.broom
                .insert([], &self.pages.to_be_bytes())
                .map_err(store)?;
        }
        Ok(())
    }
}
