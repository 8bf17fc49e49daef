//! Bus tasks: each owns one line of elevators, from the fence gate to the bytes.
//!
//! A command goes before any poll. It passes the gate immediately before it is written (law 3), and
//! its outcome goes back to the core by the front door, as an input. A task whose reports are not
//! taken stops polling and goes on with commands; it drops nothing.

mod lines;

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use adapters::driver::{Driver, DriverReport};
use dispatch::Input;
use dispatch::edge::FenceGate;
use protocol::hardware::{Command, Outcome, Report};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clock::Clock;
use crate::inbox::{Arrival, Heard, Inbox};

pub use lines::{LineParts, modbus_lines};

/// Commands that may wait for a line: for each of the 256
/// elevators that a site can have, one in flight and a few that were overtaken by a new fence.
const COMMANDS_MAX: usize = 1024;
/// Reports that wait for the engine before a task stops to poll.
const REPORTS_MAX: usize = 256;
/// How long the last reports wait for the engine when the task ends, in milliseconds.
const LAST_REPORTS_MS: u64 = 1_000;

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
        name,
        gate,
        commands,
        is_closed: false,
        reports: VecDeque::new(),
        inbox,
        clock,
    };
    (BusLine(sender), tokio::spawn(task.run(driver)))
}

struct BusTask {
    name: String,
    gate: FenceGate,
    commands: mpsc::Receiver<Released>,
    /// The engine takes no more reports.
    is_closed: bool,
    /// What the engine has not taken yet.
    reports: VecDeque<Input>,
    inbox: Inbox,
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
                    self.beside(driver.read(&mut learned)).await;
                    self.report_all(learned);
                }
                Wake::End => break,
            }
        }
        self.beside(driver.finish()).await;
        self.send_last_reports().await;
    }

    async fn execute(&mut self, driver: &mut dyn Driver, released: Released) {
        let Released { command, at_ms } = released;
        let age_ms = self.clock.mono_ms().saturating_sub(at_ms);
        let outcome = match self.gate.pass(&command, age_ms) {
            Err(dropped) => {
                let (elevator, id) = (&command.elevator_id, &command.command_id);
                tracing::info!(%elevator, command = %id, "dropped: {dropped}");
                Outcome::Dropped {
                    detail: dropped.to_string(),
                }
            }
            Ok(()) => {
                let mut learned = Vec::new();
                crash_point!(executing(Some(&command)));
                let outcome = self.beside(driver.execute(&command, &mut learned)).await;
                crash_point!(executing(None));
                self.report_all(learned);
                outcome
            }
        };
        let Command {
            elevator_id: elevator,
            command_id,
            ..
        } = command;
        let report = Report::Outcome {
            command_id,
            outcome,
        };
        self.reports.push_back(Input::Report { elevator, report });
    }

    /// Waits for something to do. Commands go first, so that a poll never holds one up twice.
    async fn idle(&mut self, driver: &mut dyn Driver) -> Wake {
        let inbox = self.inbox.clone();
        while !self.is_closed {
            let has_room = self.reports.len() < REPORTS_MAX;
            tokio::select! {
                biased;
                released = self.commands.recv() => {
                    return released.map_or(Wake::End, Wake::Command);
                }
                permit = inbox.reserve(), if !self.reports.is_empty() => self.hand_out(permit),
                () = driver.ready(), if has_room => return Wake::Read,
            }
        }
        Wake::End
    }

    /// Runs a piece of the driver's work to its end and hands out reports meanwhile.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let inbox = self.inbox.clone();
        loop {
            tokio::select! {
                biased;
                permit = inbox.reserve(), if !self.reports.is_empty() => self.hand_out(permit),
                output = &mut work => return output,
            }
        }
    }

    fn hand_out(&mut self, permit: Result<mpsc::Permit<'_, Arrival>, SendError<()>>) {
        match permit {
            Ok(permit) => {
                if let Some(report) = self.reports.pop_front() {
                    permit.send(arrival(report));
                }
            }
            Err(_) => {
                self.reports.clear();
                self.is_closed = true;
            }
        }
    }

    fn report_all(&mut self, learned: Vec<DriverReport>) {
        let bus = &self.name;
        self.reports
            .extend(learned.into_iter().map(|report| input(bus, report)));
    }

    async fn send_last_reports(&mut self) {
        let all = async {
            for report in self.reports.drain(..) {
                if self.inbox.send(arrival(report)).await.is_err() {
                    return;
                }
            }
        };
        if timeout(Duration::from_millis(LAST_REPORTS_MS), all)
            .await
            .is_err()
        {
            tracing::warn!(bus = self.name, "the last reports were not taken");
        }
    }
}

fn arrival(input: Input) -> Arrival {
    Arrival {
        heard: Heard::Input(input),
        ack: None,
    }
}

fn input(bus: &str, report: DriverReport) -> Input {
    match report {
        DriverReport::Elevator { elevator, report } => Input::Report { elevator, report },
        DriverReport::ZoneFire { zone, clear } => Input::ZoneFire { zone, clear },
        DriverReport::Bus { up } => Input::Bus {
            bus: bus.to_owned(),
            up,
        },
    }
}

#[cfg(test)]
mod tests;
