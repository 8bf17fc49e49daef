//! Points that are read: bits, fields of registers, and rows of bits with one per floor.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::toml_section::{Mistakes, Places, Section};

/// The four tables of a Modbus device (Modbus application protocol 1.1b3, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// Coils: bits, read by function 01, written by 05 and 15.
    Coil,
    /// Discrete inputs: bits, read by function 02.
    Discrete,
    /// Input registers: 16-bit words, read by function 04.
    Input,
    /// Holding registers: 16-bit words, read by function 03, written by 06 and 16.
    Holding,
}

impl Table {
    /// The words of configuration files.
    pub(crate) const WORDS: [(&'static str, Self); 4] = [
        ("coil", Self::Coil),
        ("discrete", Self::Discrete),
        ("input", Self::Input),
        ("holding", Self::Holding),
    ];

    /// Whether it holds single bits; the others hold 16-bit words.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::Coil | Self::Discrete)
    }
}

/// What one whole reading of a device yielded: every address of every point; bits are 0 or 1.
pub(crate) type Image = BTreeMap<(Table, u16), u16>;
/// Addresses that a reading must hold.
pub(crate) type Addresses = BTreeSet<(Table, u16)>;

/// The highest address of a table.
pub(super) const ADDRESS_MAX: i64 = 65_535;

/// One bit: a coil, a discrete input, or a bit of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bit {
    table: Table,
    address: u16,
    bit: u32,
    inverted: bool,
}

impl Bit {
    /// The point under `name`, where there is one.
    pub(super) fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let table = table(&mut section, m);
        let address = address(&mut section, m);
        let bit = register_bit(&mut section, table, m);
        let inverted = section.boolean("inverted", m).unwrap_or(false);
        section.finish(m);
        Some(Self {
            table: table?,
            address: address?,
            bit: bit?,
            inverted,
        })
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        addresses.insert((self.table, self.address));
    }

    /// Its state; `None` where the image lacks it.
    pub(super) fn read(&self, image: &Image) -> Option<bool> {
        let word = image.get(&(self.table, self.address))?;
        Some(((word >> self.bit) & 1 == 1) != self.inverted)
    }
}

/// Some bits of a register, as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    table: Table,
    address: u16,
    /// Where the lower eight bits stand by themselves.
    low: Option<u16>,
    mask: u16,
}

impl Field {
    /// The point under `name`, where there is one.
    pub(super) fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let field = Self::parse_keys(&mut section, m);
        section.finish(m);
        field
    }

    /// The keys `point`, `address` and `mask` of a table that may hold more.
    pub(super) fn parse_keys(section: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let table = table(section, m);
        if table.is_some_and(Table::is_bits) {
            m.add(section.refuse("point", "input or holding: a number stands in a register"));
        }
        let address = address(section, m);
        let (address, low, mask_max) = match section.places() {
            Places::Tables => (address, None, 0xFFFF),
            Places::Bytes(count) => wide(section, address?, count, m)?,
        };
        let mask = section.integer("mask", 1..=mask_max, m);
        Some(Self {
            table: table?,
            address: address?,
            low,
            mask: u16::try_from(mask.unwrap_or(mask_max)).ok()?,
        })
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        addresses.insert((self.table, self.address));
        addresses.extend(self.low.map(|low| (self.table, low)));
    }

    /// The number: the bits of the mask, moved down to bit 0. `None` where the image lacks it.
    pub(super) fn read(&self, image: &Image) -> Option<u16> {
        let at = |address| image.get(&(self.table, address)).copied();
        let word = match self.low {
            None => at(self.address)?,
            Some(low) => at(self.address)? << 8 | at(low)?,
        };
        Some((word & self.mask) >> self.mask.trailing_zeros())
    }

    /// The largest number that fits.
    pub(super) fn max(&self) -> u16 {
        self.mask >> self.mask.trailing_zeros()
    }
}

/// A row of bits, one per floor number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FloorBits {
    table: Table,
    address: u16,
    bit: u32,
    /// Bits of an address.
    width: u32,
    stride: u16,
    inverted: bool,
}

impl FloorBits {
    /// The row under `name`, where there is one, for `count` floors.
    pub(super) fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        count: u16,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let table = table(&mut section, m);
        let address = address(&mut section, m);
        let bit = register_bit(&mut section, table, m);
        let stride = stride(&mut section, m);
        let inverted = section.boolean("inverted", m).unwrap_or(false);
        let row = Self {
            table: table?,
            address: address?,
            bit: bit?,
            width: if section.places() == Places::Tables {
                16
            } else {
                8
            },
            stride: stride?,
            inverted,
        };
        let last = row.place(count.saturating_sub(1));
        match (section.places(), last) {
            (Places::Tables, None) => {
                m.add(section.refuse("address", "an address whose row ends at 65535 or below"));
            }
            (Places::Bytes(bytes), last) if last.is_none_or(|(address, _)| address >= bytes) => {
                let expected = format!("a byte whose row of {count} ends within the {bytes}");
                m.add(section.refuse("byte", &expected));
            }
            (Places::Tables | Places::Bytes(_), _) => {}
        }
        section.finish(m);
        Some(row)
    }

    /// Adds what must be read for `count` floors.
    pub(super) fn collect(&self, count: u16, addresses: &mut Addresses) {
        for (address, _) in (0..count).filter_map(|number| self.place(number)) {
            addresses.insert((self.table, address));
        }
    }

    /// The state of the bit of a floor number; `None` where the image lacks it.
    pub(super) fn read(&self, number: u16, image: &Image) -> Option<bool> {
        let (address, bit) = self.place(number)?;
        let word = image.get(&(self.table, address))?;
        Some(((word >> bit) & 1 == 1) != self.inverted)
    }

    /// Where the bit of a floor number stands: in registers, the row runs on from bit 15 to bit 0
    /// of the next register; in bytes from bit 7.
    fn place(&self, number: u16) -> Option<(u16, u32)> {
        let steps = u32::from(number) * u32::from(self.stride);
        let (step, bit) = if self.table.is_bits() {
            (steps, 0)
        } else {
            let bits = self.bit + steps;
            (bits / self.width, bits % self.width)
        };
        let address = u16::try_from(u32::from(self.address) + step).ok()?;
        Some((address, bit))
    }
}

/// The register value of each floor number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FloorCodes {
    /// The floor number and this.
    From(u16),
    /// By floor number.
    Listed(Vec<u16>),
}

impl FloorCodes {
    /// The keys `first` or `values`; `None` where there are neither. `max` is the largest value
    /// that the register takes.
    pub(super) fn parse_keys(
        section: &mut Section<'_>,
        count: u16,
        max: u16,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let first_max = i64::from(max) - i64::from(count.saturating_sub(1));
        let first = section.integer("first", 0..=first_max.max(0), m);
        let Some(values) = section.words("values", m) else {
            return Some(Self::From(u16::try_from(first?).ok()?));
        };
        if section.has("first") {
            m.add(section.refuse("first", "either first or values, not both"));
        }
        let distinct: BTreeSet<_> = values.iter().collect();
        if values.len() != usize::from(count) || distinct.len() != values.len() {
            let expected = format!("{count} different numbers, one for each floor of floors.count");
            m.add(section.refuse("values", &expected));
        } else if values.iter().any(|value| *value > max) {
            m.add(section.refuse("values", &format!("numbers from 0 to {max}")));
        }
        Some(Self::Listed(values))
    }

    /// The value of a floor number.
    pub(super) fn value(&self, number: u16) -> Option<u16> {
        match self {
            Self::From(first) => first.checked_add(number),
            Self::Listed(values) => values.get(usize::from(number)).copied(),
        }
    }

    /// The floor number of a value.
    pub(super) fn number(&self, value: u16) -> Option<u16> {
        match self {
            Self::From(first) => value.checked_sub(*first),
            Self::Listed(values) => {
                let at = values.iter().position(|known| *known == value)?;
                u16::try_from(at).ok()
            }
        }
    }
}

/// The key `wide`: where the two bytes of a number stand whose first byte is at `first`, and the
/// largest mask.
fn wide(
    section: &mut Section<'_>,
    first: u16,
    count: u16,
    m: &mut Mistakes,
) -> Option<(Option<u16>, Option<u16>, i64)> {
    let orders = [("big", true), ("little", false)];
    let has_wide = section.has("wide");
    let Some(is_big) = section.word("wide", &orders, m) else {
        return (!has_wide).then_some((Some(first), None, 0xFF));
    };
    let second = first + 1;
    if second >= count {
        let expected = format!("a byte whose second one is within the {count}");
        m.add(section.refuse("byte", &expected));
    }
    let (high, low) = if is_big {
        (first, second)
    } else {
        (second, first)
    };
    Some((Some(high), Some(low), 0xFFFF))
}

/// The key `point`; bytes have none.
pub(super) fn table(section: &mut Section<'_>, m: &mut Mistakes) -> Option<Table> {
    if section.places() != Places::Tables {
        return Some(Table::Holding);
    }
    if !section.has("point") {
        m.add(section.missing("point", "coil, discrete, input, holding"));
    }
    section.word("point", &Table::WORDS, m)
}

/// The key `address`, or `byte`, counted from 0 as on the wire.
pub(super) fn address(section: &mut Section<'_>, m: &mut Mistakes) -> Option<u16> {
    let address = match section.places() {
        Places::Tables => section.need_integer("address", 0..=ADDRESS_MAX, m)?,
        Places::Bytes(count) => section.need_integer("byte", 0..=i64::from(count) - 1, m)?,
    };
    u16::try_from(address).ok()
}

/// The key `stride`: addresses from one floor number to the next, 1 where it is left out.
pub(super) fn stride(section: &mut Section<'_>, m: &mut Mistakes) -> Option<u16> {
    u16::try_from(section.integer("stride", 1..=256, m).unwrap_or(1)).ok()
}

/// The key `bit`: needed in a register, wrong in a table of bits.
fn register_bit(section: &mut Section<'_>, table: Option<Table>, m: &mut Mistakes) -> Option<u32> {
    if table?.is_bits() {
        if section.integer("bit", 0..=15, m).is_some() {
            m.add(section.refuse("bit", "no bit for a coil or a discrete input"));
        }
        return Some(0);
    }
    let bit_max = match section.places() {
        Places::Tables => 15,
        Places::Bytes(_) => 7,
    };
    u32::try_from(section.need_integer("bit", 0..=bit_max, m)?).ok()
}
