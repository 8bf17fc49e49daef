//! Mistakes planted in the core, each of which must be found: by exploration, the crash matrix or
//! the small world. A mistake that nobody finds is a law that nobody checks.
//!
//! The short form, which CI runs, looks for a few of them with what finds each at once. The long
//! form looks for all, each with at most 60 s of CPU, and tells what found it and after how long:
//! `HALLCALL_MUTANTS=all cargo test --release -p hallcall-sim --features mutants --test mutants --
//! --nocapture`; `HALLCALL_MUTANTS=A,B` looks for those alone.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::time::Duration;

use dispatch::mutant::{ALL, Mutant, select};
use rustix::time::{ClockId, clock_gettime};
use sim::explore::{Options, draw, run};
use sim::matrix::look;
use sim::small::search_along;

/// Seeds of the short form, of the first look, and of the last, with the hours of each.
const SHORT_SEEDS: std::ops::Range<u64> = 1..9;
const FIRST: (std::ops::Range<u64>, u64) = (1..21, 1);
const THEN: (std::ops::Range<u64>, u64) = (1_000..2_000, 12);
/// What each may take, of this thread's CPU.
const CPU_MAX: Duration = Duration::from_secs(60);
/// The short form: a few of each room, each with what finds it at once.
const SHORT: &[Mutant] = &[
    Mutant::GrantOwned,
    Mutant::HoldLeased,
    Mutant::KeepFence,
    Mutant::CommandFence,
    Mutant::FreedAtExit,
    Mutant::SeqStands,
];

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// What finds the mutant that is on.
fn finder(until: Duration) -> Option<String> {
    by_seeds(FIRST, until)
        .or_else(by_matrix)
        .or_else(by_small_world)
        .or_else(|| by_seeds(THEN, until))
}

/// A seed that breaks a law with the mistake, and none without it.
fn by_seeds(of: (std::ops::Range<u64>, u64), until: Duration) -> Option<String> {
    let (seeds, hours) = of;
    for seed in seeds {
        if cpu() > until {
            return None;
        }
        let plan = draw(seed, hours);
        let Some(failure) = run(&plan, Options::default()).unwrap().failure else {
            continue;
        };
        let on = dispatch::mutant::selected();
        select(None);
        let right = run(&plan, Options::default()).unwrap().failure;
        select(on);
        if right.is_none() {
            return Some(format!("seed {seed}, {hours} h: {}", failure.what));
        }
    }
    None
}

fn by_matrix() -> Option<String> {
    let found = look().unwrap().broken.into_iter().next()?;
    Some(format!("crash matrix: {found}"))
}

fn by_small_world() -> Option<String> {
    let (why, way) = search_along(2, 100_000).unwrap().broken?;
    Some(format!("small world, {} acts: {why}", way.len()))
}

#[test]
fn each_planted_mistake_is_found() {
    let wanted = std::env::var("HALLCALL_MUTANTS").unwrap_or_default();
    let mut survived = Vec::new();
    for mutant in ALL {
        let name = format!("{mutant:?}");
        let named = wanted.split(',').any(|it| it == name);
        let short = wanted.is_empty() && SHORT.contains(mutant);
        if wanted != "all" && !named && !short {
            continue;
        }
        let begin = cpu();
        select(Some(*mutant));
        let found = if short {
            by_seeds((SHORT_SEEDS, 1), begin + CPU_MAX)
        } else {
            finder(begin + CPU_MAX)
        };
        select(None);
        let took = (cpu() - begin).as_secs_f64();
        match found {
            Some(found) => eprintln!("{name}: {took:.1} s, {found:.140}"),
            None => {
                eprintln!("{name}: {took:.1} s, nobody found it");
                survived.push(name);
            }
        }
    }
    assert!(survived.is_empty(), "nobody found {survived:?}");
}
