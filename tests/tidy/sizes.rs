//! A file is one thing, and a function has one thought.

use crate::source::Source;
use crate::{ROOMS, assert_none, name};

/// Lines of a file, without its unit tests.
const FILE_LINES_MAX: usize = 400;
/// Lines of a function, from `fn` to its last brace.
const FUNCTION_LINES_MAX: usize = 70;

#[test]
fn files_are_one_thing() {
    let mut long = Vec::new();
    for source in ROOMS
        .iter()
        .flat_map(|(_, folder, _)| Source::of_room(folder))
    {
        if source.lines.len() > FILE_LINES_MAX {
            long.push(format!(
                "{} has {} lines",
                name(&source.path),
                source.lines.len()
            ));
        }
    }
    assert_none(&format!("files of more than {FILE_LINES_MAX} lines"), &long);
}

#[test]
fn functions_are_short() {
    let (mut long, mut count) = (Vec::new(), 0);
    for source in ROOMS
        .iter()
        .flat_map(|(_, folder, _)| Source::of_room(folder))
    {
        for (line, length) in functions(&source.code()) {
            count += 1;
            if length > FUNCTION_LINES_MAX {
                long.push(format!("{}:{line} has {length} lines", name(&source.path)));
            }
        }
    }
    assert!(count > 100, "only {count} functions were found");
    assert_none(
        &format!("functions of more than {FUNCTION_LINES_MAX} lines"),
        &long,
    );
}

/// The line and the length of each function with a body. Relies on rustfmt: the last brace of a
/// function stands alone, as far in as its first line.
fn functions(code: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, line) in code.iter().enumerate() {
        let trimmed = line.trim_start();
        if !is_function(trimmed) {
            continue;
        }
        let header = code[at..]
            .iter()
            .position(|line| line.trim_end().ends_with(['{', ';', '}']));
        let Some(header) = header.filter(|end| code[at + end].trim_end().ends_with('{')) else {
            continue;
        };
        let last = format!("{}}}", " ".repeat(line.len() - trimmed.len()));
        let length = code[at + header..]
            .iter()
            .position(|line| line.trim_end() == last);
        if let Some(length) = length {
            found.push((at + 1, header + length + 1));
        }
    }
    found
}

fn is_function(line: &str) -> bool {
    let Some((before, _)) = line.split_once("fn ") else {
        return false;
    };
    let is_word = |word: &str| {
        matches!(word, "async" | "const" | "default" | "pub") || word.starts_with("pub(")
    };
    before.replace("in ", "in").split_whitespace().all(is_word)
}

#[test]
fn functions_are_found_with_their_lengths() {
    let code = "pub(crate) async fn a(\n    b: u8,\n) -> u8 {\n    1\n}\n    fn c();\nfn d() {}\nlet fn_e = 1;";
    assert_eq!(functions(&code.lines().collect::<Vec<_>>()), [(1, 5)]);
}
