//! `hallcall bench soak`: memory and disk over very many orders that are forgotten in time.
//!
//! Core and journal run in this process on a clock of their own; what is sampled is this process.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::ensure;
use serde::Serialize;
use sim::live::speaker::wall;

use super::books::Books;
use super::process::{self, mib};
use super::recovery::disk_bytes;
use super::stage::{BrokerKind, Set, StagePlan};
use super::tally::rounded;
use crate::cmd::demo::folder::Bounds;
use crate::config::Config;

/// Milliseconds from one order to the next, on the clock of the orders.
const ORDER_MS: u32 = 100;
/// Samples of a quarter.
const SAMPLES: u32 = 50;
/// The last quarter's maximum, for each of the second's.
const GROWTH_MAX: f64 = 1.1;

/// How to soak.
#[derive(Debug, Clone, clap::Args)]
pub struct SoakArgs {
    /// Orders, 1000 to 100000000
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u32).range(1_000..=100_000_000))]
    pub orders: u32,
    /// Orders that are remembered at a time; the retention follows from it
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub remember: u32,
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
    orders: u32,
    remembered: usize,
    orders_per_s: f64,
    /// The most that was resident in each quarter.
    rss_mib: Vec<f64>,
    /// The most that the data directory took in each quarter.
    disk_mib: Vec<f64>,
}

/// Measures.
///
/// # Errors
/// Where an order is not accepted or the journal fails.
pub(super) async fn soak(args: &SoakArgs) -> anyhow::Result<ExitCode> {
    let retention_s = (args.remember * ORDER_MS / 1000).max(1);
    let set = Set::build(StagePlan {
        elevators: 1,
        speed: 1.0,
        // None is started.
        broker: Some(BrokerKind::Embedded),
        within: args.dir.as_deref(),
        bounds: Bounds {
            robot_messages_per_s: 20,
            dedup_retention_s: retention_s,
        },
    })
    .await?;
    let orders = args.orders;
    let figures = tokio::task::spawn_blocking(move || run(&set, orders)).await??;
    let most = usize::try_from(args.remember)? * 2;
    ensure!(
        figures.remembered <= most,
        "{} orders are remembered, more than {most}",
        figures.remembered
    );
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

fn run(set: &Set, orders: u32) -> anyhow::Result<Figures> {
    let config = Config::load(&set.config).map_err(|mistakes| anyhow::anyhow!("{mistakes:?}"))?;
    let mut books = Books::open(config.site, &set.data_dir(), wall())?;
    let begun = Instant::now();
    let quarter = orders / 4;
    let every = (quarter / SAMPLES).max(1);
    let (mut rss_mib, mut disk_mib) = (Vec::new(), Vec::new());
    for at in 0..4 {
        let (mut most_rss, mut most_disk) = (0, 0);
        for number in at * quarter..(at + 1) * quarter {
            books.order(number.into(), ORDER_MS.into())?;
            if number % every == 0 {
                most_rss = most_rss.max(process::resident(std::process::id())?);
                most_disk = most_disk.max(disk_bytes(&set.data_dir())?);
            }
        }
        rss_mib.push(mib(most_rss));
        disk_mib.push(mib(most_disk));
    }
    let remembered = books.remembered();
    books.close()?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Figures {
        orders: quarter * 4,
        remembered,
        orders_per_s: rounded(f64::from(quarter * 4) / seconds),
        rss_mib,
        disk_mib,
    })
}

impl Figures {
    fn missed(&self) -> Vec<String> {
        match self.rss_mib[..] {
            [_, second, _, last] if last > second * GROWTH_MAX => vec![format!(
                "memory grows: {last} MiB in the last quarter, {second} in the second"
            )],
            _ => Vec::new(),
        }
    }

    fn text(&self) -> String {
        format!(
            "{} orders, {} remembered at the end, {} orders/s\n\
             most resident in each quarter: {:?} MiB\nmost on the disk: {:?} MiB",
            self.orders, self.remembered, self.orders_per_s, self.rss_mib, self.disk_mib
        )
    }
}
