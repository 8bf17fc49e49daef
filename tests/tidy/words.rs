//! Words that have no place in the repository.

use std::fs;

use crate::{assert_none, name, tracked};

/// Each is written in two parts, so that this file does not hold it.
const UNFINISHED: &[&str] = &[
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Folders of one machine, and the hosts of registries.
const PLACES: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("registry.npm", "js"),
    concat!("deb.deb", "ian.org"),
];

#[test]
fn nothing_is_left_unfinished() {
    assert_none("unfinished", &holding(UNFINISHED));
}

#[test]
fn nothing_depends_on_one_machine() {
    assert_none("places of one machine", &holding(PLACES));
}

fn holding(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in tracked() {
        // The lock file names the registry of each package.
        if path.file_name().is_some_and(|name| name == "Cargo.lock") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                found.push(format!("{}:{}: {word}", name(&path), number + 1));
            }
        }
    }
    found
}
