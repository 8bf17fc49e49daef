//! What a load came to (`wire.md` section 7, `bench load`, and more).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::LoadArgs;
use crate::cmd::bench::disk::SyncMs;
use crate::cmd::bench::pace::Steadiness;
use crate::cmd::bench::process::mib;
use crate::cmd::bench::stage::{BrokerKind, Ridden};
use crate::cmd::bench::tally::{AnswerMs, Tally, Window, rounded};

/// Accepted decisions a second, or half of what the broker alone moves.
const ACCEPTED_PER_S_MIN: f64 = 5_000.0;
/// 99 of 100 answers within so many milliseconds.
const P99_MS_MAX: f64 = 100.0;
/// Duplicates a second.
const DUPLICATES_PER_S_MIN: f64 = 20_000.0;

/// The figures.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cmd::bench) struct Figures {
    accepted_per_s: Option<f64>,
    accepted_worst_s: Option<u64>,
    duplicates_per_s: f64,
    decision_ms: Option<AnswerMs>,
    duplicate_ms: Option<AnswerMs>,
    sync_ms: SyncMs,
    broker_only_per_s: Option<f64>,
    broker_only_ms: Option<AnswerMs>,
    /// Accepted decisions for each that the broker alone moves.
    of_broker: Option<f64>,
    rss_mib: f64,
    /// Messages that were never answered, and accepted orders that the journal does not know.
    lost: u64,
    refused: BTreeMap<String, u64>,
    repeats: u64,
    rides: u64,
    rides_failed: u64,
    violations: u64,
    /// Of the processors during the load.
    steadiness: Option<Steadiness>,
    /// Processors in use, of the load.
    cpu: Option<Costs>,
    cpu_duplicates: Option<Costs>,
    cpu_broker_only: Option<AloneCosts>,
    messages_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    broker: BrokerKind,
    robots: u16,
    elevators: u16,
    seconds: u64,
}

/// Processors in use, each averaged over a phase: 1 is one processor all the time.
#[derive(Debug, Clone, Copy, Serialize)]
pub(in crate::cmd::bench) struct Costs {
    gateway: f64,
    broker: f64,
    generator: f64,
    /// Cars, their controllers, the riders.
    building: f64,
}

/// Processors in use while the broker is alone.
#[derive(Debug, Clone, Copy, Serialize)]
pub(in crate::cmd::bench) struct AloneCosts {
    broker: f64,
    generator: f64,
    echo: f64,
}

/// The phase without the gateway.
pub(in crate::cmd::bench) struct Alone {
    per_s: f64,
    answer_ms: AnswerMs,
    costs: AloneCosts,
}

impl Costs {
    pub(in crate::cmd::bench) fn new(
        window: Window,
        gateway: Duration,
        broker: Duration,
        generator: Duration,
        own: Duration,
    ) -> Self {
        Self {
            gateway: share(gateway, window),
            broker: share(broker, window),
            generator: share(generator, window),
            building: share(own.saturating_sub(generator), window),
        }
    }
}

impl Alone {
    pub(in crate::cmd::bench) fn new(
        tally: &Tally,
        window: Window,
        broker: Duration,
        echo: Duration,
    ) -> Self {
        Self {
            per_s: tally.rate(),
            answer_ms: tally.answer_ms(),
            costs: AloneCosts {
                broker: share(broker, window),
                generator: share(tally.cpu, window),
                // It ran in the warm-up too, which is short.
                echo: share(echo, window),
            },
        }
    }
}

impl Figures {
    pub(in crate::cmd::bench) fn new(args: &LoadArgs, broker: BrokerKind, sync_ms: SyncMs) -> Self {
        Self {
            accepted_per_s: None,
            accepted_worst_s: None,
            duplicates_per_s: 0.0,
            decision_ms: None,
            duplicate_ms: None,
            sync_ms,
            broker_only_per_s: None,
            broker_only_ms: None,
            of_broker: None,
            rss_mib: 0.0,
            lost: 0,
            refused: BTreeMap::new(),
            repeats: 0,
            rides: 0,
            rides_failed: 0,
            violations: 0,
            steadiness: None,
            cpu: None,
            cpu_duplicates: None,
            cpu_broker_only: None,
            messages_per_s: None,
            bytes_per_s: None,
            broker,
            robots: args.robots,
            elevators: args.elevators,
            seconds: args.seconds,
        }
    }

    pub(in crate::cmd::bench) fn orders(&mut self, costs: Costs, tally: &Tally) {
        self.accepted_per_s = Some(tally.rate());
        self.accepted_worst_s = Some(tally.worst_second());
        self.decision_ms = Some(tally.answer_ms());
        self.messages_per_s = Some(tally.per_s(tally.messages));
        self.bytes_per_s = Some(tally.per_s(tally.bytes));
        self.cpu = Some(costs);
        self.faults(tally);
    }

    pub(in crate::cmd::bench) fn pace(&mut self, steadiness: Steadiness) {
        self.steadiness = Some(steadiness);
    }

    pub(in crate::cmd::bench) fn duplicates(&mut self, costs: Costs, tally: &Tally) {
        self.duplicates_per_s = tally.rate();
        self.duplicate_ms = Some(tally.answer_ms());
        self.cpu_duplicates = Some(costs);
        self.faults(tally);
    }

    pub(in crate::cmd::bench) fn alone(&mut self, alone: Alone) {
        self.broker_only_per_s = Some(alone.per_s);
        self.broker_only_ms = Some(alone.answer_ms);
        self.cpu_broker_only = Some(alone.costs);
        self.of_broker = self
            .accepted_per_s
            .filter(|_| alone.per_s > 0.0)
            .map(|accepted| rounded(accepted / alone.per_s));
    }

    pub(in crate::cmd::bench) fn memory(&mut self, bytes: u64) {
        self.rss_mib = mib(bytes);
    }

    pub(in crate::cmd::bench) fn rides(&mut self, ridden: &Ridden) {
        self.rides = ridden.completed;
        self.rides_failed = ridden.failures.len() as u64;
        self.violations = ridden.violations.len() as u64;
    }

    /// Accepted orders that the journal does not know.
    pub(in crate::cmd::bench) fn forgotten(&mut self, orders: u64) {
        self.lost += orders;
    }

    /// Bars that were missed, each in words.
    pub(in crate::cmd::bench) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut bar = |is_met: bool, what: String| {
            if !is_met {
                missed.push(what);
            }
        };
        if let (Some(accepted), Some(alone)) = (self.accepted_per_s, self.broker_only_per_s) {
            let least = ACCEPTED_PER_S_MIN.min(rounded(alone / 2.0));
            bar(
                accepted >= least,
                format!("{accepted} accepted/s, at least {least}"),
            );
        }
        if let Some(ms) = &self.decision_ms {
            bar(
                ms.p99 < P99_MS_MAX,
                format!("p99 {} ms, below {P99_MS_MAX}", ms.p99),
            );
        }
        let duplicates = self.duplicates_per_s;
        bar(
            duplicates >= DUPLICATES_PER_S_MIN,
            format!("{duplicates} duplicates/s, at least {DUPLICATES_PER_S_MIN}"),
        );
        for (what, count) in [
            ("refused", self.refused.values().sum()),
            ("lost", self.lost),
            ("rides failed", self.rides_failed),
            ("violations", self.violations),
        ] {
            bar(count == 0, format!("{count} {what}, none"));
        }
        missed
    }

    /// The figures for people.
    pub(in crate::cmd::bench) fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} robots in a closed loop beside {} elevators, {} s, broker {:?}",
            self.robots, self.elevators, self.seconds, self.broker
        )];
        if let (Some(accepted), Some(worst), Some(ms)) = (
            self.accepted_per_s,
            self.accepted_worst_s,
            &self.decision_ms,
        ) {
            lines.push(format!(
                "accepted: {accepted}/s, worst second {worst}; {}",
                span(ms)
            ));
        }
        if let (Some(alone), Some(ratio), Some(ms)) =
            (self.broker_only_per_s, self.of_broker, &self.broker_only_ms)
        {
            lines.push(format!(
                "broker alone: {alone}/s, so that the gateway reaches {ratio} of it; {}",
                span(ms)
            ));
        }
        if let Some(ms) = &self.duplicate_ms {
            lines.push(format!(
                "duplicates: {}/s; {}",
                self.duplicates_per_s,
                span(ms)
            ));
        }
        lines.push(format!(
            "one sync of this disk: p50 {} ms, p99 {} ms",
            self.sync_ms.p50, self.sync_ms.p99
        ));
        if let Some(pace) = &self.steadiness {
            lines.push(format!(
                "the same {} us of a processor, each ms of the load: 99 of 100 took at most {} times \
                 that, {} in 100 more than twice",
                pace.p50_us, pace.p99_of_p50, pace.slow_pct
            ));
        }
        let phases = [("load", &self.cpu), ("duplicates", &self.cpu_duplicates)];
        for (phase, costs) in phases {
            if let Some(cpu) = costs {
                lines.push(format!(
                    "processors in the {phase}: gateway {}, broker {}, generator {}, building {}",
                    cpu.gateway, cpu.broker, cpu.generator, cpu.building
                ));
            }
        }
        if let Some(cpu) = &self.cpu_broker_only {
            lines.push(format!(
                "processors of the broker alone: broker {}, generator {}, echo {}",
                cpu.broker, cpu.generator, cpu.echo
            ));
        }
        if let (Some(messages), Some(bytes)) = (self.messages_per_s, self.bytes_per_s) {
            lines.push(format!("robots' messages: {messages}/s, {bytes} bytes/s"));
        }
        lines.push(format!(
            "gateway at the end: {} MiB; rides meanwhile: {}, failed {}, violations {}",
            self.rss_mib, self.rides, self.rides_failed, self.violations
        ));
        lines.push(format!(
            "refused {:?}, lost {}, said again {}",
            self.refused, self.lost, self.repeats
        ));
        lines.join("\n")
    }

    fn faults(&mut self, tally: &Tally) {
        for (code, count) in &tally.refused {
            *self.refused.entry(code.clone()).or_default() += count;
        }
        self.lost += tally.lost;
        self.repeats += tally.repeats;
    }
}

fn span(ms: &AnswerMs) -> String {
    format!(
        "answers p50 {} ms, p99 {} ms, p99.9 {} ms, max {} ms (closed loop)",
        ms.p50, ms.p99, ms.p999, ms.max
    )
}

fn share(cpu: Duration, window: Window) -> f64 {
    rounded(cpu.as_secs_f64() / window.seconds())
}
