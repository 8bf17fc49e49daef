//! The lines of a site on their own, for a bench with controllers on it: no MQTT, no journal and no
//! rules. What they read and what became of commands is printed as JSON, a line each; commands are
//! read from standard input, a line each; both end with it.
//!
//! Nothing here knows who owns an elevator. Never in a building.
//!
//! ```sh
//! cargo run --example line -- configs/rtu-site.toml <<'END'
//! {"elevator_id": "EL001", "command_id": "c1", "fence": 1, "order_id": null, "action": "query", "expires_in_ms": 5000}
//! END
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use dispatch::Input;
use dispatch::edge::FenceGate;
use hallcall::bus::{self, BusLine};
use hallcall::clock::Clock;
use hallcall::config::Config;
use hallcall::inbox::{Heard, INBOX_MAX};
use protocol::ElevatorId;
use protocol::hardware::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Commands that wait to be read.
const COMMANDS_MAX: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let path = std::env::args()
        .nth(1)
        .context("expected a configuration")?;
    let config = Config::load(Path::new(&path)).map_err(|mistakes| anyhow!(joined(&mistakes)))?;
    let clock = Clock::start();
    let (inbox, mut arrivals) = mpsc::channel(INBOX_MAX);
    let mut lines: BTreeMap<ElevatorId, BusLine> = BTreeMap::new();
    let mut tasks: Vec<JoinHandle<()>> = Vec::new();
    let parts = bus::bus_lines(&config, clock, 1);
    let parts = parts.map_err(|mistakes| anyhow!(joined(&mistakes)))?;
    for part in parts {
        let gate = FenceGate::new();
        let (line, task) = bus::spawn(part.name, part.driver, gate, inbox.clone(), clock);
        let of_line = part.elevators.into_iter();
        lines.extend(of_line.map(|elevator| (elevator, line.clone())));
        tasks.push(task);
    }
    drop(inbox);
    let mut commands = commands();
    let mut is_over = false;
    loop {
        tokio::select! {
            command = commands.recv(), if !is_over => match command {
                Some(command) => send(&lines, command?, clock)?,
                // The tasks end with their last handle, after what was sent is done.
                None => {
                    is_over = true;
                    lines.clear();
                }
            },
            arrival = arrivals.recv() => match arrival {
                Some(arrival) => tell(arrival.heard)?,
                None => break,
            },
        }
    }
    for task in tasks {
        task.await?;
    }
    Ok(())
}

fn joined(mistakes: &[impl Display]) -> String {
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What standard input says, read by a thread of its own.
fn commands() -> mpsc::Receiver<anyhow::Result<Command>> {
    let (sender, receiver) = mpsc::channel(COMMANDS_MAX);
    std::thread::spawn(move || {
        for line in stdin().lock().lines() {
            let command = line
                .context("standard input")
                .and_then(|line| serde_json::from_str(&line).with_context(|| line.clone()));
            if sender.blocking_send(command).is_err() {
                return;
            }
        }
    });
    receiver
}

fn send(
    lines: &BTreeMap<ElevatorId, BusLine>,
    command: Command,
    clock: Clock,
) -> anyhow::Result<()> {
    let Some(line) = lines.get(&command.elevator_id) else {
        bail!(
            "elevator_id = {}: expected one on a line",
            command.elevator_id
        );
    };
    let sent = line.send(command, clock.mono_ms());
    sent.map_err(|(command, why)| anyhow!("{}: {why}", command.command_id))
}

fn tell(heard: Heard) -> anyhow::Result<()> {
    let input: Input = match heard {
        Heard::Input(input) => input,
        // Of what a line never says.
        Heard::Controller { .. } | Heard::Stop | Heard::JournalFailed => return Ok(()),
    };
    let mut out = stdout().lock();
    serde_json::to_writer(&mut out, &input)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}
