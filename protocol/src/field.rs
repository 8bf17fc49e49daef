//! Typed access to the fields of an object. Each error names the field and its value.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::json::{Json, Object};
use crate::time::Timestamp;
use crate::word::Word;

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
        Self {
            path: String::new(),
            what,
        }
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
    let text = json.as_text().ok_or_else(|| expected(json, "a string"))?;
    text.parse()
        .map_err(|error| Bad::new(format!("{json} {error}")))
}

/// A time stamp.
pub(crate) fn moment(json: &Json<'_>) -> Result<Timestamp, Bad> {
    let text = json
        .as_text()
        .ok_or_else(|| expected(json, "a time stamp as a string"))?;
    Timestamp::parse(text).map_err(|error| Bad::new(format!("{json} {error}")))
}

/// `true` or `false`.
pub(crate) fn flag(json: &Json<'_>) -> Result<bool, Bad> {
    json.as_bool()
        .ok_or_else(|| expected(json, "true or false"))
}

/// An integer, written without fraction or exponent, within a range.
pub(crate) fn integer<T>(range: RangeInclusive<T>) -> impl FnOnce(&Json<'_>) -> Result<T, Bad>
where
    T: TryFrom<u64> + PartialOrd + fmt::Display,
{
    move |json| {
        let value = json.as_unsigned().and_then(|value| T::try_from(value).ok());
        value.filter(|value| range.contains(value)).ok_or_else(|| {
            expected(
                json,
                &format!("an integer from {} to {}", range.start(), range.end()),
            )
        })
    }
}

/// Any number, within a range.
pub(crate) fn number(range: RangeInclusive<f64>) -> impl FnOnce(&Json<'_>) -> Result<f64, Bad> {
    move |json| {
        json.as_number()
            .filter(|value| range.contains(value))
            .ok_or_else(|| {
                expected(
                    json,
                    &format!("a number from {:?} to {:?}", range.start(), range.end()),
                )
            })
    }
}

/// A text of at most so many bytes.
pub(crate) fn text(bytes_max: usize) -> impl FnOnce(&Json<'_>) -> Result<String, Bad> {
    move |json| {
        let text = json.as_text().ok_or_else(|| expected(json, "a string"))?;
        let bytes = text.len();
        if bytes > bytes_max {
            let rule = format!("is {bytes} bytes long, at most {bytes_max} are allowed");
            return Err(Bad::new(format!("{json} {rule}")));
        }
        Ok(text.to_owned())
    }
}

/// One word of a list.
pub(crate) fn word<T: Word>(json: &Json<'_>) -> Result<T, Bad> {
    choice(T::ALL.iter().copied(), |value| value.word())(json)
}

/// One of a few values, each of which stands for its word.
pub(crate) fn choice<T>(
    all: impl IntoIterator<Item = T> + Clone,
    word: fn(&T) -> &'static str,
) -> impl FnOnce(&Json<'_>) -> Result<T, Bad> {
    move |json| {
        let text = json.as_text();
        let found = all
            .clone()
            .into_iter()
            .find(|value| Some(word(value)) == text);
        found.ok_or_else(|| {
            let words: Vec<&str> = all.into_iter().map(|value| word(&value)).collect();
            expected(json, &format!("one of {}", words.join(", ")))
        })
    }
}

/// An object.
pub(crate) fn object<T>(
    read: impl FnOnce(&Object<'_>) -> Result<T, Bad>,
) -> impl FnOnce(&Json<'_>) -> Result<T, Bad> {
    move |json| {
        read(
            json.as_object()
                .ok_or_else(|| expected(json, "an object"))?,
        )
    }
}

/// A list of at most so many values.
pub(crate) fn list<T, C: FromIterator<T>>(
    len_max: usize,
    read: impl Fn(&Json<'_>) -> Result<T, Bad>,
) -> impl FnOnce(&Json<'_>) -> Result<C, Bad> {
    move |json| {
        let values = json.as_list().ok_or_else(|| expected(json, "a list"))?;
        let len = values.len();
        if len > len_max {
            return Err(Bad::new(format!(
                "has {len} entries, at most {len_max} are allowed"
            )));
        }
        let read = |(at, value)| read(value).map_err(|bad| bad.under(&format!("[{at}]")));
        values.iter().enumerate().map(read).collect()
    }
}

fn expected(json: &Json<'_>, what: &str) -> Bad {
    Bad::new(format!("is {json}, expected {what}"))
}
