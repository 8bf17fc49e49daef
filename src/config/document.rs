//! A TOML document that is read key by key, and the mistakes found on the way.
//!
//! A reader that meets a mistake notes it and yields `None`; reading goes on beside it, so that all
//! mistakes of a file are found in one go.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use protocol::id::IdError;
use protocol::limits::ID_BYTES_MAX;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::{Mistake, shown};

/// Longest span that may be configured: a day.
const SECONDS_MAX: f64 = 86_400.0;
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
            expected: format!("TOML: {}", error.message().replace('\n', ", ")),
        }]
    })
}

/// A file that is being read.
pub(super) struct Document<'t> {
    file: &'t Path,
    text: &'t str,
    /// As found; each with its place in this file, those of other files after them.
    mistakes: RefCell<Vec<(usize, Mistake)>>,
}

impl<'t> Document<'t> {
    pub(super) fn new(file: &'t Path, text: &'t str) -> Self {
        Self {
            file,
            text,
            mistakes: RefCell::default(),
        }
    }

    /// All that was noted, by line; mistakes of other files come last.
    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        let mut mistakes = self.mistakes.into_inner();
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

    /// Notes mistakes of another file.
    pub(super) fn note_foreign(&self, mistakes: impl IntoIterator<Item = Mistake>) {
        let mistakes = mistakes.into_iter().map(|mistake| (usize::MAX, mistake));
        self.mistakes.borrow_mut().extend(mistakes);
    }

    fn note(&self, place: usize, key: &str, value: &str, expected: &dyn Display) {
        let mistake = Mistake {
            file: self.file.display().to_string(),
            line: line_of(self.text, place),
            key: key.to_owned(),
            value: shown(value),
            expected: expected.to_string(),
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
            if keys.contains(&name) {
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

/// A value of the document.
pub(super) struct Value<'d> {
    pub(super) document: &'d Document<'d>,
    key: String,
    span: Range<usize>,
    value: &'d DeValue<'d>,
}

impl<'d> Value<'d> {
    /// Notes that this is a mistake.
    pub(super) fn refuse<T>(&self, expected: impl Display) -> Option<T> {
        let text = self
            .document
            .text
            .get(self.span.clone())
            .unwrap_or_default();
        self.document
            .note(self.span.start, &self.key, text, &expected);
        None
    }

    /// A string.
    pub(super) fn text(&self) -> Option<&'d str> {
        self.value
            .as_str()
            .or_else(|| self.refuse("a string in quotes"))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, meaning)| *meaning)
            .or_else(|| {
                let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
                self.refuse(words.join(" or "))
            })
    }

    /// `true` or `false`.
    pub(super) fn flag(&self) -> Option<bool> {
        self.value
            .as_bool()
            .or_else(|| self.refuse("true or false"))
    }

    /// Whether it is `true` or `false`, which is no mistake yet.
    pub(super) fn is_flag(&self) -> bool {
        self.value.is_bool()
    }

    /// Whether it is this flag.
    pub(super) fn is_flag_of(&self, flag: bool) -> bool {
        self.value.as_bool() == Some(flag)
    }

    /// Whether it is an array, which is no mistake yet.
    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// Whether it is this string.
    pub(super) fn is_text(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }

    /// An integer within `range`.
    pub(super) fn integer<T>(&self, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let whole = self
            .value
            .as_integer()
            .and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok())
            .and_then(|integer| T::try_from(integer).ok())
            .filter(|integer| range.contains(integer));
        whole.or_else(|| {
            self.refuse(format!(
                "an integer from {} to {}",
                range.start(),
                range.end()
            ))
        })
    }

    /// Whole seconds from 1 to `seconds_max`; a fraction counts as one more.
    pub(super) fn seconds_up(&self, seconds_max: u32) -> Option<u64> {
        self.number_of_any_size()
            .filter(|seconds| *seconds > 0.0 && *seconds <= f64::from(seconds_max))
            // The range was checked above.
            .map(|seconds| milli(seconds.ceil()).unsigned_abs() / 1000)
            .or_else(|| self.refuse(format!("seconds, more than 0 and at most {seconds_max}")))
    }

    /// A number, with or without a fraction, within `range`.
    pub(super) fn number(&self, unit: &str, range: RangeInclusive<f64>) -> Option<f64> {
        self.number_of_any_size()
            .filter(|number| range.contains(number))
            .or_else(|| self.refuse(format!("{unit} from {} to {}", range.start(), range.end())))
    }

    /// An identifier (`wire.md` section 1).
    pub(super) fn identifier<T: FromStr<Err = IdError>>(&self) -> Option<T> {
        match self.text()?.parse() {
            Ok(id) => Some(id),
            Err(error) => self.refuse(format!(
                "an identifier, 1 to {ID_BYTES_MAX} of A-Z a-z 0-9 _ . : -; it {error}"
            )),
        }
    }

    /// Seconds, more than 0, in milliseconds.
    pub(super) fn seconds_ms(&self) -> Option<u64> {
        let ms = self
            .number_of_any_size()
            .filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
            .map(|seconds| milli(seconds).unsigned_abs());
        ms.filter(|ms| *ms > 0)
            .or_else(|| self.refuse(format!("seconds, from 0.001 to {SECONDS_MAX}")))
    }

    /// The items of an array.
    pub(super) fn list(&self) -> Option<Vec<Self>> {
        let Some(items) = self.value.as_array() else {
            return self.refuse("an array");
        };
        let item = |(index, item): (usize, &'d Spanned<DeValue<'d>>)| Self {
            document: self.document,
            key: format!("{}[{index}]", self.key),
            span: item.span(),
            value: item.get_ref(),
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A table, with whatever keys.
    pub(super) fn table(&self) -> Option<Table<'d>> {
        let Some(entries) = self.value.as_table() else {
            return self.refuse("a table");
        };
        let (document, key) = (self.document, self.key.clone());
        Some(Table {
            document,
            key,
            place: self.span.start,
            entries: Some(entries),
        })
    }

    fn number_of_any_size(&self) -> Option<f64> {
        match self.value {
            // TOML writes both as Rust does, but for the radix of an integer.
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(_)
            | DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }
}

/// Thousandths of a number that is no larger than the seconds of some years.
// The callers have checked the size, which leaves 20 bits to spare.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn milli(number: f64) -> i64 {
    (number * 1000.0).round() as i64
}

/// The line of a place, from 1.
fn line_of(text: &str, place: usize) -> usize {
    text.bytes()
        .take(place)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}

/// The known key that `name` was probably meant to be: half of it is right at least.
fn nearest<'k>(name: &str, keys: &[&'k str]) -> Option<&'k str> {
    let (distance, key) = keys.iter().map(|key| (edits(name, key), *key)).min()?;
    (distance <= key.len() / 2).then_some(key)
}

/// Characters to insert, remove or replace to turn one text into the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{edits, milli, nearest};

    #[test]
    fn the_nearest_key_is_the_one_that_was_meant() {
        let keys = ["travel_s", "exit_s", "valid_s", "poll_s"];
        assert_eq!(nearest("travl_s", &keys), Some("travel_s"));
        assert_eq!(nearest("valid", &keys), Some("valid_s"));
        assert_eq!(nearest("colour_of_the_car", &keys), None);
    }

    #[test]
    fn edits_are_counted_in_characters() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("étage", "etage"), 1);
    }

    #[test]
    fn thousandths_are_rounded() {
        assert_eq!(milli(0.5), 500);
        assert_eq!(milli(2.0004), 2000);
        assert_eq!(milli(-3.2), -3200);
    }
}
