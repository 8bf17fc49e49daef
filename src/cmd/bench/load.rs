//! `hallcall bench load`.

mod figures;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use dispatch::Ledger;
use dispatch::edge::Journal;
use protocol::{OrderId, SiteId, Topics};

use self::figures::{Alone, Costs, Figures};
use super::crowd::{Crowd, CrowdPlan, Outcome, Samples};
use super::disk::Probe;
use super::echo::Echo;
use super::pace::Pace;
use super::process;
use super::robot::{self, Task};
use super::stage::{BrokerKind, Ridden, Stage, StagePlan};
use super::tally::Window;
use crate::cmd::demo::folder::{Bounds, ROOT};
use crate::journal::SledJournal;

/// The most messages of one robot in a second that a configuration allows.
const ROBOT_MESSAGES_PER_S: u32 = 1_000;
/// How long orders are remembered, in seconds: the default.
const RETENTION_S: u32 = 604_800;
/// Riders of each elevator: so many that there is always one for it.
const RIDERS_PER_ELEVATOR: u16 = 2;
/// Nothing is counted until the load runs smoothly.
const WARM_UP: Duration = Duration::from_secs(1);
/// For riders to be under way before anything is counted.
const RIDERS_FIRST: Duration = Duration::from_secs(1);
/// Records by which the disk is measured.
const SYNCS: u32 = 400;
/// The site of the broker alone; its name is as long as the demo's.
const ALONE: &str = "solo";

/// How to load.
#[derive(Debug, Clone, clap::Args)]
pub struct LoadArgs {
    /// Robots of the load, 1 to 9000
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u16).range(1..=9_000))]
    pub robots: u16,
    /// Elevators that ride meanwhile, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub elevators: u16,
    /// Seconds in which is counted, 1 to 3600
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: u64,
    /// Seconds of the building in one of ours, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    pub speed: f64,
    /// Connections that carry the robots, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub connections: u16,
    /// The broker [default: mosquitto, where it is installed]
    #[arg(long, value_enum)]
    pub broker: Option<BrokerKind>,
    /// Only repetitions of an accepted order, for all the seconds
    #[arg(long)]
    pub duplicates: bool,
    /// Repetitions of one robot that are under way at a time, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub at_once: u16,
    /// Where the temporary folder with the journal is made: decides on which disk
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Exit with 1 where a bar is missed
    #[arg(long)]
    pub check: bool,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What a phase left behind.
struct Ran {
    costs: Costs,
    outcome: Outcome,
}

/// Loads.
///
/// # Errors
/// Where it cannot be set up or a part ends by itself.
pub(super) async fn load(args: &LoadArgs) -> anyhow::Result<ExitCode> {
    let bounds = Bounds {
        robot_messages_per_s: ROBOT_MESSAGES_PER_S,
        dedup_retention_s: RETENTION_S,
    };
    let mut stage = Stage::start(StagePlan {
        elevators: args.elevators,
        speed: args.speed,
        broker: args.broker,
        within: args.dir.as_deref(),
        bounds,
    })
    .await?;
    let sync_ms = {
        let mut probe = Probe::new(stage.folder.path())?;
        probe.sync(SYNCS)?;
        probe.sync_ms()
    };
    let riders = stage.ride(args.elevators * RIDERS_PER_ELEVATOR).await?;
    tokio::time::sleep(RIDERS_FIRST).await;

    let mut figures = Figures::new(args, stage.broker_kind(), sync_ms);
    let mut orders = Vec::new();
    let mut samples = Samples::default();
    if !args.duplicates {
        let pace = Pace::start()?;
        let ran = run(args, &mut stage, Task::Orders, 'a', args.seconds).await?;
        figures.pace(pace.end()?);
        samples = ran.outcome.heard.clone();
        figures.orders(ran.costs, &ran.outcome.tally);
        orders.push(('a', ran.outcome.accepted));
    }
    let seconds = if args.duplicates {
        args.seconds
    } else {
        side_seconds(args)
    };
    let at_once = Task::Repeats(args.at_once.into());
    let ran = run(args, &mut stage, at_once, 'd', seconds).await?;
    figures.duplicates(ran.costs, &ran.outcome.tally);
    orders.push(('d', ran.outcome.accepted));

    let ridden = riders.end(&stage.building).await?;
    figures.memory(process::resident(stage.gateway_id()?)?);
    figures.rides(&ridden);
    if !args.duplicates {
        // The embedded broker is the gateway's child; Mosquitto is measured without any gateway.
        if stage.broker_kind() == BrokerKind::Mosquitto {
            end_gateway(&mut stage).await?;
        }
        figures.alone(alone(args, &stage, &samples).await?);
    }
    if stage.gateway.id().is_some() {
        end_gateway(&mut stage).await?;
    }
    figures.forgotten(count_forgotten(&stage, &orders)?);
    complain(&ridden)?;
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

/// The shorter phases take a sixth of the load's time, at least 2 s.
fn side_seconds(args: &LoadArgs) -> u64 {
    (args.seconds / 6).max(2)
}

async fn run(
    args: &LoadArgs,
    stage: &mut Stage,
    task: Task,
    phase: char,
    seconds: u64,
) -> anyhow::Result<Ran> {
    let crowd = Crowd::connect(&CrowdPlan {
        broker: stage.broker()?,
        topics: &stage.topics,
        floors: &stage.floors()?,
        robots: args.robots.into(),
        lines: args.connections.into(),
        task,
        phase,
    })?;
    let ids = [stage.gateway_id()?, stage.broker_id()?];
    let (window, running) = start(crowd, seconds);
    tokio::select! {
        costs = watch(window, ids) => {
            let [gateway, broker, own] = costs?;
            let outcome = running.await??;
            let generator = outcome.tally.cpu;
            let costs = Costs::new(window, gateway, broker, generator, own);
            Ok(Ran { costs, outcome })
        }
        ended = stage.gateway.ended() => anyhow::bail!(
            "the gateway ended by itself: {ended}\n{}",
            stage.folder.last_of_log()
        ),
    }
}

async fn alone(args: &LoadArgs, stage: &Stage, samples: &Samples) -> anyhow::Result<Alone> {
    let topics = Topics::new(ROOT, &SiteId::new(ALONE)?)?;
    let echo = Echo::start(stage.broker()?, &topics, samples)?;
    let crowd = Crowd::connect(&CrowdPlan {
        broker: stage.broker()?,
        topics: &topics,
        floors: &stage.floors()?,
        robots: args.robots.into(),
        lines: args.connections.into(),
        task: Task::Orders,
        phase: 'a',
    })?;
    let broker = stage.broker_id()?;
    let (window, running) = start(crowd, side_seconds(args));
    let [broker, _, _] = watch(window, [broker, broker]).await?;
    let outcome = running.await??;
    let tally = &outcome.tally;
    ensure!(
        tally.refusals() == 0 && tally.lost == 0,
        "the broker alone lost {} messages",
        tally.lost
    );
    let echo = echo.end()?;
    Ok(Alone::new(tally, window, broker, echo))
}

type Loading = tokio::task::JoinHandle<anyhow::Result<Outcome>>;

/// Starts the load; says when it counts.
fn start(crowd: Crowd, seconds: u64) -> (Window, Loading) {
    let from = Instant::now() + WARM_UP;
    let window = Window {
        from,
        until: from + Duration::from_secs(seconds),
    };
    (
        window,
        tokio::task::spawn_blocking(move || crowd.run(window)),
    )
}

/// The CPU time that two processes and this one use in the window.
async fn watch(window: Window, [one, other]: [u32; 2]) -> anyhow::Result<[Duration; 3]> {
    let own = std::process::id();
    let now = || anyhow::Ok([process::cpu(one)?, process::cpu(other)?, process::cpu(own)?]);
    tokio::time::sleep_until(window.from.into()).await;
    let from = now()?;
    tokio::time::sleep_until(window.until.into()).await;
    let until = now()?;
    let [one, other, own] = [0, 1, 2].map(|at: usize| until[at].saturating_sub(from[at]));
    Ok([one, other, own])
}

async fn end_gateway(stage: &mut Stage) -> anyhow::Result<()> {
    let status = stage.gateway.stop().await?;
    ensure!(status.success(), "the gateway ended with {status}");
    Ok(())
}

/// Accepted orders that the journal does not know: there must be none.
fn count_forgotten(stage: &Stage, orders: &[(char, Vec<Vec<u64>>)]) -> anyhow::Result<u64> {
    let mut journal = SledJournal::open(&stage.data_dir())?;
    let mut ledger = Ledger::default();
    let mut wrong = Ok(());
    let mut take = |key: &[u8], row: &[u8]| {
        if let Err(error) = ledger.load_row(key, row) {
            wrong = Err(error);
        }
    };
    journal
        .load(&mut take)
        .context("the journal cannot be read")?;
    wrong?;
    let mut forgotten = 0;
    for (phase, robots) in orders {
        for (number, accepted) in robots.iter().enumerate() {
            let robot = robot::name(number);
            for order in accepted {
                let order = OrderId::new(&robot::order_name(&robot, *phase, *order))?;
                forgotten += u64::from(ledger.find(&order).is_none());
            }
        }
    }
    Ok(forgotten)
}

fn complain(ridden: &Ridden) -> std::io::Result<()> {
    use std::io::Write;
    let mut err = std::io::stderr().lock();
    for failure in &ridden.failures {
        writeln!(err, "failed: {failure}")?;
    }
    for violation in &ridden.violations {
        writeln!(err, "violation {violation}")?;
    }
    Ok(())
}
