//! `hallcall run`: the gateway.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::Config;
use crate::exit;
use crate::gateway::{RunOptions, run_gateway};

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// The data directory was restored from a backup
    #[arg(long)]
    pub restored: bool,
}

/// Runs the gateway until it ends.
///
/// # Errors
/// Where standard error cannot be written to.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let config = match Config::load(&args.config) {
        Ok(config) => config,
        Err(mistakes) => {
            let mut out = io::stderr().lock();
            for mistake in mistakes {
                writeln!(out, "{mistake}")?;
            }
            return Ok(ExitCode::from(exit::USAGE));
        }
    };
    for advice in &config.advice {
        tracing::warn!("{advice}");
    }
    let code = run_gateway(
        config,
        RunOptions {
            restored: args.restored,
        },
    )
    .or_else(|error| {
        writeln!(io::stderr(), "hallcall: {error}")?;
        Ok::<u8, io::Error>(error.exit_code())
    })?;
    Ok(ExitCode::from(code))
}
