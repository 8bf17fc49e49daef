//! Mistakes planted in the core, each of which must be found: by exploration, the crash matrix or
//! the small world. A mistake that nobody finds is a law that nobody checks.
//!
//! The short form looks for a few of them with the seed that is known to find each. The long form
//! looks for all, 60 s of CPU for each at most, and says which seed found it:
//! `HALLCALL_MUTANTS=all cargo test -p hallcall-sim --features mutants --test mutants -- --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use dispatch::mutant::{ALL, Mutant, select};
use sim::explore::{Options, draw, run};
use sim::matrix::look;
use sim::small::search_along;

/// Seeds that are tried before the rest, after it, and the hours of each.
const FIRST: std::ops::Range<u64> = 1..9;
const THEN: std::ops::Range<u64> = 9..60;
const HOURS: u64 = 1;
/// The short form: a few of each room, each with what finds it at once.
const SHORT: &[Mutant] = &[
    Mutant::GrantOwned,
    Mutant::HoldLeased,
    Mutant::KeepFence,
    Mutant::CommandFence,
    Mutant::FreedAtExit,
    Mutant::SeqStands,
];

/// What finds a mutant.
fn finder(mutant: Mutant) -> Option<String> {
    select(Some(mutant));
    let found = by_seeds(FIRST)
        .or_else(by_matrix)
        .or_else(by_small_world)
        .or_else(|| by_seeds(THEN));
    select(None);
    found
}

fn by_seeds(mut seeds: std::ops::Range<u64>) -> Option<String> {
    seeds.find_map(|seed| {
        let outcome = run(&draw(seed, HOURS), Options::default()).unwrap();
        let failure = outcome.failure?;
        Some(format!("seed {seed}: {}", failure.what))
    })
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
        match finder(*mutant) {
            Some(found) => eprintln!("{name}: {found:.140}"),
            None => survived.push(name),
        }
    }
    assert!(survived.is_empty(), "nobody found {survived:?}");
}
