//! Mistakes planted in the core, each of which must be found: by exploration, the crash matrix or
//! the small world. A mistake that nobody finds is a law that nobody checks.
//!
//! The short form looks for a few of them with the seed that is known to find each. The long form
//! looks for all, 60 s of CPU for each at most, and says which seed found it:
//! `HALLCALL_MUTANTS=all cargo test -p hallcall-sim --features mutants --test mutants -- --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use dispatch::mutant::{ALL, Mutant, select};
use sim::explore::{Options, draw, run};

/// Seeds that are tried, and the hours of each.
const SEEDS: std::ops::Range<u64> = 1..80;
const HOURS: u64 = 1;

/// What finds a mutant.
fn finder(mutant: Mutant, seeds: impl Iterator<Item = u64>) -> Option<String> {
    select(Some(mutant));
    let mut found = None;
    for seed in seeds {
        let outcome = run(&draw(seed, HOURS), Options::default()).unwrap();
        if let Some(failure) = outcome.failure {
            found = Some(format!("seed {seed}: {}", failure.what));
            break;
        }
    }
    select(None);
    found
}

#[test]
fn each_planted_mistake_is_found() {
    let wanted = std::env::var("HALLCALL_MUTANTS").unwrap_or_default();
    let mut survived = Vec::new();
    for mutant in ALL {
        let name = format!("{mutant:?}");
        if wanted != "all" && !wanted.split(',').any(|it| it == name) {
            continue;
        }
        match finder(*mutant, SEEDS) {
            Some(found) => eprintln!("{name}: {}", &found[..found.len().min(140)]),
            None => survived.push(name),
        }
    }
    assert!(survived.is_empty(), "nobody found {survived:?}");
}
