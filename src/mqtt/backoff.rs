//! How soon to try again what failed.

use std::time::{Duration, Instant};

/// The first wait, in milliseconds (architecture, MQTT).
const FIRST_MS: u64 = 200;
/// The longest wait, in milliseconds (architecture, MQTT).
const LONGEST_MS: u64 = 10_000;
/// What lived for so long has worked. A connection that ends earlier each time, such as one whose
/// client id somebody else takes again and again, is not come back to at once (T-STACK-17).
const WORKED: Duration = Duration::from_secs(10);

/// So many that end sooner, one after the other, are told.
const CONTESTED: u32 = 3;

/// Waits that double from 0.2 s to 10 s, each shortened by up to a half at random, so that many who
/// lost the same peer do not come back at once.
#[derive(Debug, Clone)]
pub struct Backoff {
    next_ms: u64,
    random: u64,
    /// When the present connection began.
    began: Option<Instant>,
    /// Connections in a row that ended soon.
    brief: u32,
}

impl Backoff {
    /// Waits drawn from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            next_ms: FIRST_MS,
            random: seed | 1,
            began: None,
            brief: 0,
        }
    }

    /// The next wait.
    #[must_use]
    pub fn wait(&mut self) -> Duration {
        let whole = self.next_ms;
        self.next_ms = (whole * 2).min(LONGEST_MS);
        let half = whole / 2;
        Duration::from_millis(whole - self.draw() % (half + 1))
    }

    /// A connection began.
    pub fn began(&mut self) {
        self.began = Some(Instant::now());
    }

    /// The connection ended, if there was one. If it had worked, the next wait is the shortest
    /// again. `tail` is that of its client id, for the log.
    pub fn ended(&mut self, tail: &str) {
        let Some(began) = self.began.take() else {
            return;
        };
        let brief = self.lived(began.elapsed());
        if brief >= CONTESTED {
            tracing::error!(
                brief,
                client = tail,
                "no connection lasts 10 s: does another client use our client id?"
            );
        }
    }

    fn lived(&mut self, life: Duration) -> u32 {
        if life >= WORKED {
            self.reset();
        } else {
            self.brief = self.brief.saturating_add(1);
        }
        self.brief
    }

    /// It worked: the next wait is the shortest again.
    pub fn reset(&mut self) {
        self.next_ms = FIRST_MS;
        self.brief = 0;
    }

    /// An xorshift generator: nothing of it needs to be secret.
    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_ten_seconds_and_vary_by_half() {
        let mut backoff = Backoff::new(7);
        for whole in [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000] {
            let wait = backoff.wait();
            assert!(
                wait >= Duration::from_millis(whole / 2),
                "{wait:?} of {whole}"
            );
            assert!(wait <= Duration::from_millis(whole), "{wait:?} of {whole}");
        }
        backoff.reset();
        assert!(backoff.wait() <= Duration::from_millis(200));
    }

    #[test]
    fn what_ends_soon_each_time_waits_longer_and_longer() {
        let mut backoff = Backoff::new(7);
        for (brief, whole) in (1..).zip([200, 400, 800, 1_600]) {
            assert_eq!(backoff.lived(Duration::from_millis(9_999)), brief);
            assert!(backoff.wait() >= Duration::from_millis(whole / 2));
        }
        assert_eq!(backoff.lived(Duration::from_secs(10)), 0);
        assert!(backoff.wait() <= Duration::from_millis(200));
    }

    #[test]
    fn two_seeds_wait_differently() {
        let waits = |seed| -> Vec<Duration> {
            let mut backoff = Backoff::new(seed);
            (0..8).map(|_| backoff.wait()).collect()
        };
        assert_ne!(waits(1), waits(99));
    }
}
