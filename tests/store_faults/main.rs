//! The disk fails under the real program: full, read-only, broken, slow (reliability.md D5 to D7;
//! AT-GW-06; `ride.md` section 4, journal failed).

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "../power_cut/disk.rs"]
mod disk;
mod doors;
mod failing;
mod living;
#[path = "../power_cut/record.rs"]
mod record;
mod start;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::{Site, operate};

/// What the journal holds, looked at from outside while no gateway runs.
struct Kept {
    /// Orders of the ledger.
    orders: BTreeSet<String>,
    /// The last record.
    last: u64,
}

fn kept(site: &Site) -> Kept {
    let dump = operate(&site.config(), &["journal", "dump", "--json"]);
    assert!(
        dump.status.success(),
        "{}",
        String::from_utf8_lossy(&dump.stderr)
    );
    let text = String::from_utf8(dump.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let order = |line: &Value| {
        line["ledger"]
            .as_str()?
            .split_once('/')
            .map(|(_, id)| id.to_owned())
    };
    Kept {
        orders: lines.iter().filter_map(order).collect(),
        last: lines
            .last()
            .and_then(|report| report["last"].as_u64())
            .expect("a report"),
    }
}
