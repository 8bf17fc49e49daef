//! The power goes, under load and during the start: nothing that was acknowledged is lost, and the
//! store always opens (reliability.md D2, D3, D8; T-STACK-01, T-STACK-08; laws 3, 4 and 11).
//!
//! The short form makes a few cuts of each mode. The long form makes as many of each mode as
//! `POWER_CUTS` says; `POWER_CUT_SEED` chooses others:
//!
//! ```text
//! POWER_CUTS=100 cargo test --test power_cut -- --nocapture nothing_acknowledged
//! ```
//!
//! What is simulated, and how kindly, is said in `disk.c`.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod creation;
mod crowd;
mod cuts;
mod disk;
mod record;
mod robot;
#[path = "../support/mod.rs"]
mod support;
mod syscalls;
mod truth;

use std::env;

use cuts::Trial;
use disk::Loss;

/// Cuts of each mode in the short form.
const CUTS: usize = 6;
/// Without sync the loss is seen within so many.
const CUTS_WITHOUT_SYNC: usize = 20;
const SEED: u64 = 20_261_130;

fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = env::var(name) else {
        return default;
    };
    text.parse()
        .unwrap_or_else(|_| panic!("{name}={text} is no number"))
}

fn loss(cut: usize) -> Loss {
    if cut.is_multiple_of(2) {
        Loss::All
    } else {
        Loss::Any
    }
}

#[test]
fn nothing_acknowledged_is_lost_in_a_power_cut() {
    let seed = number("POWER_CUT_SEED", SEED);
    let cuts = 2 * usize::try_from(number("POWER_CUTS", CUTS as u64)).unwrap();
    let mut trial = Trial::start(seed);
    let (mut orders, mut unsynced) = (0, 0);
    for number in 0..cuts {
        let cut = trial
            .cut(loss(number))
            .unwrap_or_else(|broken| panic!("seed {seed}, cut {number}: {broken}"));
        eprintln!(
            "{number}: {:?}: {} orders, {:?}, the witness is at {} of {}",
            cut.loss, cut.orders, cut.lost, cut.witness, cut.last
        );
        orders += cut.orders;
        unsynced += cut.lost.unsynced;
    }
    trial
        .end()
        .unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    let (cancelled, rides) = trial.crowd.done();
    let fences = trial.crowd.truth.highest_fence("EL001");
    let starts = trial.starts_cut;
    eprintln!(
        "{cuts} cuts and {starts} in starts: {orders} orders, {cancelled} cancelled, {rides} \
         rides, {unsynced} writes unsynced, highest fence {fences}"
    );
    assert!(orders > 10 * cuts, "{orders} orders are no load");
    assert!(
        unsynced > cuts,
        "{unsynced} unsynced writes are none to lose"
    );
    assert!(rides > 0 && fences > 0, "{rides} rides, {fences} fences");
}

#[test]
fn without_sync_the_same_test_sees_the_loss() {
    let seed = number("POWER_CUT_SEED", SEED);
    let mut trial = Trial::start(seed);
    trial.without_sync();
    let broken = (0..CUTS_WITHOUT_SYNC).find_map(|number| trial.cut(loss(number)).err());
    let broken = broken.expect("a disk that never syncs loses what was acknowledged");
    eprintln!("{broken}");
}
