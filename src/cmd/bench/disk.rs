//! How long the disk takes to make one record durable.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use hdrhistogram::Histogram;
use serde::Serialize;

use super::tally::{answer_ms, spans};

/// Bytes of a record as the journal writes them for a request: about 500.
const RECORD: [u8; 512] = [0x5a; 512];

/// What one record takes, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct SyncMs {
    /// The median.
    pub(super) p50: f64,
    /// 99 of 100 were as fast.
    pub(super) p99: f64,
}

/// A file of its own on the disk that is measured; it is removed when dropped.
pub(super) struct Probe {
    path: PathBuf,
    file: File,
    us: Histogram<u64>,
}

impl Probe {
    /// A new file in the folder.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("sync");
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        Ok(Self {
            path,
            file,
            us: spans()?,
        })
    }

    /// Appends so many records and makes each durable with `fdatasync`.
    ///
    /// # Errors
    /// Where the disk fails.
    pub(super) fn sync(&mut self, records: u32) -> anyhow::Result<()> {
        for _ in 0..records {
            let begun = Instant::now();
            self.file.write_all(&RECORD)?;
            self.file.sync_data()?;
            let us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.us.saturating_record(us);
        }
        Ok(())
    }

    /// What one took.
    pub(super) fn sync_ms(&self) -> SyncMs {
        let ms = answer_ms(&self.us);
        SyncMs {
            p50: ms.p50,
            p99: ms.p99,
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // Its folder goes too.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_measured_and_left_clean() {
        let folder = tempfile::tempdir().unwrap();
        let mut probe = Probe::new(folder.path()).unwrap();
        probe.sync(5).unwrap();
        let ms = probe.sync_ms();
        // Were it bounded below what a slow disk takes, this would be clipped.
        probe.us.saturating_record(30_000_000);
        assert!(probe.sync_ms().p99 > 29_000.0);
        assert!(ms.p50 > 0.0 && ms.p99 >= ms.p50, "{ms:?}");
        drop(probe);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
