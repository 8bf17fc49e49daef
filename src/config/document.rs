//! A TOML document that is read key by key, and the mistakes found on the way.
//!
//! A reader that meets a mistake notes it and yields `None`; reading goes on beside it, so that all
//! mistakes of a file are found in one go.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use protocol::id::IdError;
use protocol::text::detail;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::nearest::nearest;
use super::mistake::{Mistake, shown};
use super::text_file::Files;

mod nearest;
mod value;

pub(super) use self::value::{Value, milli};

/// Mistakes that are told of one file.
const MISTAKES_MAX: usize = 200;

/// What is shown for a key that is not there.
pub(super) const LEFT_OUT: &str = "(left out)";

/// The key of a mistake that is no TOML.
pub(super) const SYNTAX: &str = "(syntax)";

/// A file that is TOML.
pub(super) type Parsed<'t> = Spanned<DeTable<'t>>;

/// Reads TOML.
///
/// # Errors
/// The first place that is none.
pub(super) fn parse<'t>(file: &Path, text: &'t str) -> Result<Parsed<'t>, Vec<Mistake>> {
    DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = line_of(text, start);
        vec![Mistake {
            file: file.display().to_string(),
            line,
            key: SYNTAX.to_owned(),
            value: shown(text.lines().nth(line - 1).unwrap_or_default()),
            expected: format!("TOML: {}", detail(&error.message().replace('\n', ", "))),
            advice: false,
        }]
    })
}

/// A file that is being read.
pub(super) struct Document<'t> {
    file: &'t Path,
    text: &'t str,
    files: &'t dyn Files,
    /// As found; each with its place in this file, those of other files after them.
    mistakes: RefCell<Vec<(usize, Mistake)>>,
    /// There were more than are told.
    more: Cell<bool>,
}

impl<'t> Document<'t> {
    pub(super) fn new(file: &'t Path, text: &'t str, files: &'t dyn Files) -> Self {
        Self {
            file,
            text,
            files,
            mistakes: RefCell::default(),
            more: Cell::new(false),
        }
    }

    /// All that was noted, by line; mistakes of other files come last.
    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        let mut mistakes = self.mistakes.into_inner();
        if self.more.get() {
            let expected = format!("fewer mistakes, {MISTAKES_MAX} are told and there are more");
            mistakes.push((usize::MAX, Mistake::of_file(self.file, expected)));
        }
        mistakes.sort_by_key(|(place, _)| *place);
        mistakes.into_iter().map(|(_, mistake)| mistake).collect()
    }

    /// The whole file as a table.
    pub(super) fn root<'d>(&'d self, parsed: &'d Parsed<'d>) -> Table<'d> {
        Table {
            document: self,
            key: String::new(),
            place: 0,
            entries: Some(parsed.get_ref()),
        }
    }

    /// A path that the file names, from the folder of the file where it is relative.
    pub(super) fn beside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.file
            .parent()
            .unwrap_or_else(|| Path::new(""))
            .join(path)
    }

    /// Where the files are that it names.
    pub(super) fn files(&self) -> &dyn Files {
        self.files
    }

    /// Notes mistakes of another file.
    pub(super) fn note_foreign(&self, mistakes: impl IntoIterator<Item = Mistake>) {
        for mistake in mistakes {
            if self.has_room() {
                self.mistakes.borrow_mut().push((usize::MAX, mistake));
            }
        }
    }

    /// The mistake noted last is no hindrance to run.
    fn last_is_advice(&self) {
        // One that was not told is none that was noted.
        if self.more.get() {
            return;
        }
        if let Some((_, mistake)) = self.mistakes.borrow_mut().last_mut() {
            mistake.advice = true;
        }
    }

    /// Whether one more mistake is told; if not, that is.
    fn has_room(&self) -> bool {
        let has_room = self.mistakes.borrow().len() < MISTAKES_MAX;
        if !has_room {
            self.more.set(true);
        }
        has_room
    }

    fn note(&self, place: usize, key: &str, value: &str, expected: &dyn Display) {
        if !self.has_room() {
            return;
        }
        let mistake = Mistake {
            file: self.file.display().to_string(),
            line: line_of(self.text, place),
            key: detail(key),
            value: shown(value),
            expected: expected.to_string(),
            advice: false,
        };
        self.mistakes.borrow_mut().push((place, mistake));
    }
}

/// A table of the document; one that was left out reads as empty.
#[derive(Clone)]
pub(super) struct Table<'d> {
    pub(super) document: &'d Document<'d>,
    /// The whole key; empty for the root.
    key: String,
    /// Where it begins, in bytes.
    place: usize,
    entries: Option<&'d DeTable<'d>>,
}

impl<'d> Table<'d> {
    /// Refuses every key that is none of `keys`.
    pub(super) fn refuse_unknown(&self, keys: &[&str]) {
        for (name, value) in self.entries.into_iter().flat_map(DeTable::iter) {
            let name: &str = name.get_ref();
            if keys.contains(&name) || !self.document.has_room() {
                continue;
            }
            let expected = nearest(name, keys).map_or_else(
                || format!("one of the keys {}", keys.join(", ")),
                |near| format!("one of the known keys, the nearest is {near}"),
            );
            self.child(name, value).refuse::<()>(expected);
        }
    }

    /// The value of a key.
    pub(super) fn value(&self, name: &str) -> Option<Value<'d>> {
        Some(self.child(name, self.entries?.get(name)?))
    }

    /// The value of a key as `read` takes it, or `default` where the key was left out.
    pub(super) fn read<T>(
        &self,
        name: &str,
        default: T,
        read: impl FnOnce(&Value<'d>) -> Option<T>,
    ) -> Option<T> {
        self.value(name).map_or(Some(default), |value| read(&value))
    }

    /// The value of a key as `read` takes it; the key may not be left out.
    pub(super) fn require<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Value<'d>) -> Option<T>,
    ) -> Option<T> {
        self.value(name)
            .map_or_else(|| self.refuse(name, expected), |value| read(&value))
    }

    /// An identifier, or `default` where the key was left out.
    pub(super) fn identifier_or<T: FromStr<Err = IdError>>(
        &self,
        name: &str,
        default: &str,
    ) -> Option<T> {
        match self.value(name) {
            Some(value) => value.identifier(),
            None => default.parse().ok(),
        }
    }

    /// As `refuse`, for what the gateway can run with.
    pub(super) fn advise(&self, name: &str, expected: impl Display) {
        self.refuse::<()>(name, expected);
        self.document.last_is_advice();
    }

    /// Notes a mistake of a key, there or left out.
    pub(super) fn refuse<T>(&self, name: &str, expected: impl Display) -> Option<T> {
        match self.value(name) {
            Some(value) => value.refuse(expected),
            None => {
                self.document
                    .note(self.place, &self.key_of(name), LEFT_OUT, &expected);
                None
            }
        }
    }

    /// The table of a key, with these keys; empty where it was left out.
    pub(super) fn section(&self, name: &str, keys: &[&str]) -> Option<Self> {
        let table = match self.value(name) {
            Some(value) => value.table()?,
            None => Self {
                key: self.key_of(name),
                entries: None,
                ..self.clone()
            },
        };
        table.refuse_unknown(keys);
        Some(table)
    }

    /// The tables of a key (`[[name]]`), at most `count_max`; none where it was left out.
    pub(super) fn tables(&self, name: &str, count_max: usize) -> Vec<Self> {
        let Some(value) = self.value(name) else {
            return Vec::new();
        };
        let items = value.list().unwrap_or_default();
        if items.len() > count_max {
            value.refuse::<()>(format!(
                "at most {count_max} of them, there are {}",
                items.len()
            ));
        }
        items
            .into_iter()
            .take(count_max)
            .filter_map(|item| item.table())
            .collect()
    }

    fn child(&self, name: &str, value: &'d Spanned<DeValue<'d>>) -> Value<'d> {
        Value {
            document: self.document,
            key: self.key_of(name),
            span: value.span(),
            value: value.get_ref(),
        }
    }

    fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.key)
        }
    }
}

/// The line of a place, from 1.
fn line_of(text: &str, place: usize) -> usize {
    text.bytes()
        .take(place)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}
