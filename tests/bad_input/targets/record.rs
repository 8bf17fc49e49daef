//! What the journal reads back: records, chains of them, snapshots and ledger rows.
//!
//! The first byte of an input says what the rest is: `r` a record; `f` the payload of one, which
//! gets a right header and checksum here; `c` a chain; `s` a snapshot; `l` a ledger row, after its
//! key and a line feed.

use std::fmt::Write as _;

use dispatch::edge::record::{self, ChainHash, Header};
use dispatch::edge::{Anchor, Replay, Seq, replay};
use dispatch::{Core, Effects, Fact, Input, Ledger, Now, State, ledger_changes};
use protocol::{OrderId, Timestamp};

use crate::site;

/// Records of one chain.
const RECORDS_MAX: usize = 16;
/// Bytes of an error's text.
const TOLD_BYTES_MAX: usize = 1_000;

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let Some((kind, rest)) = data.split_first() else {
        return String::new();
    };
    match kind {
        b'r' => one(rest),
        b'f' => one(&frame(
            &Header {
                seq: 7,
                last: true,
                durable: 6,
                previous: ChainHash::default(),
            },
            rest,
        )),
        b'c' => chain(rest),
        b's' => snapshot(rest),
        b'l' => row(rest),
        _ => String::new(),
    }
}

/// A record with this payload.
fn frame(header: &Header, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short payload");
    let mut record = vec![1, u8::from(header.last)];
    record.extend_from_slice(&length.to_be_bytes());
    record.extend_from_slice(&header.seq.to_be_bytes());
    record.extend_from_slice(&header.durable.to_be_bytes());
    record.extend_from_slice(&header.previous.0);
    record.extend_from_slice(payload);
    let sum = record::checksum(&[&record]);
    record.extend_from_slice(&sum.to_be_bytes());
    record
}

/// A record that is read can be written again, and what it says can become part of the state.
fn one(bytes: &[u8]) -> String {
    let (header, fact) = match record::decode(bytes) {
        Ok(read) => read,
        Err(error) => return told(&error.to_string()),
    };
    // A payload may be written in more bytes than are needed, never in fewer.
    let written = record::encode(&header, &fact).expect("a fact that was read");
    assert_eq!(record::decode(&written), Ok((header, fact.clone())));
    let mut state = State::default();
    let log = format!("{header:?} {fact:?}\n") + &apply(&mut state, &fact);
    log + &state_again(&state)
}

/// Applies a fact. The ledger rows that change can be read back.
fn apply(state: &mut State, fact: &Fact) -> String {
    state.apply(fact);
    let mut log = String::new();
    for change in ledger_changes(state, std::slice::from_ref(fact)) {
        let Some(row) = change.row else { continue };
        let mut ledger = Ledger::default();
        ledger
            .load_row(&change.key, &row)
            .expect("a row that was written");
        let order = order_of(&change.key).expect("the key of an order");
        assert_eq!(ledger.find(&order), state.ledger.find(&order));
        let _ = writeln!(log, "{:?}", ledger.find(&order));
    }
    log
}

fn order_of(key: &[u8]) -> Option<OrderId> {
    std::str::from_utf8(key.strip_prefix(b"ride/")?)
        .ok()?
        .parse()
        .ok()
}

/// Two bytes say what is known before the chain; then come records: the length of a payload (two
/// bytes), how its record is damaged (one byte), and the payload.
fn chain(data: &[u8]) -> String {
    let [start, durable, ..] = data else {
        return String::new();
    };
    let seq = [0, 1, u64::MAX - 2, u64::MAX - 1, u64::MAX][usize::from(*start) % 5];
    let anchor = Anchor {
        seq,
        hash: ChainHash([*start; 16]),
    };
    let durable = seq.saturating_add(u64::from(*durable));
    let records = records(anchor, &data[2..]);
    let result = replay(
        anchor,
        durable,
        records.iter().map(|(seq, record)| (*seq, record)),
    );
    match result {
        Err(error) => told(&error.to_string()),
        Ok(replayed) => {
            check_replay(anchor, durable, &records, &replayed);
            format!("{replayed:?}")
        }
    }
}

fn records(anchor: Anchor, mut rest: &[u8]) -> Vec<(Seq, Vec<u8>)> {
    let mut records = Vec::new();
    let mut end = anchor;
    while let Some(([high, low, damage], after)) = rest.split_first_chunk::<3>() {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (payload, after) = after.split_at(length);
        rest = after;
        let has = |bit: u8| damage & (1 << bit) != 0;
        let seq = end.seq.saturating_add(if has(1) { 2 } else { 1 });
        let header = Header {
            seq,
            last: !has(0),
            durable: if has(2) {
                seq - 1
            } else if has(3) {
                u64::MAX
            } else {
                anchor.seq
            },
            previous: if has(4) { ChainHash([9; 16]) } else { end.hash },
        };
        let mut record = frame(&header, payload);
        end = Anchor {
            seq,
            hash: ChainHash::of(&record),
        };
        if has(5) {
            record[20] ^= 1;
        }
        if has(6) {
            record.truncate(record.len() / 2);
        }
        records.push((if has(7) { seq.saturating_add(1) } else { seq }, record));
        if records.len() == RECORDS_MAX {
            break;
        }
    }
    records
}

/// What stands is whole, follows the anchor without a gap, and stands again without its tail.
fn check_replay(anchor: Anchor, durable: Seq, records: &[(Seq, Vec<u8>)], replayed: &Replay) {
    let Replay { facts, end, cut } = replayed;
    assert!(
        end.seq >= durable.max(anchor.seq),
        "what was durable stands"
    );
    let numbers = facts.iter().map(|(seq, _)| *seq);
    assert!(
        numbers.eq((anchor.seq..end.seq).map(|before| before + 1)),
        "{facts:?}"
    );
    assert!(cut.iter().all(|seq| *seq > end.seq), "{cut:?} of {end:?}");
    let kept = records.iter().filter(|(seq, _)| *seq <= end.seq);
    let kept: Vec<_> = kept.map(|(seq, record)| (*seq, record)).collect();
    assert_eq!(kept.len() + cut.len(), records.len(), "each is kept or cut");
    let again = replay(anchor, durable, kept).expect("what stands");
    assert_eq!((&again.facts, again.end, again.cut.len()), (facts, *end, 0));
}

/// A snapshot that is read is written the same each time, and a core can go on from it.
fn snapshot(bytes: &[u8]) -> String {
    let state = match State::load(Some(bytes), Ledger::default(), []) {
        Ok(state) => state,
        Err(error) => return told(&error.to_string()),
    };
    let log = state_again(&state);
    let mut core = Core::restore(site::site(), state);
    let mut out = Effects::default();
    let mut said = 0;
    let inputs = [
        (
            0,
            Input::Start {
                restored: bytes.len().is_multiple_of(2),
            },
        ),
        (0, Input::Broker { up: true }),
        (700, Input::Tick),
        (100_000, Input::Tick),
    ];
    for (mono_ms, input) in inputs {
        let wall = Timestamp(1_796_032_800_000 + mono_ms);
        core.step(Now { mono_ms, wall }, input, &mut out);
        said += out.facts.len() + out.effects.len();
        out.clear();
    }
    format!("{log}{said}")
}

fn state_again(state: &State) -> String {
    let written = state.encode_snapshot();
    let again =
        State::load(Some(&written), Ledger::default(), []).expect("a state that was written");
    assert_eq!(again.encode_snapshot(), written);
    format!("{:?} {:?} {:?}", again.rides, again.elevators, again.zones)
}

/// A row that is read is found.
fn row(data: &[u8]) -> String {
    let at = data
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(data.len());
    let (key, row) = data.split_at(at);
    let mut ledger = Ledger::default();
    if let Err(error) = ledger.load_row(key, row.strip_prefix(b"\n").unwrap_or(row)) {
        assert!(ledger.is_empty());
        return told(&error.to_string());
    }
    assert_eq!(ledger.len(), 1);
    let order = order_of(key).expect("a key that was taken");
    let found = ledger.find(&order).expect("a row that was taken");
    if let Some(ended) = &found.ended {
        assert_eq!(ledger.oldest_ended(ended.at).as_ref(), Some(&order));
    }
    format!("{found:?}")
}

/// An error's text is one line of bounded length.
fn told(text: &str) -> String {
    assert!(
        (1..=TOLD_BYTES_MAX).contains(&text.len()),
        "{} bytes",
        text.len()
    );
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!text.contains(breaks), "{text:?}");
    text.to_owned()
}
