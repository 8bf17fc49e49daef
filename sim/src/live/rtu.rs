//! A serial line with devices on it: Modbus RTU, or the frames of an invented maker, on a pseudoterminal, or over TCP as a converter
//! passes it on. It keeps the pace of its baud rate, and what goes wrong on real lines goes wrong
//! here by plan.
//!
//! # Layout
//!
//! * [`RtuLine`]: the line; [`Speed`], `frame`: its pace and its frames.
//! * `wire`: which byte is on the line when; [`LineRecord`]: what was, and who spoke when it must
//!   not.
//! * `devices`: who answers what; [`Fault`], [`Plan`]: what goes wrong, and when; `text`: the same
//!   in words.
//! * `port`, [`Pty`], `alarm`: the way to the master, and a clock that is exact enough.

mod alarm;
mod devices;
mod fault;
mod frame;
mod plan;
mod port;
mod pty;
mod record;
mod speech;
mod speed;
mod text;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use self::alarm::Alarm;
use self::devices::{Delays, Devices};
use self::port::{Converter, Port, Streams};
use self::wire::Wire;
use super::building::Building;
use super::modbus::{LineError, Unit, Units};

pub use self::fault::{Fault, FaultKind};
pub use self::plan::{Plan, Rule};
pub use self::pty::Pty;
pub use self::record::{Breach, LineRecord, Spoken, Talker};
pub use self::speech::Speech;
pub use self::speed::{BadBaud, Speed};
pub use self::text::BadRule;

/// Bytes that are taken from the master in one go.
const READ_MAX: usize = 1_024;
/// How long a usual device takes to answer: the fast end of what manuals say.
const REPLY_DELAY: Duration = Duration::from_millis(5);

/// How a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSettings {
    /// What is spoken on it.
    pub speech: Speech,
    /// Its pace.
    pub speed: Speed,
    /// From the silence after a request to the first bit of the reply.
    pub reply_delay: Duration,
    /// Whether the master hears its own bytes, as on two wires without a switched receiver.
    pub echo: bool,
}

impl Default for LineSettings {
    /// Modbus RTU at 19,200 baud, replies after 5 ms, no echo.
    fn default() -> Self {
        Self {
            speech: Speech::Rtu,
            speed: Speed::default(),
            reply_delay: REPLY_DELAY,
            echo: false,
        }
    }
}

/// A serial line with its devices.
#[derive(Debug)]
pub struct RtuLine {
    start: Instant,
    devices: Mutex<Devices>,
    /// Something was put on the line beside the master's bytes.
    touched: Notify,
}

impl RtuLine {
    /// A line with these units, on which things go wrong by `plan`.
    ///
    /// # Errors
    /// [`LineError`] for a car that cannot be served.
    pub fn new(
        building: Arc<Building>,
        units: BTreeMap<u8, Unit>,
        settings: &LineSettings,
        plan: Plan,
    ) -> Result<Arc<Self>, LineError> {
        let units = Units::new(building, units)?;
        let mut wire = Wire::new(settings.speed, settings.echo);
        wire.set_speech(settings.speech);
        let delays = Delays {
            usual: settings.reply_delay,
            by_unit: BTreeMap::new(),
        };
        Ok(Arc::new(Self {
            start: Instant::now(),
            devices: Mutex::new(Devices::new(wire, units, plan, delays)),
            touched: Notify::new(),
        }))
    }

    /// Serves the line at a pseudoterminal until the future is dropped, and the port goes with it.
    ///
    /// # Errors
    /// What the pseudoterminal failed with.
    pub async fn serve_pty(self: Arc<Self>, pty: Pty) -> io::Result<()> {
        self.serve(pty, Alarm::of_system()?).await
    }

    /// Serves the line to the newest master that connects, until the future is dropped. As a good
    /// converter it begins to send a frame only when the line has been silent for 3.5 characters.
    ///
    /// # Errors
    /// What accepting a connection failed with.
    pub async fn serve_tcp(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        self.lock().wire.convert();
        self.serve(Converter::new(listener), Alarm::of_system()?)
            .await
    }

    /// Serves the line to the newest of these streams, such as a pipe within the process, until the
    /// future is dropped. Its clock is the runtime's, in whole milliseconds, and virtual where that
    /// is.
    ///
    /// # Errors
    /// None that a stream can cause.
    pub async fn serve_streams<S>(self: Arc<Self>, streams: mpsc::Receiver<S>) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.serve(Streams::new(streams), Alarm::of_runtime()).await
    }

    /// Puts bytes on the line that come from no device of it, beginning at this moment.
    pub fn intrude(&self, bytes: &[u8]) {
        self.lock().intrude(self.now(), bytes);
        self.touched.notify_one();
    }

    /// Switches a unit off, or on again. A unit that is off hears and says nothing.
    pub fn set_dead(&self, unit: u8, is_dead: bool) {
        let dead = &mut self.lock().dead;
        if is_dead {
            dead.insert(unit);
        } else {
            dead.remove(&unit);
        }
    }

    /// How long a unit takes to reply from now on.
    pub fn set_reply_delay(&self, unit: u8, delay: Duration) {
        self.lock().delays.by_unit.insert(unit, delay);
    }

    /// What goes wrong from now on; what fired so far is forgotten.
    pub fn set_plan(&self, plan: Plan) {
        self.lock().plan = plan;
    }

    /// How often a kind of fault struck.
    #[must_use]
    pub fn fired(&self, kind: FaultKind) -> u64 {
        let devices = self.lock();
        devices.plan.fired().get(&kind).copied().unwrap_or(0)
    }

    /// Reads the line's record as it is at this moment.
    pub fn record<T>(&self, read: impl FnOnce(&LineRecord) -> T) -> T {
        read(self.lock().wire.record())
    }

    async fn serve(&self, mut port: impl Port, alarm: Alarm) -> io::Result<()> {
        let mut buffer = [0; READ_MAX];
        loop {
            let (wait, takes_more) = self.turn(&mut port)?;
            // In this order, so that a run on a virtual clock is the same each time.
            tokio::select! {
                biased;
                read = port.read(&mut buffer), if takes_more => {
                    let count = read?;
                    self.lock().receive(self.now(), &buffer[..count]);
                }
                rung = alarm.after(wait) => rung?,
                () = self.touched.notified() => {}
            }
        }
    }

    /// Does what is due and hands the master its bytes. How long there is nothing to do, and
    /// whether the master's port takes more.
    fn turn(&self, port: &mut impl Port) -> io::Result<(Option<Duration>, bool)> {
        let mut devices = self.lock();
        let out = devices.turn(self.now());
        if !out.is_empty() {
            let lost = out.len() - port.write(&out)?;
            devices.wire.record_mut().overrun += u64::try_from(lost).unwrap_or(u64::MAX);
        }
        let now = self.now();
        let wait = devices.next().map(|at| at.saturating_sub(now));
        Ok((wait, devices.wire.takes_more(now)))
    }

    /// The time on the line, as its record counts it.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, Devices> {
        // A panic elsewhere does not make the line wrong.
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
