//! `[[buses]]` and `[[zones]]`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use protocol::ZoneId;
use protocol::limits::{ELEVATORS_MAX, ZONES_MAX};

use super::address::host_and_port;
use super::document::{Table, Value};
use super::elevators::Elevator;
use super::{BusConfig, PointTable, ZoneInput};

const BUS_KEYS: &[&str] = &["id", "address"];
/// Keys of a serial bus, which this version knows and cannot serve.
const SERIAL_KEYS: &[&str] = &["serial", "baud", "parity"];
const ZONE_KEYS: &[&str] = &["id", "fire"];
const FIRE_KEYS: &[&str] = &["bus", "unit", "point", "address", "clear"];
/// Port of Modbus TCP (Modbus Messaging on TCP/IP Implementation Guide section 4.3.1.1).
const MODBUS_TCP_PORT: u16 = 502;
/// Addresses of Modbus units (Modbus over Serial Line section 2.2).
pub(super) const UNIT_MIN: u8 = 1;
pub(super) const UNIT_MAX: u8 = 247;
const POINTS: &[(&str, PointTable)] = &[
    ("coil", PointTable::Coil),
    ("discrete", PointTable::Discrete),
    ("holding", PointTable::Holding),
    ("input", PointTable::Input),
];

/// The buses by id; `None` for one whose other keys are mistaken, so that its name is known.
pub(super) type Buses = BTreeMap<String, Option<BusConfig>>;

/// The zones by id, in the same way.
pub(super) type Zones = BTreeMap<ZoneId, Option<ZoneInput>>;

/// Reads `[[buses]]`.
pub(super) fn read_buses(root: &Table<'_>) -> Buses {
    let mut buses = Buses::new();
    // Each elevator has a driver on one bus at most, each zone one input.
    for table in root.tables("buses", ELEVATORS_MAX + ZONES_MAX) {
        refuse_serial(&table);
        let config = table
            .require("address", "the host:port of a Modbus TCP server", |value| {
                host_and_port(value.text()?, MODBUS_TCP_PORT)
                    .or_else(|| value.refuse("host:port, such as \"127.0.0.1:1502\""))
            })
            .map(|(host, port)| BusConfig {
                address: join(&host, port),
            });
        let id = table.require("id", "the identifier of the bus", |value| {
            // A bus has no type of its own; its id follows the pattern of all.
            value.identifier::<ZoneId>().map(String::from)
        });
        let Some(id) = id else { continue };
        match buses.entry(id) {
            Entry::Vacant(place) => {
                place.insert(config);
            }
            Entry::Occupied(_) => {
                table.refuse::<()>("id", "an identifier that no bus above has");
            }
        }
    }
    buses
}

fn join(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn refuse_serial(table: &Table<'_>) {
    if table.value("serial").is_none() {
        table.refuse_unknown(BUS_KEYS);
        return;
    }
    table.refuse_unknown(&[BUS_KEYS, SERIAL_KEYS].concat());
    table.refuse::<()>(
        "serial",
        "address = \"host:port\" of a Modbus TCP server: serial lines are not part of this version",
    );
}

/// Reads `[[zones]]`.
pub(super) fn read_zones(root: &Table<'_>, buses: &Buses, elevators: &[Elevator<'_>]) -> Zones {
    let mut zones = Zones::new();
    for table in root.tables("zones", ZONES_MAX) {
        table.refuse_unknown(ZONE_KEYS);
        let input = table
            .require(
                "fire",
                "the zone's fire input; a zone without one needs no table",
                |value| value.table(),
            )
            .and_then(|fire| read_fire(&fire, buses));
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

fn read_fire(table: &Table<'_>, buses: &Buses) -> Option<ZoneInput> {
    table.refuse_unknown(FIRE_KEYS);
    let bus = read_bus(table, buses);
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

/// Reads `bus`, which names one of the buses.
pub(super) fn read_bus(table: &Table<'_>, buses: &Buses) -> Option<String> {
    table.require("bus", "the id of a bus", |value| {
        let id = value.text()?;
        if buses.contains_key(id) {
            return Some(id.to_owned());
        }
        if buses.is_empty() {
            return value.refuse("the id of a bus; there is no [[buses]] yet");
        }
        let known: Vec<_> = buses.keys().map(String::as_str).collect();
        value.refuse(format!("the id of a bus: {}", known.join(", ")))
    })
}

/// Reads `unit`.
pub(super) fn read_unit(table: &Table<'_>) -> Option<u8> {
    table.require("unit", "the Modbus unit", |value| {
        value.integer(UNIT_MIN..=UNIT_MAX)
    })
}
