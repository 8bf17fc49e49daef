//! `[[zones]]`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use protocol::ZoneId;
use protocol::limits::ZONES_MAX;

use super::buses::{Buses, read_bus, read_unit};
use super::document::{Table, Value};
use super::driver::Profiles;
use super::elevators::Elevator;
use super::{PointTable, ZoneInput};

const ZONE_KEYS: &[&str] = &["id", "fire"];
const FIRE_KEYS: &[&str] = &["bus", "unit", "point", "address", "clear"];
const POINTS: &[(&str, PointTable)] = &[
    ("coil", PointTable::Coil),
    ("discrete", PointTable::Discrete),
    ("holding", PointTable::Holding),
    ("input", PointTable::Input),
];

/// The zones by id; `None` for one whose fire input is mistaken.
pub(super) type Zones = BTreeMap<ZoneId, Option<ZoneInput>>;

/// Reads `[[zones]]`.
pub(super) fn read(
    root: &Table<'_>,
    buses: &Buses,
    elevators: &[Elevator<'_>],
    profiles: &Profiles,
) -> Zones {
    let mut zones = Zones::new();
    for table in root.tables("zones", ZONES_MAX) {
        table.refuse_unknown(ZONE_KEYS);
        let input = table
            .require(
                "fire",
                "the zone's fire input; a zone without one needs no table",
                |value| value.table(),
            )
            .and_then(|fire| read_fire(&fire, buses, profiles));
        let Some(id) = table.require("id", "the identifier of the zone", Value::identifier) else {
            continue;
        };
        // A zone that could not be read may be this one.
        let named = |elevator: &Elevator<'_>| elevator.zone.as_ref().is_none_or(|zone| *zone == id);
        if !elevators.iter().any(named) {
            table.refuse::<()>(
                "id",
                "the zone of an elevator: this fire input would stop nothing",
            );
        }
        match zones.entry(id) {
            Entry::Vacant(place) => {
                place.insert(input);
            }
            Entry::Occupied(_) => {
                table.refuse::<()>("id", "an identifier that no zone above has");
            }
        }
    }
    zones
}

fn read_fire(table: &Table<'_>, buses: &Buses, profiles: &Profiles) -> Option<ZoneInput> {
    table.refuse_unknown(FIRE_KEYS);
    let bus = read_bus(table, buses);
    if bus.as_ref().is_some_and(|bus| profiles.are_on(bus)) {
        let expected = "a bus of Modbus units: a maker's frames carry no fire input";
        return table.refuse("bus", expected);
    }
    let unit = read_unit(table);
    let point = table.require("point", "the kind of point", |value| value.word(POINTS));
    let address = table.require("address", "the address of the point, from 0", |value| {
        value.integer(0..=u16::MAX)
    });
    let clear = table.require(
        "clear",
        "what the point reads while there is no fire",
        |value| {
            if value.is_flag() {
                return value.flag().map(u16::from);
            }
            match point {
                Some(PointTable::Coil | PointTable::Discrete) => value.flag().map(u16::from),
                Some(PointTable::Holding | PointTable::Input) | None => value.integer(0..=u16::MAX),
            }
        },
    );
    Some(ZoneInput {
        bus: bus?,
        unit: unit?,
        point: point?,
        address: address?,
        clear: clear?,
    })
}

/// Refuses elevators that nobody would tell of a fire.
pub(super) fn refuse_deaf(elevators: &[Elevator<'_>], zones: &Zones) {
    for Elevator { table, zone, .. } in elevators {
        let Some(zone) = zone.as_ref().filter(|zone| !zones.contains_key(*zone)) else {
            continue;
        };
        if table
            .value("mode_signal")
            .is_some_and(|value| value.is_flag_of(false))
        {
            table.refuse::<()>(
                "mode_signal",
                format!(
                    "true, or a [[zones]] with id = \"{zone}\" and a fire input: without either \
                     nobody would tell of a fire"
                ),
            );
        }
    }
}
