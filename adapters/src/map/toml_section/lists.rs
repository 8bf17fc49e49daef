//! Lists of bytes, and of what stands for some.

use toml::Spanned;
use toml::de::DeValue;

use super::{Mistakes, Section, integer_of, one_of};

/// A part of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// A byte that is always the same.
    Byte(u8),
    /// What this word stands for.
    Word(&'t str),
}

impl<'t> Section<'t> {
    /// A list of bytes.
    pub(crate) fn bytes(&mut self, name: &'static str, m: &mut Mistakes) -> Option<Vec<u8>> {
        let value = self.find(name)?;
        let as_byte = |value: &Spanned<DeValue<'_>>| {
            integer_of(value).and_then(|number| u8::try_from(number).ok())
        };
        let items = value.get_ref().as_array();
        let bytes = items.and_then(|items| items.iter().map(as_byte).collect());
        if bytes.is_none() {
            m.add(self.wrong(name, value, "a list of whole numbers from 0 to 255"));
        }
        bytes
    }

    /// A list of bytes and of words that stand for some.
    pub(crate) fn layout(
        &mut self,
        name: &'static str,
        words: &[&str],
        m: &mut Mistakes,
    ) -> Option<Vec<Part<'t>>> {
        let value = self.find(name)?;
        let as_part = |value: &'t Spanned<DeValue<'t>>| match value.get_ref().as_str() {
            Some(word) => words.contains(&word).then_some(Part::Word(word)),
            None => integer_of(value)
                .and_then(|number| u8::try_from(number).ok())
                .map(Part::Byte),
        };
        let items = value.get_ref().as_array();
        let parts = items.and_then(|items| items.iter().map(as_part).collect());
        if parts.is_none() {
            let words = one_of(words.iter().copied());
            let expected = format!("a list of numbers from 0 to 255 and of {words}");
            m.add(self.wrong(name, value, &expected));
        }
        parts
    }
}
