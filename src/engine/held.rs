//! Doors that are held at our word.
//!
//! Kept beside the core, of commands that were released, so that doors can still be held when the
//! journal has failed and the core's memory may be ahead of the disk (`ride.md` section 4).

use std::collections::BTreeMap;

use protocol::hardware::{Action, Command};
use protocol::{CommandId, ElevatorId};

/// The newest hold of each elevator that no other command has ended.
#[derive(Debug, Default)]
pub(super) struct HeldDoors {
    /// At most one for each elevator of the configuration.
    doors: BTreeMap<ElevatorId, Held>,
}

#[derive(Debug)]
struct Held {
    command: Command,
    hold_ms: u64,
    /// Until when the controller keeps it, on the monotonic clock.
    until_ms: u64,
    /// Renewals that were made here.
    renewals: u32,
}

impl HeldDoors {
    /// A command was released.
    pub(super) fn released(&mut self, command: &Command, now_ms: u64) {
        match &command.action {
            Action::HoldDoor { hold_ms, .. } => {
                let held = Held {
                    command: command.clone(),
                    hold_ms: *hold_ms,
                    until_ms: now_ms.saturating_add(*hold_ms),
                    renewals: 0,
                };
                self.doors.insert(command.elevator_id.clone(), held);
            }
            Action::CloseDoor { .. } | Action::CarCall { .. } | Action::Release => {
                self.doors.remove(&command.elevator_id);
            }
            Action::Query
            | Action::Claim
            | Action::HallCall { .. }
            | Action::CancelCall { .. }
            | Action::OpenDoor { .. } => {}
        }
    }

    /// The elevators whose door is held at the moment.
    pub(super) fn elevators(&self, now_ms: u64) -> impl Iterator<Item = &ElevatorId> {
        self.doors
            .iter()
            .filter(move |(_, held)| held.until_ms > now_ms)
            .map(|(id, _)| id)
    }

    /// Renewals for those of the elevators whose hold is half over; the same hold with a command id
    /// of its own.
    pub(super) fn renew(&mut self, elevators: &[ElevatorId], now_ms: u64) -> Vec<Command> {
        let mut renewals = Vec::new();
        for elevator in elevators {
            let Some(held) = self.doors.get_mut(elevator) else {
                continue;
            };
            let half = held.until_ms.saturating_sub(held.hold_ms / 2);
            if !(half..held.until_ms).contains(&now_ms) {
                continue;
            }
            held.renewals += 1;
            let Some(command_id) = renewed(&held.command.command_id, held.renewals) else {
                continue;
            };
            held.until_ms = now_ms.saturating_add(held.hold_ms);
            renewals.push(Command {
                command_id,
                ..held.command.clone()
            });
        }
        renewals
    }
}

/// `{id}:r{n}`; the head of an id that is too long for that.
fn renewed(id: &CommandId, n: u32) -> Option<CommandId> {
    let tail = format!(":r{n}");
    let head_bytes = protocol::limits::ID_BYTES_MAX - tail.len();
    // Identifiers are ASCII.
    let head = id.as_str().get(..head_bytes.min(id.as_str().len()))?;
    CommandId::new(&format!("{head}{tail}")).ok()
}

#[cfg(test)]
mod tests {
    use protocol::{Fence, FloorLabel, Landing, Side};

    use super::*;

    fn command(action: impl FnOnce(Landing) -> Action) -> Command {
        let landing = Landing {
            floor: FloorLabel::new("1F").unwrap(),
            side: Side::Front,
        };
        Command {
            elevator_id: ElevatorId::new("EL001").unwrap(),
            command_id: CommandId::new("c-7").unwrap(),
            fence: Fence(3),
            order_id: None,
            action: action(landing),
            expires_in_ms: 5_000,
        }
    }

    fn hold() -> Command {
        command(|landing| Action::HoldDoor {
            landing,
            hold_ms: 10_000,
        })
    }

    #[test]
    fn a_hold_is_renewed_in_its_second_half_with_its_fence_and_a_new_id() {
        let mut doors = HeldDoors::default();
        doors.released(&hold(), 1_000);
        let elevators = [hold().elevator_id];
        assert_eq!(doors.renew(&elevators, 5_999), []);
        let renewals = doors.renew(&elevators, 6_000);
        assert_eq!(renewals.len(), 1);
        assert_eq!(renewals[0].command_id.as_str(), "c-7:r1");
        assert_eq!(renewals[0].fence, Fence(3));
        assert_eq!(renewals[0].action, hold().action);
        assert_eq!(doors.renew(&elevators, 6_001), [], "it lasts until 16,000");
        assert_eq!(
            doors.renew(&elevators, 11_000)[0].command_id.as_str(),
            "c-7:r2"
        );
    }

    #[test]
    fn a_hold_that_lapsed_is_not_renewed() {
        let mut doors = HeldDoors::default();
        doors.released(&hold(), 1_000);
        assert_eq!(doors.elevators(10_999).count(), 1);
        assert_eq!(doors.elevators(11_000).count(), 0);
        assert_eq!(doors.renew(&[hold().elevator_id], 11_000), []);
    }

    #[test]
    fn what_ends_a_hold_at_our_word_ends_it_here() {
        for end in [
            command(|landing| Action::CloseDoor { landing }),
            command(|landing| Action::CarCall { landing }),
            command(|_| Action::Release),
        ] {
            let mut doors = HeldDoors::default();
            doors.released(&hold(), 0);
            doors.released(&end, 1);
            assert_eq!(doors.elevators(2).count(), 0, "{:?}", end.action);
        }
        let mut doors = HeldDoors::default();
        doors.released(&hold(), 0);
        doors.released(&command(|_| Action::Query), 1);
        assert_eq!(doors.elevators(2).count(), 1);
    }
}
