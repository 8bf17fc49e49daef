//! `hallcall sim`: the building of a configuration, or robots, for a gateway elsewhere; or one
//! serial line, for any master.

mod line;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use dispatch::config::{ElevatorConfig, ServedFloor};
use protocol::topic::Topics;
use protocol::{ElevatorId, Landing};
use sim::car::{CarConfig, Stop};
use sim::live::layout::Layout;
use sim::live::map_text::map_text;
use sim::live::modbus::{FireInput, Line, Unit};
use sim::live::mqtt_controller::MqttController;
use sim::live::radio::{Endpoint, Password};
use sim::live::robot::Ground;
use sim::live::truth::{self, Reach};
use sim::live::watch::watch;
use sim::live::{Building, CarPlan, Figures, Fleet, FleetPlan, Pace};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::demo::stop_signal;
use crate::config::{Broker, Config, DriverConfig};
use crate::exit;

/// What to simulate.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum SimCommand {
    /// Serve the controllers of a configuration: Modbus TCP at its buses, MQTT at its broker
    Building(BuildingArgs),
    /// Let robots ride
    Robots(RobotsArgs),
    /// Serve one serial line of simulated devices to any master, on a pseudoterminal or over TCP
    Line(line::LineArgs),
    /// Print the register map of the simulated Modbus controllers
    Map(MapArgs),
}

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
}

/// Which robots.
#[derive(Debug, Clone, clap::Args)]
pub struct RobotsArgs {
    /// The gateway's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Robots, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub robots: u16,
    /// Rides in all, shared out among the robots
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rides: u32,
    /// How many times as fast as by wire.md the robots live, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub speed: f64,
    /// Which floors, and how far away the robots are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where `hallcall sim building` says what is under their wheels; without it no door is seen
    #[arg(long, value_name = "HOST:PORT")]
    pub truth: Option<String>,
    /// One password for all robots; their user name is their id
    #[arg(long, value_name = "TEXT")]
    pub password: Option<String>,
    /// After how many seconds what is not finished has failed
    #[arg(long, value_name = "S", default_value_t = 3600)]
    pub timeout_s: u64,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which map.
#[derive(Debug, Clone, clap::Args)]
pub struct MapArgs {
    /// Floors, 1 to 256
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub floors: u16,
    /// How often a controller is read, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(50..=10_000))]
    pub poll_ms: u64,
}

/// Simulates.
///
/// # Errors
/// Where it cannot be set up, or ends by itself.
pub fn sim(command: &SimCommand) -> anyhow::Result<ExitCode> {
    match command {
        SimCommand::Building(args) => match load(&args.config, args.speed)? {
            Some((config, pace)) => runtime()?.block_on(serve(args, &config, pace)),
            None => Ok(ExitCode::from(exit::USAGE)),
        },
        SimCommand::Robots(args) => match load(&args.config, args.speed)? {
            Some((config, pace)) => runtime()?.block_on(ride(args, &config, pace)),
            None => Ok(ExitCode::from(exit::USAGE)),
        },
        SimCommand::Line(args) => match Pace::new(args.speed) {
            Ok(pace) => runtime()?.block_on(line::serve(args, pace)),
            Err(error) => {
                writeln!(io::stderr(), "hallcall: {error}")?;
                Ok(ExitCode::from(exit::USAGE))
            }
        },
        SimCommand::Map(args) => {
            let Some(layout) = Layout::new(args.floors.into()) else {
                writeln!(
                    io::stderr(),
                    "hallcall: floors {} is not 1 to 256",
                    args.floors
                )?;
                return Ok(ExitCode::from(exit::USAGE));
            };
            io::stdout().write_all(map_text(&layout, args.poll_ms).as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")
}

/// Reads the configuration; says what is wrong with it, or with the speed.
fn load(path: &std::path::Path, speed: f64) -> io::Result<Option<(Config, Pace)>> {
    let mut err = io::stderr().lock();
    match (Config::load(path), Pace::new(speed)) {
        (Ok(config), Ok(pace)) => Ok(Some((config, pace))),
        (Err(mistakes), _) => {
            for mistake in mistakes {
                writeln!(err, "{mistake}")?;
            }
            Ok(None)
        }
        (Ok(_), Err(error)) => {
            writeln!(err, "hallcall: {error}")?;
            Ok(None)
        }
    }
}

async fn serve(args: &BuildingArgs, config: &Config, pace: Pace) -> anyhow::Result<ExitCode> {
    let plans = config
        .site
        .elevators
        .values()
        .map(|elevator| plan(elevator, &pace))
        .collect();
    let building = Building::new(plans, pace);
    let mut stage: JoinSet<anyhow::Result<()>> = JoinSet::new();
    let time = Arc::clone(&building);
    stage.spawn(async move {
        time.run().await;
        Ok(())
    });
    for (address, units) in lines(config)? {
        let line = Line::new(Arc::clone(&building), units)?;
        let listener = Line::listen(address).await?;
        stage.spawn(async move { Ok(line.serve(listener).await?) });
    }
    let topics = topics(config)?;
    for elevator in by_mqtt(config) {
        let endpoint = endpoint(config, args.password.as_deref())?;
        let (building, topics) = (Arc::clone(&building), topics.clone());
        let controller = MqttController::new(building, topics, &endpoint, elevator.clone())?;
        stage.spawn(async move { Ok(controller.run().await?) });
    }
    let (hears, _) = oneshot::channel();
    let watch = watch(
        Arc::clone(&building),
        topics,
        endpoint(config, args.password.as_deref())?,
        hears,
    );
    stage.spawn(async move {
        watch.await;
        Ok(())
    });
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

async fn ride(args: &RobotsArgs, config: &Config, pace: Pace) -> anyhow::Result<ExitCode> {
    let ground = match &args.truth {
        Some(address) => Ground::There(Reach::connect(address).await?, pace),
        None => Ground::Unseen(pace),
    };
    let plan = FleetPlan {
        robots: args.robots.into(),
        rides: usize::try_from(args.rides)?,
        seed: args.seed,
        landings: config
            .site
            .elevators
            .iter()
            .map(|(id, e)| (id.clone(), landings(e)))
            .collect(),
    };
    let rides = plan.rides;
    let endpoint = endpoint(config, args.password.as_deref())?;
    let fleet = Fleet::new(plan, topics(config)?, endpoint, ground)?;
    let is_quiet = args.json;
    let until = Duration::from_secs(args.timeout_s);
    let ridden = fleet
        .ride(until, |result| {
            if !is_quiet {
                let went = result.failure.as_deref().unwrap_or("completed");
                // Standard output may be gone; the rides go on.
                let _ = writeln!(io::stdout(), "{} of {}: {went}", result.order, result.robot);
            }
        })
        .await?;
    let figures = Figures::new(rides, &ridden, args.speed);
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&figures)?)?;
    } else {
        writeln!(
            out,
            "{} of {} rides completed",
            figures.completed, figures.rides
        )?;
    }
    Ok(if figures.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
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

fn landings(elevator: &ElevatorConfig) -> Vec<Landing> {
    let at = |floor: &ServedFloor| {
        let label = floor.label.clone();
        let sides: Vec<_> = floor.sides.iter().copied().collect();
        sides.into_iter().map(move |side| Landing {
            floor: label.clone(),
            side,
        })
    };
    elevator.floors.iter().flat_map(at).collect()
}

/// The units behind each address of the configuration's buses.
fn lines(config: &Config) -> anyhow::Result<BTreeMap<SocketAddr, BTreeMap<u8, Unit>>> {
    let mut lines: BTreeMap<SocketAddr, BTreeMap<u8, Unit>> = BTreeMap::new();
    let mut put = |bus: &str, unit: u8, what: Unit| -> anyhow::Result<()> {
        let address = config
            .buses
            .get(bus)
            .map(|bus| bus.transport.place())
            .unwrap_or_default();
        let named = || format!("bus {bus}: address {address:?} is none of this machine");
        let address = address.to_socket_addrs().with_context(named)?.next();
        let address = address.with_context(named)?;
        if lines
            .entry(address)
            .or_default()
            .insert(unit, what)
            .is_some()
        {
            bail!("bus {bus}: unit {unit} is an elevator and a fire input");
        }
        Ok(())
    };
    for (elevator, driver) in &config.drivers {
        if let DriverConfig::Modbus { bus, unit, .. } = driver {
            put(bus, *unit, Unit::Car(elevator.clone()))?;
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
    Ok(lines)
}

fn by_mqtt(config: &Config) -> impl Iterator<Item = &ElevatorId> {
    let speaks = |(_, driver): &(&ElevatorId, &DriverConfig)| **driver == DriverConfig::Mqtt;
    config
        .drivers
        .iter()
        .filter(speaks)
        .map(|(elevator, _)| elevator)
}

fn topics(config: &Config) -> anyhow::Result<Topics> {
    Ok(Topics::new(&config.gateway.root, &config.gateway.site)?)
}

fn endpoint(config: &Config, password: Option<&str>) -> anyhow::Result<Endpoint> {
    let mut endpoint = match &config.mqtt.broker {
        Broker::Embedded => Endpoint::parse(&config.mqtt.listen.to_string()),
        Broker::Tcp { host, port } => Endpoint::parse(&format!("{host}:{port}")),
        Broker::Tls { .. } => Err("mqtt.broker: a simulation speaks no TLS".to_owned()),
    }
    .map_err(|why| anyhow!(why))?;
    if let Some(password) = password {
        endpoint.password = Password::Shared(password.to_owned());
    }
    Ok(endpoint)
}
