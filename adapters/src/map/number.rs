//! Numbers that are written: seconds of a hold, and counters.

use super::button::multiple;
use super::point::{Table, address, table};
use super::toml_section::{Mistakes, Section};
use super::write::Write;

/// A holding register that takes the seconds for which a door shall stay open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HoldSeconds {
    address: u16,
    multiple: bool,
    max_s: u16,
}

impl HoldSeconds {
    /// The point `hold_s`, where there is one.
    pub(super) fn parse(parent: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let mut section = parent.section("hold_s", m)?;
        let is_holding = holding(&mut section, m);
        let address = address(&mut section, m);
        let multiple = multiple(&mut section, Some(false), m);
        let max_s = section.integer("max", 1..=65_535, m).unwrap_or(65_535);
        section.finish(m);
        is_holding?;
        Some(Self {
            address: address?,
            multiple: multiple?,
            max_s: u16::try_from(max_s).ok()?,
        })
    }

    /// The longest hold that it takes, in seconds.
    pub(crate) fn max_s(&self) -> u16 {
        self.max_s
    }

    /// The write of a hold of `seconds`.
    pub(crate) fn write(&self, seconds: u16) -> Write {
        Write::Registers {
            address: self.address,
            words: vec![seconds],
            multiple: self.multiple,
        }
    }
}

/// Holding registers that take a counter before each command: the fence, or a command's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(super) address: u16,
    words: u16,
    low_first: bool,
    multiple: bool,
}

impl Counter {
    /// The point under `name`, where there is one; `sizes` are the numbers of words allowed.
    pub(super) fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        sizes: &[i64],
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let is_holding = holding(&mut section, m);
        let address = address(&mut section, m);
        let words = section.integer("words", 1..=4, m).unwrap_or(1);
        if !sizes.contains(&words) {
            let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            m.add(section.refuse("words", &format!("one of {}", sizes.join(", "))));
        }
        let orders = [("low_first", true), ("high_first", false)];
        let low_first = section.word("order", &orders, m);
        if words > 1 && !section.has("order") {
            m.add(section.missing("order", "low_first, high_first"));
        }
        let multiple = multiple(&mut section, Some(false), m)?;
        if words > 1 && section.has("function") && !multiple {
            m.add(section.refuse("function", "16: several words are written at once"));
        }
        let address = address?;
        if i64::from(address) + words - 1 > super::point::ADDRESS_MAX {
            m.add(section.refuse("address", "an address whose last word is at 65535 or below"));
        }
        section.finish(m);
        is_holding?;
        let low_first = low_first.unwrap_or(true);
        let words = u16::try_from(words).ok()?;
        Some(Self {
            address,
            words,
            low_first,
            multiple: multiple || words > 1,
        })
    }

    /// The address behind its last word.
    pub(super) fn end(&self) -> u32 {
        u32::from(self.address) + u32::from(self.words)
    }

    /// The lowest words of `number`, in the order of the device.
    pub(super) fn encode(&self, number: u64) -> Vec<u16> {
        let mut words: Vec<u16> = number
            .to_le_bytes()
            .chunks_exact(2)
            .take(usize::from(self.words))
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        if !self.low_first {
            words.reverse();
        }
        words
    }

    /// The write of `number`.
    pub(super) fn write(&self, number: u64) -> Write {
        Write::Registers {
            address: self.address,
            words: self.encode(number),
            multiple: self.multiple,
        }
    }
}

/// The key `point` of a number that is written.
fn holding(section: &mut Section<'_>, m: &mut Mistakes) -> Option<()> {
    if table(section, m)? == Table::Holding {
        return Some(());
    }
    m.add(section.refuse(
        "point",
        "holding: a number is written to a holding register",
    ));
    None
}
