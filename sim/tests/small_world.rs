//! Everything that can happen in the smallest world: two robots, one elevator, three floors, one
//! message lost, one doubled, any order, one crash.
//!
//! The short form goes to a depth that takes seconds. The long form:
//! `HALLCALL_SMALL_DEPTH=11 HALLCALL_SMALL_ALONG=6 cargo test -p hallcall-sim --test small_world -- --nocapture`.

#![allow(clippy::unwrap_used, missing_docs)]

use sim::small::{search, search_along};

/// Acts deep; every way of so many acts is looked at.
const DEPTH: usize = 7;
/// The same, off each state of the plainest way.
const DEPTH_ALONG: usize = 3;
/// States that a search keeps.
const STATES_MAX: usize = 3_000_000;

#[test]
fn no_way_of_the_smallest_world_breaks_a_law() {
    let depth = std::env::var("HALLCALL_SMALL_DEPTH").ok();
    let depth = depth.and_then(|depth| depth.parse().ok()).unwrap_or(DEPTH);
    let begin = std::time::Instant::now();
    let searched = search(depth, STATES_MAX).unwrap();
    eprintln!(
        "depth {}: {} states, {} steps, {} ways on which a ride ended, {:.1} s",
        searched.depth,
        searched.states,
        searched.steps,
        searched.arrived,
        begin.elapsed().as_secs_f64()
    );
    assert_eq!(searched.broken, None);
    assert_eq!(searched.depth, depth);
    assert!(searched.states > 1_000);
}

/// From each state of a whole day of this world, in which both robots ride: all that can happen
/// next, to a depth.
#[test]
fn no_way_off_two_rides_breaks_a_law() {
    let depth = std::env::var("HALLCALL_SMALL_ALONG").ok();
    let depth = depth
        .and_then(|depth| depth.parse().ok())
        .unwrap_or(DEPTH_ALONG);
    let begin = std::time::Instant::now();
    let searched = search_along(depth, STATES_MAX).unwrap();
    eprintln!(
        "{} acts of two rides, each with all ways of {depth} acts: {} states, {} steps, {:.1} s",
        searched.way,
        searched.states,
        searched.steps,
        begin.elapsed().as_secs_f64()
    );
    assert_eq!(searched.broken, None);
    assert!(searched.way > 50 && searched.way < 400 && searched.arrived > 0);
}
