//! `hallcall bench`: how fast the gateway is on this machine, beside the limits that it runs
//! against: what the broker alone moves, and what the disk takes for one sync.
//!
//! The gateway is the real one, as in the demo: `hallcall run` as a process of its own, with its
//! journal on a real disk. docs/performance.md has the method and the figures.

mod books;
mod bus;
mod bus_rig;
mod crowd;
mod disk;
mod echo;
mod latency;
mod line;
mod load;
mod mosquitto;
mod pace;
mod process;
mod recovery;
mod requests;
mod robot;
mod soak;
mod stage;
mod tally;
mod template;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

pub use bus::BusArgs;
pub use latency::LatencyArgs;
pub use load::LoadArgs;
pub use recovery::RecoveryArgs;
pub use requests::RequestsArgs;
pub use soak::SoakArgs;
pub use stage::BrokerKind;

/// What to measure.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum BenchCommand {
    /// How many decisions a second: robots that request and cancel beside elevators that ride
    Load(LoadArgs),
    /// How many durable numbers and claims a second: applications that draw and claim
    Requests(RequestsArgs),
    /// How long from a request to the grant of an idle elevator, beside one sync of the disk
    Latency(LatencyArgs),
    /// How long a start takes with many remembered orders, and how much memory
    Recovery(RecoveryArgs),
    /// Whether memory stays flat over very many orders
    Soak(SoakArgs),
    /// How many polls a second a serial line carries, and how long a command waits for its turn,
    /// beside what the rate of the line allows
    Bus(BusArgs),
}

/// Measures.
///
/// # Errors
/// Where it cannot be set up, or a part ends by itself. A bar that is missed is exit code 1, and
/// only with `--check`.
pub fn bench(command: &BenchCommand) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")?;
    match command {
        BenchCommand::Load(args) => runtime.block_on(load::load(args)),
        BenchCommand::Requests(args) => runtime.block_on(requests::requests(args)),
        BenchCommand::Latency(args) => runtime.block_on(latency::latency(args)),
        BenchCommand::Recovery(args) => runtime.block_on(recovery::recovery(args)),
        BenchCommand::Soak(args) => runtime.block_on(soak::soak(args)),
        BenchCommand::Bus(args) => runtime.block_on(bus::bus(args)),
    }
}

/// Prints the figures, as one JSON object on the last line or as text.
fn print(figures: &impl Serialize, is_json: bool, text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if is_json {
        writeln!(out, "{}", serde_json::to_string(figures)?)?;
    } else {
        writeln!(out, "{text}")?;
    }
    out.flush()?;
    Ok(())
}

/// Says which bars were missed; the exit code where they were looked at.
fn judge(missed: &[String], is_check: bool) -> anyhow::Result<ExitCode> {
    for bar in missed {
        writeln!(io::stderr(), "missed: {bar}")?;
    }
    Ok(if is_check && !missed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
