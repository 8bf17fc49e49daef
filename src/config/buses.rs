//! `[[buses]]`, and the keys with which others name a place on one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use protocol::ZoneId;
use protocol::limits::{ELEVATORS_MAX, ZONES_MAX};

use super::BusConfig;
use super::address::host_and_port;
use super::document::Table;

const BUS_KEYS: &[&str] = &["id", "address"];
/// Keys of a serial bus, which this version knows and cannot serve.
const SERIAL_KEYS: &[&str] = &["serial", "baud", "parity"];
/// Port of Modbus TCP (Modbus Messaging on TCP/IP Implementation Guide section 4.3.1.1).
const MODBUS_TCP_PORT: u16 = 502;
/// Addresses of Modbus units (Modbus over Serial Line section 2.2).
const UNIT_MIN: u8 = 1;
const UNIT_MAX: u8 = 247;

/// The buses by id; `None` for one whose other keys are mistaken, so that its name is known.
pub(super) type Buses = BTreeMap<String, Option<BusConfig>>;

/// Reads `[[buses]]`.
pub(super) fn read(root: &Table<'_>) -> Buses {
    let mut buses = Buses::new();
    // Each elevator has a driver on one bus at most, each zone one input.
    for table in root.tables("buses", ELEVATORS_MAX + ZONES_MAX) {
        let config = read_one(&table);
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

fn read_one(table: &Table<'_>) -> Option<BusConfig> {
    if table.value("serial").is_some() {
        table.refuse_unknown(&[BUS_KEYS, SERIAL_KEYS].concat());
        return table.refuse(
            "serial",
            "address = \"host:port\" of a Modbus TCP server: serial lines are not part of this \
             version",
        );
    }
    table.refuse_unknown(BUS_KEYS);
    let address = "the host:port of a Modbus TCP server";
    let (host, port) = table.require("address", address, |value| {
        host_and_port(value.text()?, MODBUS_TCP_PORT)
            .or_else(|| value.refuse("host:port, such as \"127.0.0.1:1502\""))
    })?;
    Some(BusConfig {
        address: join(&host, port),
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
