//! Register maps: where in a Modbus device which point of an elevator lies. A map is a file of the
//! site's configuration; `configs/maps/example.toml` explains every key.
//!
//! A map knows floors by *number*, from 0. A floor's number is its place in the elevator's own
//! list of floors, or the one that the map's table `[floors.labels]` gives to its label.

mod blocks;
mod button;
mod car;
mod commands;
mod fit;
mod names;
mod number;
mod point;
mod reading;
mod relays;
mod side;
mod signals;
pub(crate) mod toml_section;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use protocol::limits::FLOORS_MAX;
use protocol::{FloorLabel, Side};

use self::blocks::Polls;
use self::button::Button;
use self::car::{FloorSource, ModeSource, MotionSource};
use self::number::Counter;
use self::relays::Board;
use self::side::{Buttons, SideMap};
use self::signals::Signals;
use self::toml_section::{Mistakes, Places, Section};

pub use self::fit::Needs;
pub use self::point::Table;
pub use self::toml_section::MapError;

pub(crate) use self::blocks::{Block, Group};
pub(crate) use self::commands::command_number;
pub(crate) use self::point::Image;
pub(crate) use self::write::{Step, Write};

/// How often an elevator is read where the map does not say, in milliseconds.
const POLL_MS_DEFAULT: i64 = 250;
/// Unused points that a block read may run over where the map does not say.
const READ_GAP_DEFAULT: i64 = 8;

/// A floor that an elevator serves, as its map needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFloor {
    /// Its label.
    pub label: FloorLabel,
    /// The sides at which the car opens there.
    pub sides: BTreeSet<Side>,
}

/// A register map without a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterMap {
    poll_ms: u64,
    read_gap_max: u16,
    floors: Numbering,
    floor: FloorSource,
    motion: MotionSource,
    mode: Option<ModeSource>,
    signals: Signals,
    front: Option<SideMap>,
    rear: Option<SideMap>,
    cancel_calls: Option<Button>,
    claim: Option<Button>,
    fence: Option<Counter>,
    command_id: Option<Counter>,
}

impl RegisterMap {
    /// Reads a map from TOML.
    ///
    /// # Errors
    /// Every mistake, with its key, value and line, and what would be right.
    pub fn parse(text: &str) -> Result<Self, Vec<MapError>> {
        let tree = toml_section::parse(text)?;
        let mut m = Mistakes::default();
        let map = Self::from_root(Section::root(text, tree.get_ref()), &mut m);
        let mistakes = m.into_errors();
        match map {
            Some(map) if mistakes.is_empty() => Ok(map),
            Some(_) | None => Err(mistakes),
        }
    }

    /// The first button that only Modbus RTU can press: its time goes out by function 05.
    #[must_use]
    pub fn needs_rtu(&self) -> Option<String> {
        let mut buttons = self.buttons();
        let flash = buttons.find(|(_, _, button)| button.is_flash());
        flash.map(|(key, _, _)| key)
    }

    /// How often an elevator with this map is read, in milliseconds; points of a section that has an
    /// interval of its own are read more seldom.
    #[must_use]
    pub fn poll_ms(&self) -> u64 {
        self.poll_ms
    }

    /// The floor number of each floor of an elevator; floors without one are left out.
    pub(crate) fn floor_table(&self, floors: &[MappedFloor]) -> FloorTable {
        let number_of = |at: usize, label: &FloorLabel| match &self.floors.labels {
            Some(labels) => labels.get(label).copied(),
            None => u16::try_from(at)
                .ok()
                .filter(|number| *number < self.floors.count),
        };
        let numbers = floors.iter().enumerate();
        let numbers = numbers.filter_map(|(at, floor)| {
            number_of(at, &floor.label).map(|number| (floor.label.clone(), number))
        });
        FloorTable(numbers.collect())
    }

    /// What the controller calls a floor with this number.
    pub(crate) fn floor_code(&self, number: u16) -> Option<u16> {
        match &self.floor {
            FloorSource::Register(_, codes) => codes.value(number),
            FloorSource::Bits(_) => Some(number),
        }
    }

    /// How many floor numbers there are.
    pub(crate) fn floor_count(&self) -> u16 {
        self.floors.count
    }

    /// Whether it tells of a side of the car.
    pub(crate) fn has_side(&self, side: Side) -> bool {
        self.side(side).is_some()
    }

    fn sides(&self) -> impl Iterator<Item = (Side, &SideMap)> {
        let sides = [(Side::Front, &self.front), (Side::Rear, &self.rear)];
        sides
            .into_iter()
            .filter_map(|(side, map)| map.as_ref().map(|map| (side, map)))
    }

    fn side(&self, side: Side) -> Option<&SideMap> {
        match side {
            Side::Front => self.front.as_ref(),
            Side::Rear => self.rear.as_ref(),
        }
    }

    fn from_root(mut root: Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let sight = Self::sight(&mut root, m);
        let commands = Commands::parse(&mut root, m);
        let board = Board::parse(&mut root, m);
        root.finish(m);
        let map = Self {
            cancel_calls: commands.cancel_calls,
            claim: commands.claim,
            fence: commands.fence,
            command_id: commands.command_id,
            ..sight?
        };
        if let Some(board) = board {
            for (key, count, button) in map.buttons() {
                board.check(&key, count, button, m);
            }
        }
        Some(map)
    }

    /// All that is read of a car, and how its floors are numbered.
    pub(crate) fn sight(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let poll_ms = root
            .integer("poll_ms", 50..=10_000, m)
            .unwrap_or(POLL_MS_DEFAULT);
        let polls = Polls::new(poll_ms)?;
        let gap = match root.places() {
            Places::Tables => root
                .integer("read_gap_max", 0..=64, m)
                .unwrap_or(READ_GAP_DEFAULT),
            Places::Bytes(_) => 0,
        };
        let floors = Numbering::parse(root, m);
        let count = floors.as_ref().map_or(1, |floors| floors.count);
        let floor = FloorSource::parse(root, count, m);
        let motion = MotionSource::parse(root, m);
        let mode = ModeSource::parse(root, polls, m);
        let signals = Signals::parse(root, polls, m);
        let front = SideMap::parse(root, Side::Front, count, polls, m);
        let rear = SideMap::parse(root, Side::Rear, count, polls, m);
        if !root.has("front") && !root.has("rear") {
            m.add(root.missing("front", "a section front, a section rear, or both"));
        }
        let lamps = [&front, &rear].map(|side| side.as_ref().map(|side| side.lamps.is_some()));
        if let [Some(front), Some(rear)] = lamps
            && front != rear
        {
            let name = if front { "rear.lamps" } else { "front.lamps" };
            m.add(root.missing(name, "lamps of both sides or of none"));
        }
        Some(Self {
            poll_ms: polls.whole_ms(),
            read_gap_max: u16::try_from(gap).ok()?,
            floors: floors?,
            floor: floor?,
            motion: motion?,
            mode,
            signals,
            front,
            rear,
            cancel_calls: None,
            claim: None,
            fence: None,
            command_id: None,
        })
    }

    /// All buttons, each with its key and how many floors it is a row of.
    fn buttons(&self) -> impl Iterator<Item = (String, u16, &Button)> {
        let sides = self.sides().flat_map(|(side, map)| {
            let rows = self.floors.count;
            let Buttons {
                hall_up,
                hall_down,
                car,
                open,
                close,
                hold_s: _,
            } = &map.buttons;
            [
                ("hall_up", rows, hall_up),
                ("hall_down", rows, hall_down),
                ("car", rows, car),
                ("open", 1, open),
                ("close", 1, close),
            ]
            .map(|(name, count, button)| (format!("{side}.buttons.{name}"), count, button))
        });
        let commands = [("cancel_calls", &self.cancel_calls), ("claim", &self.claim)];
        let commands = commands.map(|(name, button)| (format!("commands.{name}"), 1, button));
        let all = sides.chain(commands);
        all.filter_map(|(key, count, button)| Some((key, count, button.as_ref()?)))
    }
}

/// The floor numbers of one elevator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FloorTable(Vec<(FloorLabel, u16)>);

impl FloorTable {
    /// The number of a floor.
    pub(crate) fn number(&self, label: &FloorLabel) -> Option<u16> {
        self.0
            .iter()
            .find(|(known, _)| known == label)
            .map(|(_, number)| *number)
    }

    fn label(&self, number: u16) -> Option<&FloorLabel> {
        self.0
            .iter()
            .find(|(_, known)| *known == number)
            .map(|(label, _)| label)
    }
}

/// The section `[commands]`: what belongs to no side.
#[derive(Default)]
struct Commands {
    cancel_calls: Option<Button>,
    claim: Option<Button>,
    fence: Option<Counter>,
    command_id: Option<Counter>,
}

impl Commands {
    fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Self {
        let Some(mut section) = root.section("commands", m) else {
            return Self::default();
        };
        let commands = Self {
            cancel_calls: Button::parse(&mut section, "cancel_calls", None, m),
            claim: Button::parse_level(&mut section, "claim", m),
            fence: Counter::parse(&mut section, "fence", &[1, 2, 4], m),
            command_id: Counter::parse(&mut section, "command_id", &[1], m),
        };
        section.finish(m);
        commands
    }
}

/// The section `[floors]`: how many floor numbers there are, and which label has which.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbering {
    count: u16,
    labels: Option<BTreeMap<FloorLabel, u16>>,
}

impl Numbering {
    fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let mut section = root.need_section("floors", "count, and labels where needed", m)?;
        let floors_max = i64::try_from(FLOORS_MAX).ok()?;
        let count = section.need_integer("count", 1..=floors_max, m);
        let labels = section.section("labels", m).map(|table| {
            let range = 0..=count.unwrap_or(floors_max) - 1;
            Self::parse_labels(&table, &range, m)
        });
        section.finish(m);
        Some(Self {
            count: u16::try_from(count?).ok()?,
            labels,
        })
    }

    fn parse_labels(
        table: &Section<'_>,
        range: &RangeInclusive<i64>,
        m: &mut Mistakes,
    ) -> BTreeMap<FloorLabel, u16> {
        let mut labels = BTreeMap::new();
        for (name, number) in table.numbers(range, m) {
            let (Ok(label), Ok(number)) = (FloorLabel::new(name), u16::try_from(number)) else {
                m.add(table.refuse(name, "a floor label as its key: 1 to 8 of A-Z a-z 0-9 _ -"));
                continue;
            };
            if labels.values().any(|known| *known == number) {
                m.add(table.refuse(name, "a number that no other floor has"));
            }
            labels.insert(label, number);
        }
        labels
    }
}

#[cfg(test)]
mod tests;
