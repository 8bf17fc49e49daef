//! What a line learned, on its way to the engine.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use adapters::driver::DriverReport;
use dispatch::Input;
use tokio::sync::mpsc::Permit;
use tokio::sync::mpsc::error::SendError;
use tokio::time::timeout;

use crate::inbox::{Arrival, Heard, Inbox};

/// How long the last reports wait for the engine when the task ends, in milliseconds.
const LAST_REPORTS_MS: u64 = 1_000;

/// Reports in order, until the engine takes them. How many there may be is its owner's matter: each
/// transaction adds a few, and with too many the owner begins no more of them.
pub(super) struct Reports {
    bus: String,
    waiting: VecDeque<Input>,
    inbox: Inbox,
    /// The engine takes no more.
    is_closed: bool,
}

impl Reports {
    /// None yet; `bus` is the name of the line.
    pub(super) fn new(bus: String, inbox: Inbox) -> Self {
        Self {
            bus,
            waiting: VecDeque::new(),
            inbox,
            is_closed: false,
        }
    }

    /// Whether the engine takes no more.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// One more.
    pub(super) fn push(&mut self, report: Input) {
        self.waiting.push_back(report);
    }

    /// What a driver learned.
    pub(super) fn extend(&mut self, learned: Vec<DriverReport>) {
        let bus = &self.bus;
        let inputs = learned.into_iter().map(|report| input(bus, report));
        self.waiting.extend(inputs);
    }

    /// Hands the first one out as soon as the engine has room. Cancel safe.
    pub(super) async fn hand_one_out(&mut self) {
        let permit = self.inbox.reserve().await;
        hand_out(permit, &mut self.waiting, &mut self.is_closed);
    }

    /// Runs a piece of a driver's work to its end and hands out reports meanwhile.
    pub(super) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                () = self.hand_one_out(), if !self.waiting.is_empty() => {}
                output = &mut work => return output,
            }
        }
    }

    /// Hands all out, where the engine takes them in time.
    pub(super) async fn send_last(&mut self) {
        let all = async {
            while !self.waiting.is_empty() {
                self.hand_one_out().await;
            }
        };
        let wait = Duration::from_millis(LAST_REPORTS_MS);
        if timeout(wait, all).await.is_err() {
            tracing::warn!(bus = self.bus, "the last reports were not taken");
        }
    }
}

fn hand_out(
    permit: Result<Permit<'_, Arrival>, SendError<()>>,
    waiting: &mut VecDeque<Input>,
    is_closed: &mut bool,
) {
    match permit {
        Ok(permit) => {
            if let Some(report) = waiting.pop_front() {
                permit.send(Arrival {
                    heard: Heard::Input(report),
                    ack: None,
                });
            }
        }
        Err(_) => {
            waiting.clear();
            *is_closed = true;
        }
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
