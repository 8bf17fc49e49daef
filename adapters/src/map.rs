//! Register maps: where in a Modbus device which point of an elevator lies. A map is a file of the
//! site's configuration; `configs/maps/example.toml` explains every key.
//!
//! A map knows floors by *number*, from 0. A floor's number is its place in the elevator's own
//! list of floors, or the one that the map's table `[floors.labels]` gives to its label.

mod blocks;
mod button;
mod car;
mod commands;
mod point;
mod reading;
mod side;
mod toml_section;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use protocol::limits::FLOORS_MAX;
use protocol::{FloorLabel, Side};

use self::button::{Button, Counter};
use self::car::{FloorSource, ModeSource, MotionSource, Signals};
use self::side::SideMap;
use self::toml_section::{Mistakes, Section};

pub use self::point::Table;
pub use self::toml_section::MapError;

pub(crate) use self::blocks::Block;
pub(crate) use self::button::{Step, Write};
pub(crate) use self::point::Image;

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

/// What the site's configuration wants of an elevator beyond its floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// `mode_signal`: the mode must be readable.
    pub mode_signal: bool,
    /// `presence` is not `none`: there must be a presence signal.
    pub presence: bool,
    /// `claim`: there must be a robot mode to switch.
    pub claim: bool,
    /// `hold_max_s`, in milliseconds: the longest hold that will be asked for.
    pub hold_max_ms: u64,
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

    /// Whether the map fits an elevator with these floors, from the lowest.
    ///
    /// # Errors
    /// Every mistake: a floor without a number, a side or a button that is missing.
    pub fn check_floors(&self, floors: &[MappedFloor]) -> Result<(), Vec<MapError>> {
        let mut m = Mistakes::default();
        let Numbering { count, labels } = &self.floors;
        if floors.len() > usize::from(*count) && labels.is_none() {
            let expected = format!("at least {}, the floors of the elevator", floors.len());
            m.add(whole("floors.count", &count.to_string(), &expected));
        }
        if let Some(labels) = labels {
            for floor in floors
                .iter()
                .filter(|floor| !labels.contains_key(&floor.label))
            {
                let key = format!("floors.labels.{}", floor.label);
                m.add(whole(&key, "", "the number of this floor of the elevator"));
            }
        }
        for side in Side::ALL {
            self.check_side(side, floors, &mut m);
        }
        let mistakes = m.into_errors();
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    /// Whether the map has the signals and points that the elevator's configuration wants.
    ///
    /// # Errors
    /// Every point that is missing.
    pub fn check_needs(&self, needs: Needs) -> Result<(), Vec<MapError>> {
        let mut m = Mistakes::default();
        if needs.mode_signal && self.mode.is_none() {
            m.add(whole(
                "mode",
                "",
                "where the mode is read, or mode_signal = false",
            ));
        }
        if needs.presence && !self.signals.has_presence() {
            m.add(whole(
                "signals.presence",
                "",
                "the presence signal, or presence = \"none\"",
            ));
        }
        if needs.claim && self.claim.is_none() {
            m.add(whole(
                "commands.claim",
                "",
                "the robot mode to be claimed, or claim = false",
            ));
        }
        let hold_s = needs.hold_max_ms.div_ceil(1_000);
        for (side, map) in self.sides() {
            let max_s = map.buttons.hold_s.as_ref().map(button::HoldSeconds::max_s);
            if let Some(max_s) = max_s.filter(|max_s| hold_s > u64::from(*max_s)) {
                let expected = format!("at least {hold_s}, the elevator's hold_max_s");
                m.add(whole(
                    &format!("{side}.buttons.hold_s.max"),
                    &max_s.to_string(),
                    &expected,
                ));
            }
        }
        let mistakes = m.into_errors();
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    /// How often an elevator with this map is read, in milliseconds.
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

    fn check_side(&self, side: Side, floors: &[MappedFloor], m: &mut Mistakes) {
        let opens = |floor: &MappedFloor| floor.sides.contains(&side);
        let Some(lowest) = floors.iter().position(opens) else {
            return;
        };
        let Some(map) = self.side(side) else {
            let expected = format!("the door and the buttons of the {side} side");
            m.add(whole(side.as_str(), "", &expected));
            return;
        };
        let highest = floors.iter().rposition(opens).unwrap_or(lowest);
        let (has_above, has_below) = (lowest + 1 < floors.len(), highest > 0);
        let buttons = &map.buttons;
        let wanted = [
            ("hall_up", has_above && buttons.hall_up.is_none()),
            ("hall_down", has_below && buttons.hall_down.is_none()),
            ("car", buttons.car.is_none()),
            ("open", buttons.open.is_none()),
            ("hold_s", buttons.hold_s.is_none() && buttons.open.is_none()),
            ("close", buttons.close.is_none() && buttons.hold_s.is_none()),
        ];
        for (name, _) in wanted.iter().filter(|(_, is_missing)| *is_missing) {
            let key = format!("{side}.buttons.{name}");
            m.add(whole(
                &key,
                "",
                "the point of this button, which rides need",
            ));
        }
    }

    fn from_root(mut root: Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let poll_ms = root
            .integer("poll_ms", 50..=10_000, m)
            .unwrap_or(POLL_MS_DEFAULT);
        let gap = root
            .integer("read_gap_max", 0..=64, m)
            .unwrap_or(READ_GAP_DEFAULT);
        let floors = Numbering::parse(&mut root, m);
        let count = floors.as_ref().map_or(1, |floors| floors.count);
        let floor = FloorSource::parse(&mut root, count, m);
        let motion = MotionSource::parse(&mut root, m);
        let mode = ModeSource::parse(&mut root, m);
        let signals = Signals::parse(&mut root, m);
        let front = SideMap::parse(&mut root, Side::Front, count, m);
        let rear = SideMap::parse(&mut root, Side::Rear, count, m);
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
        let commands = Commands::parse(&mut root, m);
        root.finish(m);
        Some(Self {
            poll_ms: u64::try_from(poll_ms).ok()?,
            read_gap_max: u16::try_from(gap).ok()?,
            floors: floors?,
            floor: floor?,
            motion: motion?,
            mode,
            signals,
            front,
            rear,
            cancel_calls: commands.cancel_calls,
            claim: commands.claim,
            fence: commands.fence,
            command_id: commands.command_id,
        })
    }
}

/// The floor numbers of one elevator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FloorTable(Vec<(FloorLabel, u16)>);

impl FloorTable {
    fn number(&self, label: &FloorLabel) -> Option<u16> {
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

/// A mistake that is in no single place of the file.
fn whole(key: &str, value: &str, expected: &str) -> MapError {
    MapError {
        key: key.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
        line: None,
    }
}

#[cfg(test)]
mod tests;
