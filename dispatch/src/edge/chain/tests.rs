use protocol::ElevatorId;

use super::*;
use crate::fact::ElevatorFact;

fn facts(names: &[&str]) -> Vec<Fact> {
    let freed = |name: &&str| {
        Fact::Elevator(ElevatorFact::Freed {
            elevator: ElevatorId::new(name).unwrap(),
        })
    };
    names.iter().map(freed).collect()
}

type Stored = Vec<(Seq, Vec<u8>)>;

/// Steps of 2, 1, 3 and 1 records (1-2, 3, 4-6, 7); the first two were synced before the third,
/// so that record 4 carries the mark 3, and so do 5 to 7.
fn journal() -> Stored {
    let mut chain = Chain::new(Anchor::default());
    let mut stored = chain.extend(&facts(&["A", "B"])).unwrap();
    stored.extend(chain.extend(&facts(&["C"])).unwrap());
    chain.synced();
    stored.extend(chain.extend(&facts(&["D", "E", "F"])).unwrap());
    stored.extend(chain.extend(&facts(&["G"])).unwrap());
    assert_eq!((chain.end().seq, chain.durable()), (7, 3));
    stored
}

fn read(stored: &Stored) -> Result<Replay, JournalError> {
    replay(
        Anchor::default(),
        0,
        stored.iter().map(|(seq, record)| (*seq, record)),
    )
}

/// How many records stand and are cut, or which one is corrupt.
fn verdict(stored: &Stored) -> Result<(Seq, usize), Seq> {
    match read(stored) {
        Ok(read) => {
            assert_eq!(read.facts.len() as u64, read.end.seq);
            Ok((read.end.seq, read.cut.len()))
        }
        Err(JournalError::Corrupt { seq, .. }) => Err(seq),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_was_written_is_read_and_the_chain_goes_on() {
    let stored = journal();
    let all = read(&stored).unwrap();
    let names = facts(&["A", "B", "C", "D", "E", "F", "G"]);
    assert_eq!(all.facts, (1..).zip(names).collect::<Vec<_>>());
    assert!(all.cut.is_empty());

    let mut on = Chain::new(all.end);
    let mut longer = stored.clone();
    longer.extend(on.extend(&facts(&["H"])).unwrap());
    assert_eq!(verdict(&longer), Ok((8, 0)));
}

#[test]
fn reading_goes_on_after_a_snapshot() {
    let stored = journal();
    let third = Anchor {
        seq: 3,
        hash: ChainHash::of(&stored[2].1),
    };
    let tail = stored[3..].iter().map(|(seq, record)| (*seq, record));
    let read = replay(third, 0, tail.clone()).unwrap();
    assert_eq!(
        read.facts.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
        [4, 5, 6, 7]
    );

    let other = Anchor {
        seq: 3,
        hash: ChainHash::of(b"another record 3"),
    };
    // Nothing says that record 4 was durable, so a chain that does not fit is a tail.
    assert_eq!(replay(other, 0, tail.clone()).unwrap().cut, [4, 5, 6, 7]);
    assert!(matches!(
        replay(other, 4, tail),
        Err(JournalError::Corrupt { seq: 4, .. })
    ));
}

#[test]
fn a_missing_record_is_a_tail_after_the_durable_mark_and_corruption_before_it() {
    // (missing record, verdict); the mark is 3 as long as one of 4 to 7 can be read.
    let table = [
        (1, Err(1)),
        (2, Err(2)),
        (3, Err(3)),
        (4, Ok((3, 3))),
        (5, Ok((3, 3))), // 4 alone is no whole step
        (6, Ok((3, 3))),
        (7, Ok((6, 0))),
    ];
    for (missing, expected) in table {
        let mut stored = journal();
        stored.retain(|(seq, _)| *seq != missing);
        assert_eq!(verdict(&stored), expected, "record {missing}");
    }
}

#[test]
fn a_damaged_record_is_a_tail_after_the_durable_mark_and_corruption_before_it() {
    let table = [
        (1, Err(1)),
        (2, Err(2)),
        (3, Err(3)),
        (4, Ok((3, 4))),
        (5, Ok((3, 4))),
        (6, Ok((3, 4))),
        (7, Ok((6, 1))),
    ];
    for (damaged, expected) in table {
        for at in [0, 1, 3, 10, 20, 30, 40, 60] {
            let mut stored = journal();
            stored[damaged - 1].1[at] ^= 0x10;
            assert_eq!(verdict(&stored), expected, "record {damaged}, byte {at}");
        }
    }
}

#[test]
fn a_record_torn_at_any_byte_is_cut_off() {
    let whole = journal();
    for end in 0..whole[6].1.len() {
        let mut stored = whole.clone();
        stored[6].1.truncate(end);
        assert_eq!(verdict(&stored), Ok((6, 1)), "{end} bytes");
    }
}

#[test]
fn a_step_is_kept_whole_or_not_at_all() {
    for length in 0..=7 {
        let mut stored = journal();
        stored.truncate(length);
        let expected = match length {
            0 | 1 => Ok((0, length)),
            2 => Ok((2, 0)),
            3 => Ok((3, 0)),
            4 | 5 => Ok((3, length - 3)),
            6 => Ok((6, 0)),
            _ => Ok((7, 0)),
        };
        assert_eq!(verdict(&stored), expected, "{length} records");
    }
}

#[test]
fn what_is_known_durable_from_elsewhere_counts_as_a_mark() {
    let stored = journal();
    let read = |durable| {
        let four = stored[..4].iter().map(|(seq, record)| (*seq, record));
        replay(Anchor::default(), durable, four)
    };
    assert_eq!(read(3).unwrap().end.seq, 3);
    let error = read(6).unwrap_err().to_string();
    assert_eq!(
        error,
        "record 5 is corrupt: it is missing; records up to 6 were durable"
    );
}

#[test]
fn records_in_each_others_place_are_found() {
    let mut stored = journal();
    let (first, second) = (stored[0].1.clone(), stored[1].1.clone());
    stored[0].1 = second;
    stored[1].1 = first;
    let error = read(&stored).unwrap_err().to_string();
    let said = "in its place stands record 2; records up to 3 were durable";
    assert_eq!(error, format!("record 1 is corrupt: {said}"));
}

#[test]
fn a_record_of_another_chain_is_found() {
    let mut other = Chain::new(Anchor::default());
    let foreign = other.extend(&facts(&["X", "Y"])).unwrap();
    let mut stored = journal();
    stored[1] = foreign[1].clone();
    assert_eq!(verdict(&stored), Err(2));
}

#[test]
fn a_fact_that_does_not_fit_leaves_the_chain_as_it_was() {
    let mut chain = Chain::new(Anchor::default());
    let huge = Fact::Site(crate::fact::SiteFact::Operator {
        operator: "op".to_owned(),
        reason: "r".repeat(5000),
        action: crate::input::OperatorAction::ElevatorList,
        at: protocol::Timestamp(0),
    });
    let mut both = facts(&["A"]);
    both.push(huge);
    assert!(matches!(chain.extend(&both), Err(RecordError::TooLarge(_))));
    assert_eq!(chain.end(), Anchor::default());
}

/// Nobody writes 2^64 records; a journal edited by hand may say that somebody did (B6, 24).
#[test]
fn behind_the_last_number_no_record_stands() {
    let anchor = Anchor {
        seq: u64::MAX,
        hash: ChainHash([7; 16]),
    };
    let header = Header {
        seq: u64::MAX,
        last: true,
        durable: 0,
        previous: anchor.hash,
    };
    let record = record::encode(&header, &facts(&["A"])[0]).unwrap();
    let read = replay(anchor, 0, [(u64::MAX, record)]).unwrap();
    assert_eq!((read.end, read.facts.len()), (anchor, 0));
}
