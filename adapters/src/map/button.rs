//! Points that are written: buttons, levels, seconds and counters, and the writes they become.

use super::point::{FloorCodes, Table, address, stride, table};
use super::toml_section::{Mistakes, Section};

/// The longest press of a button that the gateway ends itself, in milliseconds.
const PULSE_MS_MAX: i64 = 5_000;
/// The shortest one: below, many controllers see nothing.
const PULSE_MS_MIN: i64 = 50;

/// One write transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Write {
    /// One coil, by function 05, or 15 where `multiple`.
    Coil {
        /// Where.
        address: u16,
        /// What.
        on: bool,
        /// By function 15.
        multiple: bool,
    },
    /// Holding registers, by function 06, or 16 where `multiple`.
    Registers {
        /// Where.
        address: u16,
        /// What; one word unless `multiple`.
        words: Vec<u16>,
        /// By function 16.
        multiple: bool,
    },
}

impl Write {
    /// The point that it writes, the first one of several.
    pub(crate) fn point(&self) -> (Table, u16) {
        match self {
            Self::Coil { address, .. } => (Table::Coil, *address),
            Self::Registers { address, .. } => (Table::Holding, *address),
        }
    }
}

/// One step of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// What is written.
    pub(crate) write: Write,
    /// What is written afterwards and how many milliseconds later, where a press has to be ended.
    pub(crate) off: Option<(u64, Write)>,
}

impl From<Write> for Step {
    fn from(write: Write) -> Self {
        Self { write, off: None }
    }
}

/// A button: a coil or a holding register that is set, and, where the controller does not do so
/// by itself, reset after a while. A button of a floor moves with the floor number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Button {
    is_coil: bool,
    address: u16,
    stride: u16,
    codes: Option<FloorCodes>,
    multiple: bool,
    on: u16,
    off: u16,
    pulse_ms: Option<u64>,
}

impl Button {
    /// The button under `name`, where there is one. `floors` is `floors.count` for a row of
    /// buttons with one per floor.
    pub(super) fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        floors: Option<u16>,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let is_coil = writable(&mut section, m);
        let address = address(&mut section, m);
        let (codes, stride) = match floors {
            Some(count) => {
                let codes = FloorCodes::parse_keys(&mut section, count, u16::MAX, m);
                let stride = stride(&mut section, m);
                refuse_floor_keys(&section, is_coil, codes.is_some(), m);
                (codes, stride)
            }
            None => (None, Some(0)),
        };
        let multiple = multiple(&mut section, is_coil, m);
        let (on, off) = states(&mut section, is_coil, m);
        let pulse_ms = section
            .integer("pulse_ms", PULSE_MS_MIN..=PULSE_MS_MAX, m)
            .and_then(|ms| u64::try_from(ms).ok());
        let button = Self {
            is_coil: is_coil?,
            address: address?,
            stride: stride?,
            codes,
            multiple: multiple?,
            on,
            off,
            pulse_ms,
        };
        if button
            .place(floors.unwrap_or(1).saturating_sub(1))
            .is_none()
        {
            m.add(section.refuse("address", "an address whose row ends at 65535 or below"));
        }
        section.finish(m);
        Some(button)
    }

    /// A level, which stays as it is written: as a button, without `pulse_ms`.
    pub(super) fn parse_level(
        parent: &mut Section<'_>,
        name: &'static str,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let button = Self::parse(parent, name, None, m)?;
        if button.pulse_ms.is_some() {
            m.add(parent.refuse(
                name,
                "no pulse_ms: this point stays on until it is written off",
            ));
        }
        Some(button)
    }

    /// The writes of a press. `number` is the floor number, 0 where there is no floor.
    pub(crate) fn press(&self, number: u16) -> Option<Step> {
        let address = self.place(number)?;
        let on = match &self.codes {
            Some(codes) => codes.value(number)?,
            None => self.on,
        };
        let off = self
            .pulse_ms
            .map(|pulse_ms| (pulse_ms, self.write(address, self.off)));
        Some(Step {
            write: self.write(address, on),
            off,
        })
    }

    /// The write that ends a level.
    pub(crate) fn end(&self) -> Write {
        self.write(self.address, self.off)
    }

    fn place(&self, number: u16) -> Option<u16> {
        if self.codes.is_some() {
            return Some(self.address);
        }
        let at = u32::from(self.address) + u32::from(number) * u32::from(self.stride);
        u16::try_from(at).ok()
    }

    fn write(&self, address: u16, value: u16) -> Write {
        if self.is_coil {
            Write::Coil {
                address,
                on: value != 0,
                multiple: self.multiple,
            }
        } else {
            Write::Registers {
                address,
                words: vec![value],
                multiple: self.multiple,
            }
        }
    }
}

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

/// The key `point` of something that is written: whether it is a coil.
fn writable(section: &mut Section<'_>, m: &mut Mistakes) -> Option<bool> {
    match table(section, m)? {
        Table::Coil => Some(true),
        Table::Holding => Some(false),
        Table::Discrete | Table::Input => {
            m.add(section.refuse("point", "coil or holding: the others cannot be written"));
            None
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

/// The key `function`: whether the function for several points is used.
fn multiple(section: &mut Section<'_>, is_coil: Option<bool>, m: &mut Mistakes) -> Option<bool> {
    let words = if is_coil? { (5, 15) } else { (6, 16) };
    match section.integer("function", 1..=16, m) {
        None => Some(false),
        Some(function) if function == words.0 => Some(false),
        Some(function) if function == words.1 => Some(true),
        Some(_) => {
            let what = if is_coil? {
                "a coil"
            } else {
                "a holding register"
            };
            m.add(section.refuse(
                "function",
                &format!("{} or {} for {what}", words.0, words.1),
            ));
            None
        }
    }
}

/// The keys `inverted` of a coil, `on` and `off` of a register: the values on and off.
fn states(section: &mut Section<'_>, is_coil: Option<bool>, m: &mut Mistakes) -> (u16, u16) {
    if is_coil == Some(true) {
        let inverted = section.boolean("inverted", m).unwrap_or(false);
        return (u16::from(!inverted), u16::from(inverted));
    }
    let mut word = |name, default| {
        section
            .integer(name, 0..=65_535, m)
            .and_then(|w| u16::try_from(w).ok())
            .unwrap_or(default)
    };
    (word("on", 1), word("off", 0))
}

/// Keys of a row of buttons that do not go together.
fn refuse_floor_keys(section: &Section<'_>, is_coil: Option<bool>, coded: bool, m: &mut Mistakes) {
    if !coded {
        return;
    }
    for name in ["stride", "on"] {
        if section.has(name) {
            m.add(section.refuse(
                name,
                "not together with first or values, which write the floor",
            ));
        }
    }
    if is_coil == Some(true) {
        let name = if section.has("values") {
            "values"
        } else {
            "first"
        };
        m.add(section.refuse(name, "a holding register: a coil cannot hold a floor"));
    }
}
