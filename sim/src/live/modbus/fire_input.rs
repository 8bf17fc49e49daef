//! One point that tells whether a zone is clear of fire.

use adapters::map::Table;
use protocol::ZoneId;
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use crate::live::building::Building;

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

impl FireInput {
    // The unit knows the function of its one point only.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub(super) fn answer(
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
