use std::fs;

use protocol::{OrderId, RobotId, Timestamp};
use tempfile::TempDir;

use super::*;

const OURS: JournalId = JournalId(7);
const OTHER: JournalId = JournalId(8);

fn id(name: &str) -> ElevatorId {
    ElevatorId::new(name).unwrap()
}

fn open(dir: &TempDir, journal: JournalId, last: Seq) -> FenceMarks {
    FenceMarks::open(dir.path(), journal, last, false).unwrap()
}

fn on_disk(dir: &TempDir) -> Content {
    file::read(dir.path()).unwrap().unwrap()
}

fn mark(dir: &TempDir, name: &str) -> u64 {
    on_disk(dir).marks[&id(name)].0
}

fn behind(marks: &FenceMarks, fences: &[(&str, u64)]) -> Vec<(String, u64)> {
    let fences = fences
        .iter()
        .map(|(name, fence)| (id(name), Fence(*fence)))
        .collect();
    marks
        .behind(&fences)
        .into_iter()
        .map(|(name, mark)| (name.to_string(), mark.0))
        .collect()
}

fn granted(name: &str, fence: u64) -> Fact {
    Fact::Elevator(ElevatorFact::Granted {
        elevator: id(name),
        order: OrderId::new("T-1").unwrap(),
        robot: RobotId::new("R1").unwrap(),
        fence: Fence(fence),
        at: Timestamp(0),
    })
}

/// A file after EL001 was given up to `fence`.
fn written(dir: &TempDir, fence: u64, durable: Seq) {
    let mut marks = open(dir, OURS, 0);
    marks
        .reserve([(&id("EL001"), Fence(fence))], durable)
        .unwrap();
    marks.close(durable).unwrap();
}

#[test]
fn a_missing_file_is_made_and_marks_are_ahead_before_the_first_grant() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    assert_eq!(marks.verdict(), Verdict::First);
    assert!(!marks.verdict().is_loss());
    marks
        .reserve([(&id("EL001"), Fence(0)), (&id("EL002"), Fence(41))], 9)
        .unwrap();
    // Without waiting for anything: reserve itself waited.
    assert_eq!((mark(&dir, "EL001"), mark(&dir, "EL002")), (1000, 1041));
    assert_eq!((on_disk(&dir).journal, on_disk(&dir).durable), (OURS, 9));
}

#[test]
fn a_mark_is_reserved_anew_when_less_than_500_are_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    marks.note(&[granted("EL001", 1)], 0).unwrap();
    assert_eq!(mark(&dir, "EL001"), 1001);
    for (fence, expected) in [
        (500, 1001),
        (501, 1001),
        (502, 1502),
        (1002, 1502),
        (1003, 2003),
    ] {
        marks.note(&[granted("EL001", fence)], 0).unwrap();
        marks.writer.wait().unwrap();
        assert_eq!(mark(&dir, "EL001"), expected, "fence {fence}");
    }
}

#[test]
fn a_fence_above_its_mark_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    let raised = ElevatorFact::FenceRaised {
        elevator: id("EL001"),
        fence: Fence(70_000),
    };
    marks.note(&[Fact::Elevator(raised)], 0).unwrap();
    assert_eq!(mark(&dir, "EL001"), 71_000);
}

#[test]
fn with_its_own_journal_nothing_is_raised() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir, 300, 50);
    let marks = open(&dir, OURS, 50);
    assert_eq!(marks.verdict(), Verdict::Same);
    // 300 was given; a crash may have kept some hundred grants from the journal.
    for fence in [300, 299, 100] {
        assert_eq!(behind(&marks, &[("EL001", fence), ("EL002", 0)]), []);
    }
    assert_eq!(open(&dir, OURS, 51).verdict(), Verdict::Same);
}

#[test]
fn a_lost_journal_reuses_no_fence() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir, 3, 50);
    let marks = open(&dir, OTHER, 0);
    assert_eq!(marks.verdict(), Verdict::Lost);
    let [(elevator, fence)] = &behind(&marks, &[("EL001", 0)])[..] else {
        panic!("not raised")
    };
    assert_eq!(elevator, "EL001");
    assert!(*fence >= 1003, "law 3: {fence}");
}

#[test]
fn a_loss_stands_over_restarts_until_each_fence_is_raised() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    marks
        .reserve([(&id("EL001"), Fence(3)), (&id("EL002"), Fence(5))], 50)
        .unwrap();
    marks.close(50).unwrap();
    drop(open(&dir, OTHER, 0));

    let mut marks = open(&dir, OTHER, 0);
    assert_eq!(
        marks.verdict(),
        Verdict::Same,
        "the file names the new journal"
    );
    let both = behind(&marks, &[("EL001", 0), ("EL002", 0)]);
    assert_eq!(
        both,
        [("EL001".to_owned(), 3003), ("EL002".to_owned(), 3005)]
    );
    let raised = ElevatorFact::FenceRaised {
        elevator: id("EL001"),
        fence: Fence(3004),
    };
    marks.note(&[Fact::Elevator(raised)], 0).unwrap();
    marks.close(1).unwrap();

    // The raised fence of EL001 is in the journal, EL002 was not reached.
    let marks = open(&dir, OTHER, 1);
    let rest = behind(&marks, &[("EL001", 3004), ("EL002", 0)]);
    assert_eq!(rest, [("EL002".to_owned(), 3005)]);
    // Or a crash kept it out of the journal, though the mark was reserved.
    let both = behind(&marks, &[("EL001", 0), ("EL002", 0)]);
    assert_eq!(both.len(), 2);
}

#[test]
fn an_older_journal_and_a_restored_one_count_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir, 3, 50);
    let marks = open(&dir, OURS, 49);
    assert_eq!(marks.verdict(), Verdict::Older { durable: 50 });
    assert_eq!(
        behind(&marks, &[("EL001", 2)]),
        [("EL001".to_owned(), 3003)]
    );
    drop(marks);

    let dir = tempfile::tempdir().unwrap();
    written(&dir, 3, 50);
    let marks = FenceMarks::open(dir.path(), OURS, 50, true).unwrap();
    assert_eq!(marks.verdict(), Verdict::Restored);
    assert_eq!(
        behind(&marks, &[("EL001", 3)]),
        [("EL001".to_owned(), 3003)]
    );
}

#[test]
fn elevators_of_an_earlier_configuration_keep_their_marks() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir, 300, 50);
    let mut marks = open(&dir, OURS, 50);
    marks.reserve([(&id("EL002"), Fence(0))], 51).unwrap();
    assert_eq!((mark(&dir, "EL001"), mark(&dir, "EL002")), (1300, 1000));
}

#[test]
fn a_corrupt_file_is_refused_with_words_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    written(&dir, 300, 50);
    let path = dir.path().join("fences");
    let text = fs::read_to_string(&path).unwrap().replace("1300", "1301");
    fs::write(&path, text).unwrap();
    let error = FenceMarks::open(dir.path(), OURS, 50, false).unwrap_err();
    assert!(matches!(error, FenceMarkError::Corrupt { .. }));
    let said = error.to_string();
    for words in [
        "fences is corrupt",
        "checksum",
        "move this file away",
        "--restored",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_disk_that_fails_is_said_before_the_fence_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    marks.reserve([(&id("EL001"), Fence(0))], 0).unwrap();
    let path = dir.path().to_owned();
    fs::remove_dir_all(&path).unwrap();
    let error = marks.note(&[granted("EL001", 5000)], 0).unwrap_err();
    assert!(matches!(error, FenceMarkError::Store(_)), "{error}");
    assert!(marks.note(&[], 0).is_err(), "and ever after");
}

#[test]
fn the_file_follows_the_journal_every_10_000_records() {
    let dir = tempfile::tempdir().unwrap();
    let mut marks = open(&dir, OURS, 0);
    marks.reserve([(&id("EL001"), Fence(0))], 1).unwrap();
    for (durable, expected) in [(10_000, 1), (10_001, 10_001), (20_000, 10_001)] {
        marks.note(&[], durable).unwrap();
        marks.writer.wait().unwrap();
        assert_eq!(on_disk(&dir).durable, expected);
    }
}
