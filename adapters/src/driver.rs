//! The port between the gateway and elevator hardware.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use protocol::hardware::{Command, Outcome, Report};
use protocol::{ElevatorId, ZoneId};

/// A future on the heap, so that drivers of several kinds fit behind one trait.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The gateway's monotonic clock, in milliseconds from any origin. Drivers stamp `asked_ms` with
/// it and read no clock of their own for that.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The last look at a command: asked immediately before bytes of it are written, it says why they
/// must not leave.
pub type Gate<'g> = dyn FnMut() -> Result<(), String> + Send + 'g;

/// A gate that lets all pass: of what is no command.
///
/// # Errors
/// Never.
pub(crate) fn open_gate() -> Result<(), String> {
    Ok(())
}

/// What a driver learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverReport {
    /// About one elevator.
    Elevator {
        /// Which one.
        elevator: ElevatorId,
        /// What.
        report: Report,
    },
    /// A zone's fire input was read, or could not be.
    ZoneFire {
        /// Which zone.
        zone: ZoneId,
        /// Read, and clear. An input that cannot be read is not clear (`wire.md` section 7).
        clear: bool,
    },
    /// The line itself opened or closed.
    Bus {
        /// Whether it is open.
        up: bool,
    },
}

/// One line: a bus connection with all elevators on it. One transaction at a time.
///
/// The futures of `execute`, `read` and `finish` run to their end in bounded time. Where one is
/// dropped before that, the line is closed and opened anew.
pub trait Driver: Send {
    /// Writes one command; returns when the controller answered or the time-out passed. Never
    /// retries. A `query` of a polled elevator reads it once, as a whole, reports the reading and
    /// is [`Outcome::Done`].
    ///
    /// All waits for the line come before the last look at `gate`; where that says no, nothing of
    /// the command leaves and it is [`Outcome::Dropped`].
    fn execute<'a>(
        &'a mut self,
        command: &'a Command,
        gate: &'a mut Gate<'a>,
        reports: &'a mut Vec<DriverReport>,
    ) -> BoxFuture<'a, Outcome>;

    /// Resolves when `read` has something to do: a poll or a reconnect is due. Cancel safe.
    fn ready(&mut self) -> BoxFuture<'_, ()>;

    /// Runs one transaction, or one attempt to reconnect, to its end and appends what it learned.
    fn read<'a>(&'a mut self, reports: &'a mut Vec<DriverReport>) -> BoxFuture<'a, ()>;

    /// Ends what commands left half done, such as a pressed button. The last call.
    fn finish(&mut self) -> BoxFuture<'_, ()>;
}
