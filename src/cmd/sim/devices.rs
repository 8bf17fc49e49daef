//! `hallcall sim devices`: the devices of a configuration, for people who rent them.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use sim::live::Vehicle;
use sim::live::device::{Shelf, Verdict};
use sim::live::vehicle::Deed;
use tokio::task::JoinSet;

use super::{endpoint, topics};
use crate::cmd::demo::stop_signal;
use crate::config::Config;

/// Which devices.
#[derive(Debug, Clone, clap::Args)]
pub struct DevicesArgs {
    /// The gateway's configuration file; its devices and their keys are those of this simulation
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Where each device keeps what it executed over its own restart; made where it is missing
    #[arg(long, value_name = "DIR", default_value = "./devices")]
    pub memory: PathBuf,
    /// One password for all devices; their user name is their id
    #[arg(long, value_name = "TEXT")]
    pub password: Option<String>,
}

/// Serves until a signal ends it. Each command is one line.
pub(super) async fn serve(args: &DevicesArgs, config: &Config) -> anyhow::Result<ExitCode> {
    if config.device_keys.is_empty() {
        bail!("{}: no [[devices]]", args.config.display());
    }
    let memory = || format!("{} cannot be made", args.memory.display());
    fs::create_dir_all(&args.memory).with_context(memory)?;
    let topics = topics(config)?;
    let endpoint = endpoint(config, args.password.as_deref())?;
    let mut all = JoinSet::new();
    for (id, key) in &config.device_keys {
        let shelf = Shelf::at(args.memory.join(format!("{id}.json")));
        let vehicle = Vehicle::new(topics.clone(), &endpoint, id.clone(), key.clone(), shelf)?;
        all.spawn(vehicle.run(tell));
    }
    writeln!(io::stdout(), "ready: {} devices", config.device_keys.len())?;
    tokio::select! {
        ended = all.join_next() => match ended {
            Some(ended) => ended.context("a device broke")??,
            None => bail!("nothing to serve"),
        },
        stopped = stop_signal() => stopped?,
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(deed: Deed) {
    let Deed {
        device,
        command,
        verdict,
        unlocks,
    } = deed;
    let what = match verdict {
        Verdict::Acted => "done",
        Verdict::Known => "done before",
        Verdict::Asked => "told",
        Verdict::Refused(why) => why,
    };
    let order = command
        .order_id
        .map_or_else(String::new, |order| format!(" {order}"));
    let command = command.command;
    // Standard output may be gone; the devices go on.
    let _ = writeln!(
        io::stdout(),
        "{device}: {command}{order}: {what}; unlocked {unlocks} times in its life"
    );
}
