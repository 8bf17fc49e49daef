//! Points that are written: buttons and levels.

use super::point::{FloorCodes, Table, address, stride, table};
use super::toml_section::{Mistakes, Section};
use super::write::{Step, Write};

/// The longest press of a button that the gateway ends itself, in milliseconds.
const PULSE_MS_MAX: i64 = 5_000;
/// The shortest one: below, many controllers see nothing.
const PULSE_MS_MIN: i64 = 50;
/// The unit of the time that a relay board takes where the map does not say, in milliseconds
/// (Waveshare, Modbus RTU Relay, development protocol).
const FLASH_UNIT_MS_DEFAULT: i64 = 100;

/// A button: a coil or a holding register that is set, and, where the controller does not do so
/// by itself, reset after a while; or a relay that its board sets for a while. A button of a floor
/// moves with the floor number.
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
    /// The time that goes to the board, in its own unit.
    flash: Option<u16>,
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
        let flash = flash(&mut section, is_coil, m);
        let button = Self {
            is_coil: is_coil?,
            address: address?,
            stride: stride?,
            codes,
            multiple: multiple?,
            on,
            off,
            pulse_ms,
            flash,
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
        if button.pulse_ms.is_some() || button.flash.is_some() {
            m.add(parent.refuse(
                name,
                "no pulse_ms and no flash_ms: this point stays on until it is written off",
            ));
        }
        Some(button)
    }

    /// The writes of a press. `number` is the floor number, 0 where there is no floor.
    pub(crate) fn press(&self, number: u16) -> Option<Step> {
        let address = self.place(number)?;
        if let Some(value) = self.flash {
            return Some(Write::Flash { address, value }.into());
        }
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

    /// Its table and its addresses, first and last, for so many floors; 1 where there is no floor.
    pub(super) fn range(&self, count: u16) -> (Table, u16, u16) {
        let table = if self.is_coil {
            Table::Coil
        } else {
            Table::Holding
        };
        let last = self.place(count.saturating_sub(1));
        (table, self.address, last.unwrap_or(self.address))
    }

    /// The floor number, below `count`, whose press is written there; the lowest of several.
    pub(super) fn number_at(&self, count: u16, table: Table, address: u16) -> Option<u16> {
        if self.range(count).0 != table {
            return None;
        }
        (0..count).find(|number| self.place(*number) == Some(address))
    }

    /// Whether its board ends the press by itself.
    pub(super) fn is_flash(&self) -> bool {
        self.flash.is_some()
    }

    /// Whether the gateway ends the press.
    pub(super) fn has_pulse(&self) -> bool {
        self.pulse_ms.is_some()
    }

    /// What is written to press it and to end it; `None` where a floor is written.
    pub(super) fn values(&self) -> Option<(u16, u16)> {
        self.codes.is_none().then_some((self.on, self.off))
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

/// The key `function`: whether the function for several points is used.
pub(super) fn multiple(
    section: &mut Section<'_>,
    is_coil: Option<bool>,
    m: &mut Mistakes,
) -> Option<bool> {
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

/// The keys `flash_ms` and `flash_unit_ms`: the time for which a board sets a relay, in its unit.
fn flash(section: &mut Section<'_>, is_coil: Option<bool>, m: &mut Mistakes) -> Option<u16> {
    let unit_ms = section.integer("flash_unit_ms", 1..=1_000, m);
    let unit_ms = unit_ms.unwrap_or(FLASH_UNIT_MS_DEFAULT);
    let Some(flash_ms) = section.integer("flash_ms", PULSE_MS_MIN..=PULSE_MS_MAX, m) else {
        if section.has("flash_unit_ms") && !section.has("flash_ms") {
            m.add(section.missing("flash_ms", "the time for which the board sets the relay"));
        }
        return None;
    };
    if is_coil == Some(false) {
        m.add(section.refuse("flash_ms", "a coil: the time goes out by function 05"));
    }
    for name in ["pulse_ms", "function", "inverted", "first", "values"] {
        if section.has(name) {
            m.add(section.refuse(name, "not together with flash_ms, which the board times"));
        }
    }
    if flash_ms % unit_ms != 0 {
        m.add(section.refuse(
            "flash_ms",
            &format!("a multiple of {unit_ms}, the board's unit"),
        ));
    }
    u16::try_from(flash_ms / unit_ms).ok()
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
