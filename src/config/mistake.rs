//! A mistake in a configuration file, as it is told.

use std::fmt;
use std::path::Path;

use serde::Serialize;

/// Characters of a value that are shown; the line tells where the rest is.
const VALUE_CHARS_MAX: usize = 60;

/// What is wrong at one place, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The whole key, such as `elevators[0].hold_max_s`; `(file)` and `(syntax)` for what is
    /// wrong with the file as such.
    pub key: String,
    /// The value as written, cut to one line; `(left out)` where there is none.
    pub value: String,
    /// What would be right; reads on from "expected".
    pub expected: String,
    /// The gateway can run with it: `check` refuses it, `run` warns.
    #[serde(skip)]
    pub advice: bool,
}

impl Mistake {
    /// A file that cannot be read.
    pub(super) fn of_file(file: &Path, expected: String) -> Self {
        Self {
            file: file.display().to_string(),
            line: 1,
            key: "(file)".to_owned(),
            value: shown(&file.display().to_string()),
            expected,
            advice: false,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            key,
            value,
            expected,
            advice: _,
        } = self;
        write!(f, "{file}:{line}: {key} = {value}: expected {expected}")
    }
}

/// A value as it is shown: its first line, cut, without control characters.
pub(super) fn shown(value: &str) -> String {
    let line = value.lines().next().unwrap_or_default().trim();
    let mut text: String = line
        .chars()
        .take(VALUE_CHARS_MAX)
        .map(|c| if breaks_line(c) { ' ' } else { c })
        .collect();
    if text.len() < value.trim().len() {
        text.push('…');
    }
    text
}

fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}
