//! `hallcall demo`: a building, robots and a gateway on this machine, with nothing but TCP between
//! them.
//!
//! The gateway is the real one, `hallcall run` as a process of its own with a configuration in a
//! temporary folder. Whether a ride went right and whether a law was broken is judged by the
//! simulator's own record.

pub(super) mod folder;
pub(super) mod gateway;
mod show;
pub(super) mod wires;

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use protocol::Topics;
use sim::live::radio::Endpoint;
use sim::live::robot::{Ground, RideResult};
use sim::live::rtu::Rule;
use sim::live::{Building, Fleet, FleetPlan, Pace, Report};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use self::folder::{Bounds, Folder};
use self::gateway::GatewayProcess;
use self::show::Show;
use self::wires::Wires;

/// Elevators of a demo.
const ELEVATORS_MAX: u16 = 100;
/// Floors of a demo.
const FLOORS_MAX: u16 = 64;
/// Floors that a relay board has relays for.
const BOARD_FLOORS_MAX: u16 = 20;
/// Floors whose calls the example of frames shows.
const FRAME_FLOORS_MAX: u16 = 16;
/// For the gateway to get ready, on a slow machine too.
const READY: Duration = Duration::from_secs(30);
/// For the last ride states to reach the record.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What a demo shall be.
#[derive(Debug, Clone, clap::Args)]
pub struct DemoArgs {
    /// Elevators, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=i64::from(ELEVATORS_MAX)))]
    pub elevators: u16,
    /// Robots, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub robots: u16,
    /// Rides in all, shared out among the robots
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rides: u32,
    /// Seconds of the building in one of ours, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub speed: f64,
    /// Which floors, and how far away the robots are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Floors, 2 to 64
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(2..=i64::from(FLOORS_MAX)))]
    pub floors: u16,
    /// How the controllers are reached
    #[arg(long, value_enum, default_value_t = Controllers::Modbus)]
    pub controllers: Controllers,
    /// What goes wrong on each serial line: `KIND[=VALUE][@UNIT]:SHARE`, or `#N` for the n-th
    /// request, such as `bad_crc:0.01`
    #[arg(long = "fault", value_name = "RULE")]
    pub faults: Vec<Rule>,
    /// Another broker than the embedded one, as mqtt://HOST:PORT, without passwords
    #[arg(long, value_name = "URL")]
    pub broker: Option<String>,
    /// The same time for every trip of a car, in seconds of the building, instead of its physics
    #[arg(long, value_name = "S")]
    pub ride_s: Option<f64>,
    /// After how many of our seconds what is not finished has failed
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout_s: u64,
    /// Leave the folder with configuration, journal and log, and say where it is
    #[arg(long)]
    pub keep: bool,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// How the controllers of a demo are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Controllers {
    /// Modbus TCP, four cars behind each address
    Modbus,
    /// Modbus RTU on pseudoterminals, two cars on each line
    Rtu,
    /// Modbus RTU over TCP, as a converter passes it on, two cars on each line
    RtuOverTcp,
    /// Relay boards on pseudoterminals, two on each line, for at most 20 floors
    Relays,
    /// The frames of an invented maker on pseudoterminals, two cars on each line, for at most 16
    /// floors
    Frames,
    /// They speak MQTT
    Mqtt,
    /// One after the other
    Both,
}

impl Controllers {
    /// Whether they are on serial lines.
    fn are_on_lines(self) -> bool {
        match self {
            Self::Rtu | Self::RtuOverTcp | Self::Relays | Self::Frames => true,
            Self::Modbus | Self::Mqtt | Self::Both => false,
        }
    }
}

/// Runs the demo.
///
/// # Errors
/// Where it cannot be set up, or the gateway does not start or ends by itself. A ride that failed
/// and a law that was broken are no errors: they are exit code 1.
pub fn demo(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let pace = match Pace::new(args.speed) {
        Ok(pace) => pace,
        Err(error) => return usage(&error.to_string()),
    };
    if let Some(ride_s) = args.ride_s
        && !(0.1..=3_600.0).contains(&ride_s)
    {
        return usage(&format!("ride-s {ride_s} is not 0.1 to 3600"));
    }
    if args.controllers == Controllers::Relays && args.floors > BOARD_FLOORS_MAX {
        let floors = args.floors;
        return usage(&format!(
            "floors {floors} is not 2 to {BOARD_FLOORS_MAX}, as relays suffice"
        ));
    }
    if args.controllers == Controllers::Frames && args.floors > FRAME_FLOORS_MAX {
        let floors = args.floors;
        return usage(&format!(
            "floors {floors} is not 2 to {FRAME_FLOORS_MAX}, as the example of frames has"
        ));
    }
    if !args.faults.is_empty() && !args.controllers.are_on_lines() {
        return usage("fault: controllers rtu, rtu-over-tcp, relays or frames have serial lines");
    }
    if let Some(url) = &args.broker
        && let Err(why) = Endpoint::parse(url)
    {
        return usage(&why);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")?;
    let folder = Folder::new(None)?;
    let result = runtime.block_on(run(args, pace, &folder));
    if result.is_err() && !args.keep {
        let _ = io::stderr().write_all(folder.last_of_log().as_bytes());
    }
    if args.keep {
        let kept = folder.keep();
        writeln!(io::stderr(), "kept: {}", kept.display())?;
    }
    let report = result?;
    print(args, &report)?;
    Ok(if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn usage(why: &str) -> anyhow::Result<ExitCode> {
    writeln!(io::stderr(), "hallcall: {why}")?;
    Ok(ExitCode::from(crate::exit::USAGE))
}

async fn run(args: &DemoArgs, pace: Pace, folder: &Folder) -> anyhow::Result<Report> {
    let building = Building::new(folder::cars(args, &pace)?, pace);
    let mut stage = JoinSet::new();
    stage.spawn(Arc::clone(&building).run());
    let wires = Wires::lay(args, folder::elevators(args)?, &building, &mut stage).await?;
    let config = folder.write(args, &wires, &Bounds::at(args.speed))?;
    let mut gateway = GatewayProcess::start(&config, &folder.log())?;
    gateway.ready(READY).await?;
    let topics = Topics::new(folder::ROOT, &folder::site()?)?;
    wires.connect(&building, &topics, &mut stage)?;
    let (hears, heard) = oneshot::channel();
    let endpoint = wires.endpoint.clone();
    let watch = sim::live::watch::watch(Arc::clone(&building), topics.clone(), endpoint, hears);
    let watch = stage.spawn(watch);
    tokio::time::timeout(READY, heard)
        .await
        .context("the broker does not take subscriptions")??;

    let landings = folder::landings(args)?;
    let (robots, rides) = (args.robots.into(), usize::try_from(args.rides)?);
    let plan = FleetPlan {
        robots,
        rides,
        seed: args.seed,
        landings,
    };
    let ground = Ground::Here(Arc::clone(&building));
    let fleet = Fleet::new(plan, topics, wires.endpoint.clone(), ground)?;
    let mut show = Show::new(args, &building);
    let ridden = tokio::select! {
        ridden = ride(&fleet, args, &mut show) => ridden?,
        ended = gateway.ended() => anyhow::bail!("the gateway ended by itself: {ended}"),
        stopped = stop_signal() => {
            stopped?;
            gateway.stop().await?;
            anyhow::bail!("stopped by a signal");
        }
    };
    last_words(&building, &ridden).await;
    watch.abort();
    show.end();
    let status = gateway.stop().await?;
    ensure!(status.success(), "the gateway ended with {status}");
    drop(stage);
    let report = Report::new(rides, args.seed, &ridden, &building);
    wires.tell()?;
    complain(&building, &ridden, rides)?;
    Ok(report)
}

async fn ride(
    fleet: &Fleet,
    args: &DemoArgs,
    show: &mut Show<'_>,
) -> anyhow::Result<Vec<RideResult>> {
    let until = Duration::from_secs(args.timeout_s);
    let (done, mut told) = tokio::sync::mpsc::unbounded_channel();
    let riding = fleet.ride(until, |result| {
        // The other end lives as long as this future.
        let _ = done.send(result.clone());
    });
    tokio::pin!(riding);
    let mut frame = tokio::time::interval(show::FRAME);
    loop {
        tokio::select! {
            ridden = &mut riding => {
                while let Ok(result) = told.try_recv() {
                    show.ended(&result)?;
                }
                return Ok(ridden?);
            }
            Some(result) = told.recv() => show.ended(&result)?,
            _ = frame.tick() => show.frame()?,
        }
    }
}

/// Waits until the record has heard the end of every ride that a robot saw end.
async fn last_words(building: &Building, ridden: &[RideResult]) {
    let all_heard = || {
        building.record(|record| {
            ridden
                .iter()
                .filter(|result| result.failure.is_none())
                .all(|result| {
                    record
                        .rides()
                        .get(&result.order)
                        .is_some_and(|ride| ride.ended.is_some())
                })
        })
    };
    let deadline = tokio::time::Instant::now() + LAST_WORDS;
    while !all_heard() && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for SIGTERM or the interrupt of a keyboard.
pub(super) async fn stop_signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Says what went wrong, for people.
fn complain(building: &Building, ridden: &[RideResult], rides: usize) -> io::Result<()> {
    let mut err = io::stderr().lock();
    for result in ridden {
        if let Some(why) = &result.failure {
            writeln!(err, "failed: {} of {}: {why}", result.order, result.robot)?;
        }
    }
    if ridden.len() < rides {
        writeln!(
            err,
            "failed: {} rides were not at their end in time",
            rides - ridden.len()
        )?;
    }
    for (at_ms, violation) in building.record(|record| record.judge()) {
        writeln!(err, "violation at {at_ms} ms: {violation}")?;
    }
    Ok(())
}

fn print(args: &DemoArgs, report: &Report) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(report)?)?;
    } else {
        writeln!(
            out,
            "{} of {} rides completed, {} failed, {} violations (seed {}, speed {})\n\
             first decision: mean {} ms, p99 {} ms, max {} ms\n\
             wait for the car: mean {} s, p95 {} s, max {} s of the building's time",
            report.completed,
            report.rides,
            report.failed,
            report.violations,
            report.seed,
            report.speed,
            report.decision_ms.mean,
            report.decision_ms.p99,
            report.decision_ms.max,
            report.wait_s.mean,
            report.wait_s.p95,
            report.wait_s.max,
        )?;
    }
    out.flush()?;
    Ok(())
}

/// Whether there is somebody to see a table that changes.
fn is_watched(args: &DemoArgs) -> bool {
    !args.json && io::stdout().is_terminal()
}

/// A port of loopback that is free at this moment.
pub(super) fn free_address() -> anyhow::Result<SocketAddr> {
    let probe = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(probe.local_addr()?)
}

/// The folder's path as a TOML string.
pub(super) fn toml_path(path: &Path) -> String {
    toml::Value::String(path.display().to_string()).to_string()
}
