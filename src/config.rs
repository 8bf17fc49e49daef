//! The configuration file (`wire.md` section 7): read whole, every mistake told at once.
//!
//! What comes out is checked and in the units of the program; nothing behind it looks at the file
//! again. The files that it names (map, password, certificates) are read here too, so that a
//! gateway that starts has all that it needs. Paths of such files are relative to the configuration
//! file, `data_dir` is relative to the working directory.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::bus::Transport;
use adapters::map::{RegisterMap, Table as PointTable};
use adapters::rs485::FrameProfile;
use dispatch::config::{Applications, ElevatorConfig, QueuePolicy, SiteConfig, ZoneConfig};
use protocol::device::DeviceKey;
use protocol::{DeviceId, ElevatorId, GatewayId, Sensitive, SiteId, ZoneId};

mod address;
mod applications;
mod buses;
mod civil_zone;
mod devices;
mod document;
mod driver;
mod elevators;
mod gateway;
mod http;
mod mistake;
mod pools;
mod text_file;
mod timing;
mod zones;

pub use http::{HttpClient, HttpConfig, Token};
pub use mistake::Mistake;
pub use text_file::{Disk, Files};

use document::{Document, Table};
use driver::Drivers;

/// Bytes that a configuration file may have; 256 elevators of 256 floors stay below half of it.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// All that a configuration file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Who and where the gateway is.
    pub gateway: GatewayConfig,
    /// How it reaches its broker.
    pub mqtt: MqttConfig,
    /// Who may ask over HTTP, and where; `None` = nobody.
    pub http: Option<HttpConfig>,
    /// What the core knows: elevators, zones, waits, bounds.
    pub site: SiteConfig,
    /// How each elevator of `site` is driven.
    pub drivers: BTreeMap<ElevatorId, DriverConfig>,
    /// The buses by id: each that a driver or a zone input names, and no other.
    pub buses: BTreeMap<String, BusConfig>,
    /// The fire inputs, for the zones of `site` that have one.
    pub zone_inputs: BTreeMap<ZoneId, ZoneInput>,
    /// The key of each device of `site`.
    pub device_keys: BTreeMap<DeviceId, DeviceKey>,
    /// What `check` refuses and `run` warns of.
    pub advice: Vec<Mistake>,
}

/// `[gateway]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayConfig {
    /// In client ids and topics.
    pub id: GatewayId,
    /// The site.
    pub site: SiteId,
    /// What every topic begins with; checked by `protocol::topic::Topics::new`.
    pub root: String,
    /// Where the journal is, relative to the working directory.
    pub data_dir: PathBuf,
}

/// `[mqtt]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MqttConfig {
    /// Which broker.
    pub broker: Broker,
    /// Where the embedded broker listens; beyond loopback only with `insecure_trial`.
    pub listen: SocketAddr,
    /// The user name, where one is given.
    pub username: Option<String>,
    /// What `password_file` holds, without the end of its line.
    pub password: Option<Password>,
    /// A readable PEM file of at least one certificate; `None` = the roots of the system.
    pub ca_file: Option<PathBuf>,
    /// The embedded broker may listen beyond loopback, under a standing alarm.
    pub insecure_trial: bool,
}

/// Which broker the gateway uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broker {
    /// One of its own, at [`MqttConfig::listen`].
    Embedded,
    /// Another one, over TCP.
    Tcp {
        /// Its name or address.
        host: String,
        /// Its port.
        port: u16,
    },
    /// Another one, over TLS.
    Tls {
        /// Its name or address.
        host: String,
        /// Its port.
        port: u16,
    },
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Tcp { host, port } => write!(f, "mqtt://{host}:{port}"),
            Self::Tls { host, port } => write!(f, "mqtts://{host}:{port}"),
        }
    }
}

/// A password. It is never printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Password(Sensitive<String>);

impl Password {
    /// The password, for the broker alone.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

/// How an elevator is driven.
// There are few of them, and they are made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum DriverConfig {
    /// Its controller speaks MQTT.
    Mqtt,
    /// Its controller is a Modbus unit on a bus.
    Modbus {
        /// One of [`Config::buses`].
        bus: String,
        /// Its unit, 1 to 247.
        unit: u8,
        /// The relay board that takes what is written, where that is a unit of its own.
        relay_unit: Option<u8>,
        /// Its registers; fits the floors of the elevator.
        map: RegisterMap,
    },
    /// Its controller is a unit on a bus that speaks the frames of its maker.
    Frames {
        /// One of [`Config::buses`].
        bus: String,
        /// Its unit.
        unit: u8,
        /// The frames; fits the floors of the elevator, and is that of all units of the bus.
        profile: Arc<FrameProfile>,
    },
}

/// A bus: one connection or serial line with one owner task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusConfig {
    /// What carries it.
    pub transport: Transport,
}

/// The fire input of a zone. What cannot be read, or reads otherwise than `clear`, is fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneInput {
    /// One of [`Config::buses`].
    pub bus: String,
    /// Its unit, 1 to 247.
    pub unit: u8,
    /// The table of the unit that it is in.
    pub point: PointTable,
    /// Where it is, as on the wire, from 0.
    pub address: u16,
    /// What it reads while there is no fire; 0 or 1 for `Coil` and `Discrete`.
    pub clear: u16,
}

impl Config {
    /// Reads the file and the files that it names.
    ///
    /// # Errors
    /// Every mistake of the file and of the register maps that it names, by file and line. A file
    /// that cannot be read or is no TOML is one mistake.
    pub fn load(path: &Path) -> Result<Self, Vec<Mistake>> {
        Self::load_from(path, &Disk)
    }

    /// As [`Config::load`], from wherever the files are.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_from(path: &Path, files: &dyn Files) -> Result<Self, Vec<Mistake>> {
        let text = files
            .text(path, FILE_BYTES_MAX)
            .map_err(|expected| vec![Mistake::of_file(path, expected)])?;
        let parsed = document::parse(path, &text)?;
        let document = Document::new(path, &text, files);
        let config = Self::read(&document.root(&parsed));
        let mistakes = document.into_mistakes();
        match config {
            Some(config) if mistakes.iter().all(|mistake| mistake.advice) => Ok(Self {
                advice: mistakes,
                ..config
            }),
            Some(_) | None => Err(mistakes),
        }
    }

    /// `None` only after at least one mistake was noted.
    fn read(root: &Table<'_>) -> Option<Self> {
        root.refuse_unknown(KEYS);
        let gateway = gateway::read_gateway(root);
        let mqtt = gateway::read_mqtt(root);
        let waits = timing::read_timing(root);
        let limits = timing::read_limits(root);
        let devices = devices::read(root);
        let applications = applications::read(root);
        let http = http::read(root);
        let mut buses = buses::read(root);
        let elevators = elevators::read(root, waits.as_ref());
        let mut reader = Drivers::default();
        let drivers: Vec<_> = elevators
            .iter()
            .map(|elevator| reader.read(elevator, &buses))
            .collect();
        let zones = zones::read(root, &buses, &elevators, &reader.profiles);
        zones::refuse_deaf(&elevators, &zones);
        reader.carry(&mut buses);

        let gateway = gateway?;
        let (rentals, device_keys) = devices?;
        let elevators = elevators.into_iter().map(|elevator| elevator.config);
        let elevators: Vec<ElevatorConfig> = elevators.collect::<Option<_>>()?;
        let drivers: Vec<DriverConfig> = drivers.into_iter().collect::<Option<_>>()?;
        let drivers = elevators
            .iter()
            .map(|e| e.id.clone())
            .zip(drivers)
            .collect();
        let zone_inputs = whole(zones)?;
        Some(Self {
            mqtt: mqtt?,
            http: http?,
            buses: used(whole(buses)?, &drivers, &zone_inputs),
            site: SiteConfig {
                applications: Applications {
                    rentals,
                    ..applications?
                },
                gateway: gateway.id.clone(),
                timing: waits?.timing,
                limits: limits?,
                queue: QueuePolicy::default(),
                zones: zones_of(&elevators, &zone_inputs),
                elevators: elevators.into_iter().map(|e| (e.id.clone(), e)).collect(),
            },
            gateway,
            device_keys,
            drivers,
            zone_inputs,
            advice: Vec::new(),
        })
    }
}

/// The keys of the file.
const KEYS: &[&str] = &[
    "gateway",
    "mqtt",
    "timing",
    "limits",
    "elevators",
    "zones",
    "buses",
    "devices",
    "rental",
    "series",
    "departments",
    "turns",
    "pools",
    "quotas",
    "http",
    "clients",
];

/// All of them, where all could be read.
fn whole<K: Ord, V>(parts: BTreeMap<K, Option<V>>) -> Option<BTreeMap<K, V>> {
    parts
        .into_iter()
        .map(|(key, part)| Some((key, part?)))
        .collect()
}

fn zones_of(
    elevators: &[ElevatorConfig],
    inputs: &BTreeMap<ZoneId, ZoneInput>,
) -> BTreeMap<ZoneId, ZoneConfig> {
    let zone = |elevator: &ElevatorConfig| {
        let fire_input = inputs.contains_key(&elevator.zone);
        (elevator.zone.clone(), ZoneConfig { fire_input })
    };
    elevators.iter().map(zone).collect()
}

/// The buses that something is on: a connection that nobody uses is none.
fn used(
    mut buses: BTreeMap<String, BusConfig>,
    drivers: &BTreeMap<ElevatorId, DriverConfig>,
    inputs: &BTreeMap<ZoneId, ZoneInput>,
) -> BTreeMap<String, BusConfig> {
    buses.retain(|id, _| {
        let drives = |driver: &DriverConfig| match driver {
            DriverConfig::Mqtt => false,
            DriverConfig::Modbus { bus, .. } | DriverConfig::Frames { bus, .. } => bus == id,
        };
        drivers.values().any(drives) || inputs.values().any(|input| input.bus == *id)
    });
    buses
}
