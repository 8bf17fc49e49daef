//! Typed access to the fields of an object. Each error names the field and its value.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::json::{Json, Object};
use crate::text::quote;
use crate::time::Timestamp;

/// Why a field cannot be read.
#[derive(Debug)]
pub(crate) struct Bad {
    /// The path to the field, such as `calls[2].floor`.
    path: String,
    /// What is wrong, with the value.
    what: String,
}

impl Bad {
    pub(crate) fn new(what: String) -> Self {
        Self { path: String::new(), what }
    }

    /// A required field that is absent or null.
    pub(crate) fn missing(name: &str) -> Self {
        Self::new("is missing".to_owned()).under(name)
    }

    /// The same, seen from the object that holds the field `name`.
    pub(crate) fn under(mut self, name: &str) -> Self {
        if !self.path.is_empty() && !self.path.starts_with('[') {
            self.path.insert(0, '.');
        }
        self.path.insert_str(0, name);
        self
    }
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.what)
    }
}

/// A field that may be absent or null, which is the same.
pub(crate) fn optional<T>(
    object: &Object<'_>,
    name: &str,
    read: impl FnOnce(&Json<'_>) -> Result<T, Bad>,
) -> Result<Option<T>, Bad> {
    match object.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(json) => read(json).map(Some).map_err(|bad| bad.under(name)),
    }
}

/// A field that must be there.
pub(crate) fn required<T>(
    object: &Object<'_>,
    name: &str,
    read: impl FnOnce(&Json<'_>) -> Result<T, Bad>,
) -> Result<T, Bad> {
    optional(object, name, read)?.ok_or_else(|| Bad::missing(name))
}

/// An identifier or a floor label.
pub(crate) fn name<T>(json: &Json<'_>) -> Result<T, Bad>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    match json {
        Json::Text(text) => {
            text.parse().map_err(|error| Bad::new(format!("{} {error}", quote(text))))
        }
        other => Err(expected(other, "a string")),
    }
}

/// A time stamp.
pub(crate) fn moment(json: &Json<'_>) -> Result<Timestamp, Bad> {
    match json {
        Json::Text(text) => {
            Timestamp::parse(text).map_err(|error| Bad::new(format!("{} {error}", quote(text))))
        }
        other => Err(expected(other, "a time stamp as a string")),
    }
}

/// `true` or `false`.
pub(crate) fn flag(json: &Json<'_>) -> Result<bool, Bad> {
    match json {
        Json::Bool(value) => Ok(*value),
        other => Err(expected(other, "true or false")),
    }
}

/// An integer, written without fraction or exponent, within a range.
pub(crate) fn integer<T>(range: RangeInclusive<T>) -> impl FnOnce(&Json<'_>) -> Result<T, Bad>
where
    T: TryFrom<u64> + PartialOrd + fmt::Display,
{
    move |json| {
        let value = match json {
            Json::Unsigned(value) => T::try_from(*value).ok().filter(|v| range.contains(v)),
            _ => None,
        };
        value.ok_or_else(|| {
            expected(json, &format!("an integer from {} to {}", range.start(), range.end()))
        })
    }
}

/// Any number, within a range.
pub(crate) fn number(
    range: RangeInclusive<f64>,
) -> impl FnOnce(&Json<'_>) -> Result<f64, Bad> {
    move |json| {
        // Beyond 2^53 the nearest float is good enough for a measured value.
        #[allow(clippy::cast_precision_loss)]
        let value = match json {
            Json::Unsigned(value) => Some(*value as f64),
            Json::Negative(value) => Some(*value as f64),
            Json::Float(value) => Some(*value),
            _ => None,
        };
        value.filter(|v| range.contains(v)).ok_or_else(|| {
            expected(json, &format!("a number from {} to {}", range.start(), range.end()))
        })
    }
}

/// A text of at most so many bytes.
pub(crate) fn text(bytes_max: usize) -> impl FnOnce(&Json<'_>) -> Result<String, Bad> {
    move |json| match json {
        Json::Text(text) if text.len() <= bytes_max => Ok(text.clone().into_owned()),
        Json::Text(text) => Err(Bad::new(format!(
            "{} is {} bytes long, at most {bytes_max} are allowed",
            quote(text),
            text.len()
        ))),
        other => Err(expected(other, "a string")),
    }
}

/// One word of a list.
pub(crate) fn word<T: Copy>(
    all: &'static [T],
    as_str: fn(T) -> &'static str,
) -> impl FnOnce(&Json<'_>) -> Result<T, Bad> {
    move |json| {
        let found = match json {
            Json::Text(text) => all.iter().copied().find(|word| as_str(*word) == text),
            _ => None,
        };
        found.ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|word| as_str(*word)).collect();
            expected(json, &format!("one of {}", words.join(", ")))
        })
    }
}

/// An object.
pub(crate) fn object<T>(
    read: impl FnOnce(&Object<'_>) -> Result<T, Bad>,
) -> impl FnOnce(&Json<'_>) -> Result<T, Bad> {
    move |json| match json {
        Json::Object(fields) => read(fields),
        other => Err(expected(other, "an object")),
    }
}

/// A list of at most so many values.
pub(crate) fn list<T, C: FromIterator<T>>(
    len_max: usize,
    read: impl Fn(&Json<'_>) -> Result<T, Bad>,
) -> impl FnOnce(&Json<'_>) -> Result<C, Bad> {
    move |json| match json {
        Json::List(values) if values.len() <= len_max => values
            .iter()
            .enumerate()
            .map(|(at, value)| read(value).map_err(|bad| bad.under(&format!("[{at}]"))))
            .collect(),
        Json::List(values) => Err(Bad::new(format!(
            "has {} entries, at most {len_max} are allowed",
            values.len()
        ))),
        other => Err(expected(other, "a list")),
    }
}

fn expected(json: &Json<'_>, what: &str) -> Bad {
    Bad::new(format!("is {json}, expected {what}"))
}
