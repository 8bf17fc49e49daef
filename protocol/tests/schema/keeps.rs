//! Whether a value keeps a schema.

use serde_json::Value;

/// Knows the keywords that the schemas use and panics at any other, so that none is passed over.
pub(crate) fn keeps(schema: &Value, value: &Value) -> bool {
    let keywords = schema.as_object().expect("a schema is an object");
    keywords
        .iter()
        .all(|(keyword, rule)| match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "format" => {
                rule.is_string() || keyword == "default"
            }
            "type" => is_of_type(rule.as_str().expect("one type"), value),
            "const" => rule == value,
            "enum" => rule.as_array().expect("a list").contains(value),
            "minimum" => value
                .as_f64()
                .is_none_or(|n| n >= rule.as_f64().expect("a number")),
            "maximum" => value
                .as_f64()
                .is_none_or(|n| n <= rule.as_f64().expect("a number")),
            "maxLength" => value
                .as_str()
                .is_none_or(|s| s.chars().count() as u64 <= size(rule)),
            "maxItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 <= size(rule)),
            "pattern" => value
                .as_str()
                .is_none_or(|s| matches(rule.as_str().expect("a pattern"), s)),
            "items" => value
                .as_array()
                .is_none_or(|list| list.iter().all(|item| keeps(rule, item))),
            "required" => value.as_object().is_none_or(|object| {
                let names = rule.as_array().expect("a list");
                names
                    .iter()
                    .all(|name| object.contains_key(name.as_str().expect("a name")))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                let rules = rule.as_object().expect("an object");
                rules
                    .iter()
                    .all(|(name, rule)| object.get(name).is_none_or(|v| keeps(rule, v)))
            }),
            "anyOf" => rule
                .as_array()
                .expect("a list")
                .iter()
                .any(|rule| keeps(rule, value)),
            "allOf" => rule
                .as_array()
                .expect("a list")
                .iter()
                .all(|rule| keeps(rule, value)),
            "not" => !keeps(rule, value),
            "if" => !keeps(rule, value) || keeps(&keywords["then"], value),
            "then" => true,
            unknown => panic!("a keyword that this test does not know: {unknown}"),
        })
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("no JSON type: {unknown}"),
    }
}

fn size(rule: &Value) -> u64 {
    rule.as_u64().expect("a size")
}

/// The two patterns of `wire.md` section 1, and that of a signature.
fn matches(pattern: &str, text: &str) -> bool {
    let (marks, bytes_max) = match pattern {
        "^[0-9a-f]{64}$" => {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            return text.len() == 64 && text.bytes().all(is_digit);
        }
        "^[A-Za-z0-9_.:-]{1,64}$" => ("_.:-", 64),
        "^[A-Za-z0-9_-]{1,8}$" => ("_-", 8),
        unknown => panic!("a pattern that wire.md does not have: {unknown}"),
    };
    (1..=bytes_max).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
}
