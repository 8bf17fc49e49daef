//! Every code has its entry in `docs/errors.md`, and no entry is of a code that there is not.

use std::collections::BTreeSet;
use std::fs;

use protocol::{AlarmCode, Code, ReasonCode};

use crate::top;

/// Exit codes (`wire.md` section 7).
const EXITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7"];

#[test]
fn every_code_is_explained() {
    check("Refusals", Code::ALL.iter().map(|code| code.as_str()));
    check("Reasons", ReasonCode::ALL.iter().map(|code| code.as_str()));
    check("Alarms", AlarmCode::ALL.iter().map(|code| code.as_str()));
    check("Exit codes", EXITS.iter().copied());
}

/// Compares the codes with the rows `` | `CODE` | what happened | what to do | `` of a section.
fn check(section: &str, codes: impl Iterator<Item = &'static str>) {
    let text = fs::read_to_string(top().join("docs/errors.md")).expect("docs/errors.md");
    let heading = format!("## {section}");
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let mut explained = BTreeSet::new();
    for line in lines.take_while(|line| !line.starts_with("## ")) {
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let cells: Vec<&str> = row
            .trim_end_matches('|')
            .split(" | ")
            .map(str::trim)
            .collect();
        let [code, what, todo] = cells[..] else {
            panic!("{section}: not three cells: {line}")
        };
        assert!(
            what.len() > 10 && todo.len() > 10,
            "{section}: says too little: {line}"
        );
        explained.insert(code.trim_end_matches('`'));
    }
    assert_eq!(
        explained,
        codes.collect::<BTreeSet<_>>(),
        "docs/errors.md, {section}"
    );
}
