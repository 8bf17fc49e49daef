//! What a load of requests came to.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::RequestsArgs;
use crate::cmd::bench::disk::SyncMs;
use crate::cmd::bench::process::mib;
use crate::cmd::bench::tally::{AnswerMs, Tally, Window, rounded};

/// Durable answers a second, or half of what the broker alone moves.
const PER_S_MIN: f64 = 5_000.0;
/// 99 of 100 answers within so many milliseconds.
const P99_MS_MAX: f64 = 50.0;

/// The figures.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figures {
    /// Numbers of one series.
    numbers: Phase,
    /// Places taken and given back; each is one.
    claims: Phase,
    broker_only: Phase,
    /// Numbers for each that the broker alone moves.
    of_broker: f64,
    sync_ms: SyncMs,
    rss_mib: f64,
    /// Requests that were never answered, and accepted orders that the journal does not know.
    lost: u64,
    /// Numbers that are missing, or were told twice.
    gaps: u64,
    refused: BTreeMap<String, u64>,
    repeats: u64,
    applications: u16,
    seconds: u64,
}

/// What a phase came to.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Phase {
    per_s: f64,
    worst_s: u64,
    ms: AnswerMs,
    /// Processors in use: 1 is one all the time.
    cpu_gateway: f64,
    cpu_broker: f64,
    cpu_generator: f64,
}

impl Phase {
    pub(super) fn new(tally: &Tally, window: Window, [gateway, broker]: [Duration; 2]) -> Self {
        let share = |cpu: Duration| rounded(cpu.as_secs_f64() / window.seconds());
        Self {
            per_s: tally.rate(),
            worst_s: tally.worst_second(),
            ms: tally.answer_ms(),
            cpu_gateway: share(gateway),
            cpu_broker: share(broker),
            cpu_generator: share(tally.cpu),
        }
    }
}

impl Figures {
    pub(super) fn new(
        args: &RequestsArgs,
        sync_ms: SyncMs,
        [numbers, claims, mut broker_only]: [Phase; 3],
        rss: u64,
    ) -> Self {
        // There is no gateway then.
        broker_only.cpu_gateway = 0.0;
        Self {
            of_broker: rounded(numbers.per_s / broker_only.per_s),
            numbers,
            claims,
            broker_only,
            sync_ms,
            rss_mib: mib(rss),
            lost: 0,
            gaps: 0,
            refused: BTreeMap::new(),
            repeats: 0,
            applications: args.applications,
            seconds: args.seconds,
        }
    }

    pub(super) fn faults(mut self, tallies: [&Tally; 2], forgotten: u64, gaps: u64) -> Self {
        for tally in tallies {
            for (code, count) in &tally.refused {
                *self.refused.entry(code.clone()).or_default() += count;
            }
            self.lost += tally.lost;
            self.repeats += tally.repeats;
        }
        self.lost += forgotten;
        self.gaps = gaps;
        self
    }

    /// The bars that were missed.
    pub(super) fn missed(&self) -> Vec<String> {
        let least = PER_S_MIN.min(rounded(self.broker_only.per_s / 2.0));
        let mut missed = Vec::new();
        let mut bar = |is_met: bool, text: String| {
            if !is_met {
                missed.push(text);
            }
        };
        for (what, phase) in [("numbers", &self.numbers), ("claims", &self.claims)] {
            let (per_s, p99) = (phase.per_s, phase.ms.p99);
            bar(
                per_s >= least,
                format!("{per_s} {what}/s, at least {least}"),
            );
            bar(
                p99 < P99_MS_MAX,
                format!("{what}: p99 {p99} ms, below {P99_MS_MAX}"),
            );
        }
        for (what, count) in [
            ("refused", self.refused.values().sum()),
            ("lost", self.lost),
            ("gaps", self.gaps),
        ] {
            bar(count == 0, format!("{count} {what}, none"));
        }
        missed
    }

    /// The figures for people.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} applications in a closed loop, {} s each",
            self.applications, self.seconds
        )];
        for (what, phase) in [
            ("numbers of one series", &self.numbers),
            ("claims and releases", &self.claims),
            ("broker alone", &self.broker_only),
        ] {
            let Phase {
                per_s,
                worst_s,
                ms,
                cpu_gateway,
                cpu_broker,
                cpu_generator,
            } = phase;
            lines.push(format!(
                "{what}: {per_s}/s, worst second {worst_s}; answers p50 {} ms, p99 {} ms, max {} ms; \
                 processors: gateway {cpu_gateway}, broker {cpu_broker}, generator {cpu_generator}",
                ms.p50, ms.p99, ms.max
            ));
        }
        lines.push(format!(
            "the gateway reaches {} of the broker alone; one sync of this disk: p50 {} ms, p99 {} ms",
            self.of_broker, self.sync_ms.p50, self.sync_ms.p99
        ));
        lines.push(format!(
            "gateway at the end: {} MiB; refused {:?}, lost {}, gaps {}, said again {}",
            self.rss_mib, self.refused, self.lost, self.gaps, self.repeats
        ));
        lines.join("\n")
    }
}
