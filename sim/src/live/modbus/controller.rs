//! One car behind its registers.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use protocol::hardware::{Action, Call, Command, Direction, Door, Mode, Motion, Reading};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side};
use tokio_modbus::prelude::{ExceptionCode, Request, Response};

use super::LineError;
use crate::live::building::Building;
use crate::live::layout::{self, Coil, Discrete, Layout};

/// One car's controller.
#[derive(Debug)]
pub(super) struct Controller {
    elevator: ElevatorId,
    floors: Vec<FloorLabel>,
    layout: Layout,
    registers: Mutex<Registers>,
}

/// What was written to the holding registers.
#[derive(Debug, Default)]
struct Registers {
    words: [u16; layout::HOLDING as usize],
    commands: u64,
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
                let kept = self
                    .registers
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .words;
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
            let mut registers = self
                .registers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
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
            let mut registers = self
                .registers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
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
        let moves = matches!(reading.motion, Motion::Up | Motion::Down);
        match self.layout.discrete(address) {
            Some(Discrete::DoorOpen) => reading.front == Door::Open,
            Some(Discrete::DoorClosed) => reading.front == Door::Closed,
            Some(Discrete::Moving) => moves,
            Some(Discrete::Up) => reading.motion == Motion::Up,
            Some(Discrete::Occupied) => reading.occupied == Some(true),
            Some(Discrete::ModeNormal) => reading.mode.serves_robots(),
            Some(Discrete::Maintenance) => reading.mode == Mode::Maintenance,
            Some(Discrete::Fire) => reading.mode == Mode::Fire,
            Some(Discrete::LampUp(floor)) => self.is_lit(reading, floor, Some(Direction::Up)),
            Some(Discrete::LampDown(floor)) => self.is_lit(reading, floor, Some(Direction::Down)),
            Some(Discrete::LampCar(floor)) => self.is_lit(reading, floor, None),
            None => false,
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
            layout::FLOOR => {
                let at = self
                    .floors
                    .iter()
                    .position(|floor| Some(floor) == reading.floor.as_ref());
                at.and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX)
            }
            layout::DOOR => door_word(reading.front),
            layout::MODE => mode_word(reading.mode),
            layout::LOAD => reading.load_pct.map_or(0, u16::from),
            _ => 0,
        }
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

fn bits(
    from: u16,
    count: u16,
    end: u16,
    bit: impl Fn(u16) -> bool,
) -> Result<Vec<bool>, ExceptionCode> {
    Ok(range(from, count, 2000, end)?.map(bit).collect())
}

fn words(
    from: u16,
    count: u16,
    end: u16,
    word: impl Fn(u16) -> u16,
) -> Result<Vec<u16>, ExceptionCode> {
    Ok(range(from, count, 125, end)?.map(word).collect())
}

/// The addresses asked for. The limits are those of the Modbus application protocol 1.1b3.
fn range(from: u16, count: u16, count_max: u16, end: u16) -> Result<Range<u16>, ExceptionCode> {
    if !(1..=count_max).contains(&count) {
        return Err(ExceptionCode::IllegalDataValue);
    }
    let to = from.checked_add(count).filter(|to| *to <= end);
    to.map(|to| from..to)
        .ok_or(ExceptionCode::IllegalDataAddress)
}

fn length(len: usize) -> Result<u16, ExceptionCode> {
    u16::try_from(len).map_err(|_| ExceptionCode::IllegalDataValue)
}
