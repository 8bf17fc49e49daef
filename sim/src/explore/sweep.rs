//! Many seeds on several threads.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use super::draw::draw;
use super::run::{Options, Outcome, run};

thread_local! {
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Which seeds, and how.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The seeds, without the last.
    pub seeds: Range<u64>,
    /// Hours of each.
    pub hours: u64,
    /// Threads, at least one.
    pub jobs: usize,
    /// How each is run.
    pub options: Options,
}

/// The seed that this thread runs, for those who report a panic.
#[must_use]
pub fn seed_of_this_thread() -> Option<u64> {
    SEED.get()
}

/// Runs all seeds; each outcome is given to `each` as it comes. It says whether to go on.
pub fn sweep(sweep: &Sweep, mut each: impl FnMut(Outcome) -> bool) {
    let next = AtomicU64::new(sweep.seeds.start);
    let (say, hear) = mpsc::sync_channel(sweep.jobs.max(1));
    std::thread::scope(|scope| {
        for _ in 0..sweep.jobs.max(1) {
            let (say, next) = (say.clone(), &next);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= sweep.seeds.end {
                        return;
                    }
                    SEED.set(Some(seed));
                    let outcome = run(&draw(seed, sweep.hours), sweep.options);
                    // The names of a stage are ids; and nobody listens where it is over.
                    if outcome.is_ok_and(|outcome| say.send(outcome).is_err()) {
                        return;
                    }
                }
            });
        }
        drop(say);
        for outcome in hear {
            if !each(outcome) {
                next.store(u64::MAX - 1_000_000, Ordering::Relaxed);
            }
        }
    });
}
