//! `hallcall journal compact` and `backup`, and what a start says of a data directory that it cannot
//! use.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use dispatch::edge::Journal;
use hallcall::journal::SledJournal;
use serde_json::{Value, json};

use crate::command::{Site, damage};
use crate::refused::bytes;
use crate::{load, step, used};

/// A site whose gateway has seen many orders and forgotten half of them; closed.
fn worked() -> Site {
    let site = Site::filled();
    let mut journal = SledJournal::open(&site.data()).unwrap();
    load(&mut journal).unwrap();
    for n in 0..1200_u64 {
        let mut rows = vec![(format!("r:O-{n}"), Some(format!("ended {n:90}")))];
        if n >= 600 {
            rows.push((format!("r:O-{}", n - 600), None));
        }
        let last = journal
            .append(&step(&[format!("A{n}"), format!("B{n}")], &rows))
            .unwrap();
        if n % 10 == 9 {
            journal.sync().unwrap();
        }
        if n % 100 == 99 && n < 1100 {
            journal.snapshot(last, &[5; 300_000]).unwrap();
        }
    }
    journal.close().unwrap();
    site
}

/// All that the journal below a data directory says.
fn content(data: &Path) -> (u64, BTreeMap<Vec<u8>, Vec<u8>>, String) {
    let mut journal = SledJournal::open(data).unwrap();
    let read = load(&mut journal).unwrap();
    let rest = format!("{:?} {:?} {:?}", journal.id(), read.facts, read.snapshot);
    (read.last(), read.ledger.into_iter().collect(), rest)
}

fn verify(site: &Site) -> Value {
    let (code, mut lines) = site.json(&["verify", "--json"]);
    assert_eq!(code, 0, "{lines:?}");
    lines.remove(0)
}

#[test]
fn a_compacted_journal_is_smaller_and_says_the_same() {
    let site = worked();
    let (before, said) = (content(&site.data()), verify(&site));
    assert_eq!((before.0, before.1.len()), (2404, 602));
    // What a process left that was killed in the midst of it.
    fs::create_dir_all(site.data().join("compact.new/journal")).unwrap();
    let (code, lines) = site.json(&["compact", "--json"]);
    assert_eq!(
        (code, &lines[0]["ok"], &lines[0]["last"]),
        (0, &json!(true), &json!(2404))
    );
    assert_eq!(lines[0]["ledger_rows"], json!(602));
    let bytes = |name: &str| lines[0][name].as_u64().unwrap();
    assert!(bytes("bytes_after") < bytes("bytes_before"), "{lines:?}");
    assert_eq!(verify(&site), said, "fences too");
    assert!(content(&site.data()) == before);
    let mut left: Vec<_> = fs::read_dir(site.data())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["fences", "journal", "lock"]);
    // And it goes on from there.
    let mut journal = SledJournal::open(&site.data()).unwrap();
    load(&mut journal).unwrap();
    let row = ("r:O-700".to_owned(), None);
    assert_eq!(
        journal.append(&step(&["Z".to_owned()], &[row])).unwrap(),
        2405
    );
    journal.close().unwrap();
    drop(journal);
    assert_eq!(verify(&site)["ledger_rows"], json!(601));
}

/// Whenever it ends, the journal is the old one or the new one.
#[test]
fn compact_may_be_killed_at_any_moment() {
    let site = worked();
    let said = verify(&site);
    let mut killed = 0;
    for round in 0..12 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hallcall"))
            .args(["journal", "compact", "--config"])
            .arg(&site.config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Some in its first milliseconds, some while it writes, some when it is done.
        thread::sleep(Duration::from_millis(round * round * 5));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        assert_eq!(verify(&site), said, "round {round}");
    }
    assert!(killed >= 3, "{killed} were killed in time");
    assert_eq!(site.run(&["compact"]).0, 0);
    assert_eq!(verify(&site), said);
    assert!(!site.data().join("compact.new").exists());
}

#[test]
fn a_damaged_journal_is_neither_compacted_nor_backed_up() {
    let site = worked();
    damage(&site.data(), 2300);
    let before = bytes(&site.data());
    let to = site.data().with_file_name("copy");
    let (code, lines) = site.json(&["compact", "--json"]);
    assert_eq!((code, &lines[0]["ok"]), (4, &json!(false)));
    assert!(
        lines[0]["detail"]
            .as_str()
            .unwrap()
            .contains("record 2300 is corrupt")
    );
    let (code, _) = site.run(&["backup", "--to", to.to_str().unwrap()]);
    assert_eq!(code, 4);
    assert!(!to.exists(), "what was copied is of no use");
    assert!(bytes(&site.data()) == before, "law 11");
}

#[test]
fn a_backup_is_the_whole_data_directory() {
    let site = worked();
    let before = bytes(&site.data());
    let to = site.data().with_file_name("copies").join("monday");
    let (code, lines) = site.json(&["backup", "--json", "--to", to.to_str().unwrap()]);
    assert_eq!((code, &lines[0]["ok"]), (0, &json!(true)), "{lines:?}");
    let of = |dir: &Path| -> BTreeMap<_, _> {
        let named = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
            (path.strip_prefix(dir).unwrap().to_owned(), bytes)
        };
        bytes(dir).into_iter().map(named).collect()
    };
    assert!(of(&to) == of(&site.data()), "byte for byte");
    assert!(bytes(&site.data()) == before);
    let names: Vec<_> = fs::read_dir(&to)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "journal and fences: {names:?}");
    // Not over another one.
    let again = bytes(&to);
    let (code, lines) = site.json(&["backup", "--json", "--to", to.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(
        lines[0]["detail"]
            .as_str()
            .unwrap()
            .contains("is not empty")
    );
    assert!(bytes(&to) == again);
    // It is a data directory.
    assert!(content(&to) == content(&site.data()));
    let journal = SledJournal::open(&site.data()).unwrap();
    let other = to.with_file_name("tuesday");
    let (code, _) = site.run(&["backup", "--to", other.to_str().unwrap()]);
    assert_eq!(code, 3, "AT-GW-07");
    assert!(!other.exists());
    drop(journal);
    let site = Site::new();
    assert_eq!(site.run(&["backup", "--to", other.to_str().unwrap()]).0, 2);
    assert_eq!(site.run(&["compact"]).0, 2);
}

/// `hallcall run` that is refused before it talks to anybody.
fn refused_start(site: &Site, more: &[&str]) -> (Option<i32>, String) {
    let before = bytes(&site.data());
    let Output { status, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_hallcall"))
        .args(["run", "--config"])
        .arg(&site.config)
        .args(more)
        .output()
        .unwrap();
    assert!(
        bytes(&site.data()) == before,
        "law 11: a refused start changes nothing"
    );
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn a_start_on_damaged_data_is_refused_and_changes_nothing() {
    let site = worked();
    damage(&site.data(), 2300);
    let (code, said) = refused_start(&site, &[]);
    assert_eq!(code, Some(4));
    assert!(said.contains("record 2300 is corrupt"), "{said}");

    let site = worked();
    let fences = site.data().join("fences");
    let text = fs::read_to_string(&fences).unwrap().replace("1005", "1006");
    fs::write(&fences, text).unwrap();
    let (code, said) = refused_start(&site, &[]);
    assert_eq!(code, Some(4));
    assert!(said.contains("fences is corrupt"), "law 3: {said}");

    let site = worked();
    let path = site.data().join("journal/db");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..used(&whole) / 2]).unwrap();
    assert_eq!(refused_start(&site, &[]).0, Some(4));

    let site = worked();
    let journal = SledJournal::open(&site.data()).unwrap();
    let taken = Command::new(env!("CARGO_BIN_EXE_hallcall"))
        .args(["run", "--config"])
        .arg(&site.config)
        .output()
        .unwrap();
    assert_eq!(taken.status.code(), Some(3), "AT-GW-07");
    drop(journal);
}

#[test]
fn the_data_of_another_gateway_is_refused() {
    let site = worked();
    let mut journal = SledJournal::open(&site.data()).unwrap();
    journal.set_owner("gateway gw-9 of hallcall/v1/other".to_owned());
    load(&mut journal).unwrap();
    journal.close().unwrap();
    drop(journal);
    let (code, said) = refused_start(&site, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("it holds the rides of gateway gw-9 of hallcall/v1/other"),
        "{said}"
    );
    assert!(said.contains("--restored"), "{said}");
    // It is still there in a compacted one.
    assert_eq!(site.run(&["compact"]).0, 0);
    assert_eq!(refused_start(&site, &[]).0, Some(2));
}
