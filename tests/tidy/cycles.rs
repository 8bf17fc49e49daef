//! Files of a room do not use each other in a circle. A module and those inside it are one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;
use crate::{ROOMS, assert_none};

type Module = Vec<String>;

#[test]
fn files_of_a_room_do_not_use_each_other_in_a_circle() {
    let mut circles = BTreeSet::new();
    let mut arrows = 0;
    for (room, folder, _) in ROOMS {
        let sources = Source::of_room(folder);
        let modules: BTreeSet<Module> =
            sources.iter().map(|source| source.module.clone()).collect();
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for source in &sources {
            let used = used_modules(source, &modules);
            uses.entry(source.module.clone()).or_default().extend(used);
        }
        arrows += uses.values().map(BTreeSet::len).sum::<usize>();
        for from in uses.keys() {
            if let Some(circle) = circle(from, &uses) {
                let mut names: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
                // Each circle is found from each of its files.
                let first = (0..names.len()).min_by_key(|at| &names[*at]).unwrap_or(0);
                names.rotate_left(first);
                circles.insert(format!("{room}: {}", names.join(" -> ")));
            }
        }
    }
    assert!(arrows > 100, "only {arrows} uses were found");
    assert_none(
        "files that use each other in a circle",
        &circles.into_iter().collect::<Vec<_>>(),
    );
}

/// The modules of the room that a file uses, without those that it is inside of or that are inside.
fn used_modules(source: &Source, modules: &BTreeSet<Module>) -> BTreeSet<Module> {
    let code = source.code().join("\n");
    let mut used = BTreeSet::new();
    for path in paths(&code) {
        let Some(absolute) = resolve(&path, &source.module) else {
            continue;
        };
        let module = (0..=absolute.len())
            .rev()
            .map(|length| absolute[..length].to_vec())
            .find(|prefix| modules.contains(prefix));
        used.extend(module);
    }
    let is_kin =
        |other: &Module| other.starts_with(&source.module) || source.module.starts_with(other);
    used.retain(|other| !is_kin(other));
    used
}

/// Every path of the code that begins with `crate::` or `super::`, groups taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            // `$crate::`, `super::super::` and words that end in one of the two are no beginnings.
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':')) {
                continue;
            }
            expand(&code[at..], &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Takes `a::{b, c::d}` apart; returns the bytes read.
fn expand(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let depth = prefix.len();
    let mut at = 0;
    loop {
        let word: String = text[at..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        at += word.len();
        if !word.is_empty() {
            prefix.push(word);
        }
        if !text[at..].starts_with("::") {
            break;
        }
        at += 2;
        if text[at..].starts_with('{') {
            at += 1;
            loop {
                at += text[at..].len() - text[at..].trim_start_matches([' ', '\n', ',']).len();
                if text[at..].starts_with('}') || text[at..].is_empty() {
                    break;
                }
                let read = expand(&text[at..], prefix, found);
                // `as name` and whatever else is no path of a group.
                at += read.max(1);
            }
            at += 1;
            prefix.truncate(depth);
            return at.min(text.len());
        }
    }
    found.push(prefix.clone());
    prefix.truncate(depth);
    at
}

/// A path from the root of the crate; `None` where it leads out of it.
fn resolve(path: &[String], from: &[String]) -> Option<Module> {
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        _ => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let up = from.len().checked_sub(ups)?;
            Some([&from[..up], &path[ups..]].concat())
        }
    }
}

/// A shortest way from a module back to itself.
fn circle(from: &Module, uses: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut ways = vec![vec![from.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in way
                .last()
                .and_then(|last| uses.get(last))
                .into_iter()
                .flatten()
            {
                if next == from {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push([way.clone(), vec![next.clone()]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

#[test]
fn paths_are_taken_apart() {
    let code = "use crate::a::{B, c::{d, E as F}};\nlet x = super::g::h(1); $crate::no::no";
    let found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        [
            "crate::a::B",
            "crate::a::c::d",
            "crate::a::c::E",
            "crate::a::c::as",
            "crate::a::c::F",
            "super::g::h"
        ]
    );
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let uses = |pairs: &[(&str, &str)]| -> BTreeMap<Module, BTreeSet<Module>> {
        pairs
            .iter()
            .map(|(from, to)| (module(from), BTreeSet::from([module(to)])))
            .collect()
    };
    let round = uses(&[("a", "b"), ("b", "c"), ("c", "a")]);
    assert_eq!(
        circle(&module("a"), &round),
        Some(vec![module("a"), module("b"), module("c")])
    );
    assert_eq!(circle(&module("a"), &uses(&[("a", "b"), ("b", "c")])), None);
}
