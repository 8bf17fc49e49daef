//! Whose a unit is, and what the configuration says of its points.

use std::collections::BTreeMap;

use adapters::bus::reads_of;
use adapters::map::{MappedFloor, RegisterMap, Table};
use adapters::rtu::Request;
use protocol::ElevatorId;

use super::place::{Place, word};
use crate::config::DriverConfig;

/// Values of a unit by place.
pub(super) type Image = BTreeMap<(Table, u16), u16>;

/// An elevator of the bus.
struct Own<'c> {
    elevator: &'c ElevatorId,
    unit: u8,
    relay_unit: Option<u8>,
    map: &'c RegisterMap,
    floors: Vec<MappedFloor>,
}

/// What touching a point would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Touched {
    /// The elevator; `None` for a zone's fire input.
    pub(super) elevator: Option<String>,
    /// In words.
    pub(super) what: String,
}

/// What a write to a point of a unit touches, by the configuration.
pub(super) fn touched(place: &Place, unit: u8, table: Table, address: u16) -> Vec<Touched> {
    let mut all = Vec::new();
    for own in elevators(place) {
        let is_written = own.relay_unit.unwrap_or(own.unit) == unit;
        if !is_written && own.unit != unit {
            continue;
        }
        let points = if is_written {
            own.map.written_at(&own.floors, table, address)
        } else {
            Vec::new()
        };
        let role = if is_written {
            "takes its commands"
        } else {
            "is where it is read"
        };
        let id = own.elevator;
        let at = format!("{} {address}", word(table));
        let whats = match points.as_slice() {
            [] => vec![format!(
                "{id}: unit {unit} {role}; its map names nothing at {at}"
            )],
            points => points
                .iter()
                .map(|(key, floor)| match floor {
                    Some(floor) => format!("{id}: {key} of floor {floor}"),
                    None => format!("{id}: {key}"),
                })
                .collect(),
        };
        all.extend(whats.into_iter().map(|what| Touched {
            elevator: Some(id.to_string()),
            what,
        }));
    }
    all.extend(fire_inputs(place, unit));
    all
}

/// The keys of what the configuration reads at a place.
pub(super) fn names(place: &Place, unit: u8, table: Table, address: u16) -> Vec<String> {
    let own = elevators(place).into_iter().filter(|own| own.unit == unit);
    own.flat_map(|own| own.map.read_at(table, address))
        .collect()
}

/// What the values of a unit say, as far as they are all there: key and word.
pub(super) fn words(place: &Place, unit: u8, image: &Image) -> Vec<(String, String)> {
    let own = elevators(place).into_iter().filter(|own| own.unit == unit);
    let mut words: Vec<_> = own
        .flat_map(|own| own.map.words(&own.floors, image))
        .collect();
    if let Some((config, bus)) = &place.site {
        for (zone, input) in &config.zone_inputs {
            let value = image.get(&(input.point, input.address));
            if let Some(value) = value.filter(|_| &input.bus == bus && input.unit == unit) {
                let says = if *value == input.clear {
                    "clear"
                } else {
                    "FIRE"
                };
                words.push((format!("fire input of zone {zone}"), says.to_owned()));
            }
        }
    }
    words
}

/// What the gateway reads of a unit.
pub(super) fn reads(place: &Place, unit: u8) -> Vec<Request> {
    let own = elevators(place).into_iter().find(|own| own.unit == unit);
    own.map(|own| reads_of(own.map)).unwrap_or_default()
}

/// The units that the configuration names on the bus, and what each is.
pub(super) fn units(place: &Place) -> BTreeMap<u8, String> {
    let mut units: BTreeMap<u8, String> = BTreeMap::new();
    let mut add = |unit: u8, what: String| {
        let told = units.entry(unit).or_default();
        if !told.is_empty() {
            told.push_str(", ");
        }
        told.push_str(&what);
    };
    for own in elevators(place) {
        add(own.unit, own.elevator.to_string());
        if let Some(relays) = own.relay_unit {
            add(relays, format!("relays of {}", own.elevator));
        }
    }
    if let Some((config, bus)) = &place.site {
        for (zone, input) in config
            .zone_inputs
            .iter()
            .filter(|(_, input)| &input.bus == bus)
        {
            add(input.unit, format!("fire input of zone {zone}"));
        }
    }
    units
}

fn fire_inputs(place: &Place, unit: u8) -> Vec<Touched> {
    let Some((config, bus)) = &place.site else {
        return Vec::new();
    };
    let inputs = config.zone_inputs.iter();
    let inputs = inputs.filter(|(_, input)| &input.bus == bus && input.unit == unit);
    let touched = inputs.map(|(zone, _)| Touched {
        elevator: None,
        what: format!("zone {zone}: unit {unit} has its fire input"),
    });
    touched.collect()
}

fn elevators(place: &Place) -> Vec<Own<'_>> {
    let Some((config, own_bus)) = &place.site else {
        return Vec::new();
    };
    let own = config.drivers.iter().filter_map(|(elevator, driver)| {
        let DriverConfig::Modbus {
            bus,
            unit,
            relay_unit,
            map,
        } = driver
        else {
            return None;
        };
        let floors = &config.site.elevators.get(elevator)?.floors;
        (bus == own_bus).then(|| Own {
            elevator,
            unit: *unit,
            relay_unit: *relay_unit,
            map,
            floors: floors
                .iter()
                .map(|floor| MappedFloor {
                    label: floor.label.clone(),
                    sides: floor.sides.clone(),
                })
                .collect(),
        })
    });
    own.collect()
}
