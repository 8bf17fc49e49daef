//! What carries requests: a Modbus TCP connection, or a line of RTU frames on a serial port or
//! behind a TCP connection.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::config::Transport;
use super::failure::Failure;
use super::tcp::{TcpLink, connect};
use crate::rtu::serial::{self, SerialConfig};
use crate::rtu::{LineFigures, Miss, Reply, Request, RtuError, RtuMaster, RtuTiming};

/// Requests in a row without a single byte of a reply until the stream is opened anew: a TCP peer
/// or a USB adapter may be gone without a word.
const SILENCES_MAX: u32 = 8;
/// Requests in a row that an RTU unit may leave without an answer: noise takes one now and then, and
/// each is asked again in its turn.
const RTU_MISSES_MAX: u32 = 3;

/// One of them, open or not.
pub(super) enum Link {
    /// Modbus TCP.
    Tcp(TcpLink),
    /// Modbus RTU.
    Rtu(Box<RtuLink>),
}

impl Link {
    /// A closed one.
    pub(super) fn new(transport: Transport, wait_max_ms: u64) -> Self {
        let rtu = |place, timing| Self::Rtu(Box::new(RtuLink::new(place, timing, wait_max_ms)));
        match transport {
            Transport::Tcp { address } => Self::Tcp(TcpLink::new(address)),
            Transport::RtuOverTcp { address } => rtu(Place::Tcp(address), RtuTiming::over_tcp()),
            Transport::Serial(config) => {
                let timing = RtuTiming::serial(config.baud);
                rtu(Place::Port(config), timing)
            }
        }
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.is_open(),
            Self::Rtu(rtu) => rtu.master.is_attached(),
        }
    }

    /// One attempt to open it.
    pub(super) async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        match self {
            Self::Tcp(tcp) => tcp.open(wait_ms).await,
            Self::Rtu(rtu) => rtu.open(wait_ms).await,
        }
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        match self {
            Self::Tcp(tcp) => tcp.close(),
            Self::Rtu(rtu) => drop(rtu.master.detach()),
        }
    }

    /// Requests in a row without an answer that make a unit dead. A lost TCP reply is no noise.
    pub(super) fn misses_max(&self) -> u32 {
        match self {
            Self::Tcp(_) => 1,
            Self::Rtu(_) => RTU_MISSES_MAX,
        }
    }

    /// The figures so far, which then begin anew.
    pub(super) fn take_figures(&mut self) -> LineFigures {
        match self {
            Self::Tcp(tcp) => tcp.take_figures(),
            Self::Rtu(rtu) => rtu.master.take_figures(),
        }
    }

    /// One request and its reply, within `wait_ms` at most over TCP. A link that cannot be trusted
    /// behind it is closed.
    pub(super) async fn call(
        &mut self,
        unit: u8,
        request: &Request,
        wait_ms: u64,
    ) -> Result<Reply, Failure> {
        match self {
            Self::Tcp(tcp) => tcp.call(unit, request, wait_ms).await,
            Self::Rtu(rtu) => rtu.call(unit, request).await,
        }
    }
}

/// Where the frames of an RTU line go.
enum Place {
    Port(SerialConfig),
    Tcp(String),
}

/// Anything that frames go over.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// An RTU line, open or not.
pub(super) struct RtuLink {
    place: Place,
    master: RtuMaster<Box<dyn Wire>>,
    wait_max: Duration,
    silences: u32,
}

impl RtuLink {
    fn new(place: Place, timing: RtuTiming, wait_max_ms: u64) -> Self {
        let wait_max = Duration::from_millis(wait_max_ms);
        Self {
            place,
            master: RtuMaster::new(bounded(timing, wait_max)),
            wait_max,
            silences: 0,
        }
    }

    async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        self.silences = 0;
        match &self.place {
            Place::Tcp(address) => {
                let stream = connect(address, wait_ms).await?;
                self.master.attach(Box::new(stream));
            }
            Place::Port(config) => {
                let wait = Duration::from_millis(wait_ms);
                let opened = timeout(wait, serial::open(config)).await;
                let opened = opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                let port = opened.map_err(|error| error.to_string())?;
                self.master
                    .set_timing(bounded(port.timing(), self.wait_max));
                self.master.attach(Box::new(port));
            }
        }
        Ok(())
    }

    async fn call(&mut self, unit: u8, request: &Request) -> Result<Reply, Failure> {
        let result = self.master.request(unit, request).await;
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
            RtuError::Exception(exception) => Failure::Exception(exception),
            RtuError::NotSent(_) | RtuError::BadRequest(_) => Failure::NotSent(error.to_string()),
            RtuError::NoAnswer { .. } => Failure::lost(format!("unit {unit}: {error}")),
            RtuError::Gone(_) => Failure::Lost {
                detail: format!("unit {unit}: {error}"),
                is_line_fault: true,
            },
        })
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
