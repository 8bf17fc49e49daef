//! The broker does its worst (architecture, MQTT; reliability B4, M1 to M12; AT-GW-02 to AT-GW-05).
//!
//! What is true is what the peers record: robots, controllers, a proxy between gateway and broker
//! that sees each packet, or a broker that the test plays. Most run on both brokers. Each test says
//! what it saw in a row of a table:
//!
//! ```text
//! cargo test --test broker_faults -- --nocapture | grep '^|'
//! HALLCALL_LONG=1 cargo test --test broker_faults   # 100,000 messages and the like
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics where it fails"
)]

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod broker;
mod fleet;
mod order;
mod outage;
mod puback;
mod refused;
mod restart;
mod slow;
mod takeover;
mod wills;

use std::fmt::Display;

/// The short form, or the long one where it is asked for.
fn count(short: usize, long: usize) -> usize {
    if std::env::var_os("HALLCALL_LONG").is_some() {
        long
    } else {
        short
    }
}

/// Runs the same with each of the cases at once: mostly they wait.
fn side_by_side<T: Send>(cases: impl IntoIterator<Item = T>, run: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let run = &run;
            scope.spawn(move || run(case));
        }
    });
}

/// One row of the table.
fn seen(fault: &str, broker: impl std::fmt::Debug, what: impl Display) {
    println!("| {fault} | {broker:?} | {what} |");
}
