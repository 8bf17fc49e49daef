//! Texts for people: bounded, on one line, without control characters.

use std::borrow::Cow;

use serde::Serializer;

use crate::limits::DETAIL_BYTES_MAX;

/// Bytes of a foreign value that a sentence quotes; leaves room for the field and the rule.
const QUOTE_BYTES_MAX: usize = 80;

/// Makes `text` fit for a `detail`: control characters are escaped, so that nobody writes lines
/// into our logs, and what exceeds [`DETAIL_BYTES_MAX`] bytes is cut at a character's boundary.
#[must_use]
pub fn detail(text: &str) -> String {
    let escaped = escape(text);
    cut(&escaped, DETAIL_BYTES_MAX).to_owned()
}

/// A foreign text as a sentence quotes it: in quotation marks, escaped, cut with `...`.
#[must_use]
pub fn quote(text: &str) -> String {
    let head = cut(text, QUOTE_BYTES_MAX);
    let rest = if head.len() < text.len() { "..." } else { "" };
    let escaped = format!("{head:?}");
    format!("{}{rest}", cut(&escaped, 2 * QUOTE_BYTES_MAX))
}

/// The longest head of `text` that has at most `bytes_max` bytes and ends with a whole character.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Serializes a text as [`detail`] bounds it.
pub(crate) fn serialize_detail<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&detail(text))
}

/// Serializes a text, if any, as [`detail`] bounds it.
pub(crate) fn serialize_optional_detail<S: Serializer>(
    text: &Option<String>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => to.serialize_some(&detail(text)),
        None => to.serialize_none(),
    }
}

fn escape(text: &str) -> Cow<'_, str> {
    let is_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(is_line) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_line(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_ends_with_a_whole_character() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("电", 2), "");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn a_detail_is_one_line() {
        assert_eq!(
            detail("a\r\nb\t\u{7f}\u{85}\u{2029}"),
            r"a\r\nb\t\u{7f}\u{85}\u{2029}"
        );
        assert_eq!(detail("floor 1F \\ \"x\" 电"), "floor 1F \\ \"x\" 电");
        assert_eq!(detail(&"\n".repeat(200)).len(), 256);
    }

    #[test]
    fn a_quote_is_cut_and_escaped() {
        assert_eq!(quote("a\"b\n"), r#""a\"b\n""#);
        assert_eq!(quote(&"x".repeat(80)), format!("{:?}", "x".repeat(80)));
        assert_eq!(quote(&"x".repeat(81)), format!("{:?}...", "x".repeat(80)));
    }
}
