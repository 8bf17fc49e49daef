//! A Modbus TCP connection: one request at a time, each answered by its own reply or by none.
//!
//! The client crate's typed calls compare the echo of a write by debug assertions only, so requests
//! go through its untyped `call` and every reply is compared here. A reply that comes late can not
//! be taken for another one's: after a time-out or a mismatch the connection is closed
//! (T-LIFT-43, T-STACK-14, AT-LIFT-21).

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_modbus::client::{Client, Context, tcp};
use tokio_modbus::slave::{Slave, SlaveContext};
use tokio_modbus::{Error, ProtocolError, Request as Wire, Response};

use super::failure::{Failure, Refusal};
use crate::driver::Gate;
use crate::map::Table;
use crate::rtu::{COIL_OFF, COIL_ON, Exception, LineFigures, Reply, Request};

/// The connection, open or not.
pub(super) struct TcpLink {
    address: String,
    /// Taken out while a request is under way, so that a request that is dropped closes it.
    context: Option<Context>,
    figures: LineFigures,
}

impl TcpLink {
    /// Closed.
    pub(super) fn new(address: String) -> Self {
        Self {
            address,
            context: None,
            figures: LineFigures::start(),
        }
    }

    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        self.context.is_some()
    }

    /// One attempt to open it.
    pub(super) async fn open(&mut self, wait_ms: u64) -> Result<(), String> {
        let stream: TcpStream = connect(&self.address, wait_ms).await?;
        #[cfg(feature = "crash-points")]
        let stream = crate::crash::Watched(stream);
        self.attach(stream);
        Ok(())
    }

    /// Goes on over this connection.
    pub(super) fn attach<S>(&mut self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + fmt::Debug + 'static,
    {
        self.context = Some(tcp::attach(stream));
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        self.context = None;
    }

    /// The figures so far, which then begin anew.
    pub(super) fn take_figures(&mut self) -> LineFigures {
        std::mem::replace(&mut self.figures, LineFigures::start())
    }

    /// One request and its reply; `gate` is asked immediately before its bytes.
    pub(super) async fn call(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        request: &Request,
        wait_ms: u64,
    ) -> Result<Reply, Failure> {
        let wire = wire(unit, request)?;
        let Some(mut context) = self.context.take() else {
            let detail = format!("the line to {} is not open", self.address);
            return Err(Failure::NotSent(detail));
        };
        if let Err(detail) = gate() {
            self.context = Some(context);
            return Err(Failure::Dropped(detail));
        }
        context.set_slave(Slave(unit));
        self.figures.asked(unit);
        let began = Instant::now();
        let replied = timeout(Duration::from_millis(wait_ms), context.call(wire)).await;
        let took = began.elapsed();
        let failure = match replied {
            Err(_) => Failure::lost(format!("unit {unit}: no reply within {wait_ms} ms")),
            Ok(Err(error)) => Failure::Lost {
                detail: format!("unit {unit}: {}", describe(&error)),
                is_line_fault: matches!(error, Error::Transport(_)),
            },
            Ok(Ok(Err(code))) => {
                self.context = Some(context);
                self.figures.answered(unit, took);
                return Err(Failure::Refused(Refusal::Modbus(Exception(u8::from(code)))));
            }
            Ok(Ok(Ok(response))) => {
                if let Some(reply) = reply(request, response) {
                    self.context = Some(context);
                    self.figures.answered(unit, took);
                    return Ok(reply);
                }
                let function = request.function();
                let detail = format!("unit {unit}: a reply to function {function} does not fit");
                Failure::lost(detail)
            }
        };
        self.figures.lost(unit, took);
        Err(failure)
    }
}

/// A TCP connection that sends what it is given at once.
pub(super) async fn connect(address: &str, wait_ms: u64) -> Result<TcpStream, String> {
    let wait = Duration::from_millis(wait_ms);
    let stream = match timeout(wait, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("no connection within {wait_ms} ms")),
    };
    match stream.set_nodelay(true) {
        Ok(()) => Ok(stream),
        Err(error) => Err(format!("TCP_NODELAY cannot be set: {error}")),
    }
}

/// The request as the client crate has it.
fn wire(unit: u8, request: &Request) -> Result<Wire<'_>, Failure> {
    let bad = |bad| Failure::BadRequest(format!("unit {unit}: {bad}"));
    request.check().map_err(bad)?;
    Ok(match request {
        Request::Read {
            table,
            address,
            count,
        } => match table {
            Table::Coil => Wire::ReadCoils(*address, *count),
            Table::Discrete => Wire::ReadDiscreteInputs(*address, *count),
            Table::Input => Wire::ReadInputRegisters(*address, *count),
            Table::Holding => Wire::ReadHoldingRegisters(*address, *count),
        },
        Request::WriteCoil { address, value } => match *value {
            COIL_ON => Wire::WriteSingleCoil(*address, true),
            COIL_OFF => Wire::WriteSingleCoil(*address, false),
            value => {
                let detail =
                    format!("unit {unit}: function 05 takes no value {value} over Modbus TCP");
                return Err(Failure::BadRequest(detail));
            }
        },
        Request::WriteRegister { address, value } => Wire::WriteSingleRegister(*address, *value),
        Request::WriteCoils { address, states } => {
            Wire::WriteMultipleCoils(*address, Cow::Borrowed(states))
        }
        Request::WriteRegisters { address, words } => {
            Wire::WriteMultipleRegisters(*address, Cow::Borrowed(words))
        }
    })
}

/// The reply, where it is the one of the request: of its table, its length, its address and its
/// value or count.
fn reply(request: &Request, response: Response) -> Option<Reply> {
    let written = |is_own: bool| is_own.then_some(Reply::Written);
    let is_count = |len: usize, count: u16| usize::from(count) == len;
    match (request, response) {
        (Request::Read { table, count, .. }, response) => {
            points(*table, *count, response).map(Reply::Points)
        }
        (Request::WriteCoil { address, value }, Response::WriteSingleCoil(at, on)) => {
            written(at == *address && on == (*value == COIL_ON))
        }
        (Request::WriteRegister { address, value }, Response::WriteSingleRegister(at, word)) => {
            written(at == *address && word == *value)
        }
        (Request::WriteCoils { address, states }, Response::WriteMultipleCoils(at, count)) => {
            written(at == *address && is_count(states.len(), count))
        }
        (
            Request::WriteRegisters { address, words },
            Response::WriteMultipleRegisters(at, count),
        ) => written(at == *address && is_count(words.len(), count)),
        (
            Request::WriteCoil { .. }
            | Request::WriteRegister { .. }
            | Request::WriteCoils { .. }
            | Request::WriteRegisters { .. },
            _,
        ) => None,
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
