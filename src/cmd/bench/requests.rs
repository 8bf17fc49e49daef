//! `hallcall bench requests`: durable numbers and claims a second.

mod applications;
mod echo;
mod figures;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use dispatch::Ledger;
use dispatch::edge::Journal as _;
use protocol::{OrderId, SiteId, Topics};

use self::applications::{Crew, CrewPlan, Done, Task};
use self::echo::Echo;
use self::figures::{Figures, Phase};
use super::disk::Probe;
use super::mosquitto::{self, Mosquitto};
use super::process;
use super::stage::READY;
use super::tally::Window;
use crate::cmd::demo::folder::{Folder, ROOT};
use crate::cmd::demo::gateway::GatewayProcess;
use crate::cmd::demo::toml_path;
use crate::journal::SledJournal;

/// The site of the measurement, and that of the broker alone, whose name is as long.
const SITE: &str = "shop";
const ALONE: &str = "solo";
/// Whose numbers are drawn, and whose places are claimed.
const SERIES: &str = "AA";
const POOL: &str = "places";
/// The most messages of one application in a second that a configuration allows.
const MESSAGES_PER_S: u32 = 10_000;
/// Nothing is counted until the load runs smoothly.
const WARM_UP: Duration = Duration::from_secs(1);
/// Records by which the disk is measured.
const SYNCS: u32 = 400;

/// How to load.
#[derive(Debug, Clone, clap::Args)]
pub struct RequestsArgs {
    /// Applications, each with one request under way, 1 to 4000
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=4_000))]
    pub applications: u16,
    /// Seconds in which numbers are counted, and then claims; the broker alone has a half, 1 to 3600
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: u64,
    /// Connections that carry the applications, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub connections: u16,
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

/// A broker and a gateway, and where they are.
struct Shop {
    gateway: GatewayProcess,
    broker: Mosquitto,
    folder: Folder,
}

/// Loads.
///
/// # Errors
/// Where it cannot be set up or a part ends by itself.
pub(super) async fn requests(args: &RequestsArgs) -> anyhow::Result<ExitCode> {
    let mut shop = Shop::open(args).await?;
    let mut probe = Probe::new(shop.folder.path())?;
    probe.sync(SYNCS)?;
    let sync_ms = probe.sync_ms();
    drop(probe);

    let (numbers, drawn) = shop.run(args, Task::Numbers).await?;
    let (claims, claimed) = shop.run(args, Task::Claims).await?;
    let memory = process::resident(shop.gateway.id().context("the gateway has ended")?)?;
    let status = shop.gateway.stop().await?;
    ensure!(status.success(), "the gateway ended with {status}");
    let alone = shop.alone(args, &drawn.sample).await?;
    let forgotten = forgotten(&shop.data_dir(), &[&drawn, &claimed])?;
    let figures = Figures::new(args, sync_ms, [numbers, claims, alone], memory).faults(
        [&drawn.tally, &claimed.tally],
        forgotten,
        gaps(&drawn),
    );
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

impl Shop {
    async fn open(args: &RequestsArgs) -> anyhow::Result<Self> {
        let folder = Folder::new(args.dir.as_deref())?;
        let program = mosquitto::program().context("mosquitto is not installed")?;
        let broker = Mosquitto::start(&program, folder.path())?;
        let config = folder.path().join("hallcall.toml");
        fs::write(&config, text(args, broker.address(), folder.path())?)?;
        let mut gateway = GatewayProcess::start(&config, &folder.log())?;
        gateway
            .ready(READY)
            .await
            .with_context(|| folder.last_of_log())?;
        Ok(Self {
            gateway,
            broker,
            folder,
        })
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    async fn run(&mut self, args: &RequestsArgs, task: Task) -> anyhow::Result<(Phase, Done)> {
        let gateway = self.gateway.id().context("the gateway has ended")?;
        let ids = [gateway, self.broker.id()];
        let load = Load {
            args,
            site: SITE,
            broker: self.broker.address(),
            task,
            seconds: args.seconds,
        };
        tokio::select! {
            ran = load.run(ids) => ran,
            ended = self.gateway.ended() => anyhow::bail!(
                "the gateway ended by itself: {ended}\n{}",
                self.folder.last_of_log()
            ),
        }
    }

    /// The same requests for numbers, answered by a client that fills in the ids.
    async fn alone(&self, args: &RequestsArgs, sample: &[u8]) -> anyhow::Result<Phase> {
        let topics = Topics::new(ROOT, &SiteId::new(ALONE)?)?;
        let echo = Echo::start(self.broker.address(), &topics, sample)?;
        let load = Load {
            args,
            site: ALONE,
            broker: self.broker.address(),
            task: Task::Numbers,
            seconds: (args.seconds / 2).max(1),
        };
        let id = self.broker.id();
        let (phase, done) = load.run([id, id]).await?;
        echo.end()?;
        ensure!(done.tally.lost == 0, "the broker alone lost messages");
        Ok(phase)
    }
}

/// One phase: who asks where for what.
struct Load<'a> {
    args: &'a RequestsArgs,
    site: &'a str,
    broker: SocketAddr,
    task: Task,
    seconds: u64,
}

impl Load<'_> {
    /// Loads; counts the CPU time of two processes, the gateway's and the broker's, in the window.
    async fn run(&self, [gateway, broker]: [u32; 2]) -> anyhow::Result<(Phase, Done)> {
        let crew = Crew::connect(&CrewPlan {
            broker: self.broker,
            topics: &Topics::new(ROOT, &SiteId::new(self.site)?)?,
            applications: self.args.applications.into(),
            lines: self.args.connections.into(),
            task: self.task,
        })?;
        let from = Instant::now() + WARM_UP;
        let window = Window {
            from,
            until: from + Duration::from_secs(self.seconds),
        };
        let running = tokio::task::spawn_blocking(move || crew.run(window));
        let now = || anyhow::Ok([process::cpu(gateway)?, process::cpu(broker)?]);
        tokio::time::sleep_until(window.from.into()).await;
        let before = now()?;
        tokio::time::sleep_until(window.until.into()).await;
        let after = now()?;
        let cpu = [0, 1].map(|at: usize| after[at].saturating_sub(before[at]));
        let done = running.await??;
        Ok((Phase::new(&done.tally, window, cpu), done))
    }
}

/// The configuration: one hot series, and a pool with a place for each application.
fn text(args: &RequestsArgs, broker: SocketAddr, folder: &Path) -> anyhow::Result<String> {
    let mut text = format!(
        "[gateway]\nsite = \"{SITE}\"\nroot = \"{ROOT}\"\ndata_dir = {}\n\n\
         [mqtt]\nbroker = \"mqtt://{broker}\"\n\n\
         [limits]\nclient_messages_per_s = {MESSAGES_PER_S}\n\n\
         [[series]]\nid = \"{SERIES}\"\nmax = {}\n\n[[pools]]\nid = \"{POOL}\"\nresources = [",
        toml_path(&folder.join("data")),
        i64::MAX,
    );
    for number in 0..args.applications {
        write!(text, "\"P{number:04}\", ")?;
    }
    text.push_str("]\n");
    Ok(text)
}

/// Numbers that are missing below the highest that was told, and those that were told twice.
fn gaps(numbers: &Done) -> u64 {
    let told: BTreeSet<u64> = numbers.kept.iter().map(|kept| kept.number).collect();
    let doubles = numbers.kept.len() - told.len();
    let highest = told.last().copied().unwrap_or(0);
    highest - told.len() as u64 + doubles as u64
}

/// Accepted requests whose answer the journal does not know: there must be none.
fn forgotten(data_dir: &Path, done: &[&Done]) -> anyhow::Result<u64> {
    let mut journal = SledJournal::open(data_dir)?;
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
    for kept in done.iter().flat_map(|done| &done.kept) {
        let order = OrderId::new(&kept.order)?;
        forgotten += u64::from(ledger.known(&order).is_none());
    }
    Ok(forgotten)
}
