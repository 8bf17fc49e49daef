//! How slow a unit's replies are, from those that came.

use std::time::Duration;

/// Replies of one window; a reply is remembered for one to two windows. The slowest of 64 to 128 is
/// the 99th hundredth, about.
const WINDOW: u32 = 64;

/// The slowest replies of a unit of late.
#[derive(Debug, Clone, Default)]
pub(super) struct Patience {
    present: Duration,
    before: Duration,
    replies: u32,
    has_any: bool,
}

impl Patience {
    /// A reply took so long beyond the time of its characters.
    pub(super) fn note(&mut self, took: Duration) {
        self.has_any = true;
        self.present = self.present.max(took);
        self.replies += 1;
        if self.replies >= WINDOW {
            self.before = self.present;
            self.present = Duration::ZERO;
            self.replies = 0;
        }
    }

    /// The slowest one that is remembered; `None` before the first.
    pub(super) fn slowest(&self) -> Option<Duration> {
        self.has_any.then(|| self.present.max(self.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reply_is_remembered_for_one_to_two_windows() {
        let ms = Duration::from_millis;
        let mut patience = Patience::default();
        assert_eq!(patience.slowest(), None);
        patience.note(ms(70));
        for _ in 1..WINDOW * 2 - 1 {
            patience.note(ms(5));
            assert_eq!(patience.slowest(), Some(ms(70)));
        }
        patience.note(ms(5));
        assert_eq!(patience.slowest(), Some(ms(5)));
    }
}
