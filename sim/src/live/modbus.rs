//! The cars as Modbus TCP controllers: several units behind one address, with the registers of
//! [`super::layout`].

mod controller;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use adapters::map::Table;
use protocol::{ElevatorId, ZoneId};
use tokio::net::{TcpListener, TcpStream};
use tokio_modbus::prelude::{ExceptionCode, Request, Response, SlaveRequest};
use tokio_modbus::server::Service;
use tokio_modbus::server::tcp::{Server, accept_tcp_connection};

use self::controller::Controller;
pub use self::controller::{door_word, mode_word};
use super::building::{Building, UnknownCar};

/// What answers to one unit number of a line.
#[derive(Debug, Clone)]
pub enum Unit {
    /// A car.
    Car(ElevatorId),
    /// A fire input.
    Fire(FireInput),
}

/// One point that tells whether a zone is clear of fire.
#[derive(Debug, Clone)]
pub struct FireInput {
    /// The zone.
    pub zone: ZoneId,
    /// In which table it is.
    pub point: Table,
    /// Where it is.
    pub address: u16,
    /// What it reads while there is no fire; it reads another number while there is one.
    pub clear: u16,
}

/// One Modbus TCP address.
#[derive(Debug)]
pub struct Line {
    building: Arc<Building>,
    units: BTreeMap<u8, Device>,
}

#[derive(Debug)]
enum Device {
    Car(Controller),
    Fire(FireInput),
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
        let device = |unit| match unit {
            Unit::Fire(input) => Ok(Device::Fire(input)),
            Unit::Car(elevator) => Controller::new(&building, elevator).map(Device::Car),
        };
        let units = units
            .into_iter()
            .map(|(number, unit)| Ok((number, device(unit)?)))
            .collect::<Result<_, LineError>>()?;
        Ok(Arc::new(Self { building, units }))
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

    fn answer(&self, unit: u8, request: &Request<'_>) -> Result<Response, ExceptionCode> {
        match self.units.get(&unit) {
            None => Err(ExceptionCode::GatewayTargetDevice),
            Some(Device::Car(controller)) => controller.answer(&self.building, request),
            Some(Device::Fire(input)) => input.answer(&self.building, request),
        }
    }
}

impl FireInput {
    // The unit knows the function of its one point only.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn answer(
        &self,
        building: &Building,
        request: &Request<'_>,
    ) -> Result<Response, ExceptionCode> {
        let word = if building.is_clear_of_fire(&self.zone) {
            self.clear
        } else {
            u16::from(self.clear == 0)
        };
        let (asked, response) = match (self.point, request) {
            (Table::Coil, Request::ReadCoils(from, count)) => {
                ((*from, *count), Response::ReadCoils(vec![word != 0]))
            }
            (Table::Discrete, Request::ReadDiscreteInputs(from, count)) => (
                (*from, *count),
                Response::ReadDiscreteInputs(vec![word != 0]),
            ),
            (Table::Input, Request::ReadInputRegisters(from, count)) => {
                ((*from, *count), Response::ReadInputRegisters(vec![word]))
            }
            (Table::Holding, Request::ReadHoldingRegisters(from, count)) => {
                ((*from, *count), Response::ReadHoldingRegisters(vec![word]))
            }
            _ => return Err(ExceptionCode::IllegalFunction),
        };
        if asked == (self.address, 1) {
            Ok(response)
        } else {
            Err(ExceptionCode::IllegalDataAddress)
        }
    }
}

impl Service for Line {
    type Request = SlaveRequest<'static>;
    type Response = Response;
    type Exception = ExceptionCode;
    type Future = std::future::Ready<Result<Response, ExceptionCode>>;

    fn call(&self, request: Self::Request) -> Self::Future {
        std::future::ready(self.answer(request.slave, &request.request))
    }
}
