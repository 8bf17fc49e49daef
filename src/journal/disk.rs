//! Whether there is room for the journal to grow (architecture, The life of a message).

use std::io;
use std::path::{Path, PathBuf};

/// Below this many free bytes no new order is taken: 64 MiB.
pub const LOW_BYTES: u64 = 64 * 1024 * 1024;
/// From this many free bytes on orders are taken again: 96 MiB, so that it does not flutter.
pub const ENOUGH_BYTES: u64 = 96 * 1024 * 1024;

/// Watches the free space of a directory's file system.
#[derive(Debug)]
pub struct DiskWatch {
    path: PathBuf,
    low: bool,
}

impl DiskWatch {
    /// A watch that has seen enough room so far.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            low: false,
        }
    }

    /// Looks; `Some` when it has become low, or is no more (`Input::Disk`).
    ///
    /// # Errors
    /// What the system says; nothing has changed then.
    pub fn poll(&mut self) -> io::Result<Option<bool>> {
        let space = rustix::fs::statvfs(&self.path)?;
        Ok(self.seen(space.f_bavail.saturating_mul(space.f_frsize)))
    }

    fn seen(&mut self, free_bytes: u64) -> Option<bool> {
        let low = if self.low {
            free_bytes < ENOUGH_BYTES
        } else {
            free_bytes < LOW_BYTES
        };
        let changed = low != self.low;
        self.low = low;
        changed.then_some(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_below_64_mib_and_enough_from_96_mib_on() {
        const MIB: u64 = 1 << 20;
        let mut watch = DiskWatch::new(Path::new("."));
        let table = [
            (1000 * MIB, None),
            (64 * MIB, None),
            (64 * MIB - 1, Some(true)),
            (0, None),
            (96 * MIB - 1, None),
            (96 * MIB, Some(false)),
            (64 * MIB, None),
            (10 * MIB, Some(true)),
            (1000 * MIB, Some(false)),
        ];
        for (free_bytes, expected) in table {
            assert_eq!(watch.seen(free_bytes), expected, "{free_bytes} bytes");
        }
    }

    #[test]
    fn it_asks_the_system() {
        assert!(DiskWatch::new(Path::new(".")).poll().is_ok());
        assert!(DiskWatch::new(Path::new("/nowhere/at/all")).poll().is_err());
    }
}
