//! `driver` of an elevator, and the register maps that drivers name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use adapters::map::{MapError, MappedFloor, Needs, RegisterMap};
use dispatch::{ElevatorConfig, ServedFloor};
use protocol::ops::Presence;

use super::DriverConfig;
use super::buses::{Buses, read_bus, read_unit};
use super::document::{LEFT_OUT, SYNTAX, Table, Value};
use super::elevators::Elevator;
use super::mistake::Mistake;

const MQTT_KEYS: &[&str] = &["kind"];
const MODBUS_TCP_KEYS: &[&str] = &["kind", "bus", "unit", "map"];
/// Bytes of a register map; one with 256 floors takes a tenth of it.
const MAP_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Clone, Copy)]
enum Kind {
    Mqtt,
    ModbusTcp,
    /// Named by `wire.md` section 7 and not part of this version.
    NotBuilt,
}

const KINDS: &[(&str, Kind)] = &[
    ("mqtt", Kind::Mqtt),
    ("modbus_tcp", Kind::ModbusTcp),
    ("modbus_rtu", Kind::NotBuilt),
    ("modbus_rtu_over_tcp", Kind::NotBuilt),
];

/// Reads the drivers, one after another.
#[derive(Default)]
pub(super) struct Drivers {
    /// The maps read so far, so that the mistakes of each are told once; `None` for a bad one.
    maps: BTreeMap<PathBuf, Option<RegisterMap>>,
    /// Address and unit of the elevators read so far.
    units: BTreeSet<(String, u8)>,
}

impl Drivers {
    /// Reads the driver of one elevator.
    pub(super) fn read(&mut self, elevator: &Elevator<'_>, buses: &Buses) -> Option<DriverConfig> {
        let Some(table) = elevator.table.value("driver") else {
            return Some(DriverConfig::Mqtt);
        };
        let table = table.table()?;
        let kind = table.require("kind", "\"mqtt\" or \"modbus_tcp\"", |value| {
            value.word(KINDS)
        })?;
        match kind {
            Kind::Mqtt => {
                table.refuse_unknown(MQTT_KEYS);
                Some(DriverConfig::Mqtt)
            }
            Kind::ModbusTcp => {
                table.refuse_unknown(MODBUS_TCP_KEYS);
                self.read_modbus_tcp(&table, elevator, buses)
            }
            Kind::NotBuilt => table.refuse(
                "kind",
                "\"modbus_tcp\" or \"mqtt\": Modbus RTU is not part of this version, a serial line \
                 needs a Modbus TCP gateway in front of it",
            ),
        }
    }

    fn read_modbus_tcp(
        &mut self,
        table: &Table<'_>,
        elevator: &Elevator<'_>,
        buses: &Buses,
    ) -> Option<DriverConfig> {
        let bus = read_bus(table, buses);
        let unit = read_unit(table);
        let unit = match bus.as_ref().and_then(|bus| buses.get(bus)?.as_ref()) {
            Some(config) => unit.and_then(|unit| {
                if self.units.insert((config.address.clone(), unit)) {
                    return Some(unit);
                }
                table.refuse("unit", "a unit that no elevator above has on this bus")
            }),
            None => unit,
        };
        let map = table.require("map", "the path of a register map", |value| {
            let map = self.read_map(value)?;
            refuse_unfit(value, &map, elevator)?;
            Some(map)
        });
        Some(DriverConfig::ModbusTcp {
            bus: bus?,
            unit: unit?,
            map: map?,
        })
    }

    fn read_map(&mut self, value: &Value<'_>) -> Option<RegisterMap> {
        let name = Path::new(value.text()?);
        if name.components().any(|part| part == Component::ParentDir) {
            return value.refuse("a path without \"..\"");
        }
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

fn mapped(floors: &[ServedFloor]) -> Vec<MappedFloor> {
    let mapped = |floor: &ServedFloor| MappedFloor {
        label: floor.label.clone(),
        sides: floor.sides.clone(),
    };
    floors.iter().map(mapped).collect()
}

fn needs_of(config: &ElevatorConfig) -> Needs {
    Needs {
        mode_signal: config.mode_signal,
        presence: config.presence != Presence::None,
        claim: config.claim,
        hold_max_ms: config.hold_max_ms,
    }
}

fn mistake(file: &str, error: MapError) -> Mistake {
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
