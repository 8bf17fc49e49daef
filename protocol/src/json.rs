//! JSON as `wire.md` section 2 wants it: bounded nesting, no key twice, nothing behind the object.
//!
//! A defect does not end the reading, because the answer to a bad message shall carry the ids that
//! could be read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::limits::NESTING_MAX;
use crate::text::quote;

/// The fields of an object.
pub(crate) type Object<'a> = BTreeMap<Cow<'a, str>, Json<'a>>;

/// A JSON value. Numbers keep the form in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// An integer from 0.
    Unsigned(u64),
    /// An integer below 0.
    Negative(i64),
    /// A number with a fraction or an exponent, `-0`, or an integer beyond 64 bits.
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// An integer from 0, written without fraction or exponent.
    pub(crate) fn as_unsigned(&self) -> Option<u64> {
        if let Self::Unsigned(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// Any number; beyond 2^53 the nearest float.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Unsigned(value) => Some(*value as f64),
            Self::Negative(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(value) = self {
            Some(value)
        } else {
            None
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(values) = self {
            Some(values)
        } else {
            None
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(fields) = self {
            Some(fields)
        } else {
            None
        }
    }
}

impl fmt::Display for Json<'_> {
    /// The value as a sentence names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Negative(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(&quote(value)),
            Self::List(_) => f.write_str("a list"),
            Self::Object(_) => f.write_str("an object"),
        }
    }
}

/// The payload of a message: what could be read, and what is wrong with it as a whole.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// The fields; those that came before the defect, where one ended the reading. A key that came
    /// twice is null.
    pub(crate) fields: Object<'a>,
    /// The first defect, as a sentence.
    pub(crate) defect: Option<String>,
}

/// Reads a payload. Its size is the caller's to check.
pub(crate) fn read(payload: &[u8]) -> Document<'_> {
    let mut document = Document {
        fields: Object::new(),
        defect: None,
    };
    let (text, encoding) = match std::str::from_utf8(payload) {
        Ok(text) => (text, None),
        Err(error) => {
            let at = error.valid_up_to();
            let head = payload.split_at(at).0;
            let why = format!("the payload is no UTF-8 at byte {at}");
            (std::str::from_utf8(head).unwrap_or_default(), Some(why))
        }
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json
        .deserialize_any(Top(&mut document))
        .and_then(|()| json.end());
    if encoding.is_some() {
        document.defect = encoding;
    } else if let Err(error) = read {
        document
            .defect
            .get_or_insert_with(|| format!("the payload is no JSON object: {error}"));
    }
    document
}

/// Reads the outermost object straight into the document, so that what came before a syntax error
/// is kept.
struct Top<'d, 'a>(&'d mut Document<'a>);

impl<'a> Visitor<'a> for Top<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, map: A) -> Result<(), A::Error> {
        let Document { fields, defect } = self.0;
        read_object(map, 1, defect, fields)
    }
}

/// Reads one value. `level` is the nesting level of an object or list found here.
struct Value<'d> {
    level: usize,
    defect: &'d mut Option<String>,
}

impl Value<'_> {
    fn is_too_deep(&mut self) -> bool {
        let too_deep = self.level > NESTING_MAX;
        if too_deep {
            let why = || format!("the payload is nested deeper than {NESTING_MAX} levels");
            self.defect.get_or_insert_with(why);
        }
        too_deep
    }
}

impl<'a> DeserializeSeed<'a> for Value<'_> {
    type Value = Json<'a>;

    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<Json<'a>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Value<'_> {
    type Value = Json<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'a>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'a>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'a>, E> {
        Ok(Json::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'a>, E> {
        Ok(u64::try_from(value).map_or(Json::Negative(value), Json::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'a>, E> {
        Ok(Json::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'a str) -> Result<Json<'a>, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'a>, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut seq: A) -> Result<Json<'a>, A::Error> {
        let mut list = Vec::new();
        if self.is_too_deep() {
            // Skipping does not recurse, however deep the rest is.
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Json::List(list));
        }
        let level = self.level + 1;
        while let Some(value) = seq.next_element_seed(Value {
            level,
            defect: self.defect,
        })? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> Result<Json<'a>, A::Error> {
        let mut fields = Object::new();
        if self.is_too_deep() {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Json::Object(fields));
        }
        read_object(map, self.level, self.defect, &mut fields)?;
        Ok(Json::Object(fields))
    }
}

fn read_object<'a, A: MapAccess<'a>>(
    mut map: A,
    level: usize,
    defect: &mut Option<String>,
    fields: &mut Object<'a>,
) -> Result<(), A::Error> {
    let level = level + 1;
    while let Some(key) = map.next_key_seed(Value { level, defect })? {
        // A key is a text in every JSON object, the parser saw to it.
        let Json::Text(key) = key else { continue };
        let value = map.next_value_seed(Value { level, defect })?;
        match fields.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(mut entry) => {
                let why = || format!("the key {} comes twice", quote(entry.key()));
                defect.get_or_insert_with(why);
                entry.insert(Json::Null);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_of_100_000_levels_does_not_overflow_the_stack() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
            let payload = format!(r#"{{"x":{deep},"y":1}}"#);
            let document = read(payload.as_bytes());
            assert_eq!(
                document.defect.as_deref(),
                Some("the payload is nested deeper than 8 levels")
            );
            assert_eq!(document.fields.get("y"), Some(&Json::Unsigned(1)));
            assert!(read(open.repeat(100_000).as_bytes()).defect.is_some());
        }
    }

    #[test]
    fn numbers_keep_the_form_in_which_they_were_written() {
        for (text, number) in [
            ("0", Json::Unsigned(0)),
            ("18446744073709551615", Json::Unsigned(u64::MAX)),
            (
                "18446744073709551616",
                Json::Float(18_446_744_073_709_551_616.0),
            ),
            ("-1", Json::Negative(-1)),
            ("1.0", Json::Float(1.0)),
            ("1e0", Json::Float(1.0)),
            ("-0", Json::Float(-0.0)),
        ] {
            let payload = format!(r#"{{"n":{text}}}"#);
            let document = read(payload.as_bytes());
            assert_eq!(document.defect, None);
            assert_eq!(document.fields.get("n"), Some(&number), "{text}");
        }
    }
}
