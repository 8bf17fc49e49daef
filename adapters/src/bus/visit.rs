//! A line that a person asks, request by request, while no gateway owns it: `hallcall bus`.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::config::Transport;
use super::failure::{Failure, Refusal};
use super::link::Wire;
use super::tcp::{TcpLink, connect};
use crate::driver::open_gate;
use crate::map::RegisterMap;
use crate::rtu::serial::{self, SerialConfig};
use crate::rtu::{
    Exception, LineFigures, Observer, Reply, Request, RtuError, RtuMaster, RtuTiming, Seen,
};

/// To open the connection or the port.
const OPEN_MS: u64 = 3_000;
/// For a reply over Modbus TCP where nothing else is asked for.
const TCP_WAIT_MS: u64 = 800;
/// Bytes taken from a line at once by who only listens.
const READ_BYTES: usize = 512;

/// An open line.
pub struct Visit {
    carrier: Carrier,
    wait: Option<Duration>,
    observer: Arc<Mutex<Observer>>,
}

enum Carrier {
    Tcp { link: TcpLink, address: String },
    Rtu(Box<RtuMaster<Box<dyn Wire>>>),
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoReply {
    /// Nothing was sent; why.
    NotSent(String),
    /// The unit answered that it does not.
    Exception(Exception),
    /// It was sent, and nothing came that can be trusted; what came instead.
    Lost(String),
}

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(detail) | Self::Lost(detail) => f.write_str(detail),
            Self::Exception(exception) => exception.fmt(f),
        }
    }
}

impl Visit {
    /// Opens a line; `observer` is told of all bytes. `wait` is the time-out of a request, beside
    /// the time of its characters; without it, what the gateway would wait for a unit that it does
    /// not know.
    ///
    /// # Errors
    /// A sentence; of the kind [`io::ErrorKind::ResourceBusy`] where another program has the port.
    pub async fn open(
        transport: &Transport,
        wait: Option<Duration>,
        observer: Observer,
    ) -> io::Result<Self> {
        let observer = Arc::new(Mutex::new(observer));
        let carrier = match transport {
            Transport::Tcp { address } => Carrier::Tcp {
                link: open_tcp(address, &observer).await?,
                address: address.clone(),
            },
            Transport::RtuOverTcp { address } => {
                let stream = connected(address).await?;
                rtu(Box::new(stream), RtuTiming::over_tcp(), wait, &observer)
            }
            Transport::Serial(config) => {
                let port = open_port(config).await?;
                let timing = port.timing();
                rtu(Box::new(port), timing, wait, &observer)
            }
        };
        Ok(Self {
            carrier,
            wait,
            observer,
        })
    }

    /// Asks a unit, and waits for its answer. A Modbus TCP connection that was closed because of the
    /// request before is opened anew.
    ///
    /// # Errors
    /// See [`NoReply`].
    pub async fn ask(&mut self, unit: u8, request: &Request) -> Result<Reply, NoReply> {
        request
            .frame(unit)
            .map_err(|bad| NoReply::NotSent(bad.to_string()))?;
        match &mut self.carrier {
            Carrier::Rtu(master) => master.request(unit, request).await.map_err(from_rtu),
            Carrier::Tcp { link, address } => {
                if !link.is_open() {
                    let opened = open_tcp(address, &self.observer).await;
                    *link = opened.map_err(|error| NoReply::NotSent(error.to_string()))?;
                }
                let wait_ms = self.wait.map_or(TCP_WAIT_MS, |wait| {
                    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
                });
                link.call(&mut open_gate, unit, request, wait_ms)
                    .await
                    .map_err(from_tcp)
            }
        }
    }

    /// The figures of the line so far; Modbus TCP has none that outlive a connection.
    #[must_use]
    pub fn figures(&self) -> Option<&LineFigures> {
        match &self.carrier {
            Carrier::Rtu(master) => Some(master.figures()),
            Carrier::Tcp { .. } => None,
        }
    }

    /// Says nothing and listens until the line ends; the observer hears it.
    ///
    /// # Errors
    /// What the line ended with. A Modbus TCP connection carries nothing of others.
    pub async fn listen(self) -> io::Error {
        let stream = match self.carrier {
            Carrier::Rtu(mut master) => master.detach(),
            Carrier::Tcp { .. } => None,
        };
        let Some(mut stream) = stream else {
            return io::Error::other("there is nothing to listen to");
        };
        let mut buffer = [0; READ_BYTES];
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
                Ok(count) => tell(&self.observer, Seen::Heard(&buffer[..count])),
                Err(error) => return error,
            }
        }
    }
}

/// The requests of one whole reading of an elevator with this map.
#[must_use]
pub fn reads_of(map: &RegisterMap) -> Vec<Request> {
    let blocks = map.blocks().into_iter();
    let read = blocks.map(|block| Request::Read {
        table: block.table,
        address: block.address,
        count: block.count,
    });
    read.collect()
}

fn rtu(
    stream: Box<dyn Wire>,
    timing: RtuTiming,
    wait: Option<Duration>,
    observer: &Arc<Mutex<Observer>>,
) -> Carrier {
    let timing = wait.map_or(timing, |wait| RtuTiming {
        first: wait,
        min: wait,
        max: wait.saturating_add(timing.max),
        ..timing
    });
    let mut master = RtuMaster::new(timing);
    let told = Arc::clone(observer);
    master.observe(Box::new(move |at, seen| {
        told.lock().unwrap_or_else(PoisonError::into_inner)(at, seen);
    }));
    master.attach(stream);
    Carrier::Rtu(Box::new(master))
}

async fn open_port(config: &SerialConfig) -> io::Result<serial::SerialStream> {
    let opened = timeout(Duration::from_millis(OPEN_MS), serial::open(config)).await;
    opened.unwrap_or_else(|_| {
        let detail = format!("{} does not open in {OPEN_MS} ms", config.path.display());
        Err(io::Error::new(io::ErrorKind::TimedOut, detail))
    })
}

async fn connected(address: &str) -> io::Result<TcpStream> {
    let connected = connect(address, OPEN_MS).await;
    connected.map_err(|detail| io::Error::other(format!("{address}: {detail}")))
}

async fn open_tcp(address: &str, observer: &Arc<Mutex<Observer>>) -> io::Result<TcpLink> {
    let mut link = TcpLink::new(address.to_owned());
    link.attach(Observed {
        stream: connected(address).await?,
        observer: Arc::clone(observer),
    });
    Ok(link)
}

fn from_rtu(error: RtuError) -> NoReply {
    match error {
        RtuError::BadRequest(_) | RtuError::NotSent(_) | RtuError::Dropped(_) => {
            NoReply::NotSent(error.to_string())
        }
        RtuError::Exception(exception) => NoReply::Exception(exception),
        RtuError::NoAnswer { .. } | RtuError::Gone(_) => NoReply::Lost(error.to_string()),
    }
}

fn from_tcp(failure: Failure) -> NoReply {
    match failure {
        Failure::NotSent(detail) | Failure::BadRequest(detail) | Failure::Dropped(detail) => {
            NoReply::NotSent(detail)
        }
        Failure::Refused(Refusal::Modbus(exception)) => NoReply::Exception(exception),
        Failure::Refused(refusal @ Refusal::Maker { .. }) => NoReply::Lost(refusal.to_string()),
        Failure::Lost { detail, .. } => NoReply::Lost(detail),
    }
}

fn tell(observer: &Mutex<Observer>, seen: Seen<'_>) {
    // An observer that panicked has ended the process.
    observer.lock().unwrap_or_else(PoisonError::into_inner)(Instant::now(), seen);
}

/// A connection whose bytes are told.
struct Observed {
    stream: TcpStream,
    observer: Arc<Mutex<Observer>>,
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

impl AsyncRead for Observed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let came = &buffer.filled()[before..];
        if !came.is_empty() {
            tell(&self.observer, Seen::Heard(came));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Observed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        tell(&self.observer, Seen::Sent(&bytes[..count]));
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
