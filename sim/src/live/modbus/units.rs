//! The devices of a line, by unit number, and what each answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::ElevatorId;
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use super::LineError;
use super::controller::{Controller, Position, STATUS_BYTES};
use super::fire_input::FireInput;
use super::pdu;
use super::plain::PlainDevice;
use super::relay_board::RelayBoard;
use crate::car::CarFaults;
use crate::live::building::Building;

/// What answers to one unit number of a line.
#[derive(Debug, Clone)]
pub enum Unit {
    /// A car's own controller.
    Car(ElevatorId),
    /// A relay board whose contacts lie across a car's buttons; [`super::BoardLayout`] tells which.
    Relays(ElevatorId),
    /// A fire input.
    Fire(FireInput),
    /// A device with nothing behind it: a register reads its own address, a bit whether that is
    /// odd, until it is written.
    Plain,
}

/// The devices of a line.
#[derive(Debug)]
pub struct Units {
    building: Arc<Building>,
    devices: BTreeMap<u8, Device>,
}

#[derive(Debug)]
enum Device {
    Car(Controller),
    Relays(RelayBoard),
    Fire(FireInput),
    Plain(PlainDevice),
}

impl Units {
    /// These devices.
    ///
    /// # Errors
    /// [`LineError`] for a car that cannot be served.
    pub fn new(building: Arc<Building>, units: BTreeMap<u8, Unit>) -> Result<Self, LineError> {
        let device = |unit| match unit {
            Unit::Car(elevator) => Controller::new(&building, elevator).map(Device::Car),
            Unit::Relays(elevator) => RelayBoard::new(&building, elevator).map(Device::Relays),
            Unit::Fire(input) => Ok(Device::Fire(input)),
            Unit::Plain => Ok(Device::Plain(PlainDevice::default())),
        };
        let devices = units
            .into_iter()
            .map(|(number, unit)| Ok((number, device(unit)?)))
            .collect::<Result<_, LineError>>()?;
        Ok(Self { building, devices })
    }

    /// What a unit answers; `None` where there is none.
    pub(in crate::live) fn answer(
        &self,
        unit: u8,
        request: &Request<'_>,
    ) -> Option<Result<Response, ExceptionCode>> {
        let device = self.devices.get(&unit)?;
        Some(match device {
            Device::Relays(board) => board.answer(&self.building, request),
            Device::Car(_) | Device::Fire(_) | Device::Plain(_)
                if pdu::odd_coil(request).is_some() =>
            {
                Err(ExceptionCode::IllegalDataValue)
            }
            Device::Car(controller) => controller.answer(&self.building, request),
            Device::Fire(input) => input.answer(&self.building, request),
            Device::Plain(plain) => plain.answer(request),
        })
    }

    /// What a car's controller answers to a frame of Kestrel, where `refused` does not have it
    /// refuse; `None` where there is no such car.
    pub(in crate::live) fn hear(
        &self,
        unit: u8,
        data: &[u8],
        refused: Option<ExceptionCode>,
    ) -> Option<Vec<u8>> {
        match self.devices.get(&unit)? {
            Device::Car(controller) => Some(controller.hear(&self.building, data, refused)),
            Device::Relays(_) | Device::Fire(_) | Device::Plain(_) => None,
        }
    }

    /// What a car's controller would say in a status of Kestrel.
    pub(in crate::live) fn status(&self, unit: u8) -> Option<[u8; STATUS_BYTES]> {
        match self.devices.get(&unit)? {
            Device::Car(controller) => controller.status(&self.building),
            Device::Relays(_) | Device::Fire(_) | Device::Plain(_) => None,
        }
    }

    /// The unit numbers.
    pub(in crate::live) fn numbers(&self) -> impl Iterator<Item = u8> {
        self.devices.keys().copied()
    }

    /// Whether there is such a unit.
    pub(in crate::live) fn has(&self, unit: u8) -> bool {
        self.devices.contains_key(&unit)
    }

    /// The device starts anew: a controller forgets its registers and its car's calls, holds and
    /// claim; the relays of a board fall off, and the elevator behind it goes on.
    pub(in crate::live) fn restart(&self, unit: u8) {
        match self.devices.get(&unit) {
            Some(Device::Car(controller)) => {
                controller.forget();
                // The car is there: its controller was made from it.
                let _ = self.building.restart(controller.elevator());
            }
            Some(Device::Relays(board)) => board.drop_all(),
            Some(Device::Fire(_) | Device::Plain(_)) | None => {}
        }
    }

    /// A controller has power, or has none and its car does not move. A board without power leaves
    /// the elevator as it is.
    pub(in crate::live) fn set_power(&self, unit: u8, is_on: bool) {
        if let Some(Device::Car(controller)) = self.devices.get(&unit) {
            // The car is there: its controller was made from it.
            let _ = self
                .building
                .set_faults(controller.elevator(), |faults| faults.stuck = !is_on);
        }
    }

    /// Changes what is broken in the car behind a unit.
    pub(in crate::live) fn set_faults(&self, unit: u8, change: impl FnOnce(&mut CarFaults)) {
        if let Some(controller) = self.controller(unit) {
            // The car is there: its controller was made from it.
            let _ = self.building.set_faults(controller.elevator(), change);
        }
    }

    /// Shows a position that is not the car's, or again the car's.
    pub(in crate::live) fn set_position(&self, unit: u8, position: Option<Position>) {
        if let Some(controller) = self.controller(unit) {
            controller.set_position(&self.building, position);
        }
    }

    fn controller(&self, unit: u8) -> Option<&Controller> {
        match self.devices.get(&unit)? {
            Device::Car(controller) => Some(controller),
            Device::Relays(board) => Some(board.controller()),
            Device::Fire(_) | Device::Plain(_) => None,
        }
    }
}
