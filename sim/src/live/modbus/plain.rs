//! A device with nothing behind it: every point tells its own address until it is written.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use super::table::{bits, length, range, words};

/// What was written, by address; the tables of 65,536 points each bound it.
#[derive(Debug, Default)]
pub(super) struct PlainDevice(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    coils: BTreeMap<u16, bool>,
    holding: BTreeMap<u16, u16>,
}

impl PlainDevice {
    // A device answers every function that it does not know in one way.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub(super) fn answer(&self, request: &Request<'_>) -> Result<Response, ExceptionCode> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_odd = |address: u16| address % 2 == 1;
        let coil = |kept: &Written, at| kept.coils.get(&at).copied().unwrap_or_else(|| is_odd(at));
        let holding = |kept: &Written, at| kept.holding.get(&at).copied().unwrap_or(at);
        match request {
            Request::ReadCoils(from, count) => {
                bits(*from, *count, u16::MAX, |at| coil(&written, at)).map(Response::ReadCoils)
            }
            Request::ReadDiscreteInputs(from, count) => {
                bits(*from, *count, u16::MAX, is_odd).map(Response::ReadDiscreteInputs)
            }
            Request::ReadInputRegisters(from, count) => {
                words(*from, *count, u16::MAX, |at| at).map(Response::ReadInputRegisters)
            }
            Request::ReadHoldingRegisters(from, count) => {
                words(*from, *count, u16::MAX, |at| holding(&written, at))
                    .map(Response::ReadHoldingRegisters)
            }
            Request::WriteSingleCoil(address, on) => {
                written.coils.insert(*address, *on);
                Ok(Response::WriteSingleCoil(*address, *on))
            }
            Request::WriteSingleRegister(address, word) => {
                written.holding.insert(*address, *word);
                Ok(Response::WriteSingleRegister(*address, *word))
            }
            Request::WriteMultipleCoils(from, states) => {
                let count = length(states.len())?;
                let addresses = range(*from, count, u16::MAX, u16::MAX)?;
                written.coils.extend(addresses.zip(states.iter().copied()));
                Ok(Response::WriteMultipleCoils(*from, count))
            }
            Request::WriteMultipleRegisters(from, written_words) => {
                let count = length(written_words.len())?;
                let addresses = range(*from, count, u16::MAX, u16::MAX)?;
                let pairs = addresses.zip(written_words.iter().copied());
                written.holding.extend(pairs);
                Ok(Response::WriteMultipleRegisters(*from, count))
            }
            _ => Err(ExceptionCode::IllegalFunction),
        }
    }
}
