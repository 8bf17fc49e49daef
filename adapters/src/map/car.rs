//! What a map says about the car: floor, motion and mode.

use protocol::hardware::{Mode, Motion};

use super::blocks::Polls;
use super::point::{Addresses, Bit, Field, FloorBits, FloorCodes, Image};
use super::toml_section::{Mistakes, Section};

/// Register values with a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Coded<T> {
    field: Field,
    values: Vec<(u16, T)>,
}

impl<T: Copy + PartialEq> Coded<T> {
    /// The keys `register` and `values` of a section, where it has them.
    pub(super) fn parse(
        section: &mut Section<'_>,
        words: &[(&'static str, T)],
        m: &mut Mistakes,
    ) -> Option<Self> {
        if section.has("values") && !section.has("register") {
            m.add(section.missing("register", "the register that values explains"));
        }
        let has_register = section.has("register");
        let field = Field::parse(section, "register", m);
        if !has_register {
            section.section("values", m);
            return None;
        }
        let expected = "what each number in the register means";
        let mut table = section.need_section("values", expected, m)?;
        let mut values: Vec<(u16, T)> = Vec::new();
        for (word, what) in words {
            for value in table.words(word, m).unwrap_or_default() {
                if values.iter().any(|(known, _)| *known == value) {
                    m.add(table.refuse(word, "a number that no other word here has"));
                } else if field.as_ref().is_some_and(|field| value > field.max()) {
                    m.add(table.refuse(word, "a number that fits into the mask of the register"));
                }
                values.push((value, *what));
            }
        }
        table.finish(m);
        Some(Self {
            field: field?,
            values,
        })
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        self.field.collect(addresses);
    }

    /// The meaning of the register; `None` for a number without one.
    pub(super) fn read(&self, image: &Image) -> Option<T> {
        let value = self.field.read(image)?;
        self.values
            .iter()
            .find(|(known, _)| *known == value)
            .map(|(_, what)| *what)
    }

    /// Whether some number means `what`.
    pub(super) fn means(&self, what: T) -> bool {
        self.values.iter().any(|(_, known)| *known == what)
    }
}

/// Where the floor is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FloorSource {
    /// A number in a register.
    Register(Field, FloorCodes),
    /// One bit per floor.
    Bits(FloorBits),
}

impl FloorSource {
    /// The section `[floor]`.
    pub(super) fn parse(root: &mut Section<'_>, count: u16, m: &mut Mistakes) -> Option<Self> {
        let expected = "register = {..} with a number, or bits = {..} with one bit per floor";
        let mut section = root.need_section("floor", expected, m)?;
        if section.has("register") == section.has("bits") {
            m.add(section.missing("register", expected));
        }
        let bits = FloorBits::parse(&mut section, "bits", count, m).map(Self::Bits);
        let register = section.section("register", m).and_then(|mut register| {
            let field = Field::parse_keys(&mut register, m);
            let max = field.as_ref().map_or(u16::MAX, Field::max);
            let codes = FloorCodes::parse_keys(&mut register, count, max, m);
            register.finish(m);
            Some(Self::Register(field?, codes.unwrap_or(FloorCodes::From(0))))
        });
        section.finish(m);
        bits.or(register)
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, count: u16, addresses: &mut Addresses) {
        match self {
            Self::Register(field, _) => field.collect(addresses),
            Self::Bits(bits) => bits.collect(count, addresses),
        }
    }

    /// The floor number; `None` for an unknown number, or unless exactly one bit is set.
    pub(super) fn read(&self, count: u16, image: &Image) -> Option<u16> {
        match self {
            Self::Register(field, codes) => codes.number(field.read(image)?),
            Self::Bits(bits) => {
                let mut set = (0..count).filter(|number| bits.read(*number, image) == Some(true));
                let number = set.next()?;
                set.next().is_none().then_some(number)
            }
        }
    }
}

/// Where the motion is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MotionSource {
    register: Option<Coded<Motion>>,
    moving: Option<Bit>,
    up: Option<Bit>,
    down: Option<Bit>,
    level: Option<Bit>,
}

impl MotionSource {
    /// The section `[motion]`.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let expected = "register and values, or moving and up, or up and down";
        let mut section = root.need_section("motion", expected, m)?;
        let words = [
            ("stopped", Motion::Stopped),
            ("up", Motion::Up),
            ("down", Motion::Down),
        ];
        let register = Coded::parse(&mut section, &words, m);
        let source = Self {
            moving: Bit::parse(&mut section, "moving", m),
            up: Bit::parse(&mut section, "up", m),
            down: Bit::parse(&mut section, "down", m),
            level: Bit::parse(&mut section, "level", m),
            register,
        };
        let has = |name| section.has(name);
        let by_bits = has("up") && (has("moving") || has("down"));
        let any_bit = has("up") || has("moving") || has("down");
        if has("register") && any_bit || !has("register") && !by_bits {
            m.add(section.missing("register", expected));
        }
        if source
            .register
            .as_ref()
            .is_some_and(|coded| !coded.means(Motion::Stopped))
        {
            m.add(section.refuse("values", "a number for stopped among them"));
        }
        section.finish(m);
        Some(source)
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        if let Some(register) = &self.register {
            register.collect(addresses);
        }
        for bit in [&self.moving, &self.up, &self.down, &self.level]
            .into_iter()
            .flatten()
        {
            bit.collect(addresses);
        }
    }

    /// The motion; `Unknown` where signals contradict each other, or where the car stands and the
    /// level signal is missing.
    pub(super) fn read(&self, image: &Image) -> Motion {
        let state = |bit: &Option<Bit>| bit.as_ref().and_then(|bit| bit.read(image));
        let motion = match &self.register {
            Some(register) => register.read(image).unwrap_or(Motion::Unknown),
            None => Self::from_bits(state(&self.moving), state(&self.up), state(&self.down)),
        };
        if motion == Motion::Stopped && state(&self.level) == Some(false) {
            return Motion::Unknown;
        }
        motion
    }

    fn from_bits(moving: Option<bool>, up: Option<bool>, down: Option<bool>) -> Motion {
        match (moving, up, down) {
            (Some(false), _, _) | (None, Some(false), Some(false)) => Motion::Stopped,
            (Some(true), Some(true), None | Some(false)) | (None, Some(true), Some(false)) => {
                Motion::Up
            }
            (Some(true), Some(false), None | Some(true)) | (None, Some(false), Some(true)) => {
                Motion::Down
            }
            (Some(true), Some(true), Some(true))
            | (Some(true), Some(false), Some(false))
            | (Some(true), None, _)
            | (None, Some(true), Some(true))
            | (None, None, _)
            | (None, Some(_), None) => Motion::Unknown,
        }
    }
}

/// The modes with their words, the most restrictive first.
const MODES: [(&str, Mode); 7] = [
    ("fire", Mode::Fire),
    ("emergency", Mode::Emergency),
    ("maintenance", Mode::Maintenance),
    ("attendant", Mode::Attendant),
    ("out_of_service", Mode::OutOfService),
    ("robot", Mode::Robot),
    ("normal", Mode::Normal),
];

/// Where the mode is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModeSource {
    register: Option<Coded<Mode>>,
    bits: Vec<(Mode, Bit)>,
    poll_ms: u64,
}

impl ModeSource {
    /// The section `[mode]`, where there is one.
    pub(super) fn parse(root: &mut Section<'_>, polls: Polls, m: &mut Mistakes) -> Option<Self> {
        let mut section = root.section("mode", m)?;
        let poll_ms = polls.parse(&mut section, m);
        let register = Coded::parse(&mut section, &MODES, m);
        let mut bits = Vec::new();
        if let Some(mut table) = section.section("bits", m) {
            for (word, mode) in MODES {
                bits.extend(Bit::parse(&mut table, word, m).map(|bit| (mode, bit)));
            }
            table.finish(m);
        }
        // With bits alone, a broken wire must not look like the normal mode.
        let means_normal = match &register {
            Some(coded) => coded.means(Mode::Normal),
            None => bits.iter().any(|(mode, _)| *mode == Mode::Normal),
        };
        if !means_normal && !section.has("register") {
            m.add(section.missing("bits.normal", "a signal that is on in the normal mode"));
        } else if !means_normal && register.is_some() {
            m.add(section.refuse("values", "a number for normal among them"));
        }
        section.finish(m);
        Some(Self {
            register,
            bits,
            poll_ms,
        })
    }

    /// How often it is read, in milliseconds.
    pub(super) fn poll_ms(&self) -> u64 {
        self.poll_ms
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        if let Some(register) = &self.register {
            register.collect(addresses);
        }
        for (_, bit) in &self.bits {
            bit.collect(addresses);
        }
    }

    /// The mode: of all signals, the most restrictive one counts. Nothing on, or a number without
    /// a meaning, is `Unknown`.
    pub(super) fn read(&self, image: &Image) -> Mode {
        let is_on = |wanted| {
            self.bits
                .iter()
                .any(|(mode, bit)| *mode == wanted && bit.read(image) == Some(true))
        };
        let by_bits = MODES
            .iter()
            .map(|(_, mode)| *mode)
            .find(|mode| is_on(*mode));
        let normal_wire = self.bits.iter().any(|(mode, _)| *mode == Mode::Normal);
        let Some(register) = &self.register else {
            return by_bits.unwrap_or(Mode::Unknown);
        };
        let by_register = register.read(image).unwrap_or(Mode::Unknown);
        match by_bits {
            Some(by_bits) if rank(by_bits) < rank(by_register) => by_bits,
            None if normal_wire && rank(Mode::Unknown) < rank(by_register) => Mode::Unknown,
            Some(_) | None => by_register,
        }
    }
}

/// The place of a mode among the restrictive ones: unknown stands before robot and normal.
fn rank(mode: Mode) -> u8 {
    match mode {
        Mode::Fire => 0,
        Mode::Emergency => 1,
        Mode::Maintenance => 2,
        Mode::Attendant => 3,
        Mode::OutOfService => 4,
        Mode::Unknown => 5,
        Mode::Robot => 6,
        Mode::Normal => 7,
    }
}
