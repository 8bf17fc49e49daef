//! Everything that can happen in the smallest world: two robots, one elevator, three floors, one
//! message lost, one doubled, any order, one crash.
//!
//! The short form goes to a depth that takes seconds. The long form:
//! `HALLCALL_SMALL_DEPTH=16 cargo test -p hallcall-sim --test small_world -- --nocapture`.

#![allow(clippy::unwrap_used, missing_docs)]

use sim::small::search;

/// Acts deep; every way of so many acts is looked at.
const DEPTH: usize = 8;
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
