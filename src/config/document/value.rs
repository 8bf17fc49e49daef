//! A value of the document, and what it may be read as.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use protocol::id::IdError;
use protocol::limits::ID_BYTES_MAX;
use toml::Spanned;
use toml::de::DeValue;

use super::{Document, Table};

/// Longest span that may be configured: a day.
const SECONDS_MAX: f64 = 86_400.0;

/// A value of the document.
pub(crate) struct Value<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(super) key: String,
    pub(super) span: Range<usize>,
    pub(super) value: &'d DeValue<'d>,
}

impl<'d> Value<'d> {
    /// Notes that this is a mistake.
    pub(crate) fn refuse<T>(&self, expected: impl Display) -> Option<T> {
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
    pub(crate) fn text(&self) -> Option<&'d str> {
        self.value
            .as_str()
            .or_else(|| self.refuse("a string in quotes"))
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
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
    pub(crate) fn flag(&self) -> Option<bool> {
        self.value
            .as_bool()
            .or_else(|| self.refuse("true or false"))
    }

    /// Whether it is `true` or `false`, which is no mistake yet.
    pub(crate) fn is_flag(&self) -> bool {
        self.value.is_bool()
    }

    /// Whether it is this flag.
    pub(crate) fn is_flag_of(&self, flag: bool) -> bool {
        self.value.as_bool() == Some(flag)
    }

    /// Whether it is an array, which is no mistake yet.
    pub(crate) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// Whether it is this string.
    pub(crate) fn is_text(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }

    /// An integer within `range`.
    pub(crate) fn integer<T>(&self, range: RangeInclusive<T>) -> Option<T>
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
    pub(crate) fn seconds_up(&self, seconds_max: u32) -> Option<u64> {
        self.number_of_any_size()
            .filter(|seconds| *seconds > 0.0 && *seconds <= f64::from(seconds_max))
            // The range was checked above.
            .map(|seconds| milli(seconds.ceil()).unsigned_abs() / 1000)
            .or_else(|| self.refuse(format!("seconds, more than 0 and at most {seconds_max}")))
    }

    /// A number, with or without a fraction, within `range`.
    pub(crate) fn number(&self, unit: &str, range: RangeInclusive<f64>) -> Option<f64> {
        self.number_of_any_size()
            .filter(|number| range.contains(number))
            .or_else(|| self.refuse(format!("{unit} from {} to {}", range.start(), range.end())))
    }

    /// An identifier (`wire.md` section 1).
    pub(crate) fn identifier<T: FromStr<Err = IdError>>(&self) -> Option<T> {
        match self.text()?.parse() {
            Ok(id) => Some(id),
            Err(error) => self.refuse(format!(
                "an identifier, 1 to {ID_BYTES_MAX} of A-Z a-z 0-9 _ . : -; it {error}"
            )),
        }
    }

    /// Seconds, more than 0, in milliseconds.
    pub(crate) fn seconds_ms(&self) -> Option<u64> {
        let ms = self
            .number_of_any_size()
            .filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
            .map(|seconds| milli(seconds).unsigned_abs());
        ms.filter(|ms| *ms > 0)
            .or_else(|| self.refuse(format!("seconds, from 0.001 to {SECONDS_MAX}")))
    }

    /// The items of an array.
    pub(crate) fn list(&self) -> Option<Vec<Self>> {
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
    pub(crate) fn table(&self) -> Option<Table<'d>> {
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
pub(crate) fn milli(number: f64) -> i64 {
    (number * 1000.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::milli;

    #[test]
    fn thousandths_are_rounded() {
        assert_eq!(milli(0.5), 500);
        assert_eq!(milli(2.0004), 2000);
        assert_eq!(milli(-3.2), -3200);
    }
}
