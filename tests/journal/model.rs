//! Random histories against a model in memory.

use std::collections::BTreeMap;

use dispatch::edge::{Journal, Seq};
use hallcall::journal::SledJournal;
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{Read, copy, fact, load, step};

#[derive(Debug, Clone)]
enum Act {
    /// A step of so many facts, with changes to the ledger.
    Step(usize, Vec<(u8, Option<u8>)>),
    Sync,
    /// A snapshot of so many bytes, that covers all but so many of the last steps.
    Snapshot(usize, usize),
    /// The process ends as it should.
    Close,
    /// The process is killed.
    Kill,
}

fn act() -> impl Strategy<Value = Act> {
    let changes = vec((0..24_u8, any::<Option<u8>>()), 0..6);
    prop_oneof![
        8 => (1..5_usize, changes).prop_map(|(facts, changes)| Act::Step(facts, changes)),
        3 => Just(Act::Sync),
        1 => (0..9000_usize, 0..3_usize).prop_map(|(bytes, back)| Act::Snapshot(bytes, back)),
        1 => Just(Act::Close),
        2 => Just(Act::Kill),
    ]
}

/// What the journal holds after a step.
#[derive(Debug, Clone, Default)]
struct After {
    last: Seq,
    names: Vec<String>,
    ledger: BTreeMap<Vec<u8>, Vec<u8>>,
}

#[derive(Default)]
struct Model {
    /// After each step, from the empty journal on.
    steps: Vec<After>,
    /// The last record that was synced.
    durable: Seq,
    snapshot: Option<(Seq, Vec<u8>)>,
}

impl Model {
    fn now(&self) -> &After {
        self.steps.last().unwrap()
    }

    /// Compares what was loaded, and goes on from it.
    fn loaded(&mut self, loaded: &Read) {
        let last = loaded.last();
        assert!(
            last >= self.durable,
            "synced up to {}, loaded {last}",
            self.durable
        );
        let place = self.steps.iter().position(|after| after.last == last);
        let place = place.unwrap_or_else(|| panic!("a step is kept whole or not at all: {last}"));
        self.steps.truncate(place + 1);
        let now = self.now();
        assert_eq!(loaded.snapshot, self.snapshot);
        let covered = self.snapshot.as_ref().map_or(0, |(covers, _)| *covers);
        let tail = now
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| (at as u64 + 1, fact(name)));
        let tail: Vec<_> = tail.filter(|(seq, _)| *seq > covered).collect();
        assert_eq!(loaded.facts, tail);
        assert_eq!(loaded.rows, loaded.ledger.len() as u64);
        let ledger: BTreeMap<_, _> = loaded.ledger.iter().cloned().collect();
        assert!(ledger == now.ledger, "{:?}", ledger.keys());
        self.durable = last;
    }
}

fn start(dir: &TempDir) -> (SledJournal, Read) {
    let mut journal = SledJournal::open(dir.path()).unwrap();
    let loaded = load(&mut journal).unwrap();
    (journal, loaded)
}

fn run(acts: Vec<Act>) {
    let mut dir = tempfile::tempdir().unwrap();
    let (mut journal, loaded) = start(&dir);
    let mut model = Model {
        steps: vec![After::default()],
        ..Model::default()
    };
    model.loaded(&loaded);
    for act in acts {
        match act {
            Act::Step(facts, changes) => {
                let mut after = model.now().clone();
                let names: Vec<_> = (1..=facts)
                    .map(|n| format!("S{}-{n}", after.last))
                    .collect();
                let mut made = Vec::new();
                for (key, row) in changes {
                    let key = format!("r:T-{key}");
                    let before = after.ledger.get(key.as_bytes());
                    let is_settled = before.is_some_and(|row| row.starts_with(b"ended"));
                    // What has settled is only removed. Five settled rows fill a block.
                    let row = row.filter(|_| !is_settled).map(|row| match row % 2 {
                        0 => format!("row {row}"),
                        _ => format!("ended {row:3000}"),
                    });
                    let bytes = key.clone().into_bytes();
                    match &row {
                        Some(row) => after.ledger.insert(bytes, row.clone().into_bytes()),
                        None => after.ledger.remove(&bytes),
                    };
                    made.push((key, row));
                }
                let changes = made;
                after.last += facts as u64;
                after.names.extend(names.iter().cloned());
                assert_eq!(journal.append(&step(&names, &changes)).unwrap(), after.last);
                model.steps.push(after);
            }
            Act::Sync => {
                journal.sync().unwrap();
                model.durable = model.now().last;
            }
            Act::Snapshot(bytes, back) => {
                let place = model.steps.len().saturating_sub(1 + back);
                let covers = model.steps[place].last;
                let state = vec![u8::try_from(covers % 251).unwrap(); bytes];
                journal.snapshot(covers, &state).unwrap();
                let before = model.snapshot.as_ref().map_or(0, |(covers, _)| *covers);
                if covers > before {
                    model.snapshot = Some((covers, state));
                    model.durable = model.now().last;
                }
            }
            Act::Close => {
                journal.close().unwrap();
                model.durable = model.now().last;
                drop(journal);
                let loaded;
                (journal, loaded) = start(&dir);
                model.loaded(&loaded);
            }
            Act::Kill => {
                let left = tempfile::tempdir().unwrap();
                copy(dir.path(), left.path());
                drop(journal);
                dir = left;
                let loaded;
                (journal, loaded) = start(&dir);
                model.loaded(&loaded);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Laws 4 and 8: what was synced is there after any end of the process, a step whole or not at
    /// all, and facts, snapshot and ledger are of one moment.
    #[test]
    fn what_was_synced_is_there_after_any_end(acts in vec(act(), 1..60)) {
        run(acts);
    }
}
