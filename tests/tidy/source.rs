//! Source files of a room, and what of them is code.

use std::fs;
use std::path::{Path, PathBuf};

use crate::top;

/// A source file.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its module, from the root of its crate; empty for the root itself.
    pub(crate) module: Vec<String>,
    /// Its lines as they are, without the module of unit tests.
    pub(crate) lines: Vec<String>,
}

impl Source {
    /// The sources of a folder, without files of unit tests.
    pub(crate) fn of_room(folder: &str) -> Vec<Self> {
        let root = top().join(folder);
        let mut paths = Vec::new();
        walk(&root, &mut paths);
        paths.sort();
        paths
            .into_iter()
            .filter(|path| !is_of_tests(path))
            .map(|path| Self::read(&root, path))
            .collect()
    }

    fn read(root: &Path, path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let inside = path
            .strip_prefix(root)
            .expect("inside its room")
            .with_extension("");
        let mut module: Vec<String> = inside
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if module
            .last()
            .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
        {
            module.pop();
        }
        Self {
            path,
            module,
            lines: without_tests(&text),
        }
    }

    /// Its lines without comments; as many as there are.
    pub(crate) fn code(&self) -> Vec<&str> {
        self.lines
            .iter()
            .map(|line| without_comment(line))
            .collect()
    }
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// Whether a file is a module of unit tests: `tests.rs`, or inside `tests/`.
fn is_of_tests(path: &Path) -> bool {
    path.iter()
        .any(|part| part == "tests" || part == "tests.rs")
}

/// The lines without the module of unit tests.
fn without_tests(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let begins = lines.windows(2).position(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    if let Some(first) = begins {
        let last = lines[first..]
            .iter()
            .position(|line| line == "}")
            .expect("the end of mod tests");
        lines.drain(first..=first + last);
    }
    lines
}

/// A line up to its comment. A `//` inside a string, as in an address, begins none.
fn without_comment(line: &str) -> &str {
    let begins = line.match_indices("//").find(|(at, _)| {
        let quotes = line[..*at].matches('"').count() - line[..*at].matches("\\\"").count();
        quotes.is_multiple_of(2)
    });
    begins.map_or(line, |(at, _)| &line[..at])
}

#[test]
fn comments_are_cut_off_and_strings_are_not() {
    assert_eq!(without_comment("let a = 1; // why"), "let a = 1; ");
    assert_eq!(without_comment("/// A doc"), "");
    assert_eq!(
        without_comment("f(\"mqtt://host\"); // x"),
        "f(\"mqtt://host\"); "
    );
    assert_eq!(
        without_comment("f(\"\\\"mqtt://h\\\"\")"),
        "f(\"\\\"mqtt://h\\\"\")"
    );
}

#[test]
fn unit_tests_do_not_count() {
    let text = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {}\n";
    assert_eq!(without_tests(text), ["fn f() {}", "", "fn h() {}"]);
}
