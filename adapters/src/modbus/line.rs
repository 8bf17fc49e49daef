//! One Modbus TCP connection: one request at a time, each answered by its own reply or by none.
//!
//! The client crate's typed calls compare the echo of a write by debug assertions only, so requests
//! go through its untyped `call` and every reply is compared here. A reply that comes late can not
//! be taken for another one's: after a time-out or a mismatch the connection is closed
//! (T-LIFT-43, T-STACK-14, AT-LIFT-21).

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_modbus::client::{Client, Context, tcp};
use tokio_modbus::slave::{Slave, SlaveContext};
use tokio_modbus::{Error, ExceptionCode, ProtocolError, Request, Response};

use super::LineTiming;
use crate::backoff::{Backoff, Bounds};
use crate::map::{Block, Table, Write};

/// Failures in a row that make a line down. A gateway in front of a serial bus may close the
/// connection because of one unit, or refuse a new one while it still ends the old one.
const STRIKES: u32 = 2;

/// Why a request has no good reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing was sent.
    NotOpen(String),
    /// The unit answered that it does not.
    Exception(ExceptionCode),
    /// No reply, or none that can be trusted; the connection is closed.
    Lost(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(detail) | Self::Lost(detail) => f.write_str(detail),
            Self::Exception(code) => {
                write!(
                    f,
                    "Modbus exception {:02}, {}",
                    u8::from(*code),
                    exception_name(*code)
                )
            }
        }
    }
}

/// The connection, open or not.
pub(super) struct Line {
    address: String,
    timing: LineTiming,
    /// Taken out while a request is under way, so that a request that is dropped closes it.
    context: Option<Context>,
    /// A whole reply came over this connection.
    is_proved: bool,
    /// Failures of the line itself since the last reply: see [`STRIKES`].
    strikes: u32,
    backoff: Backoff,
    retry_at: Instant,
}

impl Line {
    /// A closed line that may be opened at once.
    pub(super) fn new(address: String, timing: LineTiming, seed: u64) -> Self {
        let bounds = Bounds {
            min_ms: timing.backoff_min_ms,
            max_ms: timing.backoff_max_ms,
        };
        Self {
            address,
            timing,
            context: None,
            is_proved: false,
            strikes: 0,
            backoff: Backoff::new(bounds, seed),
            retry_at: Instant::now(),
        }
    }

    /// Where it leads.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        self.context.is_some()
    }

    /// Whether it is down, and not only one of its units.
    pub(super) fn is_down(&self) -> bool {
        self.strikes >= STRIKES
    }

    /// When it may be opened again.
    pub(super) fn retry_at(&self) -> Instant {
        self.retry_at
    }

    /// One attempt to open it.
    pub(super) async fn open(&mut self) -> Result<(), Trouble> {
        self.close();
        let wait = Duration::from_millis(self.timing.connect_ms);
        let stream = match timeout(wait, TcpStream::connect(&self.address)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(self.refuse(&error.to_string())),
            Err(_) => {
                let detail = format!("no connection within {} ms", self.timing.connect_ms);
                return Err(self.refuse(&detail));
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            return Err(self.refuse(&format!("TCP_NODELAY cannot be set: {error}")));
        }
        self.context = Some(tcp::attach(stream));
        Ok(())
    }

    /// Closes it; it may be opened again at once.
    pub(super) fn close(&mut self) {
        self.context = None;
        self.is_proved = false;
    }

    /// Reads a block; bits are 0 or 1.
    pub(super) async fn read(&mut self, unit: u8, block: Block) -> Result<Vec<u16>, Trouble> {
        let Block {
            table,
            address,
            count,
        } = block;
        let request = match table {
            Table::Coil => Request::ReadCoils(address, count),
            Table::Discrete => Request::ReadDiscreteInputs(address, count),
            Table::Input => Request::ReadInputRegisters(address, count),
            Table::Holding => Request::ReadHoldingRegisters(address, count),
        };
        self.call(unit, request, |response| points(table, count, response))
            .await
    }

    /// Writes, and compares the echo.
    pub(super) async fn write(&mut self, unit: u8, write: &Write) -> Result<(), Trouble> {
        let (request, echo) = request(write)?;
        self.call(unit, request, |response| (response == echo).then_some(()))
            .await
    }

    /// One request and its reply. `check` takes the reply apart; `None` = it does not fit.
    async fn call<T>(
        &mut self,
        unit: u8,
        request: Request<'_>,
        check: impl FnOnce(Response) -> Option<T>,
    ) -> Result<T, Trouble> {
        let Some(mut context) = self.context.take() else {
            return Err(Trouble::NotOpen(format!(
                "the line to {} is not open",
                self.address
            )));
        };
        context.set_slave(Slave(unit));
        let function = request.function_code();
        let wait = Duration::from_millis(self.timing.request_ms);
        let reply = match timeout(wait, context.call(request)).await {
            Err(_) => {
                let wait_ms = self.timing.request_ms;
                return Err(self.lose(format!("unit {unit}: no reply within {wait_ms} ms")));
            }
            Ok(Err(error)) => {
                let is_line_fault = matches!(error, Error::Transport(_)) && !self.is_proved;
                let trouble = self.lose(format!("unit {unit}: {}", describe(&error)));
                if is_line_fault {
                    self.strike();
                }
                return Err(trouble);
            }
            Ok(Ok(reply)) => reply,
        };
        let result = match reply.map(check) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => {
                let detail = format!("unit {unit}: a reply to function {function} does not fit");
                return Err(self.lose(detail));
            }
            Err(exception) => Err(Trouble::Exception(exception)),
        };
        self.context = Some(context);
        self.is_proved = true;
        self.strikes = 0;
        self.backoff.reset();
        result
    }

    /// The connection is closed, and may be opened again at once.
    fn lose(&mut self, detail: String) -> Trouble {
        self.close();
        self.retry_at = Instant::now();
        Trouble::Lost(detail)
    }

    fn refuse(&mut self, detail: &str) -> Trouble {
        self.strike();
        Trouble::NotOpen(format!("{}: {detail}", self.address))
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

/// The request of a write, and the one reply that confirms it.
fn request(write: &Write) -> Result<(Request<'_>, Response), Trouble> {
    match write {
        Write::Coil {
            address,
            on,
            multiple: false,
        } => Ok((
            Request::WriteSingleCoil(*address, *on),
            Response::WriteSingleCoil(*address, *on),
        )),
        Write::Coil {
            address,
            on,
            multiple: true,
        } => Ok((
            Request::WriteMultipleCoils(*address, Cow::Owned(vec![*on])),
            Response::WriteMultipleCoils(*address, 1),
        )),
        Write::Registers {
            address,
            words,
            multiple,
        } => match words.as_slice() {
            [word] if !*multiple => Ok((
                Request::WriteSingleRegister(*address, *word),
                Response::WriteSingleRegister(*address, *word),
            )),
            words => {
                // A map writes at most five words at once: a fence and a command's number.
                let count = u16::try_from(words.len())
                    .map_err(|_| Trouble::NotOpen("too many words for one write".to_owned()))?;
                Ok((
                    Request::WriteMultipleRegisters(*address, Cow::Borrowed(words)),
                    Response::WriteMultipleRegisters(*address, count),
                ))
            }
        },
    }
}

/// The points of a reply of exactly the right table and length.
fn points(table: Table, count: u16, response: Response) -> Option<Vec<u16>> {
    let count = usize::from(count);
    match (table, response) {
        (Table::Coil, Response::ReadCoils(bits))
        | (Table::Discrete, Response::ReadDiscreteInputs(bits)) => {
            // Bits come in whole bytes.
            let fits = bits.len() == count.div_ceil(8) * 8;
            fits.then(|| bits.into_iter().take(count).map(u16::from).collect())
        }
        (Table::Input, Response::ReadInputRegisters(words))
        | (Table::Holding, Response::ReadHoldingRegisters(words)) => {
            (words.len() == count).then_some(words)
        }
        (Table::Coil | Table::Discrete | Table::Input | Table::Holding, _) => None,
    }
}

fn describe(error: &Error) -> String {
    match error {
        Error::Protocol(ProtocolError::HeaderMismatch { message, .. }) => {
            format!("a reply to another request: {message}")
        }
        Error::Protocol(ProtocolError::FunctionCodeMismatch { request, .. }) => {
            format!("a reply to another function than {request}")
        }
        // At the end of a stream the client crate passes on whatever error the system had last.
        Error::Transport(error)
            if error.kind() == std::io::ErrorKind::WouldBlock
                || error.raw_os_error() == Some(0) =>
        {
            "the controller closed the connection".to_owned()
        }
        Error::Transport(error) => format!("the connection failed: {error}"),
    }
}

/// The names of the Modbus application protocol 1.1b3, section 7.
fn exception_name(code: ExceptionCode) -> &'static str {
    match code {
        ExceptionCode::IllegalFunction => "ILLEGAL FUNCTION",
        ExceptionCode::IllegalDataAddress => "ILLEGAL DATA ADDRESS",
        ExceptionCode::IllegalDataValue => "ILLEGAL DATA VALUE",
        ExceptionCode::ServerDeviceFailure => "SERVER DEVICE FAILURE",
        ExceptionCode::Acknowledge => "ACKNOWLEDGE",
        ExceptionCode::ServerDeviceBusy => "SERVER DEVICE BUSY",
        ExceptionCode::MemoryParityError => "MEMORY PARITY ERROR",
        ExceptionCode::GatewayPathUnavailable => "GATEWAY PATH UNAVAILABLE",
        ExceptionCode::GatewayTargetDevice => "GATEWAY TARGET DEVICE FAILED TO RESPOND",
        ExceptionCode::Custom(_) => "which the specification does not name",
    }
}
