// The played journal panics where the test itself is wrong.
#![allow(clippy::unwrap_in_result)]
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use dispatch::edge::Loaded;
use dispatch::{ElevatorFact, Fact};
use protocol::ElevatorId;

use super::*;
use crate::journal::SledJournal;

const DEADLINE: Duration = Duration::from_secs(20);

/// What happened, in order.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Append(Seq),
    SyncBegins,
    Snapshot(Seq, Vec<u8>),
    Closed,
    Released(&'static str),
    Failed(String),
}
use Event::{Append, Closed, Failed, Released, Snapshot, SyncBegins};

/// The real journal behind a valve: each sync waits until the test lets it go, or makes it fail.
struct Valve {
    journal: SledJournal,
    events: Sender<Event>,
    syncs: Receiver<Result<(), &'static str>>,
}

impl Journal for Valve {
    fn load(&mut self, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<Loaded, JournalError> {
        self.journal.load(row)
    }

    fn append(&mut self, batch: &Batch) -> Result<Seq, JournalError> {
        let last = self.journal.append(batch)?;
        self.events.send(Append(last)).unwrap();
        Ok(last)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.events.send(SyncBegins).unwrap();
        match self.syncs.recv_timeout(DEADLINE).unwrap() {
            Ok(()) => self.journal.sync(),
            Err(said) => Err(JournalError::Store(said.to_owned())),
        }
    }

    fn snapshot(&mut self, covers: Seq, state: &[u8]) -> Result<(), JournalError> {
        self.journal.snapshot(covers, state)?;
        self.events.send(Snapshot(covers, state.to_vec())).unwrap();
        Ok(())
    }

    fn close(&mut self) -> Result<(), JournalError> {
        self.journal.close()?;
        self.events.send(Closed).unwrap();
        Ok(())
    }
}

struct Out(Sender<Event>);

impl Sink<&'static str> for Out {
    fn release(&mut self, item: &'static str) {
        self.0.send(Released(item)).unwrap();
    }

    fn settle(&mut self) {}

    fn failed(&mut self, error: JournalError) {
        self.0.send(Failed(error.to_string())).unwrap();
    }
}

struct Bench {
    committer: Option<Committer<&'static str>>,
    events: Receiver<Event>,
    syncs: Sender<Result<(), &'static str>>,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn new(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = SledJournal::open(dir.path()).unwrap();
        journal.load(&mut |_, _| ()).unwrap();
        let ((events_in, events), (syncs, syncs_out)) = (channel(), channel());
        let sink = Out(events_in.clone());
        let valve = Valve {
            journal,
            events: events_in,
            syncs: syncs_out,
        };
        let committer = Some(Committer::start(valve, (0, 0), sink, options).unwrap());
        Self {
            committer,
            events,
            syncs,
            _dir: dir,
        }
    }

    fn submit(&mut self, facts: usize, item: &'static str) {
        self.committer
            .as_mut()
            .unwrap()
            .submit(batch(facts), item)
            .unwrap();
    }

    fn expect(&self, expected: &[Event]) {
        for event in expected {
            assert_eq!(self.events.recv_timeout(DEADLINE).unwrap(), *event);
        }
    }

    fn let_sync(&self) {
        self.syncs.send(Ok(())).unwrap();
    }

    fn is_quiet(&self) -> bool {
        self.events.try_recv().is_err()
    }
}

fn batch(facts: usize) -> Batch {
    let elevator = ElevatorId::new("EL001").unwrap();
    let fact = Fact::Elevator(ElevatorFact::Freed { elevator });
    Batch {
        facts: vec![fact; facts],
        ledger: Vec::new(),
    }
}

#[test]
fn a_step_is_released_after_its_sync_and_not_before() {
    let mut bench = Bench::new(Options::default());
    bench.submit(2, "a");
    bench.expect(&[Append(2), SyncBegins]);
    assert!(bench.is_quiet(), "law 4");
    assert_eq!(bench.committer.as_ref().unwrap().durable(), 0);
    bench.let_sync();
    bench.expect(&[Released("a")]);
    assert_eq!(bench.committer.as_ref().unwrap().durable(), 2);
}

#[test]
fn a_step_without_facts_is_released_at_once_without_a_sync() {
    let mut bench = Bench::new(Options::default());
    bench.submit(0, "refusal");
    bench.expect(&[Released("refusal")]);
    bench.submit(0, "duplicate");
    bench.expect(&[Released("duplicate")]);
    assert!(bench.is_quiet());
}

#[test]
fn what_comes_during_a_sync_shares_the_next_one_and_keeps_its_order() {
    let mut bench = Bench::new(Options::default());
    bench.submit(1, "a");
    bench.expect(&[Append(1), SyncBegins]);
    bench.submit(0, "duplicate of a");
    bench.submit(3, "b");
    bench.submit(0, "refusal");
    bench.submit(1, "c");
    assert!(bench.is_quiet(), "all wait for the sync");
    bench.let_sync();
    // The duplicate waits for nothing any more; the refusal does for b.
    bench.expect(&[Released("a"), Append(4), Append(5)]);
    bench.expect(&[Released("duplicate of a"), SyncBegins]);
    bench.let_sync();
    bench.expect(&[Released("b"), Released("refusal"), Released("c")]);
}

#[test]
fn a_group_ends_with_the_step_that_reaches_256_records() {
    let mut bench = Bench::new(Options::default());
    bench.submit(1, "first");
    bench.expect(&[Append(1), SyncBegins]);
    bench.submit(255, "b");
    bench.submit(2, "c");
    bench.submit(1, "d");
    bench.let_sync();
    bench.expect(&[Released("first"), Append(256), Append(258), SyncBegins]);
    bench.let_sync();
    bench.expect(&[Released("b"), Released("c"), Append(259), SyncBegins]);
    bench.let_sync();
    bench.expect(&[Released("d")]);
}

#[test]
fn after_a_failed_sync_nothing_is_released_and_it_is_said_once() {
    let mut bench = Bench::new(Options::default());
    bench.submit(1, "a");
    bench.expect(&[Append(1), SyncBegins]);
    bench.submit(0, "duplicate");
    bench.submit(1, "b");
    bench.syncs.send(Err("EIO")).unwrap();
    bench.expect(&[Failed("the store failed: EIO".to_owned())]);
    // The senders are gone with the thread.
    assert_eq!(
        bench.events.recv_timeout(DEADLINE),
        Err(RecvTimeoutError::Disconnected)
    );
    let committer = bench.committer.as_mut().unwrap();
    assert_eq!(committer.submit(batch(1), "c"), Err(SubmitError::Ended));
    assert_eq!(committer.snapshot(Vec::new()), Err(SubmitError::Ended));
}

#[test]
fn a_fact_that_does_not_fit_fails_the_journal() {
    let mut bench = Bench::new(Options::default());
    let huge = Fact::Site(dispatch::SiteFact::Operator {
        operator: "op".to_owned(),
        reason: "r".repeat(5000),
        action: dispatch::OperatorAction::ElevatorList,
        at: protocol::Timestamp(0),
    });
    let batch = Batch {
        facts: vec![huge],
        ledger: Vec::new(),
    };
    bench
        .committer
        .as_mut()
        .unwrap()
        .submit(batch, "a")
        .unwrap();
    let Ok(Failed(said)) = bench.events.recv_timeout(DEADLINE) else {
        panic!("it went on")
    };
    assert!(said.contains("larger than 4096"), "{said}");
}

#[test]
fn a_snapshot_covers_what_was_submitted_before_it() {
    let mut bench = Bench::new(Options {
        snapshot_every: 3,
        ..Options::default()
    });
    bench.submit(2, "a");
    assert!(!bench.committer.as_ref().unwrap().snapshot_is_due());
    bench.expect(&[Append(2), SyncBegins]);
    bench.submit(1, "b");
    let committer = bench.committer.as_mut().unwrap();
    assert!(committer.snapshot_is_due());
    committer.snapshot(b"state".to_vec()).unwrap();
    assert!(!committer.snapshot_is_due());
    bench.submit(1, "c");
    bench.let_sync();
    bench.expect(&[Released("a"), Append(3), SyncBegins]);
    bench.let_sync();
    bench.expect(&[
        Released("b"),
        Snapshot(3, b"state".to_vec()),
        Append(4),
        SyncBegins,
    ]);
    bench.let_sync();
    bench.expect(&[Released("c")]);
}

#[test]
fn a_full_queue_makes_the_core_wait_and_a_stuck_disk_is_said() {
    let submit_wait = Duration::from_millis(50);
    let mut bench = Bench::new(Options {
        queue: 2,
        submit_wait,
        ..Options::default()
    });
    bench.submit(1, "a");
    bench.expect(&[Append(1), SyncBegins]);
    bench.submit(1, "b");
    bench.submit(1, "c");
    let committer = bench.committer.as_mut().unwrap();
    assert_eq!(
        committer.submit(batch(1), "d"),
        Err(SubmitError::Stuck(submit_wait))
    );
    bench.let_sync();
    bench.expect(&[Released("a"), Append(2), Append(3), SyncBegins]);
    bench.submit(1, "e");
    bench.let_sync();
    bench.expect(&[Released("b"), Released("c"), Append(4), SyncBegins]);
    bench.let_sync();
    bench.expect(&[Released("e")]);
}

#[test]
fn close_finishes_what_was_submitted() {
    let mut bench = Bench::new(Options::default());
    bench.submit(1, "a");
    bench.expect(&[Append(1), SyncBegins]);
    bench.submit(1, "b");
    bench.let_sync();
    bench.let_sync();
    bench.committer.take().unwrap().close(DEADLINE).unwrap();
    let came: VecDeque<_> = bench.events.try_iter().collect();
    assert_eq!(
        came,
        [Released("a"), Append(2), SyncBegins, Released("b"), Closed]
    );
}

#[test]
fn close_does_not_wait_for_ever() {
    let mut bench = Bench::new(Options::default());
    bench.submit(1, "a");
    bench.expect(&[Append(1), SyncBegins]);
    let wait = Duration::from_millis(50);
    assert_eq!(
        bench.committer.take().unwrap().close(wait),
        Err(SubmitError::Stuck(wait))
    );
    bench.let_sync();
    bench.expect(&[Released("a")]);
}
