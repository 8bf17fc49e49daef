//! One car behind its registers.

mod kestrel;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::hardware::{Action, Call, Command, Direction, Door, Mode, Motion, Reading};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side};
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use super::LineError;
use super::table::{bits, length, words};
use crate::live::building::Building;
use crate::live::layout::{self, Coil, Discrete, Layout};

pub(in crate::live) use self::kestrel::{STATUS_BYTES, code as kestrel_code};

/// One car's controller.
#[derive(Debug)]
pub(super) struct Controller {
    elevator: ElevatorId,
    floors: Vec<FloorLabel>,
    layout: Layout,
    registers: Mutex<Registers>,
}

/// What was written to the holding registers, and what is wrong with what is shown.
#[derive(Debug, Default)]
struct Registers {
    words: [u16; layout::HOLDING as usize],
    commands: u64,
    floor_shown: Option<ShownFloor>,
}

/// A position that is shown instead of the car's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The one of this moment, wherever the car goes.
    Frozen,
    /// So many floors above the car's, within the floors that there are.
    Off(i16),
    /// None: not level with any floor.
    Lost,
}

/// [`Position`] with the frozen one known.
#[derive(Debug, Clone, Copy)]
enum ShownFloor {
    Always(u16),
    Off(i16),
    Lost,
}

impl Controller {
    pub(super) fn new(building: &Building, elevator: ElevatorId) -> Result<Self, LineError> {
        let floors = building.floors(&elevator)?;
        let has_rear = building.snapshot(&elevator)?.rear.is_some();
        let layout = Layout::new(floors.len()).filter(|_| !has_rear);
        let layout = layout.ok_or_else(|| LineError::Car(elevator.clone()))?;
        Ok(Self {
            elevator,
            floors,
            layout,
            registers: Mutex::new(Registers::default()),
        })
    }

    /// Its elevator.
    pub(super) fn elevator(&self) -> &ElevatorId {
        &self.elevator
    }

    /// Forgets what was written.
    pub(super) fn forget(&self) {
        self.lock().words = Default::default();
    }

    /// Shows another position, or again the car's.
    pub(super) fn set_position(&self, building: &Building, position: Option<Position>) {
        let here = || {
            let reading = building.snapshot(&self.elevator).ok();
            reading.map_or(u16::MAX, |reading| self.floor(&reading))
        };
        let shown = position.map(|position| match position {
            Position::Frozen => ShownFloor::Always(here()),
            Position::Off(floors) => ShownFloor::Off(floors),
            Position::Lost => ShownFloor::Lost,
        });
        self.lock().floor_shown = shown;
    }

    // A device answers every function that it does not know in one way.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub(super) fn answer(
        &self,
        building: &Building,
        request: &Request<'_>,
    ) -> Result<Response, ExceptionCode> {
        let shown = || {
            building
                .snapshot(&self.elevator)
                .map_err(|_| ExceptionCode::ServerDeviceFailure)
        };
        match request {
            Request::ReadCoils(from, count) => {
                let reading = shown()?;
                let coil = |address| self.coil(&reading, address);
                bits(*from, *count, self.layout.buttons() + 4, coil).map(Response::ReadCoils)
            }
            Request::ReadDiscreteInputs(from, count) => {
                let reading = shown()?;
                let lit = |address| self.discrete(&reading, address);
                let [.., (_, last)] = self.layout.rows();
                let end = last + self.layout.floors();
                bits(*from, *count, end, lit).map(Response::ReadDiscreteInputs)
            }
            Request::ReadInputRegisters(from, count) => {
                let reading = shown()?;
                let word = |address| self.input(&reading, address);
                words(*from, *count, layout::INPUTS, word).map(Response::ReadInputRegisters)
            }
            Request::ReadHoldingRegisters(from, count) => {
                let kept = self.lock().words;
                let word = |address| kept.get(usize::from(address)).copied().unwrap_or(0);
                words(*from, *count, layout::HOLDING, word).map(Response::ReadHoldingRegisters)
            }
            Request::WriteSingleCoil(address, on) => {
                self.press(building, *address, *on)?;
                Ok(Response::WriteSingleCoil(*address, *on))
            }
            Request::WriteMultipleCoils(from, states) => {
                let count = length(states.len())?;
                for (address, on) in (*from..=u16::MAX).zip(states.iter()) {
                    self.press(building, address, *on)?;
                }
                Ok(Response::WriteMultipleCoils(*from, count))
            }
            Request::WriteSingleRegister(address, word) => {
                self.write(building, *address, &[*word])?;
                Ok(Response::WriteSingleRegister(*address, *word))
            }
            Request::WriteMultipleRegisters(from, written) => {
                self.write(building, *from, written)?;
                Ok(Response::WriteMultipleRegisters(
                    *from,
                    length(written.len())?,
                ))
            }
            _ => Err(ExceptionCode::IllegalFunction),
        }
    }

    /// A coil went on or off. Buttons act when they go on.
    fn press(&self, building: &Building, address: u16, on: bool) -> Result<(), ExceptionCode> {
        let coil = self
            .layout
            .coil(address)
            .ok_or(ExceptionCode::IllegalDataAddress)?;
        self.switch(building, coil, on)
    }

    /// A button or a level goes on or off.
    pub(super) fn switch(
        &self,
        building: &Building,
        coil: Coil,
        on: bool,
    ) -> Result<(), ExceptionCode> {
        let here = || self.here(building);
        let action = match coil {
            Coil::Claim if on => Action::Claim,
            Coil::Claim => Action::Release,
            _ if !on => return Ok(()),
            Coil::HallUp(floor) => self.hall_call(floor, Direction::Up)?,
            Coil::HallDown(floor) => self.hall_call(floor, Direction::Down)?,
            Coil::Car(floor) => Action::CarCall {
                landing: self.landing(floor)?,
            },
            Coil::OpenDoor => Action::OpenDoor { landing: here()? },
            Coil::CloseDoor => Action::CloseDoor { landing: here()? },
            Coil::CancelHallCalls => return self.cancel_hall_calls(building),
        };
        self.act(building, action)
    }

    /// Holding registers were written. The hold acts last, so that a fence in the same write counts.
    fn write(&self, building: &Building, from: u16, written: &[u16]) -> Result<(), ExceptionCode> {
        let end = usize::from(from) + written.len();
        if written.is_empty() || end > usize::from(layout::HOLDING) {
            return Err(ExceptionCode::IllegalDataAddress);
        }
        let hold_s = {
            let mut registers = self.lock();
            registers.words[usize::from(from)..end].copy_from_slice(written);
            (from == layout::HOLD_S).then_some(registers.words[usize::from(layout::HOLD_S)])
        };
        let Some(hold_s) = hold_s else {
            return Ok(());
        };
        if hold_s == 0 {
            return self.end_hold(building);
        }
        let hold_ms = building
            .pace()
            .theirs_ms(Duration::from_secs(hold_s.into()));
        let landing = self.here(building)?;
        self.act(building, Action::HoldDoor { landing, hold_ms })
    }

    /// Ends a hold and nothing else: a claimed car stays claimed.
    fn end_hold(&self, building: &Building) -> Result<(), ExceptionCode> {
        let reading = building.snapshot(&self.elevator);
        let is_claimed = reading.is_ok_and(|reading| reading.mode == Mode::Robot);
        self.act(building, Action::Release)?;
        if is_claimed {
            self.act(building, Action::Claim)?;
        }
        Ok(())
    }

    fn cancel_hall_calls(&self, building: &Building) -> Result<(), ExceptionCode> {
        let reading = building.snapshot(&self.elevator);
        let calls = reading
            .ok()
            .and_then(|reading| reading.calls)
            .unwrap_or_default();
        for call in calls {
            if let Call::Hall {
                floor,
                side,
                direction: Some(direction),
            } = call
            {
                let landing = Landing {
                    floor,
                    side: side.unwrap_or(Side::Front),
                };
                self.act(building, Action::CancelCall { landing, direction })?;
            }
        }
        Ok(())
    }

    fn act(&self, building: &Building, action: Action) -> Result<(), ExceptionCode> {
        let command = {
            let mut registers = self.lock();
            registers.commands += 1;
            let [_, low, high, number] = registers.words;
            let name = format!("modbus-{}-{number}", registers.commands);
            Command {
                elevator_id: self.elevator.clone(),
                command_id: CommandId::new(&name)
                    .map_err(|_| ExceptionCode::ServerDeviceFailure)?,
                fence: Fence(u64::from(high) << 16 | u64::from(low)),
                order_id: None,
                action,
                expires_in_ms: 0,
            }
        };
        building.command(&command, false).map_err(|why| {
            tracing::debug!(elevator = %self.elevator, action = command.action.word(), why, "refused");
            ExceptionCode::ServerDeviceBusy
        })
    }

    fn hall_call(&self, floor: u16, direction: Direction) -> Result<Action, ExceptionCode> {
        Ok(Action::HallCall {
            landing: self.landing(floor)?,
            direction,
        })
    }

    fn landing(&self, floor: u16) -> Result<Landing, ExceptionCode> {
        let floor = self.floors.get(usize::from(floor)).cloned();
        let floor = floor.ok_or(ExceptionCode::IllegalDataAddress)?;
        Ok(Landing {
            floor,
            side: Side::Front,
        })
    }

    /// The landing that the car stands at; door buttons do nothing else.
    fn here(&self, building: &Building) -> Result<Landing, ExceptionCode> {
        let reading = building.snapshot(&self.elevator).ok();
        let floor = reading.and_then(|reading| reading.floor);
        let floor = floor.ok_or(ExceptionCode::ServerDeviceBusy)?;
        Ok(Landing {
            floor,
            side: Side::Front,
        })
    }

    fn coil(&self, reading: &Reading, address: u16) -> bool {
        self.layout.coil(address) == Some(Coil::Claim) && reading.mode == Mode::Robot
    }

    fn discrete(&self, reading: &Reading, address: u16) -> bool {
        let point = self.layout.discrete(address);
        point.is_some_and(|point| self.shows(reading, point))
    }

    /// Whether a lamp, a switch or a sensor is on.
    pub(super) fn shows(&self, reading: &Reading, point: Discrete) -> bool {
        let moves = matches!(reading.motion, Motion::Up | Motion::Down);
        match point {
            Discrete::DoorOpen => reading.front == Door::Open,
            Discrete::DoorClosed => reading.front == Door::Closed,
            Discrete::Moving => moves,
            Discrete::Up => reading.motion == Motion::Up,
            Discrete::Occupied => reading.occupied == Some(true),
            Discrete::ModeNormal => reading.mode.serves_robots(),
            Discrete::Maintenance => reading.mode == Mode::Maintenance,
            Discrete::Fire => reading.mode == Mode::Fire,
            Discrete::LampUp(floor) => self.is_lit(reading, floor, Some(Direction::Up)),
            Discrete::LampDown(floor) => self.is_lit(reading, floor, Some(Direction::Down)),
            Discrete::LampCar(floor) => self.is_lit(reading, floor, None),
            Discrete::At(floor) => self.shown_floor(reading) == floor,
        }
    }

    fn is_lit(&self, reading: &Reading, floor: u16, hall: Option<Direction>) -> bool {
        let label = self.floors.get(usize::from(floor));
        reading.calls.iter().flatten().any(|call| match call {
            Call::Hall {
                floor, direction, ..
            } => Some(floor) == label && hall.is_some() && *direction == hall,
            Call::Car { floor, .. } => Some(floor) == label && hall.is_none(),
        })
    }

    fn input(&self, reading: &Reading, address: u16) -> u16 {
        match address {
            layout::FLOOR => self.shown_floor(reading),
            layout::DOOR => door_word(reading.front),
            layout::MODE => mode_word(reading.mode),
            layout::LOAD => reading.load_pct.map_or(0, u16::from),
            _ => 0,
        }
    }

    /// The number of the floor as it is shown.
    fn shown_floor(&self, reading: &Reading) -> u16 {
        match self.lock().floor_shown {
            None => self.floor(reading),
            Some(ShownFloor::Always(floor)) => floor,
            Some(ShownFloor::Off(floors)) => {
                let top = self.layout.floors() - 1;
                self.floor(reading).saturating_add_signed(floors).min(top)
            }
            Some(ShownFloor::Lost) => u16::MAX,
        }
    }

    /// The number of the car's floor, from 0; 65,535 between floors.
    fn floor(&self, reading: &Reading) -> u16 {
        let at = self
            .floors
            .iter()
            .position(|floor| Some(floor) == reading.floor.as_ref());
        at.and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Registers> {
        // A panic elsewhere does not make the registers wrong.
        self.registers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The door as the example map numbers it.
#[must_use]
pub fn door_word(door: Door) -> u16 {
    match door {
        Door::Closed => 0,
        Door::Opening => 1,
        Door::Open => 2,
        Door::Closing => 3,
        Door::Unknown => 4,
    }
}

/// The mode as the example map numbers it.
#[must_use]
pub fn mode_word(mode: Mode) -> u16 {
    match mode {
        Mode::Normal => 0,
        Mode::Robot => 1,
        Mode::Attendant => 2,
        Mode::Maintenance => 3,
        Mode::Fire => 4,
        Mode::Emergency => 5,
        Mode::OutOfService => 6,
        Mode::Unknown => 7,
    }
}
