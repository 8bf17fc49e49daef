//! One line: reads and writes over whatever carries them, and when it is opened again.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::LineTiming;
use super::ask::Ask;
use super::failure::{Failure, Refusal};
use super::link::Link;
use crate::backoff::{Backoff, Bounds};
use crate::driver::Gate;
use crate::rs485::Unasked;
use crate::rtu::{LineFigures, Reply};

/// Failures in a row that make a line down. A gateway in front of a serial bus may close the
/// connection because of one unit, or refuse a new one while it still ends the old one.
const STRIKES: u32 = 2;

/// Why a request has no good reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing was sent; it may work another time.
    NotOpen(String),
    /// Nothing was sent, and never will be: it cannot be asked.
    BadRequest(String),
    /// Nothing was sent, because the gate did not let it pass.
    Dropped(String),
    /// The unit answered that it does not.
    Refused(Refusal),
    /// No reply, or none that can be trusted.
    Lost(String),
}

impl Trouble {
    /// Whether it says nothing of the next attempt.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::NotOpen(_) | Self::Dropped(_) | Self::Lost(_) => true,
            Self::BadRequest(_) => false,
            Self::Refused(refusal) => !refusal.is_final(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(detail)
            | Self::BadRequest(detail)
            | Self::Dropped(detail)
            | Self::Lost(detail) => f.write_str(detail),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

/// The line, open or not.
pub(super) struct Line {
    name: String,
    timing: LineTiming,
    link: Link,
    /// A whole reply came since it was opened.
    is_proved: bool,
    /// Failures of the line itself since the last reply: see [`STRIKES`].
    strikes: u32,
    backoff: Backoff,
    retry_at: Instant,
}

impl Line {
    /// A closed line over this link, which may be opened at once.
    pub(super) fn new(name: String, link: Link, timing: LineTiming, seed: u64) -> Self {
        let bounds = Bounds {
            min_ms: timing.backoff_min_ms,
            max_ms: timing.backoff_max_ms,
        };
        Self {
            name,
            timing,
            link,
            is_proved: false,
            strikes: 0,
            backoff: Backoff::new(bounds, seed),
            retry_at: Instant::now(),
        }
    }

    /// Where it leads.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        self.link.is_open()
    }

    /// Whether it is down, and not only one of its units.
    pub(super) fn is_down(&self) -> bool {
        self.strikes >= STRIKES
    }

    /// When it may be opened again.
    pub(super) fn retry_at(&self) -> Instant {
        self.retry_at
    }

    /// When the next request may go out over it, where it is open and that is not at once.
    pub(super) fn quiet_at(&self) -> Option<Instant> {
        self.link.quiet_at().filter(|_| self.is_open())
    }

    /// Requests in a row without an answer that make a unit dead.
    pub(super) fn misses_max(&self) -> u32 {
        self.link.misses_max()
    }

    /// The figures so far, which then begin anew.
    pub(super) fn take_figures(&mut self) -> LineFigures {
        self.link.take_figures()
    }

    /// One attempt to open it.
    pub(super) async fn open(&mut self) -> Result<(), Trouble> {
        self.close();
        let opened = self.link.open(self.timing.connect_ms).await;
        opened.map_err(|detail| {
            self.strike();
            Trouble::NotOpen(format!("{}: {detail}", self.name))
        })
    }

    /// Closes it; it may be opened again at once.
    pub(super) fn close(&mut self) {
        self.link.close();
        self.is_proved = false;
    }

    /// Reads what a unit is asked for; bits are 0 or 1.
    pub(super) async fn read(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        ask: &Ask,
    ) -> Result<Vec<u16>, Trouble> {
        match self.call(gate, unit, ask).await? {
            Reply::Points(points) => Ok(points),
            Reply::Written => Err(Trouble::Lost(format!("unit {unit}: a read was not read"))),
        }
    }

    /// Writes, or tells; the unit confirmed that.
    pub(super) async fn write(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        ask: &Ask,
    ) -> Result<(), Trouble> {
        self.call(gate, unit, ask).await.map(|_| ())
    }

    /// How long a unit is left alone because its answer may still come.
    pub(super) fn owes_for(&self, unit: u8) -> Duration {
        self.link.owes_for(unit)
    }

    /// What units reported without being asked, the oldest first.
    pub(super) fn take_unasked(&mut self) -> Vec<Unasked> {
        self.link.take_unasked()
    }

    /// Listens until a unit reports something without being asked. Cancel safe.
    pub(super) async fn overhear(&mut self) {
        self.link.overhear().await;
    }

    async fn call(&mut self, gate: &mut Gate<'_>, unit: u8, ask: &Ask) -> Result<Reply, Trouble> {
        let was_open = self.link.is_open();
        let wait_ms = self.timing.request_ms;
        let result = self.link.call(gate, unit, ask, wait_ms).await;
        let trouble = match result {
            Ok(reply) => {
                self.prove();
                return Ok(reply);
            }
            Err(Failure::Refused(refusal)) => {
                self.prove();
                return Err(Trouble::Refused(refusal));
            }
            Err(Failure::NotSent(detail)) => {
                if was_open && !self.link.is_open() {
                    self.fault();
                }
                Trouble::NotOpen(detail)
            }
            Err(Failure::BadRequest(detail)) => Trouble::BadRequest(detail),
            Err(Failure::Dropped(detail)) => Trouble::Dropped(detail),
            Err(Failure::Lost {
                detail,
                is_line_fault,
            }) => {
                if is_line_fault {
                    self.fault();
                } else {
                    self.retry_at = Instant::now();
                }
                Trouble::Lost(detail)
            }
        };
        if !self.link.is_open() {
            self.is_proved = false;
        }
        Err(trouble)
    }

    fn prove(&mut self) {
        self.is_proved = true;
        self.strikes = 0;
        self.backoff.reset();
    }

    /// What carries it failed; where a reply came over it before, that may be a unit's doing.
    fn fault(&mut self) {
        if self.is_proved {
            self.retry_at = Instant::now();
        } else {
            self.strike();
        }
    }

    /// The line itself failed. The first time it is tried again at once.
    fn strike(&mut self) {
        self.retry_at = Instant::now();
        if self.strikes > 0 {
            self.retry_at += self.backoff.fail();
        }
        self.strikes = self.strikes.saturating_add(1);
    }
}
