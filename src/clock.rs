//! The only clock of the gateway. Whoever needs the time is given one of these.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dispatch::Now;
use protocol::Timestamp;
use tokio::time::Instant;

/// A clock with one origin. Its clones agree.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock whose monotonic time starts at 0 here.
    #[must_use]
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// The moment, in both times.
    #[must_use]
    pub fn now(&self) -> Now {
        Now {
            mono_ms: self.mono_ms(),
            wall: self.wall(),
        }
    }

    /// Milliseconds since the origin; never goes back.
    #[must_use]
    pub fn mono_ms(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The wall clock; 1970 where it is set before that.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
