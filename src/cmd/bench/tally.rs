//! What is counted while a load runs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// The longest answer that is told apart from longer ones, in microseconds.
const ANSWER_US_MAX: u64 = 600_000_000;

/// The time in which is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// From here on.
    pub(super) from: Instant,
    /// Not any more.
    pub(super) until: Instant,
}

impl Window {
    /// Whole seconds, the last one begun.
    pub(super) fn seconds(&self) -> f64 {
        (self.until - self.from).as_secs_f64()
    }

    /// The second of the window in which `at` lies.
    fn second(&self, at: Instant) -> Option<usize> {
        if at < self.from || at >= self.until {
            return None;
        }
        usize::try_from((at - self.from).as_secs()).ok()
    }
}

/// What one thread or all of them counted.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    window: Window,
    /// From sent to answered, in microseconds.
    answers: Histogram<u64>,
    /// Answers in each second of the window.
    per_second: Vec<u64>,
    /// Refusals by their code, whenever they came.
    pub(super) refused: BTreeMap<String, u64>,
    /// Said again after 5 s without an answer.
    pub(super) repeats: u64,
    /// Never answered.
    pub(super) lost: u64,
    /// Messages said and heard in the window.
    pub(super) messages: u64,
    /// Bytes of their payloads.
    pub(super) bytes: u64,
    /// CPU time of the generator's threads in the window.
    pub(super) cpu: Duration,
}

/// Times of answers, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct AnswerMs {
    /// The mean.
    pub(super) mean: f64,
    /// The median.
    pub(super) p50: f64,
    /// 99 of 100 were as fast.
    pub(super) p99: f64,
    /// 999 of 1,000 were as fast.
    pub(super) p999: f64,
    /// The slowest.
    pub(super) max: f64,
}

impl Tally {
    /// Nothing was counted.
    ///
    /// # Errors
    /// None in practice: the bounds of the histogram are constants that fit.
    pub(super) fn new(window: Window) -> anyhow::Result<Self> {
        // The window is at most some hours.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let seconds = window.seconds().ceil() as usize;
        Ok(Self {
            window,
            answers: spans()?,
            per_second: vec![0; seconds],
            refused: BTreeMap::new(),
            repeats: 0,
            lost: 0,
            messages: 0,
            bytes: 0,
            cpu: Duration::ZERO,
        })
    }

    /// An answer that counts.
    pub(super) fn answered(&mut self, sent: Instant, now: Instant) {
        let Some(second) = self.window.second(now) else {
            return;
        };
        if let Some(count) = self.per_second.get_mut(second) {
            *count += 1;
        }
        let us = u64::try_from((now - sent).as_micros()).unwrap_or(u64::MAX);
        self.answers.saturating_record(us);
    }

    /// A message of either direction.
    pub(super) fn passed(&mut self, bytes: usize, now: Instant) {
        if self.window.second(now).is_some() {
            self.messages += 1;
            self.bytes += bytes as u64;
        }
    }

    /// Adds what another thread counted in the same window.
    pub(super) fn add(&mut self, other: &Self) -> anyhow::Result<()> {
        self.answers.add(&other.answers)?;
        for (sum, count) in self.per_second.iter_mut().zip(&other.per_second) {
            *sum += count;
        }
        for (code, count) in &other.refused {
            *self.refused.entry(code.clone()).or_default() += count;
        }
        self.repeats += other.repeats;
        self.lost += other.lost;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.cpu += other.cpu;
        Ok(())
    }

    /// Answers that counted.
    pub(super) fn count(&self) -> u64 {
        self.answers.len()
    }

    /// Answers per second, over the window.
    pub(super) fn rate(&self) -> f64 {
        self.per_s(self.count())
    }

    /// So many per second, over the window.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn per_s(&self, count: u64) -> f64 {
        rounded(count as f64 / self.window.seconds())
    }

    /// Answers in the worst second.
    pub(super) fn worst_second(&self) -> u64 {
        self.per_second.iter().copied().min().unwrap_or(0)
    }

    /// All refusals.
    pub(super) fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }

    /// How long answers took.
    pub(super) fn answer_ms(&self) -> AnswerMs {
        answer_ms(&self.answers)
    }
}

/// A histogram of spans in microseconds, exact to a thousandth.
pub(super) fn spans() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, ANSWER_US_MAX, 3)?)
}

/// A histogram of microseconds in milliseconds.
pub(super) fn answer_ms(us: &Histogram<u64>) -> AnswerMs {
    // Below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let ms = |us: u64| rounded(us as f64 / 1000.0);
    AnswerMs {
        mean: rounded(us.mean() / 1000.0),
        p50: ms(us.value_at_quantile(0.5)),
        p99: ms(us.value_at_quantile(0.99)),
        p999: ms(us.value_at_quantile(0.999)),
        max: ms(us.max()),
    }
}

/// To a thousandth.
pub(super) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// Time of a processor that the calling thread has used: a wait for one does not count, a slow one
/// does.
pub(super) fn thread_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_within_the_window_only() {
        let from = Instant::now();
        let at = |ms| from + Duration::from_millis(ms);
        let window = Window {
            from: at(1_000),
            until: at(3_000),
        };
        let mut tally = Tally::new(window).unwrap();
        for (sent, now) in [
            (900, 999),
            (990, 1_000),
            (1_000, 1_030),
            (2_000, 2_999),
            (1, 3_000),
        ] {
            tally.answered(at(sent), at(now));
        }
        assert_eq!(tally.count(), 3);
        assert_eq!((tally.rate(), tally.worst_second()), (1.5, 1));
        let ms = tally.answer_ms();
        assert!((ms.p50 - 30.0).abs() < 0.1, "{ms:?}");
        assert!((ms.max - 999.0).abs() < 1.0, "{ms:?}");
        let mut sum = tally.clone();
        sum.add(&tally).unwrap();
        assert_eq!((sum.count(), sum.worst_second()), (6, 2));
    }
}
