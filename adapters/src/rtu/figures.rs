//! What a line did: how much of its time was used, and how its units answered.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The figures of one unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnitFigures {
    /// Requests that went out.
    pub asked: u64,
    /// Good replies and exceptions.
    pub answered: u64,
    /// Requests without an answer.
    pub lost: u64,
    /// Answers that came after their time-out.
    pub late: u64,
    /// The time of all answers, from the last byte handed over to the last one that came.
    pub took: Duration,
    /// The longest of them.
    pub took_max: Duration,
}

impl UnitFigures {
    /// The mean time of an answer; zero where none came.
    #[must_use]
    pub fn took_mean(&self) -> Duration {
        let count = u32::try_from(self.answered).unwrap_or(u32::MAX);
        self.took.checked_div(count).unwrap_or_default()
    }
}

/// The figures of a line since they were taken last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFigures {
    /// Since when.
    pub since: Instant,
    /// How long requests, their replies, and the waits for them took.
    pub busy: Duration,
    /// By unit.
    pub units: BTreeMap<u8, UnitFigures>,
}

impl LineFigures {
    /// None yet.
    pub(crate) fn start() -> Self {
        Self {
            since: Instant::now(),
            busy: Duration::ZERO,
            units: BTreeMap::new(),
        }
    }

    /// How much of the time the line was used, in thousandths.
    #[must_use]
    pub fn used_permille(&self) -> u64 {
        let all = self.since.elapsed().as_micros().max(1);
        let share = self.busy.as_micros().saturating_mul(1_000) / all;
        u64::try_from(share).unwrap_or(u64::MAX).min(1_000)
    }

    /// A request goes out.
    pub(crate) fn asked(&mut self, unit: u8) {
        self.unit(unit).asked += 1;
    }

    /// It was answered, so long after it had gone out.
    pub(crate) fn answered(&mut self, unit: u8, took: Duration) {
        self.busy += took;
        let figures = self.unit(unit);
        figures.answered += 1;
        figures.took += took;
        figures.took_max = figures.took_max.max(took);
    }

    /// It was not, within this time.
    pub(crate) fn lost(&mut self, unit: u8, waited: Duration) {
        self.busy += waited;
        self.unit(unit).lost += 1;
    }

    /// It was, after its time-out.
    pub(crate) fn late(&mut self, unit: u8) {
        self.unit(unit).late += 1;
    }

    fn unit(&mut self, unit: u8) -> &mut UnitFigures {
        self.units.entry(unit).or_default()
    }
}
