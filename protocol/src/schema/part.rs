//! The parts that schemas are made of.

use schemars::Schema;
use serde_json::{Map, Value, json};

use crate::limits::{FLOOR_BYTES_MAX, ID_BYTES_MAX};
use crate::word::Word;

/// The fields of an object, in the making.
#[derive(Default)]
pub(super) struct Fields {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Fields {
    /// A field that must be there and is not null.
    pub(super) fn required(mut self, name: &'static str, value: Value) -> Self {
        self.properties.insert(name.to_owned(), value);
        self.required.push(name);
        self
    }

    /// A field that may be absent or null.
    pub(super) fn optional(mut self, name: &'static str, value: Value) -> Self {
        self.properties.insert(name.to_owned(), nullable(value));
        self
    }

    /// A field that is always written, null where it has no value.
    pub(super) fn written(self, name: &'static str, value: Value) -> Self {
        self.required(name, nullable(value))
    }

    /// The object. Further fields are allowed: they are ignored when read.
    pub(super) fn object(self) -> Value {
        json!({ "type": "object", "properties": self.properties, "required": self.required })
    }

    /// The object as the schema of a whole message.
    pub(super) fn message(self, title: &str, description: &str) -> Schema {
        message(title, description, self.object())
    }
}

/// Makes an object the schema of a whole message.
pub(super) fn message(title: &str, description: &str, object: Value) -> Schema {
    let mut whole = Map::new();
    let draft = "https://json-schema.org/draft/2020-12/schema";
    whole.insert("$schema".to_owned(), json!(draft));
    whole.insert("title".to_owned(), json!(title));
    whole.insert("description".to_owned(), json!(description));
    if let Value::Object(object) = object {
        whole.extend(object);
    }
    Schema::from(whole)
}

pub(super) fn nullable(value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }] })
}

pub(super) fn id() -> Value {
    json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_.:-]{{1,{ID_BYTES_MAX}}}$") })
}

pub(super) fn floor() -> Value {
    json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{FLOOR_BYTES_MAX}}}$") })
}

pub(super) fn words<T: Word>() -> Value {
    let words: Vec<&str> = T::ALL.iter().map(|value| value.word()).collect();
    json!({ "enum": words })
}

pub(super) fn moment() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub(super) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(super) fn integer(min: u64, max: u64) -> Value {
    json!({ "type": "integer", "minimum": min, "maximum": max })
}

/// An integer from `min`, bounded by its type only.
pub(super) fn counter(min: u64) -> Value {
    integer(min, u64::MAX)
}

pub(super) fn number() -> Value {
    json!({ "type": "number" })
}

/// A span in seconds, with a fraction where the configured time has one.
pub(super) fn seconds() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

pub(super) fn text(bytes_max: usize) -> Value {
    json!({
        "type": "string",
        "maxLength": bytes_max,
        "description": format!("At most {bytes_max} bytes of UTF-8."),
    })
}

pub(super) fn list(len_max: usize, item: Value) -> Value {
    json!({ "type": "array", "maxItems": len_max, "items": item })
}
