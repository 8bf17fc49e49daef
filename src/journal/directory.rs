//! The files of the journal below the data directory.
//!
//! | path | what |
//! |---|---|
//! | `lock` | locked by the one process that has the data directory |
//! | `journal/` | sled's files |
//! | `journal.new/` | a journal that is being created; it is renamed once all of it is durable |
//! | `journal.before/` | the journal as it was before it was opened ([`super::before`]) |
//! | `compact.new/` | a journal that is being made from the other ([`super::compact`]) |

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use dispatch::edge::JournalError;

use super::{sync_dir, witness};

const LOCK: &str = "lock";
const JOURNAL: &str = "journal";
const UNFINISHED: &str = "journal.new";
pub(super) const BEFORE: &str = "journal.before";
pub(super) const COMPACTING: &str = "compact.new";
/// sled's data file. The name is not part of sled's interface, therefore the exact version.
pub(super) const DATA: &str = "db";
/// sled's settings; it takes a missing file for a new database.
pub(super) const SETTINGS: &str = "conf";
/// How sled names a summary of its log that it has not finished. It means to pass over these when it
/// opens, looks for another name, reads the torn one, and takes the store for corrupt.
const TORN_SUMMARY: (&str, &str) = ("snap.", ".generating");

/// Tells journals apart: made anew with each one that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalId(pub u128);

impl JournalId {
    /// A new one, from the random keys that the system gives to hash maps.
    #[must_use]
    pub fn random() -> Self {
        let word = || u128::from(RandomState::new().build_hasher().finish());
        Self(word() << 64 | word())
    }
}

/// The data directory, had by this process alone.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    /// Held for its lock, which ends with the last handle of it.
    lock: File,
}

impl DataDir {
    /// Takes the data directory, and makes it where there is none.
    ///
    /// # Errors
    /// [`JournalError::InUse`] when another process has it, [`JournalError::Store`] when it cannot
    /// be made or locked.
    pub fn take(path: &Path) -> Result<Self, JournalError> {
        if !path.is_dir() {
            fs::create_dir_all(path).map_err(failed("make", path))?;
            if let Some(parent) = path.canonicalize().ok().as_deref().and_then(Path::parent) {
                sync_dir(parent).map_err(failed("sync", parent))?;
            }
        }
        let lock = path.join(LOCK);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .map_err(failed("open", &lock))?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                lock: file,
            }),
            Err(TryLockError::WouldBlock) => Err(JournalError::InUse),
            Err(TryLockError::Error(error)) => Err(failed("lock", &lock)(error)),
        }
    }

    /// Whether there is a journal.
    #[must_use]
    pub fn has_journal(&self) -> bool {
        self.journal().exists()
    }

    /// Creates a journal, all or none: `fill` puts sled's files into a directory of their own,
    /// which takes its name when everything in it is durable.
    ///
    /// # Errors
    /// What `fill` returns, or [`JournalError::Store`].
    pub fn create(
        &self,
        fill: impl FnOnce(&Path) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let unfinished = self.path.join(UNFINISHED);
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(failed("remove", &unfinished))?;
        }
        fs::create_dir(&unfinished).map_err(failed("make", &unfinished))?;
        fill(&unfinished)?;
        sync_all(&unfinished).map_err(failed("sync", &unfinished))?;
        let journal = self.journal();
        fs::rename(&unfinished, &journal).map_err(failed("name", &journal))?;
        sync_dir(&self.path).map_err(failed("sync", &self.path))
    }

    /// Removes what a process left that ended in the midst of something; the journal itself is whole.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn remove_leftovers(&self) -> Result<(), JournalError> {
        for name in [BEFORE, COMPACTING] {
            let path = self.path.join(name);
            if path.exists() {
                tracing::warn!(path = %path.display(), "a leftover of an interrupted process is removed");
                fs::remove_dir_all(&path).map_err(failed("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Makes sure that what is there can be a journal: sled would make a new, empty one of a
    /// directory without its files.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when a file is missing or empty, [`JournalError::Store`] for what
    /// the system says.
    pub fn check(&self) -> Result<(), JournalError> {
        for name in [DATA, SETTINGS, witness::NAME] {
            let path = self.journal().join(name);
            let bytes = match fs::metadata(&path) {
                Ok(metadata) => metadata.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(failed("read", &path)(error)),
            };
            if bytes == 0 {
                let detail = format!("{} is missing or empty", path.display());
                return Err(JournalError::Corrupt { seq: 0, detail });
            }
        }
        Ok(())
    }

    /// Removes the summaries that sled was writing when a start ended; the log has all of it.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn remove_unfinished(&self) -> Result<(), JournalError> {
        let journal = self.journal();
        let (begins, ends) = TORN_SUMMARY;
        for entry in fs::read_dir(&journal).map_err(failed("read", &journal))? {
            let path = entry.map_err(failed("read", &journal))?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if name.starts_with(begins) && name.ends_with(ends) {
                fs::remove_file(&path).map_err(failed("remove", &path))?;
            }
        }
        Ok(())
    }

    /// A handle of sled's data file of our own, to sync it by; all else in the directory is synced
    /// here, once.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn data_file(&self) -> Result<File, JournalError> {
        let journal = self.journal();
        sync_all(&journal).map_err(failed("sync", &journal))?;
        let path = journal.join(DATA);
        OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(failed("open", &path))
    }

    /// Copies the journal below another directory, to look at it: sled changes what it opens, and
    /// of a damaged store it removes what it cannot read.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn copy_to(&self, path: &Path) -> Result<(), JournalError> {
        copy(&self.journal(), &path.join(JOURNAL)).map_err(failed("copy", &self.journal()))
    }

    /// Another handle of the lock.
    pub(super) fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// Where the directory is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where sled's files are.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }
}

pub(super) fn failed<'a>(verb: &'a str, path: &'a Path) -> impl Fn(io::Error) -> JournalError + 'a {
    move |error| JournalError::Store(format!("cannot {verb} {}: {error}", path.display()))
}

/// Puts two directories in each other's place, in one go and durably.
pub(super) fn exchange(one: &Path, other: &Path, above: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?;
    sync_dir(above)
}

/// Copies a directory with all that is in it; `to` is made.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_by(from, to, &|from, to| fs::copy(from, to).map(drop))
}

/// Copies a directory, each file by `file`; `to` is made.
pub(super) fn copy_by(
    from: &Path,
    to: &Path,
    file: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_by(&entry.path(), &target, file)?;
        } else {
            file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Bytes of all files below a directory.
pub(super) fn bytes_of(path: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            bytes_of(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}

/// Syncs a directory with all that is in it.
pub(super) fn sync_all(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_has_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/data");
        let first = DataDir::take(&path).unwrap();
        assert!(
            matches!(DataDir::take(&path), Err(JournalError::InUse)),
            "T-STACK-12"
        );
        drop(first);
        assert!(DataDir::take(&path).is_ok());
    }

    #[test]
    fn a_journal_is_created_all_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::take(dir.path()).unwrap();
        let half = |path: &Path| {
            fs::write(path.join(SETTINGS), "half").unwrap();
            Err(JournalError::Store("power cut".to_owned()))
        };
        assert!(data.create(half).is_err());
        assert!(!data.has_journal());
        let whole = |path: &Path| {
            assert_eq!(
                fs::read_dir(path).unwrap().count(),
                0,
                "nothing is left of the first try"
            );
            fs::write(path.join(SETTINGS), "whole").unwrap();
            fs::write(path.join(DATA), "whole").unwrap();
            fs::write(path.join(witness::NAME), "whole").unwrap();
            Ok(())
        };
        data.create(whole).unwrap();
        assert!(data.has_journal());
        assert!(data.check().is_ok());
    }

    #[test]
    fn a_directory_without_files_is_corrupt_and_not_empty() {
        for missing in [DATA, SETTINGS, witness::NAME] {
            let dir = tempfile::tempdir().unwrap();
            let data = DataDir::take(dir.path()).unwrap();
            fs::create_dir(data.journal()).unwrap();
            for name in [DATA, SETTINGS, witness::NAME] {
                fs::write(
                    data.journal().join(name),
                    if name == missing { "" } else { "x" },
                )
                .unwrap();
            }
            let said = data.check().unwrap_err().to_string();
            assert!(said.contains(missing), "law 11: {said}");
            fs::remove_file(data.journal().join(missing)).unwrap();
            assert!(matches!(data.check(), Err(JournalError::Corrupt { .. })));
        }
    }

    #[test]
    fn a_summary_that_sled_did_not_finish_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::take(dir.path()).unwrap();
        fs::create_dir(data.journal()).unwrap();
        let kept = [DATA, SETTINGS, "snap.000000000000002A"];
        for name in kept.iter().chain(&["snap.000000000000002B.generating"]) {
            fs::write(data.journal().join(name), "x").unwrap();
        }
        data.remove_unfinished().unwrap();
        let left = fs::read_dir(data.journal()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["conf", "db", "snap.000000000000002A"]);
    }

    #[test]
    fn ids_differ() {
        assert_ne!(JournalId::random(), JournalId::random());
    }
}
