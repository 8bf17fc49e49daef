//! Waits that grow with each failure in a row, with jitter from a seed.

use std::time::Duration;

/// Shortest and longest wait, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// After the first failure.
    pub(crate) min_ms: u64,
    /// After many.
    pub(crate) max_ms: u64,
}

/// One series of waits.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    bounds: Bounds,
    failures: u32,
    random: u64,
}

impl Backoff {
    /// A series without a failure so far. Two series of different seeds do not keep in step.
    pub(crate) fn new(bounds: Bounds, seed: u64) -> Self {
        Self {
            bounds,
            failures: 0,
            random: seed,
        }
    }

    /// One more failure: how long to wait. The wait doubles each time; half of it is left to
    /// chance, within the bounds.
    pub(crate) fn fail(&mut self) -> Duration {
        let doubled = 1_u64.checked_shl(self.failures).unwrap_or(u64::MAX);
        let full_ms = self
            .bounds
            .min_ms
            .saturating_mul(doubled)
            .min(self.bounds.max_ms);
        self.failures = self.failures.saturating_add(1).min(63);
        let half_ms = full_ms / 2;
        let wait_ms = half_ms + self.draw() % (full_ms - half_ms + 1);
        Duration::from_millis(wait_ms.max(self.bounds.min_ms))
    }

    /// It worked: the next failure is a first one again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Whether it failed last time.
    pub(crate) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        min_ms: 200,
        max_ms: 10_000,
    };

    #[test]
    fn waits_double_from_200_ms_to_10_s_and_start_anew_after_success() {
        let fulls = [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000];
        for seed in 0..1_000 {
            let mut backoff = Backoff::new(BOUNDS, seed);
            for full_ms in fulls {
                let wait_ms = u64::try_from(backoff.fail().as_millis()).unwrap();
                let least_ms = (full_ms / 2).max(200);
                assert!(
                    (least_ms..=full_ms).contains(&wait_ms),
                    "{wait_ms} of {full_ms}"
                );
            }
            backoff.reset();
            assert_eq!(backoff.fail(), Duration::from_millis(200));
        }
    }

    #[test]
    fn a_thousand_failures_do_not_overflow() {
        let mut backoff = Backoff::new(BOUNDS, 7);
        let longest = (0..1_000).map(|_| backoff.fail()).max();
        assert!(longest <= Some(Duration::from_millis(10_000)));
    }
}
