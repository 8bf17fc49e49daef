//! `hallcall sim`: the building of a configuration, or robots, or devices that are rented, for a
//! gateway elsewhere; or one serial line, for any master; or worlds from seeds.

mod building;
mod devices;
mod explore;
mod line;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use dispatch::config::{ElevatorConfig, ServedFloor};
use protocol::Landing;
use protocol::topic::Topics;
use sim::live::layout::Layout;
use sim::live::map_text::{map_text, relay_map_text};
use sim::live::modbus::BoardLayout;
use sim::live::radio::{Endpoint, Password};
use sim::live::robot::Ground;
use sim::live::truth::Reach;
use sim::live::{Figures, Fleet, FleetPlan, Pace};

use crate::config::{Broker, Config};
use crate::exit;

pub(super) use self::line::told;

/// How long a relay board presses a button, in milliseconds: enough for any lift.
const PRESS_MS: u64 = 500;

/// What to simulate.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum SimCommand {
    /// Serve the controllers of a configuration: Modbus at its buses, MQTT at its broker
    Building(building::BuildingArgs),
    /// Let robots ride
    Robots(RobotsArgs),
    /// Let the devices of a configuration be rented
    Devices(devices::DevicesArgs),
    /// Serve one serial line of simulated devices to any master, on a pseudoterminal or over TCP
    Line(line::LineArgs),
    /// Run worlds from seeds, with faults of every kind, and look at every law after every step
    Explore(explore::ExploreArgs),
    /// Print the register map of the simulated Modbus controllers
    Map(MapArgs),
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
    /// The map of a relay board in front of an elevator, of at most 20 floors
    #[arg(long)]
    pub relays: bool,
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
            Some((config, pace)) => runtime()?.block_on(building::serve(args, &config, pace)),
            None => Ok(ExitCode::from(exit::USAGE)),
        },
        SimCommand::Robots(args) => match load(&args.config, args.speed)? {
            Some((config, pace)) => runtime()?.block_on(ride(args, &config, pace)),
            None => Ok(ExitCode::from(exit::USAGE)),
        },
        SimCommand::Devices(args) => match load(&args.config, 1.0)? {
            Some((config, _)) => runtime()?.block_on(devices::serve(args, &config)),
            None => Ok(ExitCode::from(exit::USAGE)),
        },
        SimCommand::Explore(args) => explore::explore(args),
        SimCommand::Line(args) => match Pace::new(args.speed) {
            Ok(pace) => runtime()?.block_on(line::serve(args, pace)),
            Err(error) => {
                writeln!(io::stderr(), "hallcall: {error}")?;
                Ok(ExitCode::from(exit::USAGE))
            }
        },
        SimCommand::Map(args) => {
            let floors = usize::from(args.floors);
            let (text, floors_max) = if args.relays {
                let layout = BoardLayout::new(floors);
                (
                    layout.map(|layout| relay_map_text(&layout, args.poll_ms, PRESS_MS)),
                    20,
                )
            } else {
                let layout = Layout::new(floors);
                (layout.map(|layout| map_text(&layout, args.poll_ms)), 256)
            };
            let Some(text) = text else {
                writeln!(
                    io::stderr(),
                    "hallcall: floors {floors} is not 1 to {floors_max}"
                )?;
                return Ok(ExitCode::from(exit::USAGE));
            };
            io::stdout().write_all(text.as_bytes())?;
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
