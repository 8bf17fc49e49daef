//! From a [`Command`] to the writes that it is on a device.

use protocol::hardware::{Action, Command, Direction};
use protocol::{CommandId, Landing, Side};

use super::button::Button;
use super::number::Counter;
use super::side::SideMap;
use super::write::{Step, Write};
use super::{FloorTable, RegisterMap};

impl RegisterMap {
    /// The writes of a command, in order; none for a `query`, which is a reading.
    ///
    /// # Errors
    /// A sentence that names the point that the map lacks, or the value that does not fit.
    pub(crate) fn steps(
        &self,
        command: &Command,
        floors: &FloorTable,
    ) -> Result<Vec<Step>, String> {
        if command.action == Action::Query {
            return Ok(Vec::new());
        }
        let action = self.action(&command.action, floors)?;
        let mut steps = self.counters(command);
        steps.extend(action);
        Ok(steps)
    }

    fn action(&self, action: &Action, floors: &FloorTable) -> Result<Vec<Step>, String> {
        match action {
            Action::Query => Ok(Vec::new()),
            Action::Claim => press(self.claim.as_ref(), "commands.claim", 0),
            Action::HallCall { landing, direction } => {
                let buttons = &self.side_of(landing)?.buttons;
                let (name, button) = match direction {
                    Direction::Up => ("hall_up", &buttons.hall_up),
                    Direction::Down => ("hall_down", &buttons.hall_down),
                };
                press(
                    button.as_ref(),
                    &key(landing.side, name),
                    number(landing, floors)?,
                )
            }
            Action::CancelCall { .. } => {
                press(self.cancel_calls.as_ref(), "commands.cancel_calls", 0)
            }
            Action::CarCall { landing } => {
                let button = self.side_of(landing)?.buttons.car.as_ref();
                press(button, &key(landing.side, "car"), number(landing, floors)?)
            }
            Action::OpenDoor { landing } => {
                let button = self.side_of(landing)?.buttons.open.as_ref();
                press(button, &key(landing.side, "open"), 0)
            }
            Action::HoldDoor { landing, hold_ms } => self.hold(landing, *hold_ms),
            Action::CloseDoor { landing } => self.close(landing),
            Action::Release => Ok(self.release()),
        }
    }

    /// Whole seconds into the register; where there is none, the button is pressed again.
    fn hold(&self, landing: &Landing, hold_ms: u64) -> Result<Vec<Step>, String> {
        let buttons = &self.side_of(landing)?.buttons;
        let Some(hold_s) = &buttons.hold_s else {
            return press(buttons.open.as_ref(), &key(landing.side, "open"), 0);
        };
        let seconds = hold_ms.div_ceil(1_000);
        let max_s = hold_s.max_s();
        match u16::try_from(seconds)
            .ok()
            .filter(|seconds| *seconds <= max_s)
        {
            Some(seconds) => Ok(vec![hold_s.write(seconds).into()]),
            None => Err(format!(
                "a hold of {seconds} s is more than {}.max = {max_s}",
                key(landing.side, "hold_s")
            )),
        }
    }

    fn close(&self, landing: &Landing) -> Result<Vec<Step>, String> {
        let buttons = &self.side_of(landing)?.buttons;
        let mut steps: Vec<Step> = buttons
            .hold_s
            .iter()
            .map(|hold_s| hold_s.write(0).into())
            .collect();
        if buttons.close.is_some() || steps.is_empty() {
            steps.extend(press(
                buttons.close.as_ref(),
                &key(landing.side, "close"),
                0,
            )?);
        }
        Ok(steps)
    }

    /// What of ours the controller keeps: the robot mode and holds. Where it keeps nothing, there
    /// is nothing to write.
    fn release(&self) -> Vec<Step> {
        let claim = self.claim.iter().map(|claim| claim.end().into());
        let holds = self
            .sides()
            .filter_map(|(_, side)| side.buttons.hold_s.as_ref());
        claim
            .chain(holds.map(|hold_s| hold_s.write(0).into()))
            .collect()
    }

    /// The fence and the command's number, in one write where they lie side by side.
    fn counters(&self, command: &Command) -> Vec<Step> {
        let command_number = command_number(&command.command_id);
        match (&self.fence, &self.command_id) {
            (Some(fence), Some(id)) if fence.end() == u32::from(id.address) => {
                let mut words = fence.encode(command.fence.0);
                words.extend(id.encode(command_number));
                let address = fence.address;
                vec![
                    Write::Registers {
                        address,
                        words,
                        multiple: true,
                    }
                    .into(),
                ]
            }
            (fence, id) => {
                let write = |counter: &Option<Counter>, number| {
                    counter
                        .as_ref()
                        .map(|counter| Step::from(counter.write(number)))
                };
                let fence = write(fence, command.fence.0);
                fence.into_iter().chain(write(id, command_number)).collect()
            }
        }
    }

    fn side_of(&self, landing: &Landing) -> Result<&SideMap, String> {
        self.side(landing.side)
            .ok_or_else(|| format!("the map has no section {}", landing.side))
    }
}

/// The number that stands for a command id in a 16-bit register: its 32-bit FNV-1a hash, upper
/// half xor lower half.
pub(crate) fn command_number(id: &CommandId) -> u64 {
    const OFFSET: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let step = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    let hash = id.as_str().bytes().fold(OFFSET, step);
    u64::from((hash >> 16) ^ (hash & 0xFFFF))
}

fn press(button: Option<&Button>, key: &str, number: u16) -> Result<Vec<Step>, String> {
    let button = button.ok_or_else(|| format!("the map has no point {key}"))?;
    let step = button.press(number);
    let step = step.ok_or_else(|| format!("{key} has nothing for floor number {number}"))?;
    Ok(vec![step])
}

fn key(side: Side, name: &str) -> String {
    format!("{side}.buttons.{name}")
}

fn number(landing: &Landing, floors: &FloorTable) -> Result<u16, String> {
    let number = floors.number(&landing.floor);
    number.ok_or_else(|| format!("the map has no number for floor {}", landing.floor))
}
