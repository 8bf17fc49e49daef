//! Where the broker and the controllers of a demo are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use protocol::{ElevatorId, Topics};
use sim::live::Building;
use sim::live::modbus::{Line, Unit};
use sim::live::mqtt_controller::MqttController;
use sim::live::radio::Endpoint;
use sim::live::rtu::{LineSettings, Plan, Pty, RtuLine, Speech, Speed};
use tokio::task::JoinSet;

use super::{Controllers, DemoArgs, free_address, toml_path};
use crate::cmd::sim::told;

/// Cars behind one Modbus TCP address, and on one serial line.
const CARS_PER_ADDRESS: usize = 4;
const CARS_PER_LINE: usize = 2;
/// The pace of serial lines: two cars are read often enough for ten times their own speed.
const BAUD: u32 = 115_200;

/// Where everything listens.
pub(in crate::cmd) struct Wires {
    /// The broker.
    pub(in crate::cmd) endpoint: Endpoint,
    broker: String,
    buses: Vec<Bus>,
    /// By elevator: the index of its bus and its unit; `None` = it speaks MQTT.
    drivers: BTreeMap<ElevatorId, Option<(usize, u8)>>,
    lines: Vec<Arc<RtuLine>>,
}

/// A bus and where it is.
enum Bus {
    Tcp(SocketAddr),
    RtuOverTcp(SocketAddr),
    Serial(PathBuf),
    Frames(PathBuf),
}

impl Wires {
    /// Lets the Modbus controllers listen, and finds a place for the broker.
    pub(in crate::cmd) async fn lay(
        args: &DemoArgs,
        elevators: Vec<ElevatorId>,
        building: &Arc<Building>,
        stage: &mut JoinSet<()>,
    ) -> anyhow::Result<Self> {
        let (broker, endpoint) = match &args.broker {
            Some(url) => (format!("broker = {:?}", with_scheme(url)), url.clone()),
            None => {
                let listen = free_address()?;
                (
                    format!("broker = \"embedded\"\nlisten = \"{listen}\""),
                    listen.to_string(),
                )
            }
        };
        let endpoint = Endpoint::parse(&endpoint).map_err(|why| anyhow!(why))?;
        let mut wires = Self {
            endpoint,
            broker,
            buses: Vec::new(),
            drivers: BTreeMap::new(),
            lines: Vec::new(),
        };
        let mut by_modbus = Vec::new();
        for (number, elevator) in elevators.into_iter().enumerate() {
            let is_mqtt = match args.controllers {
                Controllers::Mqtt => true,
                Controllers::Both => number % 2 == 1,
                Controllers::Modbus
                | Controllers::Rtu
                | Controllers::RtuOverTcp
                | Controllers::Relays
                | Controllers::Frames => false,
            };
            if is_mqtt {
                wires.drivers.insert(elevator, None);
            } else {
                by_modbus.push(elevator);
            }
        }
        let cars_per_bus = if args.controllers.are_on_lines() {
            CARS_PER_LINE
        } else {
            CARS_PER_ADDRESS
        };
        for cars in by_modbus.chunks(cars_per_bus) {
            let bus = wires.lay_bus(args, cars, building, stage).await?;
            let at = wires.buses.len();
            wires.buses.push(bus);
            let units = (1..)
                .zip(cars)
                .map(|(unit, car)| (car.clone(), Some((at, unit))));
            wires.drivers.extend(units);
        }
        Ok(wires)
    }

    async fn lay_bus(
        &mut self,
        args: &DemoArgs,
        cars: &[ElevatorId],
        building: &Arc<Building>,
        stage: &mut JoinSet<()>,
    ) -> anyhow::Result<Bus> {
        let unit = |car: &ElevatorId| match args.controllers {
            Controllers::Relays => Unit::Relays(car.clone()),
            Controllers::Modbus
            | Controllers::Rtu
            | Controllers::RtuOverTcp
            | Controllers::Frames
            | Controllers::Mqtt
            | Controllers::Both => Unit::Car(car.clone()),
        };
        let units = (1..).zip(cars).map(|(at, car)| (at, unit(car))).collect();
        let building = Arc::clone(building);
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        if !args.controllers.are_on_lines() {
            let line = Line::new(building, units)?;
            let listener = Line::listen(address).await?;
            let address = listener.local_addr()?;
            stage.spawn(async move { ended(line.serve(listener).await) });
            return Ok(Bus::Tcp(address));
        }
        let settings = LineSettings {
            speed: Speed::new(BAUD)?,
            speech: match args.controllers {
                Controllers::Frames => Speech::Kestrel,
                Controllers::Modbus
                | Controllers::Rtu
                | Controllers::RtuOverTcp
                | Controllers::Relays
                | Controllers::Mqtt
                | Controllers::Both => Speech::Rtu,
            },
            ..LineSettings::default()
        };
        let seed = args.seed.wrapping_add(u64::try_from(self.lines.len())?);
        let plan = args
            .faults
            .iter()
            .cloned()
            .fold(Plan::new(seed), Plan::with);
        let line = RtuLine::new(building, units, &settings, plan)?;
        self.lines.push(Arc::clone(&line));
        if args.controllers == Controllers::RtuOverTcp {
            let listener = Line::listen(address).await?;
            let address = listener.local_addr()?;
            stage.spawn(async move { ended(line.serve_tcp(listener).await) });
            return Ok(Bus::RtuOverTcp(address));
        }
        let pty = Pty::open()?;
        let path = pty.path().to_owned();
        stage.spawn(async move { ended(line.serve_pty(pty).await) });
        if args.controllers == Controllers::Frames {
            return Ok(Bus::Frames(path));
        }
        Ok(Bus::Serial(path))
    }

    /// Connects the controllers that speak MQTT.
    pub(in crate::cmd) fn connect(
        &self,
        building: &Arc<Building>,
        topics: &Topics,
        stage: &mut JoinSet<()>,
    ) -> anyhow::Result<()> {
        for (elevator, _) in self.drivers.iter().filter(|(_, driver)| driver.is_none()) {
            let (building, topics) = (Arc::clone(building), topics.clone());
            let controller =
                MqttController::new(building, topics, &self.endpoint, elevator.clone())?;
            stage.spawn(async move {
                if let Err(error) = controller.run().await {
                    tracing::error!(%error, "an MQTT controller ended");
                }
            });
        }
        Ok(())
    }

    /// Says what the serial lines saw, for people and for tests.
    pub(super) fn tell(&self) -> io::Result<()> {
        let mut err = io::stderr().lock();
        self.lines
            .iter()
            .try_for_each(|line| writeln!(err, "serial line: {}", told(line)))
    }

    /// The broker's keys in the configuration.
    pub(super) fn broker(&self) -> &str {
        &self.broker
    }

    /// `[[buses]]` of the configuration.
    pub(super) fn buses(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        for (number, bus) in self.buses.iter().enumerate() {
            let place = match bus {
                Bus::Tcp(address) | Bus::RtuOverTcp(address) => format!("address = \"{address}\""),
                Bus::Serial(path) | Bus::Frames(path) => {
                    format!("serial = {}\nbaud = {BAUD}", toml_path(path))
                }
            };
            writeln!(text, "\n[[buses]]\nid = \"b{}\"\n{place}", number + 1)?;
        }
        Ok(text)
    }

    /// The elevators and the `driver` of each in the configuration.
    pub(super) fn drivers(&self) -> impl Iterator<Item = (&ElevatorId, String)> {
        let driver = |driver: &Option<(usize, u8)>| {
            let Some((bus, unit)) = driver else {
                return "{ kind = \"mqtt\" }".to_owned();
            };
            let named = match self.buses.get(*bus) {
                Some(Bus::Frames(_)) => "profile",
                Some(Bus::Serial(_) | Bus::RtuOverTcp(_) | Bus::Tcp(_)) | None => "map",
            };
            let kind = match self.buses.get(*bus) {
                Some(Bus::Serial(_)) => "modbus_rtu",
                Some(Bus::Frames(_)) => "rs485",
                Some(Bus::RtuOverTcp(_)) => "modbus_rtu_over_tcp",
                Some(Bus::Tcp(_)) | None => "modbus_tcp",
            };
            let bus = bus + 1;
            format!(
                "{{ kind = \"{kind}\", bus = \"b{bus}\", unit = {unit}, {named} = \"controller.toml\" }}"
            )
        };
        self.drivers
            .iter()
            .map(move |(elevator, by)| (elevator, driver(by)))
    }
}

fn ended(served: io::Result<()>) {
    if let Err(error) = served {
        tracing::error!(%error, "a modbus controller ended");
    }
}

fn with_scheme(url: &str) -> String {
    if url.contains("://") {
        url.to_owned()
    } else {
        format!("mqtt://{url}")
    }
}
