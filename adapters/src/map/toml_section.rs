//! Reads tables of a TOML text key by key and collects every mistake, each with its line.

mod lists;

use std::fmt;
use std::ops::RangeInclusive;

use protocol::text::{cut, detail};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) use self::lists::Part;

/// Mistakes that are told of one file; further ones are counted only.
const MISTAKES_MAX: usize = 100;
/// Bytes of a wrong value that are repeated in a mistake.
const VALUE_BYTES_MAX: usize = 60;

/// One mistake in a register map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapError {
    /// The key, with the tables that it stands in: `front.door.register.address`.
    pub key: String,
    /// The value as it is written; empty where the key is missing.
    pub value: String,
    /// What would be right.
    pub expected: String,
    /// The line in the file, from 1; `None` where the mistake is not in one place.
    pub line: Option<usize>,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match (self.key.is_empty(), self.value.is_empty()) {
            (true, true) => write!(f, "expected {}", self.expected),
            (true, false) => write!(f, "{}: expected {}", self.value, self.expected),
            (false, true) => write!(f, "{} is missing: expected {}", self.key, self.expected),
            (false, false) => {
                write!(
                    f,
                    "{} = {}: expected {}",
                    self.key, self.value, self.expected
                )
            }
        }
    }
}

impl std::error::Error for MapError {}

/// A mistake that is in no single place of the file.
pub(crate) fn whole(key: &str, value: &str, expected: &str) -> MapError {
    MapError {
        key: key.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
        line: None,
    }
}

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(Vec<MapError>);

impl Mistakes {
    /// Notes one.
    pub(crate) fn add(&mut self, mistake: MapError) {
        if self.0.len() < MISTAKES_MAX {
            self.0.push(mistake);
        }
    }

    /// All of them, by line.
    pub(crate) fn into_errors(mut self) -> Vec<MapError> {
        self.0.sort_by_key(|mistake| mistake.line);
        self.0
    }
}

/// Parses `text` into its root table.
pub(crate) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Vec<MapError>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(root);
    }
    let mut mistakes = Mistakes::default();
    for error in errors {
        mistakes.add(MapError {
            key: String::new(),
            value: detail(error.message()),
            expected: "TOML 1.0".to_owned(),
            line: error.span().map(|span| line_of(text, span.start)),
        });
    }
    Err(mistakes.into_errors())
}

/// What the points of a file are places in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// The tables of a Modbus device.
    Tables,
    /// So many bytes, which come in one answer. They are numbered as the holding registers of a
    /// device would be, each a register of eight bits.
    Bytes(u16),
}

/// A table that is being read. Each key that is asked for counts as known.
pub(crate) struct Section<'t> {
    text: &'t str,
    places: Places,
    path: String,
    line: Option<usize>,
    table: &'t DeTable<'t>,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// The root table of `text`.
    pub(crate) fn root(text: &'t str, table: &'t DeTable<'t>) -> Self {
        Self {
            text,
            places: Places::Tables,
            path: String::new(),
            line: None,
            table,
            asked: Vec::new(),
        }
    }

    /// What the points of this table, and of those in it, are places in.
    pub(crate) fn places(&self) -> Places {
        self.places
    }

    /// Points from here on are places in so many bytes.
    pub(crate) fn set_bytes(&mut self, count: u16) {
        self.places = Places::Bytes(count);
    }

    /// The key `name` of this table with the tables that it stands in, fit to be shown.
    pub(crate) fn key(&self, name: &str) -> String {
        if self.path.is_empty() {
            detail(name)
        } else {
            detail(&format!("{}.{name}", self.path))
        }
    }

    /// Whether the table has the key.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.iter().any(|(key, _)| key.get_ref() == name)
    }

    /// The table under `name`.
    pub(crate) fn section(&mut self, name: &'static str, m: &mut Mistakes) -> Option<Self> {
        let value = self.find(name)?;
        let DeValue::Table(table) = value.get_ref() else {
            m.add(self.wrong(name, value, "a table"));
            return None;
        };
        Some(Self {
            text: self.text,
            places: self.places,
            path: self.key(name),
            line: Some(self.line_at(value)),
            table,
            asked: Vec::new(),
        })
    }

    /// As [`Self::section`], and a mistake where there is none.
    pub(crate) fn need_section(
        &mut self,
        name: &'static str,
        expected: &str,
        m: &mut Mistakes,
    ) -> Option<Self> {
        if !self.has(name) {
            m.add(self.missing(name, expected));
        }
        self.section(name, m)
    }

    /// A whole number within `range`.
    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
        m: &mut Mistakes,
    ) -> Option<i64> {
        let value = self.find(name)?;
        let number = integer_of(value).filter(|number| range.contains(number));
        if number.is_none() {
            m.add(self.wrong(name, value, &between(&range)));
        }
        number
    }

    /// As [`Self::integer`], and a mistake where there is none.
    pub(crate) fn need_integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
        m: &mut Mistakes,
    ) -> Option<i64> {
        if !self.has(name) {
            m.add(self.missing(name, &between(&range)));
        }
        self.integer(name, range, m)
    }

    /// One 16-bit number or a list of them.
    pub(crate) fn words(&mut self, name: &'static str, m: &mut Mistakes) -> Option<Vec<u16>> {
        let value = self.find(name)?;
        let as_word = |value: &Spanned<DeValue<'_>>| {
            integer_of(value).and_then(|number| u16::try_from(number).ok())
        };
        let words = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(as_word).collect(),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => as_word(value).map(|word| vec![word]),
        };
        if words.is_none() {
            m.add(self.wrong(
                name,
                value,
                "a whole number from 0 to 65535, or a list of them",
            ));
        }
        words
    }

    /// True or false.
    pub(crate) fn boolean(&mut self, name: &'static str, m: &mut Mistakes) -> Option<bool> {
        let value = self.find(name)?;
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            m.add(self.wrong(name, value, "true or false"));
        }
        boolean
    }

    /// One of the words given.
    pub(crate) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
        m: &mut Mistakes,
    ) -> Option<T> {
        let value = self.find(name)?;
        let text = value.get_ref().as_str();
        let found = words
            .iter()
            .find(|(word, _)| text == Some(*word))
            .map(|(_, what)| *what);
        if found.is_none() {
            m.add(self.wrong(name, value, &one_of(words.iter().map(|(word, _)| *word))));
        }
        found
    }

    /// All keys of this table with whole numbers within `range`; their names are free.
    pub(crate) fn numbers(
        &self,
        range: &RangeInclusive<i64>,
        m: &mut Mistakes,
    ) -> Vec<(&'t str, i64)> {
        let mut numbers = Vec::new();
        for (key, value) in self.table {
            let name = key.get_ref();
            match integer_of(value).filter(|number| range.contains(number)) {
                Some(number) => numbers.push((name.as_ref(), number)),
                None => m.add(self.wrong(name, value, &between(range))),
            }
        }
        numbers
    }

    /// A mistake: the key is not there.
    pub(crate) fn missing(&self, name: &str, expected: &str) -> MapError {
        MapError {
            key: self.key(name),
            value: String::new(),
            expected: expected.to_owned(),
            line: self.line,
        }
    }

    /// A mistake: the key is there and its value does not do.
    pub(crate) fn refuse(&self, name: &str, expected: &str) -> MapError {
        match self.table.iter().find(|(key, _)| key.get_ref() == name) {
            Some((_, value)) => self.wrong(name, value, expected),
            None => self.missing(name, expected),
        }
    }

    /// Every key that nobody asked for is a mistake.
    pub(crate) fn finish(self, m: &mut Mistakes) {
        for (key, value) in self.table {
            let name = key.get_ref().as_ref();
            if !self.asked.contains(&name) {
                let known = format!(
                    "no such key here but {}",
                    one_of(self.asked.iter().copied())
                );
                m.add(self.wrong(name, value, &known));
            }
        }
    }

    fn find(&mut self, name: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        self.table
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
    }

    fn wrong(&self, name: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> MapError {
        MapError {
            key: self.key(name),
            value: self.written(value),
            expected: expected.to_owned(),
            line: Some(self.line_at(value)),
        }
    }

    /// The value as it stands in the file, in one line of bounded length.
    fn written(&self, value: &Spanned<DeValue<'_>>) -> String {
        if value.get_ref().is_table() {
            return "a table".to_owned();
        }
        let text = self.text.get(value.span()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head = cut(&line, VALUE_BYTES_MAX);
        let rest = if head.len() < line.len() { "..." } else { "" };
        format!("{}{rest}", detail(head))
    }

    fn line_at(&self, value: &Spanned<DeValue<'_>>) -> usize {
        line_of(self.text, value.span().start)
    }
}

fn integer_of(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let integer = value.get_ref().as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn between(range: &RangeInclusive<i64>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}

fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
