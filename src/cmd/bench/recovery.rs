//! `hallcall bench recovery`: how long a start takes, and how much memory, with many remembered
//! orders.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use protocol::peer::{Heard, Said};
use protocol::robot::ConnectionState;
use protocol::{Timestamp, Topics};
use serde::Serialize;
use sim::live::speaker::wall;

use super::books::Books;
use super::line::Line;
use super::process::{self, mib};
use super::stage::{BrokerKind, READY, Set, StagePlan};
use super::tally::rounded;
use crate::cmd::demo::folder::Bounds;
use crate::cmd::demo::gateway::GatewayProcess;
use crate::config::Config;

/// The orders are spread over so many milliseconds before the start, 6 days: all of them are
/// remembered for longer (`dedup_retention_s`, 7 days).
const SPREAD_MS: u64 = 6 * 86_400_000;
/// How long orders are remembered, in seconds: the default.
const RETENTION_S: u32 = 604_800;
/// The bars: up to so many orders, so many seconds and MiB.
const BARS: [(u32, Option<f64>, f64); 2] = [(100_000, None, 64.0), (1_000_000, Some(3.0), 200.0)];

/// What to recover.
#[derive(Debug, Clone, clap::Args)]
pub struct RecoveryArgs {
    /// Remembered orders, 1 to 10000000; several numbers are tried one after the other
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [100_000, 1_000_000], value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub orders: Vec<u32>,
    /// The broker [default: mosquitto, where it is installed]
    #[arg(long, value_enum)]
    pub broker: Option<BrokerKind>,
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

/// The figures.
#[derive(Debug, Clone, Serialize)]
struct Figures {
    recoveries: Vec<Recovery>,
    broker: Option<BrokerKind>,
}

/// One start.
#[derive(Debug, Clone, Serialize)]
struct Recovery {
    /// Remembered.
    orders: u32,
    /// What it took to make them.
    filled_s: f64,
    /// From the start of the process to its ONLINE at the broker.
    ready_s: f64,
    /// Resident then.
    rss_mib: f64,
    /// The most that was resident until then.
    peak_mib: f64,
    /// The data directory.
    disk_mib: f64,
}

/// Measures.
///
/// # Errors
/// Where the directory cannot be made, or the gateway does not start on it.
pub(super) async fn recovery(args: &RecoveryArgs) -> anyhow::Result<ExitCode> {
    let mut figures = Figures {
        recoveries: Vec::new(),
        broker: None,
    };
    for orders in &args.orders {
        let set = Set::build(StagePlan {
            elevators: 1,
            speed: 1.0,
            broker: args.broker,
            within: args.dir.as_deref(),
            bounds: Bounds {
                robot_messages_per_s: 20,
                dedup_retention_s: RETENTION_S,
            },
        })
        .await?;
        figures.broker = Some(set.broker_kind());
        figures.recoveries.push(recover(set, *orders).await?);
    }
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

async fn recover(set: Set, orders: u32) -> anyhow::Result<Recovery> {
    let begun = Instant::now();
    let (config, data_dir) = (set.config.clone(), set.data_dir());
    tokio::task::spawn_blocking(move || fill(&config, &data_dir, orders)).await??;
    let filled_s = begun.elapsed().as_secs_f64();
    let ears = match set.broker_kind() {
        BrokerKind::Mosquitto => Some(Line::connect(
            set.broker()?,
            "recovery",
            &["+/+/+/gateways/+/connection".to_owned()],
        )?),
        BrokerKind::Embedded => None,
    };
    let begun = Instant::now();
    let mut gateway = set.start_gateway()?;
    let ready = wait_for_online(ears, &set.topics, &mut gateway)
        .await
        .with_context(|| set.folder.last_of_log())?;
    let id = gateway.id().context("the gateway has ended")?;
    let recovery = Recovery {
        orders,
        filled_s: rounded(filled_s),
        ready_s: rounded((ready - begun).as_secs_f64()),
        rss_mib: mib(process::resident(id)?),
        peak_mib: mib(process::peak(id)?),
        disk_mib: mib(disk_bytes(&set.data_dir())?),
    };
    let status = gateway.stop().await?;
    ensure!(status.success(), "the gateway ended with {status}");
    Ok(recovery)
}

fn fill(config: &Path, data_dir: &Path, orders: u32) -> anyhow::Result<()> {
    let config = Config::load(config).map_err(|mistakes| anyhow::anyhow!("{mistakes:?}"))?;
    let begin = Timestamp(wall().0.saturating_sub(SPREAD_MS));
    let mut books = Books::open(config.site, data_dir, begin)?;
    let after_ms = SPREAD_MS / u64::from(orders);
    for number in 0..orders {
        books.order(number.into(), after_ms)?;
    }
    let remembered = books.remembered();
    ensure!(
        remembered == usize::try_from(orders)?,
        "{remembered} of {orders} orders are remembered"
    );
    books.close()
}

/// Waits for the gateway's ONLINE, or where the broker comes with the gateway, for its word that it
/// is ready, which comes right after.
async fn wait_for_online(
    ears: Option<Line>,
    topics: &Topics,
    gateway: &mut GatewayProcess,
) -> anyhow::Result<Instant> {
    let Some(ears) = ears else {
        gateway.ready(READY).await?;
        return Ok(Instant::now());
    };
    let topics = topics.clone();
    let hearing = tokio::task::spawn_blocking(move || hear_online(ears, &topics));
    tokio::select! {
        heard = hearing => heard?,
        ended = gateway.ended() => anyhow::bail!("the gateway ended by itself: {ended}"),
    }
}

fn hear_online(mut ears: Line, topics: &Topics) -> anyhow::Result<Instant> {
    let deadline = Instant::now() + READY;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "no ONLINE within {READY:?}");
        ears.listen(left.max(Duration::from_millis(1)))?;
        let now = Instant::now();
        while let Some(publish) = ears.next()? {
            ears.acknowledge(&publish)?;
            let heard = Heard::read(topics, &publish.topic, &publish.payload)?;
            if let Said::GatewayConnection(_, connection) = heard.said
                && connection.connection_state == ConnectionState::Online
            {
                return Ok(now);
            }
        }
        ears.flush()?;
    }
}

/// What the files of a folder take on the disk.
pub(super) fn disk_bytes(folder: &Path) -> anyhow::Result<u64> {
    /// The unit of `st_blocks`.
    const BLOCK: u64 = 512;
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let of = entry.metadata()?;
        bytes += if of.is_dir() {
            disk_bytes(&entry.path())?
        } else {
            of.blocks() * BLOCK
        };
    }
    Ok(bytes)
}

impl Figures {
    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for recovery in &self.recoveries {
            let bar = BARS.iter().find(|(orders, ..)| recovery.orders <= *orders);
            let Some((_, most_s, most_mib)) = bar else {
                continue;
            };
            let of = format!("of {} orders", recovery.orders);
            if most_s.is_some_and(|most_s| recovery.ready_s > most_s) {
                missed.push(format!("{of}: ready after {} s", recovery.ready_s));
            }
            if recovery.rss_mib > *most_mib {
                missed.push(format!(
                    "{of}: {} MiB, at most {most_mib}",
                    recovery.rss_mib
                ));
            }
        }
        missed
    }

    fn text(&self) -> String {
        let line = |of: &Recovery| {
            format!(
                "{} remembered orders: ONLINE after {} s with {} MiB (at most {} before), {} MiB \
                 on the disk; made in {} s",
                of.orders, of.ready_s, of.rss_mib, of.peak_mib, of.disk_mib, of.filled_s
            )
        };
        let lines: Vec<_> = self.recoveries.iter().map(line).collect();
        lines.join("\n")
    }
}
