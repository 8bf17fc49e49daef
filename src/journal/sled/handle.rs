//! sled's handle, and its end.

use std::fs::File;
use std::mem;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use ::sled::Db;

use crate::journal::directory::DATA;

/// A handle of sled, which syncs its data file when the last handle goes, and panics where that
/// fails. On a disk that refuses, the handle never goes: nothing is lost by it, what was not synced
/// was not promised, and a gateway whose journal failed still has doors to hold.
#[derive(Debug)]
pub(super) struct Handle {
    db: Db,
    data: PathBuf,
}

impl Handle {
    /// The handle of the database in a directory.
    pub(super) fn new(db: Db, path: &Path) -> Self {
        let data = path.join(DATA);
        Self { db, data }
    }
}

impl Deref for Handle {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // It may have been renamed since; then it was synced before.
        let synced = File::open(&self.data).map_or(Ok(()), |file| file.sync_all());
        if synced.is_err() {
            mem::forget(self.db.clone());
        }
    }
}
