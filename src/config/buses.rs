//! `[[buses]]`, and the keys with which others name a place on one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use adapters::bus::Transport;
use adapters::rtu::serial::{Parity, Rs485, SerialConfig};
use protocol::ZoneId;
use protocol::limits::{ELEVATORS_MAX, ZONES_MAX};

use super::BusConfig;
use super::address::host_and_port;
use super::document::{Table, Value};

const BUS_KEYS: &[&str] = &[
    "id",
    "address",
    "serial",
    "baud",
    "parity",
    "stop_bits",
    "rs485",
];
/// Keys that only a serial line has.
const SERIAL_KEYS: &[&str] = &["baud", "parity", "stop_bits", "rs485"];
const RS485_KEYS: &[&str] = &["before_send_s", "after_send_s", "inverted"];
const PARITIES: &[(&str, Parity)] = &[
    ("even", Parity::Even),
    ("odd", Parity::Odd),
    ("none", Parity::None),
];
/// Rates that serial ports have; 19,200 and 9,600 are those that every Modbus unit has (Modbus over
/// Serial Line V1.02, section 3.2).
const BAUDS: &[u32] = &[
    1_200, 2_400, 4_800, 9_600, 14_400, 19_200, 28_800, 38_400, 57_600, 76_800, 115_200, 230_400,
];
/// The default of section 3.2.
const BAUD: u32 = 19_200;
/// Bytes of the path of a port; below the system's own bound.
const PATH_BYTES_MAX: usize = 1_024;
/// The longest delay at a switch of direction, in milliseconds.
const RS485_DELAY_MS_MAX: u64 = 100;
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
    let mut ports = BTreeSet::new();
    // Each elevator has a driver on one bus at most, each zone one input.
    for table in root.tables("buses", ELEVATORS_MAX + ZONES_MAX) {
        let config = read_one(&table, &mut ports);
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

fn read_one(table: &Table<'_>, ports: &mut BTreeSet<String>) -> Option<BusConfig> {
    table.refuse_unknown(BUS_KEYS);
    if table.value("serial").is_some() {
        if table.value("address").is_some() {
            return table.refuse("address", "either serial or address: a bus is one of them");
        }
        return read_serial(table, ports);
    }
    for name in SERIAL_KEYS {
        if table.value(name).is_some() {
            table.refuse::<()>(name, "only together with serial");
        }
    }
    let address = "the host:port of a Modbus server, or serial = the path of a serial port";
    let (host, port) = table.require("address", address, |value| {
        host_and_port(value.text()?, MODBUS_TCP_PORT)
            .or_else(|| value.refuse("host:port, such as \"127.0.0.1:1502\""))
    })?;
    let address = join(&host, port);
    let transport = Transport::Tcp { address };
    Some(BusConfig { transport })
}

fn read_serial(table: &Table<'_>, ports: &mut BTreeSet<String>) -> Option<BusConfig> {
    let path = table.require("serial", "the path of a serial port", |value| {
        let path = value.text()?;
        let is_path = path.starts_with('/') && path.len() <= PATH_BYTES_MAX && !path.contains('\0');
        if !is_path {
            return value.refuse("the whole path of a port, such as \"/dev/serial/by-id/...\"");
        }
        if !ports.insert(path.to_owned()) {
            return value.refuse("a port that no bus above has");
        }
        Some(path.to_owned())
    });
    let baud = table.read("baud", BAUD, |value| {
        let baud = value.integer(1..=u32::MAX)?;
        if BAUDS.contains(&baud) {
            return Some(baud);
        }
        let bauds: Vec<_> = BAUDS.iter().map(ToString::to_string).collect();
        value.refuse(format!("one of {}", bauds.join(", ")))
    });
    let parity = table.read("parity", Parity::Even, |value| value.word(PARITIES));
    let stop_bits = table.read("stop_bits", 1_u8, |value| value.integer(1..=2));
    let rs485 = table.read("rs485", None, |value| read_rs485(value).map(Some));
    let serial = SerialConfig {
        path: path?.into(),
        baud: baud?,
        parity: parity?,
        two_stop_bits: stop_bits? == 2,
        rs485: rs485?,
    };
    let transport = Transport::Serial(serial);
    Some(BusConfig { transport })
}

/// `true`, or a table of what differs from the default.
fn read_rs485(value: &Value<'_>) -> Option<Rs485> {
    if value.is_flag_of(true) {
        return Some(Rs485::default());
    }
    if value.is_flag() {
        return value.refuse("true or a table; leave it out where the adapter switches by itself");
    }
    let table = value.table()?;
    table.refuse_unknown(RS485_KEYS);
    let delay = |name| {
        table.read(name, 0, |value| {
            let delay_ms = value.seconds_ms()?;
            if delay_ms <= RS485_DELAY_MS_MAX {
                return Some(delay_ms);
            }
            value.refuse("at most 0.1 s")
        })
    };
    let before_send_ms = delay("before_send_s");
    let after_send_ms = delay("after_send_s");
    let inverted = table.read("inverted", false, Value::flag);
    Some(Rs485 {
        before_send_ms: before_send_ms?,
        after_send_ms: after_send_ms?,
        inverted: inverted?,
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
    table.require("unit", "the Modbus unit", unit_of)
}

/// A Modbus unit.
pub(super) fn unit_of(value: &Value<'_>) -> Option<u8> {
    value.integer(UNIT_MIN..=UNIT_MAX)
}
