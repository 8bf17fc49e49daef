//! `hallcall bus`: looks at a line of `[[buses]]`, or at a port, while no gateway has it. For the
//! integrator who wires a site up.

mod frames;
mod place;
mod points;
mod read;
mod scan;
mod tell;
mod watch;
mod write;

use std::process::ExitCode;

use anyhow::Context;

pub use place::{ParityWord, PlaceArgs, TableWord};
pub use read::ReadArgs;
pub use scan::ScanArgs;
pub use watch::WatchArgs;
pub use write::WriteArgs;

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum BusCommand {
    /// Ask every unit number for one register, and say who answers
    Scan(ScanArgs),
    /// Read points of a unit, in numbers and, where a register map names them, in words
    Read(ReadArgs),
    /// Write one coil or register, after it was said which elevator that touches
    Write(WriteArgs),
    /// Show every frame, asking for the points of a unit or only listening
    Watch(WatchArgs),
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to, or the runtime cannot start.
pub fn bus(command: &BusCommand) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime cannot start")?;
    let done = runtime.block_on(async {
        match command {
            BusCommand::Scan(args) => scan::scan(args).await,
            BusCommand::Read(args) => read::read(args).await,
            BusCommand::Write(args) => write::write(args).await,
            BusCommand::Watch(args) => watch::watch(args).await,
        }
    });
    // A port whose driver stands still must not keep the command.
    runtime.shutdown_background();
    done
}
