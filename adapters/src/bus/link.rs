//! What carries requests: a Modbus TCP connection, or a line of RTU frames, or of those of a maker,
//! on a serial port or behind a TCP connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};

use super::ask::Ask;
use super::config::Transport;
use super::failure::{Failure, Refusal};
use super::tcp::{TcpLink, connect};
use crate::driver::{BoxFuture, Gate};
use crate::rs485::{FrameError, FrameMaster, FrameMiss, FrameProfile, Message, Unasked};
use crate::rtu::serial::{self, SerialConfig};
use crate::rtu::{LineFigures, Miss, Reply, Request, RtuError, RtuMaster, RtuTiming};

/// Requests in a row without a single byte of a reply until the stream is opened anew: a TCP peer
/// or a USB adapter may be gone without a word.
const SILENCES_MAX: u32 = 8;
/// Requests in a row without an answer that make a unit on a serial line dead. Noise takes one now and then, and
/// each is asked again soon: with one reply in fifty lost, four in a row are lost once in days.
const SERIAL_MISSES_MAX: u32 = 4;

/// One of them, open or not.
pub(super) enum Link {
    /// Modbus TCP.
    Tcp(TcpLink),
    /// Modbus RTU.
    Rtu(Box<RtuLink>),
    /// The frames of a maker.
    Frames(Box<FrameLink>),
}

impl Link {
    /// A closed one; `wait_max_ms` is the longest time-out. Behind a serial port or a converter are
    /// units of Modbus RTU, or those that speak the frames of this maker.
    pub(super) fn new(
        transport: Transport,
        maker: Option<Arc<FrameProfile>>,
        wait_max_ms: u64,
    ) -> Self {
        match transport {
            Transport::Tcp { address } => Self::Tcp(TcpLink::new(address)),
            Transport::RtuOverTcp { address } => Self::over(over_tcp(address), maker, wait_max_ms),
            Transport::Serial(config) => Self::over(over_port(config), maker, wait_max_ms),
        }
    }

    /// A closed one for frames over what `opener` opens.
    pub(super) fn over(opener: Opener, maker: Option<Arc<FrameProfile>>, wait_max_ms: u64) -> Self {
        match maker {
            Some(profile) => Self::frames(opener, profile, wait_max_ms),
            None => Self::rtu(opener, wait_max_ms),
        }
    }

    fn frames(opener: Opener, profile: Arc<FrameProfile>, wait_max_ms: u64) -> Self {
        Self::Frames(Box::new(FrameLink {
            opener,
            master: FrameMaster::new(profile, RtuTiming::over_tcp()),
            wait_max: Duration::from_millis(wait_max_ms),
            silences: 0,
        }))
    }

    fn rtu(opener: Opener, wait_max_ms: u64) -> Self {
        Self::Rtu(Box::new(RtuLink {
            opener,
            master: RtuMaster::new(RtuTiming::over_tcp()),
            wait_max: Duration::from_millis(wait_max_ms),
            silences: 0,
        }))
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.is_open(),
            Self::Rtu(rtu) => rtu.master.is_attached(),
            Self::Frames(frames) => frames.master.is_attached(),
        }
    }

    /// One attempt to open it.
    pub(super) async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        match self {
            Self::Tcp(tcp) => tcp.open(wait_ms).await,
            Self::Rtu(rtu) => rtu.open(wait_ms).await,
            Self::Frames(frames) => frames.open(wait_ms).await,
        }
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        match self {
            Self::Tcp(tcp) => tcp.close(),
            Self::Rtu(rtu) => drop(rtu.master.detach()),
            Self::Frames(frames) => drop(frames.master.detach()),
        }
    }

    /// When the next request may go out, where that is not at once.
    pub(super) fn quiet_at(&self) -> Option<Instant> {
        match self {
            Self::Tcp(_) => None,
            Self::Rtu(rtu) => Some(rtu.master.quiet_at()),
            Self::Frames(frames) => Some(frames.master.quiet_at()),
        }
    }

    /// Requests in a row without an answer that make a unit dead. A lost TCP reply is no noise.
    pub(super) fn misses_max(&self) -> u32 {
        match self {
            Self::Tcp(_) => 1,
            Self::Rtu(_) | Self::Frames(_) => SERIAL_MISSES_MAX,
        }
    }

    /// The figures so far, which then begin anew.
    pub(super) fn take_figures(&mut self) -> LineFigures {
        match self {
            Self::Tcp(tcp) => tcp.take_figures(),
            Self::Rtu(rtu) => rtu.master.take_figures(),
            Self::Frames(frames) => frames.master.take_figures(),
        }
    }

    /// One request and its reply, within `wait_ms` at most over TCP. A link that cannot be trusted
    /// behind it is closed.
    pub(super) async fn call(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        ask: &Ask,
        wait_ms: u64,
    ) -> Result<Reply, Failure> {
        match (self, ask) {
            (Self::Tcp(tcp), Ask::Modbus(request)) => tcp.call(gate, unit, request, wait_ms).await,
            (Self::Rtu(rtu), Ask::Modbus(request)) => rtu.call(gate, unit, request).await,
            (Self::Frames(frames), Ask::Frame(message)) => frames.call(gate, unit, message).await,
            (Self::Frames(_), Ask::Modbus(_)) | (Self::Tcp(_) | Self::Rtu(_), Ask::Frame(_)) => {
                let detail = format!("unit {unit}: the line does not speak what it is asked in");
                Err(Failure::BadRequest(detail))
            }
        }
    }

    /// How long a unit is left alone because its answer may still come and would be taken for the
    /// next one's.
    pub(super) fn owes_for(&self, unit: u8) -> Duration {
        match self {
            // A Modbus master asks for something else instead.
            Self::Tcp(_) | Self::Rtu(_) => Duration::ZERO,
            Self::Frames(frames) => frames.master.owes_for(unit),
        }
    }

    /// What units reported without being asked, the oldest first.
    pub(super) fn take_unasked(&mut self) -> Vec<Unasked> {
        match self {
            Self::Tcp(_) | Self::Rtu(_) => Vec::new(),
            Self::Frames(frames) => frames.master.take_unasked(),
        }
    }

    /// Listens until a unit reports something without being asked. Cancel safe.
    pub(super) async fn overhear(&mut self) {
        match self {
            Self::Tcp(_) | Self::Rtu(_) => std::future::pending().await,
            Self::Frames(frames) => frames.master.overhear().await,
        }
    }
}

/// Anything that frames go over.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Opens what the frames of a line go over, within so many milliseconds, and tells its times.
pub type Opener = Box<dyn FnMut(u64) -> BoxFuture<'static, Opened> + Send>;
/// What came of it.
pub type Opened = Result<(Box<dyn Wire>, RtuTiming), String>;

fn over_tcp(address: String) -> Opener {
    Box::new(move |wait_ms| {
        let address = address.clone();
        Box::pin(async move {
            let wire = Box::new(connect(&address, wait_ms).await?);
            Ok((wire as Box<dyn Wire>, RtuTiming::over_tcp()))
        })
    })
}

fn over_port(config: SerialConfig) -> Opener {
    Box::new(move |wait_ms| {
        let config = config.clone();
        Box::pin(async move {
            let wait = Duration::from_millis(wait_ms);
            let opened = timeout(wait, serial::open(&config)).await;
            let opened = opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            let port = opened.map_err(|error| error.to_string())?;
            let timing = port.timing();
            Ok((Box::new(port) as Box<dyn Wire>, timing))
        })
    })
}

/// An RTU line, open or not.
pub(super) struct RtuLink {
    opener: Opener,
    master: RtuMaster<Box<dyn Wire>>,
    wait_max: Duration,
    silences: u32,
}

impl RtuLink {
    async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        self.silences = 0;
        let (wire, timing) = (self.opener)(wait_ms).await?;
        #[cfg(feature = "crash-points")]
        let wire: Box<dyn Wire> = Box::new(crate::crash::Watched(wire));
        self.master.set_timing(bounded(timing, self.wait_max));
        self.master.attach(wire);
        Ok(())
    }

    async fn call(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        request: &Request,
    ) -> Result<Reply, Failure> {
        let result = self.master.request_through(gate, unit, request).await;
        let is_silent = matches!(
            &result,
            Err(RtuError::NoAnswer {
                miss: Miss::Silence,
                ..
            })
        );
        self.silences = if is_silent { self.silences + 1 } else { 0 };
        if self.silences >= SILENCES_MAX {
            self.silences = 0;
            drop(self.master.detach());
        }
        result.map_err(|error| match error {
            RtuError::Exception(exception) => Failure::Refused(Refusal::Modbus(exception)),
            RtuError::BadRequest(bad) => Failure::BadRequest(format!("unit {unit}: {bad}")),
            RtuError::Dropped(detail) => Failure::Dropped(detail),
            RtuError::NotSent(detail) => Failure::NotSent(detail),
            RtuError::NoAnswer { .. } => Failure::lost(format!("unit {unit}: {error}")),
            RtuError::Gone(_) => Failure::Lost {
                detail: format!("unit {unit}: {error}"),
                is_line_fault: true,
            },
        })
    }
}

/// A line of a maker's frames, open or not.
pub(super) struct FrameLink {
    opener: Opener,
    master: FrameMaster<Box<dyn Wire>>,
    wait_max: Duration,
    silences: u32,
}

impl FrameLink {
    async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        self.silences = 0;
        let (wire, timing) = (self.opener)(wait_ms).await?;
        #[cfg(feature = "crash-points")]
        let wire: Box<dyn Wire> = Box::new(crate::crash::Watched(wire));
        self.master.attach(wire, bounded(timing, self.wait_max));
        Ok(())
    }

    async fn call(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        message: &Message,
    ) -> Result<Reply, Failure> {
        let is_status = message.is_status();
        let result = self.master.ask(gate, unit, message).await;
        let is_silent = matches!(
            &result,
            Err(FrameError::NoAnswer {
                miss: FrameMiss::Silence,
                ..
            })
        );
        self.silences = if is_silent { self.silences + 1 } else { 0 };
        if self.silences >= SILENCES_MAX {
            self.silences = 0;
            drop(self.master.detach());
        }
        match result {
            Ok(payload) if is_status => {
                Ok(Reply::Points(payload.into_iter().map(u16::from).collect()))
            }
            Ok(_) => Ok(Reply::Written),
            Err(error) => Err(failure_of(unit, error)),
        }
    }
}

fn failure_of(unit: u8, error: FrameError) -> Failure {
    let detail = format!("unit {unit}: {error}");
    match error {
        FrameError::Dropped(detail) => Failure::Dropped(detail),
        FrameError::NotSent(detail) => Failure::NotSent(detail),
        FrameError::NoAnswer { .. } => Failure::lost(detail),
        FrameError::Refused { is_busy, .. } => Failure::Refused(Refusal::Maker { detail, is_busy }),
        FrameError::Gone(_) => Failure::Lost {
            detail,
            is_line_fault: true,
        },
    }
}

/// The time-outs of a line within the longest that its owner allows.
fn bounded(timing: RtuTiming, wait_max: Duration) -> RtuTiming {
    RtuTiming {
        min: timing.min.min(wait_max),
        max: timing.max.min(wait_max),
        ..timing
    }
}
