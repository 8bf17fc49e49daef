//! A message that is encoded once and then only gets other numbers.

use std::ops::Range;

use anyhow::ensure;

/// Digits of a number in a message.
pub(super) const DIGITS: usize = 8;
/// What stands for the number where the message is made.
pub(super) const BLANK: &str = "00000000";

/// The bytes of a message whose number is written in place.
#[derive(Debug, Clone)]
pub(super) struct Template {
    bytes: Vec<u8>,
    slots: Vec<Range<usize>>,
}

impl Template {
    /// A message in which each of `words` stands at least once, and ends in [`BLANK`].
    ///
    /// # Errors
    /// Where one of them is missing.
    pub(super) fn new(bytes: Vec<u8>, words: &[&str]) -> anyhow::Result<Self> {
        let mut slots = Vec::new();
        for word in words {
            let found = find(&bytes, word);
            ensure!(
                word.ends_with(BLANK) && !found.is_empty(),
                "{word} does not stand in a message"
            );
            slots.extend(found.iter().map(|word| word.end - DIGITS..word.end));
        }
        Ok(Self { bytes, slots })
    }

    /// The message with that number, of which the last [`DIGITS`] digits count.
    pub(super) fn numbered(&mut self, number: u64) -> &[u8] {
        let digits = digits(number);
        for slot in &self.slots {
            self.bytes[slot.clone()].copy_from_slice(&digits);
        }
        &self.bytes
    }
}

/// Where a word stands between quotes.
pub(super) fn find(bytes: &[u8], word: &str) -> Vec<Range<usize>> {
    let quoted = format!("\"{word}\"");
    let at = |(at, window): (usize, &[u8])| {
        (window == quoted.as_bytes()).then_some(at + 1..at + 1 + word.len())
    };
    bytes
        .windows(quoted.len())
        .enumerate()
        .filter_map(at)
        .collect()
}

fn digits(mut number: u64) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        // Below 10.
        #[allow(clippy::cast_possible_truncation)]
        let rest = (number % 10) as u8;
        *digit = b'0' + rest;
        number /= 10;
    }
    digits
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_place() {
        let bytes = br#"{"a":"x-00000000","b":"00000000","c":"x-00000000"}"#.to_vec();
        let mut template = Template::new(bytes, &["x-00000000"]).unwrap();
        assert_eq!(
            template.numbered(12_345_678_901),
            br#"{"a":"x-45678901","b":"00000000","c":"x-45678901"}"#
        );
        assert_eq!(
            template.numbered(7),
            br#"{"a":"x-00000007","b":"00000000","c":"x-00000007"}"#
        );
        assert!(Template::new(b"{}".to_vec(), &["x-00000000"]).is_err());
    }
}
