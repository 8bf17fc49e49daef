//! `hallcall sim building`: the controllers of a configuration, where it says that they are.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use adapters::bus::Transport;
use anyhow::{Context, bail};
use dispatch::config::{ElevatorConfig, ServedFloor};
use protocol::ElevatorId;
use sim::car::{CarConfig, Stop};
use sim::live::modbus::{FireInput, Line, Unit};
use sim::live::mqtt_controller::MqttController;
use sim::live::rtu::{LineSettings, Plan, RtuLine, Rule, Speech, Speed};
use sim::live::truth;
use sim::live::watch::watch;
use sim::live::{Building, CarPlan, Pace};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::line::{baud, pty, told};
use super::{endpoint, topics};
use crate::cmd::demo::stop_signal;
use crate::config::{Config, DriverConfig};

/// Which building.
#[derive(Debug, Clone, clap::Args)]
pub struct BuildingArgs {
    /// The gateway's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Seconds of the building in one of ours, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub speed: f64,
    /// Where robots of `hallcall sim robots` learn what is under their wheels
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:1599")]
    pub truth: SocketAddr,
    /// One password for all controllers that speak MQTT; their user name is their id
    #[arg(long, value_name = "TEXT")]
    pub password: Option<String>,
    /// The pace of serial lines behind TCP; those with a port have that of the configuration
    #[arg(long, value_name = "N", default_value_t = 19_200, value_parser = baud)]
    pub baud: u32,
    /// How long a device on a serial line takes to answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub reply_ms: u64,
    /// What goes wrong on each serial line, as for `hallcall sim line`
    #[arg(long = "fault", value_name = "RULE")]
    pub faults: Vec<Rule>,
    /// Which requests a share strikes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Where a bus is served.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Tcp(SocketAddr),
    RtuOverTcp(SocketAddr),
    Serial(PathBuf, u32),
}

/// What answers at a place.
type Units = BTreeMap<u8, Unit>;
/// The serial lines, by the place as it is written in the configuration.
type RtuLines = BTreeMap<String, Arc<RtuLine>>;
/// The parts of the building that run at the same time.
type Stage = JoinSet<anyhow::Result<()>>;

/// Serves until a signal ends it. A broken law is exit code 1.
pub(super) async fn serve(
    args: &BuildingArgs,
    config: &Config,
    pace: Pace,
) -> anyhow::Result<ExitCode> {
    let plans = config
        .site
        .elevators
        .values()
        .map(|elevator| plan(elevator, &pace))
        .collect();
    let building = Building::new(plans, pace);
    let mut stage = Stage::new();
    let time = Arc::clone(&building);
    stage.spawn(async move {
        time.run().await;
        Ok(())
    });
    let lines = lay(args, config, &building, &mut stage).await?;
    connect(args, config, &building, &mut stage)?;
    let truth = args.truth;
    let ground = Arc::clone(&building);
    stage.spawn(async move {
        truth::serve(ground, truth)
            .await
            .with_context(|| format!("truth {truth}"))
    });
    writeln!(
        io::stdout(),
        "ready: {} elevators",
        config.site.elevators.len()
    )?;
    tokio::select! {
        ended = stage.join_next() => match ended {
            Some(ended) => ended.context("a part of the building broke")??,
            None => bail!("nothing to serve"),
        },
        stopped = stop_signal() => stopped?,
    }
    for (place, line) in lines {
        writeln!(io::stdout(), "{place}: {}", told(&line))?;
    }
    let violations = building.record(|record| record.judge());
    let mut err = io::stderr().lock();
    for (at_ms, violation) in &violations {
        writeln!(err, "violation at {at_ms} ms: {violation}")?;
    }
    Ok(if violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Lets the Modbus controllers listen at their buses.
async fn lay(
    args: &BuildingArgs,
    config: &Config,
    building: &Arc<Building>,
    stage: &mut Stage,
) -> anyhow::Result<RtuLines> {
    let mut lines = RtuLines::new();
    for (place, units) in places(config)? {
        let speed = match place {
            Place::Tcp(address) => {
                let line = Line::new(Arc::clone(building), units)?;
                let listener = Line::listen(address).await?;
                stage.spawn(async move { Ok(line.serve(listener).await?) });
                continue;
            }
            Place::RtuOverTcp(_) => args.baud,
            Place::Serial(_, baud) => baud,
        };
        let settings = LineSettings {
            speech: Speech::Rtu,
            speed: Speed::new(speed)?,
            reply_delay: Duration::from_millis(args.reply_ms),
            echo: false,
        };
        let seed = args.seed.wrapping_add(u64::try_from(lines.len())?);
        let plan = args
            .faults
            .iter()
            .cloned()
            .fold(Plan::new(seed), Plan::with);
        let line = RtuLine::new(Arc::clone(building), units, &settings, plan)?;
        let serving = Arc::clone(&line);
        let place = match place {
            Place::Serial(path, _) => {
                let pty = pty(Some(&path))?;
                let place = path.display().to_string();
                writeln!(io::stdout(), "serial: {place} is {}", pty.path().display())?;
                stage.spawn(async move { Ok(serving.serve_pty(pty).await?) });
                place
            }
            Place::RtuOverTcp(address) | Place::Tcp(address) => {
                let listener = Line::listen(address).await?;
                stage.spawn(async move { Ok(serving.serve_tcp(listener).await?) });
                address.to_string()
            }
        };
        lines.insert(place, line);
    }
    Ok(lines)
}

/// Connects what speaks MQTT: controllers, and the client that hears the gateway for the record.
fn connect(
    args: &BuildingArgs,
    config: &Config,
    building: &Arc<Building>,
    stage: &mut Stage,
) -> anyhow::Result<()> {
    let topics = topics(config)?;
    for elevator in by_mqtt(config) {
        let endpoint = endpoint(config, args.password.as_deref())?;
        let (building, topics) = (Arc::clone(building), topics.clone());
        let controller = MqttController::new(building, topics, &endpoint, elevator.clone())?;
        stage.spawn(async move { Ok(controller.run().await?) });
    }
    let (hears, _) = oneshot::channel();
    let watch = watch(
        Arc::clone(building),
        topics,
        endpoint(config, args.password.as_deref())?,
        hears,
    );
    stage.spawn(async move {
        watch.await;
        Ok(())
    });
    Ok(())
}

fn plan(elevator: &ElevatorConfig, pace: &Pace) -> CarPlan {
    let mut config = CarConfig::new(elevator.floors.iter().map(stop).collect());
    config.presence = elevator.presence;
    config.dwell_s = pace.dwell_s(config.dwell_s);
    config.recall = elevator.floors.first().map(|floor| floor.label.clone());
    let hold_max_ms = pace.theirs_ms(Duration::from_millis(elevator.hold_max_ms));
    config.hold_max_s = Duration::from_millis(hold_max_ms).as_secs_f64();
    CarPlan {
        elevator: elevator.id.clone(),
        zone: elevator.zone.clone(),
        config,
    }
}

fn stop(floor: &ServedFloor) -> Stop {
    // A building is lower than 2^53 mm.
    #[allow(clippy::cast_precision_loss)]
    let height_m = floor.height_mm as f64 / 1000.0;
    Stop {
        label: floor.label.clone(),
        height_m,
        sides: floor.sides.clone(),
    }
}

/// The units at each place of the configuration's buses. A unit whose map lets a board end the
/// presses, or that only takes what is written, is a relay board.
fn places(config: &Config) -> anyhow::Result<BTreeMap<Place, Units>> {
    let mut places: BTreeMap<Place, Units> = BTreeMap::new();
    let mut put = |bus: &str, unit: u8, what: Unit| -> anyhow::Result<()> {
        let place = place(config, bus)?;
        let units = places.entry(place).or_default();
        if units.insert(unit, what).is_some() {
            bail!("bus {bus}: unit {unit} is there twice");
        }
        Ok(())
    };
    for (elevator, driver) in &config.drivers {
        let DriverConfig::Modbus {
            bus,
            unit,
            relay_unit,
            map,
        } = driver
        else {
            continue;
        };
        let (car, relays) = (Unit::Car(elevator.clone()), Unit::Relays(elevator.clone()));
        match relay_unit {
            Some(relay_unit) => {
                put(bus, *unit, car)?;
                put(bus, *relay_unit, relays)?;
            }
            None if map.needs_rtu().is_some() => put(bus, *unit, relays)?,
            None => put(bus, *unit, car)?,
        }
    }
    for (zone, input) in &config.zone_inputs {
        let fire = FireInput {
            zone: zone.clone(),
            point: input.point,
            address: input.address,
            clear: input.clear,
        };
        put(&input.bus, input.unit, Unit::Fire(fire))?;
    }
    Ok(places)
}

fn place(config: &Config, bus: &str) -> anyhow::Result<Place> {
    let of_this_machine = |address: &str| {
        let named = || format!("bus {bus}: address {address:?} is none of this machine");
        let address = address.to_socket_addrs().with_context(named)?.next();
        address.with_context(named)
    };
    let known = config.buses.get(bus);
    let known = known.with_context(|| format!("bus {bus} is not in the configuration"))?;
    Ok(match &known.transport {
        Transport::Tcp { address } => Place::Tcp(of_this_machine(address)?),
        Transport::RtuOverTcp { address } => Place::RtuOverTcp(of_this_machine(address)?),
        Transport::Serial(serial) => Place::Serial(serial.path.clone(), serial.baud),
    })
}

fn by_mqtt(config: &Config) -> impl Iterator<Item = &ElevatorId> {
    let speaks = |(_, driver): &(&ElevatorId, &DriverConfig)| **driver == DriverConfig::Mqtt;
    config
        .drivers
        .iter()
        .filter(speaks)
        .map(|(elevator, _)| elevator)
}
