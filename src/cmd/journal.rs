//! `hallcall journal`: what the journal holds, whether all of it is as it was written, and what keeps
//! it small and safe. For a gateway that does not run.

mod look;
mod upkeep;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::config::Config;
use crate::exit;

/// What to do with the journal.
#[derive(Debug, Clone, clap::Args)]
pub struct JournalArgs {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum JournalCommand {
    /// Read everything, and say whether it is as it was written
    Verify(CommonArgs),
    /// Print one JSON line per fact and per ledger row
    Dump(CommonArgs),
    /// Write the journal anew, so that it takes no more room than what it holds
    Compact(CommonArgs),
    /// Copy the data directory into another one, and read the copy
    Backup(BackupArgs),
}

#[derive(Debug, Clone, clap::Args)]
struct CommonArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Print one JSON object on the last line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, clap::Args)]
struct BackupArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Where to: a directory that is empty or not there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Does something with the journal.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn journal(args: &JournalArgs) -> anyhow::Result<ExitCode> {
    let common = match &args.command {
        JournalCommand::Verify(common)
        | JournalCommand::Dump(common)
        | JournalCommand::Compact(common)
        | JournalCommand::Backup(BackupArgs { common, .. }) => common,
    };
    let config = match Config::load(&common.config) {
        Ok(config) => config,
        Err(mistakes) => {
            let mut out = io::stderr().lock();
            for mistake in mistakes {
                writeln!(out, "{mistake}")?;
            }
            return Ok(ExitCode::from(exit::USAGE));
        }
    };
    let data_dir = &config.gateway.data_dir;
    let code = match &args.command {
        JournalCommand::Verify(_) => look(data_dir, false, common.json)?,
        JournalCommand::Dump(_) => look(data_dir, true, common.json)?,
        JournalCommand::Compact(_) => upkeep::compact(data_dir).say(common.json)?,
        JournalCommand::Backup(args) => upkeep::backup(data_dir, &args.to).say(common.json)?,
    };
    Ok(ExitCode::from(code))
}

fn look(data_dir: &Path, dump: bool, json: bool) -> anyhow::Result<u8> {
    let mut out = BufWriter::new(io::stdout().lock());
    let found = look::look_at(data_dir, dump.then_some(&mut out))?;
    if json {
        writeln!(out, "{}", found.report())?;
    } else if !dump {
        writeln!(out, "{}", found.words())?;
    }
    out.flush()?;
    if dump && !json && found.code() != 0 {
        writeln!(io::stderr(), "{}", found.words())?;
    }
    Ok(found.code())
}
