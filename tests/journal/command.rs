//! `hallcall journal`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dispatch::edge::{Journal, Seq};
use hallcall::journal::{FenceMarks, SledJournal};
use protocol::{ElevatorId, Fence};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{change_record, load, open_sled, step};

pub(crate) struct Site {
    dir: TempDir,
    pub(crate) config: PathBuf,
}

impl Site {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("site.toml");
        let text = format!(
            "[gateway]\nsite = \"demo\"\ndata_dir = {:?}\n\n[[elevators]]\nid = \"EL001\"\n\
             floors = [{{ label = \"1F\", sides = [\"front\"], height_m = 0.0 }}, \
             {{ label = \"2F\", sides = [\"front\"], height_m = 4.0 }}]\n\
             driver = {{ kind = \"mqtt\" }}\n",
            dir.path().join("data")
        );
        fs::write(&config, text).unwrap();
        Self { dir, config }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Four records, two ledger rows, a snapshot up to the second record, and fence marks.
    pub(crate) fn filled() -> Self {
        let site = Self::new();
        let mut journal = SledJournal::open(&site.data()).unwrap();
        load(&mut journal).unwrap();
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        let row = |key: &str| (key.to_owned(), Some("\u{1}".to_owned()));
        journal
            .append(&step(&names(&["A", "B"]), &[row("r:T-1")]))
            .unwrap();
        journal.snapshot(2, b"state").unwrap();
        journal
            .append(&step(&names(&["C"]), &[row("r:T-2")]))
            .unwrap();
        journal.append(&step(&names(&["D"]), &[])).unwrap();
        journal.close().unwrap();
        let mut marks = FenceMarks::open(&site.data(), journal.id(), 4, false).unwrap();
        let elevator = ElevatorId::new("EL001").unwrap();
        marks.reserve([(&elevator, Fence(5))], 4).unwrap();
        marks.close(4).unwrap();
        site
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, Output) {
        let output = Command::new(env!("CARGO_BIN_EXE_hallcall"))
            .arg("journal")
            .args(arguments)
            .arg("--config")
            .arg(&self.config)
            .output()
            .unwrap();
        (output.status.code().unwrap(), output)
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let (code, output) = self.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        (
            code,
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        )
    }
}

/// Changes one byte of a record where it is stored.
pub(crate) fn damage(data: &Path, seq: Seq) {
    let db = open_sled(&data.join("journal"));
    change_record(&db, seq, |record| record[45] ^= 1);
    db.flush().unwrap();
}

#[test]
fn verify_says_what_there_is() {
    let site = Site::filled();
    let (code, lines) = site.json(&["verify", "--json"]);
    let expected = json!({
        "ok": true, "last": 4, "facts": 2, "snapshot": {"covers": 2, "bytes": 5},
        "ledger_rows": 2, "tail": 0, "fences": {"EL001": 1005}, "record": null, "detail": null,
    });
    assert_eq!((code, lines), (0, vec![expected]));
    let (code, output) = site.run(&["verify"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        code == 0 && said.starts_with("ok: the last record is 4,"),
        "{said}"
    );
}

#[test]
fn a_corrupt_record_is_named_with_exit_code_4() {
    let site = Site::filled();
    damage(&site.data(), 3);
    for _ in 0..2 {
        let (code, lines) = site.json(&["verify", "--json"]);
        assert_eq!(code, 4);
        assert_eq!(
            (&lines[0]["ok"], &lines[0]["record"]),
            (&json!(false), &json!(3))
        );
        assert!(
            lines[0]["detail"]
                .as_str()
                .unwrap()
                .contains("record 3 is corrupt")
        );
    }
    let (code, lines) = site.json(&["dump"]);
    assert_eq!(code, 4, "what can be read is printed all the same");
    let of = |seq: u64| lines.iter().find(|line| line["seq"] == json!(seq)).unwrap();
    assert!(of(3)["error"].as_str().unwrap().contains("checksum"));
    assert_eq!(of(4)["fact"]["elevator"]["freed"]["elevator"], json!("D"));
}

#[test]
fn damage_that_sled_takes_for_the_end_is_found_with_exit_code_4() {
    let site = Site::filled();
    let path = site.data().join("journal/db");
    let bytes = fs::read(&path).unwrap();
    // sled's own beginnings are in here, the records are not.
    fs::write(&path, &bytes[..600]).unwrap();
    assert_eq!(site.run(&["verify"]).0, 4);
    assert_eq!(site.run(&["dump"]).0, 4);
}

#[test]
fn dump_prints_every_fact_and_row() {
    let site = Site::filled();
    let (code, lines) = site.json(&["dump", "--json"]);
    assert_eq!(code, 0);
    let seqs: Vec<_> = lines
        .iter()
        .filter_map(|line| line["seq"].as_u64())
        .collect();
    // One that the snapshot covers may be there still.
    assert_eq!(seqs[seqs.len() - 2..], [3, 4]);
    let third = json!({
        "seq": 3, "last": true, "covered": false,
        "fact": {"elevator": {"freed": {"elevator": "C"}}},
    });
    assert!(lines.contains(&third));
    // The row is the one byte 0x01, a number in CBOR.
    assert!(lines.contains(&json!({"ledger": "r:T-2", "changed": 3, "row": 1})));
    assert_eq!(lines.last().unwrap()["ok"], json!(true));
    assert_eq!(lines.last().unwrap()["last"], json!(4));
}

#[test]
fn a_journal_in_use_is_left_alone_with_exit_code_3() {
    let site = Site::filled();
    let journal = SledJournal::open(&site.data()).unwrap();
    for command in ["verify", "dump", "compact"] {
        let (code, lines) = site.json(&[command, "--json"]);
        assert_eq!((code, &lines[0]["ok"]), (3, &json!(false)));
    }
    drop(journal);
    assert_eq!(site.run(&["verify"]).0, 0);
}

#[test]
fn a_corrupt_fence_file_is_exit_code_4() {
    let site = Site::filled();
    let path = site.data().join("fences");
    let text = fs::read_to_string(&path).unwrap().replace("1005", "1006");
    fs::write(&path, text).unwrap();
    let (code, lines) = site.json(&["verify", "--json"]);
    assert_eq!(code, 4);
    assert!(
        lines[0]["detail"]
            .as_str()
            .unwrap()
            .contains("fences is corrupt")
    );
}

#[test]
fn without_a_journal_nothing_is_made() {
    let site = Site::new();
    let (code, lines) = site.json(&["verify", "--json"]);
    assert_eq!((code, &lines[0]["ok"]), (2, &json!(false)));
    assert!(!site.data().exists());
    assert_eq!(site.run(&["dump"]).0, 2);
}
