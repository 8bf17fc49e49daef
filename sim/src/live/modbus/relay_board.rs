//! A relay board in front of a car: each contact lies across a button, each input on a lamp, a limit
//! switch or a floor sensor.
//!
//! It understands what two usual kinds of boards do. By coils: on and off (05, 15), and *flash*, a
//! press that the board itself ends (05 at 0x0200 + relay, value = tenths of a second; at 0x0400 for
//! off). By registers, from 1: 0x0100 on, 0x0200 off, 0x0500 on for a second, 0x06nn on for nn
//! seconds (06); state (03). It answers that a relay was switched, whatever the car makes of it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use protocol::ElevatorId;
use tokio_modbus::bytes::Bytes;
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use super::LineError;
use super::controller::Controller;
use super::pdu;
use super::table::{bits, length, range, words};
use crate::live::building::Building;
use crate::live::layout::{Coil, Discrete};

/// Relays of the largest board.
pub const RELAYS_MAX: u16 = 64;
/// The coil that stands for all relays.
const ALL: u16 = 0x00FF;
/// The coil that switches the first relay on, and off after the value's tenths of a second.
pub const FLASH_ON: u16 = 0x0200;
/// The other way round.
const FLASH_OFF: u16 = 0x0400;
/// The longest flash.
const FLASH_MAX: u16 = 0x7FFF;
const TENTH: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// What lies where on a board for a car with so many floors and one front door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardLayout {
    floors: u16,
}

/// The board.
#[derive(Debug)]
pub(super) struct RelayBoard {
    controller: Controller,
    layout: BoardLayout,
    relays: Mutex<Vec<Relay>>,
}

/// A relay: how it is, and when it falls back.
#[derive(Debug, Clone, Copy, Default)]
struct Relay {
    on: bool,
    until: Option<Duration>,
}

impl BoardLayout {
    /// The layout for so many floors; `None` for none, or more than the relays suffice for.
    #[must_use]
    pub fn new(floors: usize) -> Option<Self> {
        let floors = u16::try_from(floors).ok()?;
        (1..=(RELAYS_MAX - 2) / 3)
            .contains(&floors)
            .then_some(Self { floors })
    }

    /// How many floors there are.
    #[must_use]
    pub fn floors(&self) -> u16 {
        self.floors
    }

    /// How many relays are wired: a row of hall calls up, one down, one of car calls, then door-open
    /// and door-close.
    #[must_use]
    pub fn relays(&self) -> u16 {
        3 * self.floors + 2
    }

    /// How many inputs are wired: door open, door closed, moving, up, occupied, mode normal,
    /// maintenance, fire; then a row of floor sensors and the lamps of hall calls up, down, and car
    /// calls.
    #[must_use]
    pub fn inputs(&self) -> u16 {
        8 + 4 * self.floors
    }

    /// The button that a relay's contact lies across.
    #[must_use]
    pub fn button(&self, relay: u16) -> Option<Coil> {
        let floor = relay % self.floors;
        match relay / self.floors {
            0 => Some(Coil::HallUp(floor)),
            1 => Some(Coil::HallDown(floor)),
            2 => Some(Coil::Car(floor)),
            _ => match relay - 3 * self.floors {
                0 => Some(Coil::OpenDoor),
                1 => Some(Coil::CloseDoor),
                _ => None,
            },
        }
    }

    /// What an input is wired to.
    #[must_use]
    pub fn input(&self, input: u16) -> Option<Discrete> {
        let Some(beyond) = input.checked_sub(8) else {
            return Some(match input {
                0 => Discrete::DoorOpen,
                1 => Discrete::DoorClosed,
                2 => Discrete::Moving,
                3 => Discrete::Up,
                4 => Discrete::Occupied,
                5 => Discrete::ModeNormal,
                6 => Discrete::Maintenance,
                _ => Discrete::Fire,
            });
        };
        let floor = beyond % self.floors;
        match beyond / self.floors {
            0 => Some(Discrete::At(floor)),
            1 => Some(Discrete::LampUp(floor)),
            2 => Some(Discrete::LampDown(floor)),
            3 => Some(Discrete::LampCar(floor)),
            _ => None,
        }
    }
}

impl RelayBoard {
    pub(super) fn new(building: &Building, elevator: ElevatorId) -> Result<Self, LineError> {
        let floors = building.floors(&elevator)?.len();
        let layout = BoardLayout::new(floors).ok_or_else(|| LineError::Relays(elevator.clone()))?;
        Ok(Self {
            controller: Controller::new(building, elevator)?,
            layout,
            relays: Mutex::new(vec![Relay::default(); layout.relays().into()]),
        })
    }

    /// The controller behind the wires.
    pub(super) fn controller(&self) -> &Controller {
        &self.controller
    }

    /// All relays fall off.
    pub(super) fn drop_all(&self) {
        let mut relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        relays.fill(Relay::default());
    }

    // A device answers every function that it does not know in one way.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub(super) fn answer(
        &self,
        building: &Building,
        request: &Request<'_>,
    ) -> Result<Response, ExceptionCode> {
        if let Some((address, value)) = pdu::odd_coil(request) {
            self.flash(building, address, value)?;
            let [[a, b], [c, d]] = [address, value].map(u16::to_be_bytes);
            let echo = Bytes::copy_from_slice(&[a, b, c, d]);
            return Ok(Response::Custom(5, echo));
        }
        let end = self.layout.relays();
        match request {
            Request::ReadCoils(from, count) => {
                let is_on = |relay| self.is_on(building, relay);
                bits(*from, *count, end, is_on).map(Response::ReadCoils)
            }
            Request::ReadDiscreteInputs(from, count) => {
                let reading = building
                    .snapshot(self.controller.elevator())
                    .map_err(|_| ExceptionCode::ServerDeviceFailure)?;
                let point = |input| self.layout.input(input);
                let lit = |input| {
                    point(input).is_some_and(|point| self.controller.shows(&reading, point))
                };
                bits(*from, *count, self.layout.inputs(), lit).map(Response::ReadDiscreteInputs)
            }
            Request::ReadHoldingRegisters(from, count) => {
                let state = |register: u16| {
                    let relay = register.checked_sub(1);
                    u16::from(relay.is_some_and(|relay| self.is_on(building, relay)))
                };
                words(*from, *count, end + 1, state).map(Response::ReadHoldingRegisters)
            }
            Request::WriteSingleCoil(address, on) => {
                let relays = match *address {
                    ALL => 0..end,
                    relay if relay < end => relay..relay + 1,
                    _ => return Err(ExceptionCode::IllegalDataAddress),
                };
                relays.for_each(|relay| self.switch(building, relay, *on, None));
                Ok(Response::WriteSingleCoil(*address, *on))
            }
            Request::WriteMultipleCoils(from, states) => {
                let count = length(states.len())?;
                for (relay, on) in range(*from, count, end, end)?.zip(states.iter()) {
                    self.switch(building, relay, *on, None);
                }
                Ok(Response::WriteMultipleCoils(*from, count))
            }
            Request::WriteSingleRegister(register, word) => {
                self.order(building, *register, *word)?;
                Ok(Response::WriteSingleRegister(*register, *word))
            }
            _ => Err(ExceptionCode::IllegalFunction),
        }
    }

    /// A write of one coil that is neither on nor off: a flash.
    fn flash(&self, building: &Building, address: u16, value: u16) -> Result<(), ExceptionCode> {
        let (first, on) = match address {
            FLASH_OFF.. => (FLASH_OFF, false),
            FLASH_ON.. => (FLASH_ON, true),
            _ => return Err(ExceptionCode::IllegalDataValue),
        };
        let relay = address - first;
        if relay >= self.layout.relays() {
            return Err(ExceptionCode::IllegalDataAddress);
        }
        if value > FLASH_MAX {
            return Err(ExceptionCode::IllegalDataValue);
        }
        self.switch(building, relay, on, Some(TENTH * value.into()));
        Ok(())
    }

    /// A register of a board that is told by registers.
    fn order(&self, building: &Building, register: u16, word: u16) -> Result<(), ExceptionCode> {
        let relay = register.checked_sub(1);
        let relay = relay.filter(|relay| *relay < self.layout.relays());
        let relay = relay.ok_or(ExceptionCode::IllegalDataAddress)?;
        let [what, seconds] = word.to_be_bytes();
        match (what, seconds) {
            (1, 0) => self.switch(building, relay, true, None),
            (2, 0) => self.switch(building, relay, false, None),
            (5, 0) => self.switch(building, relay, true, Some(SECOND)),
            (6, 1..) => self.switch(building, relay, true, Some(SECOND * seconds.into())),
            _ => return Err(ExceptionCode::IllegalDataValue),
        }
        Ok(())
    }

    /// Switches a relay, for a while or for good. A contact that closes presses its button. One that
    /// is closed already presses no call anew; the buttons of a door act for as long as they are held.
    fn switch(&self, building: &Building, relay: u16, on: bool, time: Option<Duration>) {
        let now = building.pace().elapsed();
        let was_on = {
            let mut relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(place) = relays.get_mut(usize::from(relay)) else {
                return;
            };
            let was_on = place.is_on(now);
            *place = Relay {
                on,
                until: time.map(|time| now + time),
            };
            was_on
        };
        let button = self.layout.button(relay);
        let is_of_door = matches!(button, Some(Coil::OpenDoor | Coil::CloseDoor));
        if on
            && (is_of_door || !was_on)
            && let Some(button) = button
            && let Err(why) = self.controller.switch(building, button, true)
        {
            // A contact does not hear what a lift makes of it.
            tracing::debug!(relay, %why, "a press had no effect");
        }
    }

    fn is_on(&self, building: &Building, relay: u16) -> bool {
        let now = building.pace().elapsed();
        let relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        relays
            .get(usize::from(relay))
            .is_some_and(|relay| relay.is_on(now))
    }
}

impl Relay {
    fn is_on(self, now: Duration) -> bool {
        match self.until {
            Some(until) if until <= now => !self.on,
            Some(_) | None => self.on,
        }
    }
}
