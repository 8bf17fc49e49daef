//! How evenly the processors run: a virtual machine's neighbours slow everything at once, and a time
//! that was measured then is theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use hdrhistogram::Histogram;
use serde::Serialize;

use super::tally::{rounded, thread_cpu};

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(1);
/// Multiplications of one look, each of which waits for the one before: about 60 us of a processor.
const WORK: u32 = 20_000;
/// A look is slow from so many times the median.
const SLOW: u64 = 2;

/// The same piece of work once in a millisecond, 6 of 100 of one processor.
pub(super) struct Pace {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Histogram<u64>>,
}

/// What the same piece of work took of a processor each time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Steadiness {
    /// The median in microseconds.
    pub(super) p50_us: f64,
    /// 99 of 100 took at most so many times the median.
    pub(super) p99_of_p50: f64,
    /// In so many of 100 it took more than twice the median.
    pub(super) slow_pct: f64,
}

impl Pace {
    /// Begins to look.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(super) fn start() -> anyhow::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ended);
        let mut ns = Histogram::new_with_bounds(1, 10_000_000_000, 3)?;
        let thread = thread::Builder::new()
            .name("pace".to_owned())
            .spawn(move || {
                while !until.load(Ordering::Relaxed) {
                    let begun = thread_cpu();
                    work();
                    let took = thread_cpu().saturating_sub(begun);
                    ns.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
                    thread::sleep(PERIOD);
                }
                ns
            })?;
        Ok(Self { ended, thread })
    }

    /// Ends, and says what was seen.
    ///
    /// # Errors
    /// Where the thread panicked.
    pub(super) fn end(self) -> anyhow::Result<Steadiness> {
        self.ended.store(true, Ordering::Relaxed);
        let ns = self
            .thread
            .join()
            .ok()
            .context("the look at the processors failed")?;
        Ok(steadiness(&ns))
    }
}

fn work() {
    let mut value = 1_u64;
    for _ in 0..WORK {
        value = std::hint::black_box(value)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
    }
}

fn steadiness(ns: &Histogram<u64>) -> Steadiness {
    let p50 = ns.value_at_quantile(0.5);
    let as_us = |ns: u64| Duration::from_nanos(ns).as_secs_f64() * 1e6;
    let below = ns.percentile_below(p50 * SLOW);
    Steadiness {
        p50_us: rounded(as_us(p50)),
        p99_of_p50: rounded(as_us(ns.value_at_quantile(0.99)) / as_us(p50.max(1))),
        slow_pct: rounded(100.0 - below),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_look_in_ten_is_told() {
        let mut ns = Histogram::new_with_bounds(1, 10_000_000_000, 3).unwrap();
        for look in 0..1_000 {
            ns.record(if look % 10 == 0 { 200_000 } else { 20_000 })
                .unwrap();
        }
        let steady = steadiness(&ns);
        assert!((steady.slow_pct - 10.0).abs() < 0.1, "{steady:?}");
        assert!((steady.p50_us - 20.0).abs() < 0.1, "{steady:?}");
        assert!((steady.p99_of_p50 - 10.0).abs() < 0.1, "{steady:?}");
    }

    #[test]
    fn looks_are_made_until_the_end() {
        let steady = Pace::start().unwrap().end().unwrap();
        assert!(
            steady.p50_us >= 0.0 && steady.p99_of_p50 >= 0.0,
            "{steady:?}"
        );
    }
}
