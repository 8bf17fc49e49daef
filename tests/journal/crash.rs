//! The end of a real process at any moment (D1 kill -9).

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use dispatch::edge::JournalError;
use hallcall::journal::{Committer, Options, Sink, SledJournal};

use crate::{Read, fact, load, step};

/// Where the child writes; set by the test that starts it.
const DIR: &str = "HALLCALL_TEST_CRASH_DIR";
const DEADLINE: Duration = Duration::from_secs(60);
/// Ledger rows that are kept.
const KEPT: u64 = 100;

/// Says on standard output which step was released.
struct Acknowledge;

impl Sink<u64> for Acknowledge {
    fn release(&mut self, step: u64) {
        let mut out = io::stdout().lock();
        writeln!(out, "acked {step}").unwrap();
        out.flush().unwrap();
    }

    fn settle(&mut self) {}

    fn failed(&mut self, error: JournalError) {
        panic!("{error}");
    }
}

fn facts_of(number: u64) -> Vec<String> {
    (0..=number % 4).map(|n| format!("S{number}.{n}")).collect()
}

/// The last whole step; the rest of the store must fit to it.
fn last_step(loaded: &Read) -> u64 {
    let snapshot = loaded.snapshot.as_ref();
    let covered = snapshot.map_or(0, |(_, state)| {
        u64::from_be_bytes(state.as_slice().try_into().unwrap())
    });
    let mut facts = loaded.facts.iter().map(|(_, fact)| fact.clone()).peekable();
    let mut last = covered;
    while facts.peek().is_some() {
        last += 1;
        for name in facts_of(last) {
            assert_eq!(facts.next(), Some(fact(&name)), "step {last} is not whole");
        }
    }
    let ledger: BTreeMap<_, _> = loaded.ledger.iter().cloned().collect();
    let rows = (last.saturating_sub(KEPT) + 1..=last).map(|number| {
        (
            format!("r:{number}").into_bytes(),
            number.to_string().into_bytes(),
        )
    });
    assert_eq!(
        ledger,
        rows.collect(),
        "the ledger is of another moment than step {last}"
    );
    last
}

/// Not a test by itself: the process that is killed. It writes steps until then.
#[test]
fn child() {
    let Some(dir) = env::var_os(DIR) else { return };
    let mut journal = SledJournal::open(Path::new(&dir)).unwrap();
    let loaded = load(&mut journal).unwrap();
    let mut number = last_step(&loaded);
    let covered = loaded.snapshot.as_ref().map_or(0, |(covers, _)| *covers);
    let options = Options {
        queue: 64,
        snapshot_every: 150,
        ..Options::default()
    };
    let mut committer =
        Committer::start(journal, (covered, loaded.last()), Acknowledge, options).unwrap();
    loop {
        number += 1;
        let mut rows = vec![(format!("r:{number}"), Some(number.to_string()))];
        if number > KEPT {
            rows.push((format!("r:{}", number - KEPT), None));
        }
        committer
            .submit(step(&facts_of(number), &rows), number)
            .unwrap();
        if committer.snapshot_is_due() {
            committer.snapshot(number.to_be_bytes().to_vec()).unwrap();
        }
    }
}

fn start(dir: &Path) -> (Child, Receiver<u64>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (tell, acked) = channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.split("acked ").nth(1) {
                tell.send(number.parse().unwrap()).unwrap();
            }
        }
    });
    (child, acked)
}

/// Law 4: what was acknowledged is there, over and over, at whatever moment the process ends.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 0..12_u64 {
        let (mut child, acked) = start(dir.path());
        let mut last = 0;
        // Some rounds end in the first snapshot, some far behind it.
        for _ in 0..1 + round * 37 {
            last = acked.recv_timeout(DEADLINE).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it ended.
        while let Ok(number) = acked.recv_timeout(DEADLINE) {
            last = number;
        }
        let mut journal = SledJournal::open(dir.path()).unwrap();
        let loaded = load(&mut journal).unwrap();
        let found = last_step(&loaded);
        assert!(
            found >= last,
            "round {round}: {last} was acknowledged, {found} is there"
        );
        assert!(found > before, "round {round} did nothing");
        before = found;
    }
}
