//! The process ends at every point of its work, in every state of a ride, and starts again: nothing
//! acknowledged is lost, no fence is given twice, what robots saw stands, the car is read before
//! anything is written to it, and the ride goes on (reliability.md B5, D1 to D3 and D8; T-STACK-01,
//! T-STACK-08, T-STACK-09; AT-GW-01; laws 3 to 6).
//!
//! The points are those of `src/crash/points.rs`, which only a build with the feature `crash-points`
//! has. Each column of the table is one point; `~` is a power cut, in which what was not synced is
//! lost or torn, all others are the end of the process alone. `C4 bus` is C4 on a Modbus line, `C6 in`
//! our own PUBACK. A column is one play of five robots over all its crashes. Ground truth are the
//! robots' own memory and the simulator's record of cars, controllers and feet.
//!
//! The short form tries each cell at one pass of its point. The long form tries pass after pass, eight
//! at most, of every point with the end of the process and three power cuts: all that is not synced
//! is lost (`~`), any of it (`?`), parts of each write (`/`). It takes a quarter of an hour.
//!
//! ```text
//! CRASH_POINTS=long cargo test --features crash-points --test crash_points -- --nocapture every_point
//! CRASH_COLUMN="C3~" ...      only one column
//! CRASH_SEED=7 ...            other writes are lost and torn
//! ```

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod bus;
#[path = "../power_cut/disk.rs"]
mod disk;
mod oracle;
mod plan;
#[path = "../power_cut/record.rs"]
mod record;
mod rentals;
mod robots;
#[path = "../support/mod.rs"]
mod support;
mod trial;
mod world;

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use oracle::Broken;
use plan::{Column, IMPOSSIBLE, Kind, STATES, long, short};
use support::{Gateway, Mosquitto, Site, hallcall};
use trial::{Outcome, Trial};

/// Trials at a time. They wait for cars most of the time.
const AT_A_TIME: usize = 3;
/// How long a cell is waited for: in the short form an empty one is a failure, in the long form it
/// is the end of the passes.
const PATIENCE: Duration = Duration::from_secs(15);
const PATIENCE_LONG: Duration = Duration::from_secs(4);
/// Plays of one column at most, where a state was over before the point was passed: such as an
/// elevator that is free so soon that its door is not told to close.
const PLAYS_MAX: u64 = 6;
/// Passes of a point in a state that are tried: where a robot waits, polls go on for ever.
const PASSES_MAX: u64 = 8;
const SEED: u64 = 20_261_130;

/// Hits by column and state.
type Table = BTreeMap<(String, &'static str), usize>;

#[test]
fn every_point_in_every_state() {
    let begun = Instant::now();
    let only = env::var("CRASH_COLUMN").ok();
    let is_long = env::var("CRASH_POINTS").is_ok_and(|form| form == "long");
    let (mut table, mut columns) = (Table::new(), Vec::new());
    let mut tried = short();
    if is_long {
        tried.extend(long());
    }
    tried.retain(|column| only.as_ref().is_none_or(|only| *only == column.name));
    for (column, outcome) in try_all(&tried) {
        let outcome = outcome.unwrap_or_else(|broken| panic!("{broken}"));
        if !columns.contains(&column.name) {
            columns.push(column.name.clone());
        }
        for state in outcome.hits {
            *table.entry((column.name.clone(), state)).or_default() += 1;
        }
    }
    eprintln!("{}\n{:?}", print(&columns, &table), begun.elapsed());
    let empty = empty_cells(&columns, &table);
    assert!(empty.is_empty(), "cells without a hit: {empty:?}");
}

/// Runs trials, some at a time; in the order given.
fn try_all(columns: &[Column]) -> Vec<(&Column, Result<Outcome, Broken>)> {
    let seed = env::var("CRASH_SEED").map_or(SEED, |seed| seed.parse().expect("a number"));
    let queue: Mutex<VecDeque<(usize, &Column)>> = Mutex::new(columns.iter().enumerate().collect());
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().pop_front();
                    let Some((at, column)) = next else { return };
                    let begun = Instant::now();
                    let outcome = play(column, seed + at as u64);
                    say(column, &outcome, begun.elapsed());
                    if outcome.is_err() {
                        queue.lock().unwrap().clear();
                    }
                    done.lock().unwrap().insert(at, (column, outcome));
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// Plays once, and again for what was missed: a state of a few milliseconds may be over before its
/// point is passed, or durable with the one before it. Where every pass is tried, plays then once
/// for each, for the states that had the pass before.
fn play(column: &Column, seed: u64) -> Result<Outcome, Broken> {
    let patience = if column.every {
        PATIENCE_LONG
    } else {
        PATIENCE
    };
    let mut all = Trial::run(column, patience, seed)?;
    for play in 2..=PLAYS_MAX {
        if all.missed.is_empty() {
            break;
        }
        eprintln!("{}: play {play} for {:?}", column.name, all.missed);
        let mut again = column.clone();
        again.only = Some(std::mem::take(&mut all.missed));
        let outcome = Trial::run(&again, patience, seed + play)?;
        all.hits.extend(outcome.hits);
        all.missed = outcome.missed;
    }
    let mut hit = all.hits.clone();
    for pass in 2..=PASSES_MAX {
        if !column.every || hit.is_empty() {
            break;
        }
        eprintln!("{}: pass {pass} for {hit:?}", column.name);
        let mut next = column.clone();
        (next.passes, next.only) = (vec![pass], Some(hit));
        let outcome = Trial::run(&next, patience, seed + pass)?;
        hit = outcome.hits.clone();
        all.hits.extend(outcome.hits);
    }
    Ok(all)
}

fn say(column: &Column, outcome: &Result<Outcome, Broken>, took: Duration) {
    match outcome {
        Err(_) => eprintln!("{}: broken after {took:?}", column.name),
        Ok(Outcome { hits, missed, lost }) => {
            let lost = match column.kind {
                Kind::Kill => String::new(),
                Kind::Power(_) => format!(", {lost:?}"),
            };
            eprintln!(
                "{}: {} hits, missed {missed:?}{lost}, {took:?}",
                column.name,
                hits.len()
            );
        }
    }
}

fn print(columns: &[String], table: &Table) -> String {
    let mut text = format!("{:18}", "");
    columns
        .iter()
        .for_each(|column| write!(text, "{column:>7}").unwrap());
    for state in STATES {
        write!(text, "\n{state:18}").unwrap();
        for column in columns {
            let hits = match table.get(&(column.clone(), state)) {
                Some(hits) => hits.to_string(),
                None if impossible(column, state).is_some() => "-".to_owned(),
                None => "0".to_owned(),
            };
            write!(text, "{hits:>7}").unwrap();
        }
    }
    for (point, state, why) in IMPOSSIBLE {
        write!(text, "\n- {point} {state}: {why}").unwrap();
    }
    text
}

/// Cells that no crash was in though there could be one.
fn empty_cells(columns: &[String], table: &Table) -> Vec<(String, &'static str)> {
    let cells = columns
        .iter()
        .flat_map(|column| STATES.map(|state| (column.clone(), state)));
    let is_empty = |(column, state): &(String, &'static str)| {
        !table.contains_key(&(column.clone(), *state)) && impossible(column, state).is_none()
    };
    cells.filter(is_empty).collect()
}

fn impossible(column: &str, state: &str) -> Option<&'static str> {
    let mut all = IMPOSSIBLE.iter();
    all.find(|(point, of, _)| column.starts_with(point) && *of == state)
        .map(|(.., why)| *why)
}

/// C7 in the start: the fence marks are written and have not taken their name.
#[test]
fn before_the_fence_marks_take_their_name() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut command = hallcall();
    command.env("HALLCALL_CRASH_AT", "C7:1");
    let Err(status) = Gateway::try_start_by(command, &site) else {
        panic!("it got ready")
    };
    assert_eq!(status.signal(), Some(9), "{status}");
    let data = site.data_dir();
    assert!(data.join("fences.new").exists() && !data.join("fences").exists());
    let _gateway = Gateway::start(&site);
    assert!(data.join("fences").exists() && !data.join("fences.new").exists());
}

#[test]
fn a_value_that_is_no_point_is_refused() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    for (name, value) in [
        ("HALLCALL_CRASH_AT", "C9:1"),
        ("HALLCALL_CRASH_AT", "C1:0"),
        ("HALLCALL_SNAPSHOT_EVERY", "none"),
    ] {
        let mut command = hallcall();
        command.arg("run").arg("--config").arg(site.config());
        let output = command.env(name, value).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(name) && said.contains(value), "{said}");
    }
}
