//! Orders that are accepted, end and are forgotten, for as long as a box lives: what they leave on
//! the disk is bounded (T-STACK-20), and what a start costs.
//!
//! CI runs 12,000 orders of which 3,000 are remembered. By hand, for the figures in a release build:
//! `HALLCALL_CHURN=2000000,100000 cargo test --release --test journal churn -- --nocapture`.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::path::Path;
use std::time::Instant;

use dispatch::edge::Journal;
use hallcall::journal::SledJournal;

use crate::{load, step};

/// Set to `orders,remembered` for the long form.
const LONG: &str = "HALLCALL_CHURN";
/// Orders that live at a time.
const LIVE: usize = 200;
/// Orders between two syncs.
const GROUP: u64 = 25;
/// Facts from one snapshot to the next, and the snapshot's bytes.
const SNAPSHOT: (u64, usize) = (10_000, 60_000);
const MIB: u64 = 1 << 20;

fn size(dir: &Path, name: &str) -> u64 {
    fs::metadata(dir.join("journal").join(name)).unwrap().len()
}

/// An id as fleets make them: 36 characters without an order.
fn order(n: u64) -> String {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("ride/{mixed:016x}-{:018x}", mixed ^ n)
}

#[test]
fn what_orders_leave_on_the_disk_is_bounded() {
    let long = env::var(LONG).ok();
    let (orders, remembered) = match &long {
        Some(text) => {
            let (orders, remembered) = text.split_once(',').unwrap();
            (orders.parse().unwrap(), remembered.parse().unwrap())
        }
        None => (12_000_u64, 3_000_usize),
    };
    let dir = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(dir.path()).unwrap();
    load(&mut journal).unwrap();
    let ended = format!("ended{:60}", 0);
    let (mut live, mut gone) = (VecDeque::new(), VecDeque::new());
    let (mut covered, mut largest) = (0, 0);
    let start = Instant::now();
    for n in 0..orders {
        let facts: Vec<_> = (0..6).map(|fact| format!("E{fact}")).collect();
        let accepted = (order(n), Some("accepted".to_owned()));
        journal.append(&step(&facts[..2], &[accepted])).unwrap();
        live.push_back(order(n));
        let mut rows = Vec::new();
        if live.len() > LIVE {
            let order = live.pop_front().unwrap();
            rows.push((order.clone(), Some(ended.clone())));
            gone.push_back(order);
        }
        if gone.len() > remembered {
            rows.push((gone.pop_front().unwrap(), None));
        }
        let last = journal.append(&step(&facts[2..], &rows)).unwrap();
        if last - covered > SNAPSHOT.0 {
            journal.snapshot(last, &vec![3; SNAPSHOT.1]).unwrap();
            covered = last;
        }
        if n % GROUP == GROUP - 1 {
            journal.sync().unwrap();
            largest = largest.max(size(dir.path(), "db"));
        }
        if long.is_some() && n % (orders / 20) == 0 {
            let (db, ended) = (size(dir.path(), "db"), size(dir.path(), "ended"));
            eprintln!(
                "{n} orders: {:?}, db {db}, ended {ended} bytes",
                start.elapsed()
            );
        }
    }
    journal.sync().unwrap();
    let packed = size(dir.path(), "ended");
    // 114 bytes a row, 128 of them in a block of 16 KiB; what is not packed yet is not here.
    assert!(
        packed <= remembered as u64 * 128 + 8 * 16_384,
        "{packed} bytes in blocks"
    );
    assert!(largest <= 16 * MIB, "sled's file had {largest} bytes");
    // What that rests on, and takes many more orders to show.
    let conf = fs::read(dir.path().join("journal/conf")).unwrap();
    assert!(String::from_utf8_lossy(&conf).contains("segment_size: 2097152\n"));
    // Killed: what is there is what a start finds.
    let left = tempfile::tempdir().unwrap();
    crate::copy(dir.path(), left.path());
    let start = Instant::now();
    let mut journal = SledJournal::open(left.path()).unwrap();
    let opened = start.elapsed();
    let rows = journal.load(&mut |_, _| ()).unwrap().rows;
    if long.is_some() {
        eprintln!(
            "{rows} rows: open {opened:?}, with load {:?}",
            start.elapsed()
        );
    }
    assert_eq!(rows, (remembered + LIVE) as u64);
}
