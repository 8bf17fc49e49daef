//! The same car behind the frames of the invented maker "Kestrel" (`configs/frames/kestrel.toml`).

use std::time::Duration;

use protocol::hardware::{Action, Direction, Door, Motion, Reading};
use tokio_modbus::prelude::ExceptionCode;

use super::{Controller, mode_word};
use crate::live::building::Building;
use crate::live::layout::{self, Discrete};

/// The codes of Kestrel.
pub(in crate::live) mod code {
    /// Asks for the status.
    pub(in crate::live) const STATUS: u8 = 0x01;
    /// The status that was asked for.
    pub(in crate::live) const ANSWER: u8 = 0x81;
    /// The same, which nobody asked for.
    pub(in crate::live) const REPORT: u8 = 0x82;
    /// A command was taken.
    pub(in crate::live) const TAKEN: u8 = 0x06;
    /// It was not.
    pub(in crate::live) const REFUSED: u8 = 0x15;
}

/// Bytes of a status.
pub(in crate::live) const STATUS_BYTES: usize = 12;
/// The reason of a refusal after which a command may be taken another time.
const BUSY: u8 = 0x05;
/// The reason of any other refusal.
const NEVER: u8 = 0x02;

impl Controller {
    /// What a status says of the car at this moment.
    pub(in crate::live::modbus) fn status(
        &self,
        building: &Building,
    ) -> Option<[u8; STATUS_BYTES]> {
        let reading = building.snapshot(&self.elevator).ok()?;
        let mut status = [0; STATUS_BYTES];
        let floor = self.shown_floor(&reading);
        status[0] = u8::try_from(floor).unwrap_or(u8::MAX);
        status[1] = door(reading.front);
        status[2] = motion(&reading);
        status[3] = u8::try_from(mode_word(reading.mode)).unwrap_or(u8::MAX);
        status[4] = u8::from(self.shows(&reading, Discrete::Occupied));
        status[5] = reading.load_pct.unwrap_or(0);
        for floor in 0..self.layout.floors().min(16) {
            let (byte, bit) = (usize::from(floor / 8), floor % 8);
            let rows = [
                (6, Discrete::LampUp(floor)),
                (8, Discrete::LampDown(floor)),
                (10, Discrete::LampCar(floor)),
            ];
            for (row, lamp) in rows {
                status[row + byte] |= u8::from(self.shows(&reading, lamp)) << bit;
            }
        }
        Some(status)
    }

    /// What the unit answers to a frame: its number, code and payload.
    pub(in crate::live::modbus) fn hear(
        &self,
        building: &Building,
        data: &[u8],
        refused: Option<ExceptionCode>,
    ) -> Vec<u8> {
        let (sequence, code, payload) = match data {
            [sequence, code, payload @ ..] => (*sequence, *code, payload),
            [] | [_] => return Vec::new(),
        };
        // What acknowledges by an exception does what was asked all the same.
        let does = refused.is_none_or(|code| code == ExceptionCode::Acknowledge);
        let result = if code == code::STATUS || !does {
            Ok(())
        } else {
            self.tell(building, code, payload)
        };
        if let Some(why) = refused.or_else(|| result.err()) {
            let is_busy = matches!(
                why,
                ExceptionCode::Acknowledge | ExceptionCode::ServerDeviceBusy
            );
            let reason = if is_busy { BUSY } else { NEVER };
            return vec![sequence, code::REFUSED, code, reason];
        }
        if code != code::STATUS {
            return vec![sequence, code::TAKEN, code];
        }
        let mut answer = vec![sequence, code::ANSWER];
        answer.extend(self.status(building).unwrap_or_default());
        answer
    }

    /// Does a command.
    fn tell(&self, building: &Building, code: u8, payload: &[u8]) -> Result<(), ExceptionCode> {
        let wrong = ExceptionCode::IllegalDataValue;
        let (values, fence) = payload
            .split_last_chunk::<4>()
            .ok_or(ExceptionCode::IllegalDataValue)?;
        {
            let [high, low] = [[fence[0], fence[1]], [fence[2], fence[3]]];
            let words = &mut self.lock().words;
            words[usize::from(layout::FENCE)] = u16::from_be_bytes(low);
            words[usize::from(layout::FENCE) + 1] = u16::from_be_bytes(high);
        }
        let landing = |floor: u8| self.landing(floor.into());
        let way = |direction: u8| match direction {
            1 => Ok(Direction::Up),
            2 => Ok(Direction::Down),
            _ => Err(wrong),
        };
        // The only side that it has.
        const FRONT: u8 = 1;
        let action = match (code, values) {
            (0x10, [floor, FRONT, direction]) => Action::HallCall {
                landing: landing(*floor)?,
                direction: way(*direction)?,
            },
            (0x11, [floor, FRONT, direction]) => Action::CancelCall {
                landing: landing(*floor)?,
                direction: way(*direction)?,
            },
            (0x12, [floor, FRONT]) => Action::CarCall {
                landing: landing(*floor)?,
            },
            (0x13, [floor, FRONT]) => Action::OpenDoor {
                landing: landing(*floor)?,
            },
            (0x14, [floor, FRONT, hold_s]) => Action::HoldDoor {
                landing: landing(*floor)?,
                hold_ms: building
                    .pace()
                    .theirs_ms(Duration::from_secs((*hold_s).into())),
            },
            (0x16, [floor, FRONT]) => Action::CloseDoor {
                landing: landing(*floor)?,
            },
            (0x17, []) => Action::Claim,
            (0x18, []) => Action::Release,
            _ => return Err(ExceptionCode::IllegalFunction),
        };
        self.act(building, action)
    }
}

fn door(door: Door) -> u8 {
    match door {
        Door::Closed => 0,
        Door::Opening => 1,
        Door::Open => 2,
        Door::Closing => 3,
        Door::Unknown => 4,
    }
}

fn motion(reading: &Reading) -> u8 {
    match reading.motion {
        Motion::Stopped => 0,
        Motion::Up => 1,
        Motion::Down => 2,
        Motion::Unknown => 3,
    }
}
