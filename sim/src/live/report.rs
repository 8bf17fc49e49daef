//! What a run came to (`wire.md` section 7, `demo`).

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::building::Building;
use super::robot::RideResult;

/// The figures of a run; written as the JSON of `demo`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Rides that were asked for.
    pub rides: usize,
    /// Rides whose robot got in and out where it should, by the simulator's record too.
    pub completed: usize,
    /// The others.
    pub failed: usize,
    /// Laws broken, by the simulator's record.
    pub violations: usize,
    /// The seed.
    pub seed: u64,
    /// How many of the building's seconds passed in one of ours; an integer where it is whole.
    #[serde(serialize_with = "serialize_whole")]
    pub speed: f64,
    /// From a request to the first word about it, in our milliseconds.
    pub decision_ms: DecisionMs,
    /// From a request to the open car, in the building's seconds.
    pub wait_s: WaitS,
}

/// What robots alone can tell of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Rides that were asked for.
    pub rides: usize,
    /// Rides that came to their good end.
    pub completed: usize,
    /// The others.
    pub failed: usize,
    /// See [`Report::decision_ms`].
    pub decision_ms: DecisionMs,
    /// See [`Report::wait_s`].
    pub wait_s: WaitS,
}

/// First decisions, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisionMs {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 99 of 100 were as fast.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

/// Waits, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaitS {
    /// The mean.
    pub mean: f64,
    /// 95 of 100 were as short.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

impl Figures {
    /// The figures of a run of `rides` rides at that speed, of which `results` came to their end.
    #[must_use]
    pub fn new(rides: usize, results: &[RideResult], speed: f64) -> Self {
        let completed = results
            .iter()
            .filter(|result| result.failure.is_none())
            .count();
        let decisions = results.iter().filter_map(|result| result.decision);
        let waits = results.iter().filter_map(|result| result.wait);
        let decisions = Sorted::new(decisions.map(milliseconds));
        let waits = Sorted::new(waits.map(|wait| wait.as_secs_f64() * speed));
        Self {
            rides,
            completed,
            failed: rides.saturating_sub(completed),
            decision_ms: DecisionMs {
                mean: decisions.mean(),
                p50: decisions.share(50),
                p99: decisions.share(99),
                max: decisions.share(100),
            },
            wait_s: WaitS {
                mean: waits.mean(),
                p95: waits.share(95),
                max: waits.share(100),
            },
        }
    }
}

impl Report {
    /// The report of a run in this building: what robots say counts only where the record agrees.
    #[must_use]
    pub fn new(rides: usize, seed: u64, results: &[RideResult], building: &Building) -> Self {
        let speed = building.pace().speed();
        let figures = Figures::new(rides, results, speed);
        let (completed, violations) = building.record(|record| {
            let went_right = |result: &&RideResult| {
                let truth = record.rides().get(&result.order);
                result.failure.is_none() && truth.is_some_and(|ride| ride.went_right())
            };
            (
                results.iter().filter(went_right).count(),
                record.judge().len(),
            )
        });
        Self {
            rides,
            completed,
            failed: rides.saturating_sub(completed),
            violations,
            seed,
            speed,
            decision_ms: figures.decision_ms,
            wait_s: figures.wait_s,
        }
    }

    /// Every ride was completed and no law was broken.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.failed == 0 && self.violations == 0
    }
}

/// Figures in order, rounded to a thousandth.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(figures: impl Iterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.collect();
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }

    /// The mean; 0 of none.
    fn mean(&self) -> f64 {
        // A count of rides is far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let count = self.0.len().max(1) as f64;
        rounded(self.0.iter().fold(0.0, |sum, figure| sum + figure) / count)
    }

    /// The smallest figure that so many percent do not exceed; 0 of none.
    fn share(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        rounded(self.0.get(rank - 1).copied().unwrap_or(0.0))
    }
}

fn serialize_whole<S: Serializer>(speed: &f64, to: S) -> Result<S::Ok, S::Error> {
    if speed.fract() == 0.0 {
        // A speed is 0.1 to 100.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let whole = *speed as u64;
        return to.serialize_u64(whole);
    }
    to.serialize_f64(*speed)
}

fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_hundred_figures() {
        let figures = Sorted::new((1..=100).rev().map(f64::from));
        assert_eq!(figures.mean(), 50.5);
        assert_eq!((figures.share(50), figures.share(99)), (50.0, 99.0));
        assert_eq!(figures.share(100), 100.0);
    }

    #[test]
    fn shares_of_few_and_none() {
        let two = Sorted::new([2.0, 1.0].into_iter());
        assert_eq!(
            (two.share(50), two.share(95), two.share(99)),
            (1.0, 2.0, 2.0)
        );
        let none = Sorted::new(std::iter::empty());
        assert_eq!((none.mean(), none.share(99)), (0.0, 0.0));
    }
}
