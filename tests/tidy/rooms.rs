//! One way through the house: who may use whom.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::source::Source;
use crate::{METADATA, ROOMS, assert_none, name, packages};

/// Words that the core may not use: what is not in its input, and what has no fixed order.
const IMPURE: &[&str] = &[
    "HashMap",
    "HashSet",
    "Instant",
    "SystemTime",
    "rand",
    "tokio",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
];

/// Packages that only something with input and output, a clock or chance needs.
const IMPURE_PACKAGES: &[&str] = &[
    "async-io",
    "async-std",
    "chrono",
    "fastrand",
    "getrandom",
    "hyper",
    "libc",
    "mio",
    "rand",
    "rumqttc",
    "rumqttd",
    "rustix",
    "sled",
    "socket2",
    "tempfile",
    "tokio",
    "tokio-modbus",
    "uuid",
];

#[test]
fn rooms_use_only_the_rooms_below_them() {
    let mut wrong = Vec::new();
    for package in packages() {
        let Some((room, _, may_use)) = ROOMS.iter().find(|(room, _, _)| package["name"] == *room)
        else {
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = dependency["name"].as_str().expect("a name");
            if ROOMS.iter().any(|(other, _, _)| *other == used) && !may_use.contains(&used) {
                wrong.push(format!("{room} uses {used}"));
            }
        }
    }
    assert_none("arrows that the architecture does not have", &wrong);
    let members = METADATA["workspace_members"].as_array().expect("members");
    assert_eq!(
        members.len(),
        ROOMS.len(),
        "a room that nobody named: {members:?}"
    );
}

#[test]
fn the_core_is_pure_in_its_words() {
    let mut wrong = Vec::new();
    for source in Source::of_room("dispatch/src") {
        for (number, line) in source.code().iter().enumerate() {
            for word in IMPURE.iter().filter(|word| holds_word(line, word)) {
                wrong.push(format!("{}:{}: {word}", name(&source.path), number + 1));
            }
        }
    }
    assert_none("impure words in dispatch", &wrong);
}

#[test]
fn the_core_is_pure_in_its_dependencies() {
    let names: BTreeMap<&str, &str> = packages()
        .iter()
        .map(|package| (text(package, "id"), text(package, "name")))
        .collect();
    let nodes: BTreeMap<&str, &Value> = METADATA["resolve"]["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| (text(node, "id"), node))
        .collect();
    let core = names
        .iter()
        .find(|(_, name)| **name == "hallcall-dispatch")
        .expect("dispatch")
        .0;
    let (mut seen, mut open) = (BTreeSet::new(), vec![*core]);
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(linked(nodes[id]));
        }
    }
    let found: Vec<String> = seen
        .iter()
        .map(|id| names[id])
        .filter(|name| IMPURE_PACKAGES.contains(name))
        .map(str::to_owned)
        .collect();
    assert!(
        seen.len() > 10,
        "the tree of the core has {} packages",
        seen.len()
    );
    assert_none("impure packages below dispatch", &found);
}

/// The packages that a package is linked with: neither what only tests nor what only builds need.
fn linked(node: &Value) -> impl Iterator<Item = &str> {
    let dependencies = node["deps"].as_array().expect("deps").iter();
    let is_linked = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().expect("dep_kinds");
        kinds.iter().any(|kind| kind["kind"].is_null())
    };
    dependencies
        .filter(is_linked)
        .map(|dependency| text(dependency, "pkg"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect(key)
}

/// Whether the line holds the word with nothing of a word on either side.
pub(crate) fn holds_word(line: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(of_word) && !line[at + word.len()..].starts_with(of_word)
    })
}

#[test]
fn words_are_whole_words() {
    assert!(holds_word("use std::collections::HashMap;", "HashMap"));
    assert!(holds_word("rand::random()", "rand"));
    assert!(!holds_word("let operand = brand;", "rand"));
    assert!(!holds_word("rand_like()", "rand"));
}
