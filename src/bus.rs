//! Bus tasks: each owns one line of elevators, from the fence gate to the bytes.
//!
//! A command goes before any poll. It passes the gate immediately before its bytes (law 3), after all
//! that it waited for on the line, and its outcome goes back to the core by the front door, as an input. A task whose reports are not
//! taken stops polling and goes on with commands; it drops nothing.

mod lines;
mod reports;

use adapters::driver::Driver;
use dispatch::Input;
use dispatch::edge::FenceGate;
use protocol::hardware::{Command, Outcome, Report};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::reports::Reports;
use crate::clock::Clock;
use crate::inbox::Inbox;

pub use lines::{LineParts, bus_lines};

/// Commands that may wait for a line: for each of the 256
/// elevators that a site can have, one in flight and a few that were overtaken by a new fence.
const COMMANDS_MAX: usize = 1024;
/// Reports that wait for the engine before a task stops to poll.
const REPORTS_MAX: usize = 256;

/// The way to a bus task. The task ends when every clone of it is gone and what was sent is done.
#[derive(Debug, Clone)]
pub struct BusLine(mpsc::Sender<Released>);

/// A command, and when the core released it, on the monotonic clock.
#[derive(Debug)]
struct Released {
    command: Command,
    at_ms: u64,
}

impl BusLine {
    /// Hands a command over that the core released at `at_ms`. Never waits.
    ///
    /// # Errors
    /// The command, and why it cannot be sent: the line has too many, or its task is gone.
    #[allow(
        clippy::result_large_err,
        reason = "the command goes back whole, and rarely"
    )]
    pub fn send(&self, command: Command, at_ms: u64) -> Result<(), (Command, String)> {
        self.0
            .try_send(Released { command, at_ms })
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(Released { command, .. }) => (
                    command,
                    format!("{COMMANDS_MAX} commands wait for its line already"),
                ),
                mpsc::error::TrySendError::Closed(Released { command, .. }) => {
                    (command, "the task of its line is gone".to_owned())
                }
            })
    }
}

/// Starts the task of one line; what it learns goes into `inbox`.
///
/// `name` is the bus in the configuration. `gate` keeps the highest fence of each elevator on the
/// line; no other task may send commands to them.
pub fn spawn(
    name: String,
    driver: Box<dyn Driver>,
    gate: FenceGate,
    inbox: Inbox,
    clock: Clock,
) -> (BusLine, JoinHandle<()>) {
    let (sender, commands) = mpsc::channel(COMMANDS_MAX);
    let task = BusTask {
        gate,
        commands,
        reports: Reports::new(name, inbox),
        clock,
    };
    (BusLine(sender), tokio::spawn(task.run(driver)))
}

struct BusTask {
    gate: FenceGate,
    commands: mpsc::Receiver<Released>,
    reports: Reports,
    clock: Clock,
}

/// What a task does next.
enum Wake {
    Command(Released),
    End,
    Read,
}

impl BusTask {
    async fn run(mut self, mut driver: Box<dyn Driver>) {
        loop {
            match self.idle(driver.as_mut()).await {
                Wake::Command(released) => self.execute(driver.as_mut(), released).await,
                Wake::Read => {
                    let mut learned = Vec::new();
                    self.reports.beside(driver.read(&mut learned)).await;
                    self.reports.extend(learned);
                }
                Wake::End => break,
            }
        }
        self.reports.beside(driver.finish()).await;
        self.reports.send_last().await;
    }

    async fn execute(&mut self, driver: &mut dyn Driver, released: Released) {
        let Released { command, at_ms } = released;
        let Self {
            gate,
            reports,
            clock,
            ..
        } = self;
        let mut pass = || {
            let age_ms = clock.mono_ms().saturating_sub(at_ms);
            let passed = gate.pass(&command, age_ms);
            passed.map_err(|dropped| dropped.to_string())
        };
        // Asked here for all that has no bytes, and so that what is dropped takes no time of the
        // line; and by the driver once more, immediately before the bytes.
        let outcome = match pass() {
            Err(detail) => Outcome::Dropped { detail },
            Ok(()) => {
                let mut learned = Vec::new();
                crash_point!(executing(Some(&command)));
                let work = driver.execute(&command, &mut pass, &mut learned);
                let outcome = reports.beside(work).await;
                crash_point!(executing(None));
                reports.extend(learned);
                outcome
            }
        };
        if let Outcome::Dropped { detail } = &outcome {
            let (elevator, id) = (&command.elevator_id, &command.command_id);
            tracing::info!(%elevator, command = %id, "dropped: {detail}");
        }
        let Command {
            elevator_id: elevator,
            command_id,
            ..
        } = command;
        let report = Report::Outcome {
            command_id,
            outcome,
        };
        reports.push(Input::Report { elevator, report });
    }

    /// Waits for something to do. Commands go first, so that a poll never holds one up twice.
    async fn idle(&mut self, driver: &mut dyn Driver) -> Wake {
        while !self.reports.is_closed() {
            let has_room = self.reports.len() < REPORTS_MAX;
            tokio::select! {
                biased;
                released = self.commands.recv() => {
                    return released.map_or(Wake::End, Wake::Command);
                }
                () = self.reports.hand_one_out(), if !self.reports.is_empty() => {}
                () = driver.ready(), if has_room => return Wake::Read,
            }
        }
        Wake::End
    }
}

#[cfg(test)]
mod tests;
