//! The cars as Modbus controllers: several units on a line, with the registers of [`super::layout`].
//!
//! What a unit answers does not depend on the line. [`Line`] is Modbus TCP; serial lines, and TCP
//! with the frames of serial lines, are in [`super::rtu`].

mod controller;
mod fire_input;
pub(in crate::live) mod pdu;
mod plain;
mod relay_board;
mod table;
mod units;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use protocol::ElevatorId;
use tokio::net::{TcpListener, TcpStream};
use tokio_modbus::prelude::{ExceptionCode, Response, SlaveRequest};
use tokio_modbus::server::Service;
use tokio_modbus::server::tcp::{Server, accept_tcp_connection};

pub(in crate::live) use self::controller::kestrel_code;
pub use self::controller::{Position, door_word, mode_word};
pub use self::fire_input::FireInput;
pub use self::relay_board::{BoardLayout, FLASH_ON, RELAYS_MAX};
pub use self::units::{Unit, Units};
use super::building::{Building, UnknownCar};

/// One Modbus TCP address.
#[derive(Debug)]
pub struct Line {
    units: Units,
}

/// Why a line cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The car has no floors, too many, or a door at its rear, which the layout does not have.
    #[error("elevator {0}: a simulated Modbus controller has 1 to 256 floors, front doors only")]
    Car(ElevatorId),
    /// The car has more buttons than a relay board has relays.
    #[error(
        "elevator {0}: a simulated relay board has {RELAYS_MAX} relays, three for each floor and two"
    )]
    Relays(ElevatorId),
    /// The building has no such car.
    #[error(transparent)]
    Unknown(#[from] UnknownCar),
}

impl Line {
    /// A line with these units.
    ///
    /// # Errors
    /// [`LineError`] for a car that cannot be served.
    pub fn new(building: Arc<Building>, units: BTreeMap<u8, Unit>) -> Result<Arc<Self>, LineError> {
        let units = Units::new(building, units)?;
        Ok(Arc::new(Self { units }))
    }

    /// Listens at `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// [`LineError::Listen`].
    pub async fn listen(address: SocketAddr) -> Result<TcpListener, LineError> {
        TcpListener::bind(address)
            .await
            .map_err(|source| LineError::Listen { address, source })
    }

    /// Serves every master that connects, until the future is dropped.
    ///
    /// # Errors
    /// What accepting a connection failed with.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let connected = |stream: TcpStream, from: SocketAddr| {
            let line = Arc::clone(&self);
            async move {
                stream.set_nodelay(true)?;
                accept_tcp_connection(stream, from, |_| Ok(Some(Arc::clone(&line))))
            }
        };
        let failed = |error: io::Error| tracing::debug!(%error, "a modbus connection ended");
        Server::new(listener).serve(&connected, failed).await
    }
}

impl Service for Line {
    type Request = SlaveRequest<'static>;
    type Response = Response;
    type Exception = ExceptionCode;
    type Future = std::future::Ready<Result<Response, ExceptionCode>>;

    fn call(&self, request: Self::Request) -> Self::Future {
        let answer = self.units.answer(request.slave, &request.request);
        std::future::ready(answer.unwrap_or(Err(ExceptionCode::GatewayTargetDevice)))
    }
}
