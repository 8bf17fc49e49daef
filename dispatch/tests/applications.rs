//! What applications ask for, on a clock that only the test moves: numbers, turns and claims.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::unwrap_in_result,
    reason = "each test looks for one kind among many"
)]

#[path = "applications/claims.rs"]
mod claims;
#[path = "applications/numbers.rs"]
mod numbers;
#[path = "applications/office.rs"]
mod office;
#[path = "applications/places.rs"]
mod places;
#[path = "applications/pools.rs"]
mod pools;
#[path = "applications/rentals.rs"]
mod rentals;
#[path = "applications/turns.rs"]
mod turns;
