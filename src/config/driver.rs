//! `driver` of an elevator, and the register maps that drivers name.

mod frames;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use adapters::bus::{Transport, poll_load_permille};
use adapters::map::{MapError, MappedFloor, Needs, RegisterMap};
use dispatch::{ElevatorConfig, ServedFloor};
use protocol::ops::Presence;

use super::buses::{Buses, read_bus, read_unit, unit_of};
use super::document::{LEFT_OUT, SYNTAX, Table, Value};
use super::elevators::Elevator;
use super::mistake::Mistake;
use super::{BusConfig, DriverConfig};

pub(super) use self::frames::Profiles;

const MQTT_KEYS: &[&str] = &["kind"];
const MAKER_KEYS: &[&str] = &["kind", "bus", "unit", "profile"];
const MODBUS_KEYS: &[&str] = &["kind", "bus", "unit", "relay_unit", "map"];
/// Thousandths of a serial bus that polls may take: the rest is for commands and repetitions.
const LOAD_PERMILLE_MAX: u64 = 800;
/// Bytes of a register map; one with 256 floors takes a tenth of it.
const MAP_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Clone, Copy)]
enum Kind {
    Mqtt,
    Modbus(Frames),
    Maker(Frames),
}

/// How requests to a unit are framed, and over what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frames {
    Tcp,
    Rtu,
    RtuOverTcp,
    Maker,
    MakerOverTcp,
}

const KINDS: &[(&str, Kind)] = &[
    ("mqtt", Kind::Mqtt),
    ("modbus_tcp", Kind::Modbus(Frames::Tcp)),
    ("modbus_rtu", Kind::Modbus(Frames::Rtu)),
    ("modbus_rtu_over_tcp", Kind::Modbus(Frames::RtuOverTcp)),
    ("rs485", Kind::Maker(Frames::Maker)),
    ("rs485_over_tcp", Kind::Maker(Frames::MakerOverTcp)),
];

/// Reads the drivers, one after another.
#[derive(Default)]
pub(super) struct Drivers {
    /// The maps read so far, so that the mistakes of each are told once; `None` for a bad one.
    maps: BTreeMap<PathBuf, Option<RegisterMap>>,
    /// Place and unit of the elevators read so far.
    units: BTreeSet<(String, u8)>,
    /// The profiles of makers read so far.
    pub(super) profiles: Profiles,
    /// The frames of each bus, by the first elevator on it.
    frames: BTreeMap<String, Frames>,
    /// The thousandths of each serial bus that polls take so far.
    loads: BTreeMap<String, u64>,
}

impl Drivers {
    /// Reads the driver of one elevator.
    pub(super) fn read(&mut self, elevator: &Elevator<'_>, buses: &Buses) -> Option<DriverConfig> {
        let Some(table) = elevator.table.value("driver") else {
            return Some(DriverConfig::Mqtt);
        };
        let table = table.table()?;
        let expected = "\"mqtt\", \"modbus_tcp\", \"modbus_rtu\", \"modbus_rtu_over_tcp\", \"rs485\" \
                        or \"rs485_over_tcp\"";
        let kind = table.require("kind", expected, |value| value.word(KINDS))?;
        match kind {
            Kind::Mqtt => {
                table.refuse_unknown(MQTT_KEYS);
                Some(DriverConfig::Mqtt)
            }
            Kind::Modbus(frames) => {
                table.refuse_unknown(MODBUS_KEYS);
                self.read_modbus(&table, frames, elevator, buses)
            }
            Kind::Maker(frames) => {
                table.refuse_unknown(MAKER_KEYS);
                self.read_frames(&table, frames, elevator, buses)
            }
        }
    }

    /// Tells the buses over TCP which frames go over them.
    pub(super) fn carry(self, buses: &mut Buses) {
        for (bus, frames) in self.frames {
            let Some(Some(config)) = buses.get_mut(&bus) else {
                continue;
            };
            let is_converted = matches!(frames, Frames::RtuOverTcp | Frames::MakerOverTcp);
            if let Transport::Tcp { address } = &config.transport
                && is_converted
            {
                let address = address.clone();
                config.transport = Transport::RtuOverTcp { address };
            }
        }
    }

    fn read_modbus(
        &mut self,
        table: &Table<'_>,
        frames: Frames,
        elevator: &Elevator<'_>,
        buses: &Buses,
    ) -> Option<DriverConfig> {
        let bus = read_bus(table, buses);
        let config = bus.as_ref().and_then(|bus| buses.get(bus)?.as_ref());
        let fits = bus.as_ref().zip(config);
        let fits = fits.map(|(bus, config)| self.fit(table, frames, bus, config));
        let unit = self.own_unit(table, "unit", read_unit(table), config);
        let relay_unit = match table.value("relay_unit") {
            Some(value) => {
                let unit = self.own_unit(table, "relay_unit", unit_of(&value), config);
                unit.map(Some)
            }
            None => Some(None),
        };
        let map = table.require("map", "the path of a register map", |value| {
            let map = self.read_map(value)?;
            refuse_unfit(value, &map, elevator)?;
            refuse_timed(value, &map, frames)?;
            Some(map)
        });
        fits.unwrap_or(Some(()))?;
        if let (Some(bus), Some(config), Some(map)) = (&bus, config, &map) {
            self.load(table, bus, config, |baud| poll_load_permille(map, baud));
        }
        Some(DriverConfig::Modbus {
            bus: bus?,
            unit: unit?,
            relay_unit: relay_unit?,
            map: map?,
        })
    }

    /// A unit that no elevator above has on the bus.
    pub(super) fn own_unit(
        &mut self,
        table: &Table<'_>,
        name: &str,
        unit: Option<u8>,
        config: Option<&BusConfig>,
    ) -> Option<u8> {
        let (unit, Some(config)) = (unit?, config) else {
            return unit;
        };
        if self.units.insert((config.transport.place(), unit)) {
            return Some(unit);
        }
        table.refuse(name, "a unit that no elevator above has on this bus")
    }

    /// Says where a serial bus has no time left for commands; `of_baud` is what reading the elevator
    /// takes of it, in thousandths.
    pub(super) fn load(
        &mut self,
        table: &Table<'_>,
        bus: &str,
        config: &BusConfig,
        of_baud: impl FnOnce(u32) -> u64,
    ) {
        let Transport::Serial(serial) = &config.transport else {
            return;
        };
        let load = self.loads.entry(bus.to_owned()).or_default();
        let before = *load;
        *load += of_baud(serial.baud);
        if before <= LOAD_PERMILLE_MAX && *load > LOAD_PERMILLE_MAX {
            let (baud, load) = (serial.baud, *load);
            table.advise(
                "bus",
                format!(
                    "a bus with time for commands: at {baud} baud the polls of the elevators so \
                     far take {load} of 1000 parts of its time; a higher baud, a longer poll_ms, \
                     or another bus"
                ),
            );
        }
    }

    /// Whether frames of this kind can go over the bus.
    pub(super) fn fit(
        &mut self,
        table: &Table<'_>,
        frames: Frames,
        bus: &str,
        config: &BusConfig,
    ) -> Option<()> {
        let is_serial = matches!(config.transport, Transport::Serial(_));
        let others = match (frames, is_serial) {
            (Frames::Rtu, false) => "\"modbus_tcp\" or \"modbus_rtu_over_tcp\"",
            (Frames::Maker, false) => "\"rs485_over_tcp\"",
            (Frames::Tcp | Frames::RtuOverTcp, true) => "\"modbus_rtu\"",
            (Frames::MakerOverTcp, true) => "\"rs485\"",
            (Frames::Rtu | Frames::Maker, true)
            | (Frames::Tcp | Frames::RtuOverTcp | Frames::MakerOverTcp, false) => "",
        };
        if !others.is_empty() {
            let is = if is_serial {
                "is a serial port"
            } else {
                "has an address and no serial port"
            };
            return table.refuse("kind", format!("{others}: bus {bus} {is}"));
        }
        if *self.frames.entry(bus.to_owned()).or_insert(frames) == frames {
            return Some(());
        }
        let expected = format!("the kind of the elevators above on bus {bus}: it carries one");
        table.refuse("kind", expected)
    }

    fn read_map(&mut self, value: &Value<'_>) -> Option<RegisterMap> {
        let name = Path::new(value.text()?);
        plain_path(value, name)?;
        let path = value.document.beside(name);
        if let Some(map) = self.maps.get(&path) {
            return map.clone();
        }
        let map = match value.document.files().text(&path, MAP_BYTES_MAX) {
            Err(expected) => return value.refuse(expected),
            Ok(text) => RegisterMap::parse(&text),
        };
        let map = match map {
            Ok(map) => Some(map),
            Err(errors) => {
                let file = path.display().to_string();
                value
                    .document
                    .note_foreign(errors.into_iter().map(|error| mistake(&file, error)));
                None
            }
        };
        self.maps.insert(path, map.clone());
        map
    }
}

/// A path that leads nowhere above where it begins.
pub(super) fn plain_path(value: &Value<'_>, name: &Path) -> Option<()> {
    if name.components().any(|part| part == Component::ParentDir) {
        return value.refuse("a path without \"..\"");
    }
    Some(())
}

/// Refuses a map that lacks what the elevator needs, as far as that could be read.
fn refuse_unfit(value: &Value<'_>, map: &RegisterMap, elevator: &Elevator<'_>) -> Option<()> {
    let floors = elevator
        .floors
        .as_ref()
        .map(|floors| map.check_floors(&mapped(floors)));
    let needs = elevator
        .config
        .as_ref()
        .map(|config| map.check_needs(needs_of(config)));
    let errors: Vec<_> = [floors, needs]
        .into_iter()
        .flatten()
        .filter_map(Result::err)
        .flatten()
        .collect();
    for error in &errors {
        value.refuse::<()>(format!("a map that fits the elevator; in it {error}"));
    }
    errors.is_empty().then_some(())
}

/// Refuses a map that presses relays for a time that the board ends, where that cannot be said.
fn refuse_timed(value: &Value<'_>, map: &RegisterMap, frames: Frames) -> Option<()> {
    let Some(button) = map.needs_rtu().filter(|_| frames == Frames::Tcp) else {
        return Some(());
    };
    value.refuse(format!(
        "a map without flash_ms, or another kind of driver: Modbus TCP cannot carry it; in it {button}"
    ))
}

/// The floors of an elevator as a map needs to know them.
pub(super) fn mapped(floors: &[ServedFloor]) -> Vec<MappedFloor> {
    let mapped = |floor: &ServedFloor| MappedFloor {
        label: floor.label.clone(),
        sides: floor.sides.clone(),
    };
    floors.iter().map(mapped).collect()
}

/// What an elevator wants of its map.
pub(super) fn needs_of(config: &ElevatorConfig) -> Needs {
    Needs {
        mode_signal: config.mode_signal,
        presence: config.presence != Presence::None,
        claim: config.claim,
        hold_max_ms: config.hold_max_ms,
    }
}

/// A mistake in a file that a driver names.
pub(super) fn mistake(file: &str, error: MapError) -> Mistake {
    Mistake {
        file: file.to_owned(),
        line: error.line.unwrap_or(1),
        key: if error.key.is_empty() {
            SYNTAX.to_owned()
        } else {
            error.key
        },
        value: if error.value.is_empty() {
            LEFT_OUT.to_owned()
        } else {
            error.value
        },
        expected: error.expected,
        advice: false,
    }
}
