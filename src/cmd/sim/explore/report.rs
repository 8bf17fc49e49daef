//! What an exploration says: failures as they come, and the figures at the end.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use sim::explore::{Outcome, Totals};

/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(5);
/// Milliseconds of an hour.
const HOUR_MS: f64 = 3_600_000.0;

/// Figures, as they are printed.
#[derive(Debug, Serialize)]
struct Figures {
    seeds: u64,
    elevator_hours: f64,
    rides: u64,
    arrived: u64,
    rides_per_elevator_hour: f64,
    steps: u64,
    faults: u64,
    faults_per_ride: f64,
    cpu_s: f64,
    elevator_hours_per_cpu_minute: f64,
    failures: Vec<Failed>,
    fired: BTreeMap<&'static str, u64>,
    never_fired: Vec<&'static str>,
    branches: BTreeMap<String, u64>,
    never_taken: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Failed {
    seed: u64,
    at_ms: u64,
    what: String,
}

/// An exploration so far.
#[derive(Debug)]
pub(super) struct Report {
    json: bool,
    seeds: u64,
    totals: Totals,
    failures: Vec<Failed>,
    cpu_s: f64,
    said: Instant,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self {
            json,
            seeds: 0,
            totals: Totals::default(),
            failures: Vec::new(),
            cpu_s: cpu_s(),
            said: Instant::now(),
        }
    }

    /// Takes one outcome, and says it where it is a failure.
    pub(super) fn take(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.seeds += 1;
        self.totals.merge(&outcome.totals);
        if let Some(failure) = &outcome.failure {
            let failed = Failed {
                seed: outcome.seed,
                at_ms: failure.at_ms,
                what: failure.what.clone(),
            };
            if !self.json {
                let Failed { seed, at_ms, what } = &failed;
                writeln!(io::stdout(), "seed {seed} fails at {at_ms} ms: {what}")?;
            }
            self.failures.push(failed);
        }
        if self.said.elapsed() >= PROGRESS && io::stderr().is_terminal() {
            self.said = Instant::now();
            writeln!(io::stderr(), "{}", self.line())?;
        }
        Ok(())
    }

    /// Says the figures.
    pub(super) fn finish(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            let text = serde_json::to_string(&self.figures()).map_err(io::Error::other)?;
            return writeln!(out, "{text}");
        }
        let figures = self.figures();
        writeln!(out, "{}", self.line())?;
        if !figures.never_fired.is_empty() {
            writeln!(out, "never fired: {}", figures.never_fired.join("; "))?;
        }
        if !figures.never_taken.is_empty() {
            writeln!(out, "never taken: {}", figures.never_taken.join("; "))?;
        }
        Ok(())
    }

    fn line(&self) -> String {
        let figures = self.figures();
        format!(
            "{} seeds, {:.0} elevator-hours, {} rides ({:.1} per elevator-hour, {} arrived), {} \
             steps, {} faults ({:.2} per ride), {:.1} s of CPU: {:.0} elevator-hours per \
             CPU-minute; {} failed",
            figures.seeds,
            figures.elevator_hours,
            figures.rides,
            figures.rides_per_elevator_hour,
            figures.arrived,
            figures.steps,
            figures.faults,
            figures.faults_per_ride,
            figures.cpu_s,
            figures.elevator_hours_per_cpu_minute,
            figures.failures.len()
        )
    }

    fn figures(&self) -> Figures {
        let totals = &self.totals;
        let elevator_hours = float(totals.elevator_ms) / HOUR_MS;
        let cpu_s = cpu_s() - self.cpu_s;
        let taken = totals.branches.iter();
        Figures {
            seeds: self.seeds,
            elevator_hours,
            rides: totals.rides,
            arrived: totals.arrived,
            rides_per_elevator_hour: ratio(float(totals.rides), elevator_hours),
            steps: totals.steps,
            faults: totals.faults,
            faults_per_ride: ratio(float(totals.faults), float(totals.rides)),
            cpu_s,
            elevator_hours_per_cpu_minute: ratio(elevator_hours * 60.0, cpu_s),
            failures: self.failures.clone(),
            fired: totals.fired.iter().map(|(it, n)| (it.text(), n)).collect(),
            never_fired: totals.fired.never().iter().map(|it| it.text()).collect(),
            never_taken: taken
                .filter(|(_, count)| **count == 0)
                .map(|(branch, _)| branch.clone())
                .collect(),
            branches: totals.branches.clone(),
        }
    }
}

/// The CPU time of the process so far, in seconds.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    float(u64::try_from(time.tv_sec).unwrap_or(0)) + float(nanos) / 1e9
}

fn ratio(of: f64, to: f64) -> f64 {
    if to > 0.0 { of / to } else { 0.0 }
}

fn float(number: u64) -> f64 {
    // Counts of a run are below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let float = number as f64;
    float
}
