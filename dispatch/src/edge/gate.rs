//! The fence gate: the last look at a command, immediately before its bytes (law 3).

use std::collections::BTreeMap;

use protocol::hardware::{Action, Command};
use protocol::limits::ELEVATORS_MAX;
use protocol::{ElevatorId, Fence};

/// Why a command does not leave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// It was given by an owner that has been succeeded.
    #[error("fence {fence} is lower than {highest}, which the elevator has seen")]
    LowerFence {
        /// Its fence.
        fence: Fence,
        /// The highest that passed.
        highest: Fence,
    },
    /// It waited too long.
    #[error("it is {age_ms} ms old, it was to leave within {expires_in_ms} ms")]
    Expired {
        /// Its age in milliseconds.
        age_ms: u64,
        /// How old it may get.
        expires_in_ms: u64,
    },
    /// More elevators than a site can have.
    #[error("{0} is one elevator more than the {ELEVATORS_MAX} that a site can have")]
    TooManyElevators(ElevatorId),
}

/// The highest fence that passed, per elevator.
#[derive(Debug, Clone, Default)]
pub struct FenceGate {
    highest: BTreeMap<ElevatorId, Fence>,
}

impl FenceGate {
    /// A gate that nothing has passed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a command of this age pass, or not. A `query` is answered whatever its fence
    /// (`ride.md` section 0); all others, `release` too, must carry the highest.
    ///
    /// # Errors
    /// Why it must not be sent.
    pub fn pass(&mut self, command: &Command, age_ms: u64) -> Result<(), Dropped> {
        let elevator = &command.elevator_id;
        let highest = self.highest(elevator);
        if mutate!(GateOpen, command.fence < highest, false) && command.action != Action::Query {
            return Err(Dropped::LowerFence {
                fence: command.fence,
                highest,
            });
        }
        if command.fence > highest {
            if !self.highest.contains_key(elevator) && self.highest.len() >= ELEVATORS_MAX {
                return Err(Dropped::TooManyElevators(elevator.clone()));
            }
            // A grant stands whether or not this command of it is still young enough.
            self.highest.insert(elevator.clone(), command.fence);
        }
        if mutate!(GateLate, age_ms >= command.expires_in_ms, false) {
            return Err(Dropped::Expired {
                age_ms,
                expires_in_ms: command.expires_in_ms,
            });
        }
        Ok(())
    }

    /// The highest fence seen for an elevator, 0 before the first.
    #[must_use]
    pub fn highest(&self, elevator: &ElevatorId) -> Fence {
        self.highest.get(elevator).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use protocol::hardware::Direction;
    use protocol::{CommandId, FloorLabel, Landing, Side};

    use super::*;

    fn command(elevator: &str, fence: u64, action: Action) -> Command {
        Command {
            elevator_id: ElevatorId::new(elevator).unwrap(),
            command_id: CommandId::new("c-1").unwrap(),
            fence: Fence(fence),
            order_id: None,
            action,
            expires_in_ms: 5000,
        }
    }

    fn landing() -> Landing {
        Landing {
            floor: FloorLabel::new("1F").unwrap(),
            side: Side::Front,
        }
    }

    fn actions() -> Vec<Action> {
        let (landing, direction) = (landing(), Direction::Up);
        vec![
            Action::Claim,
            Action::HallCall {
                landing: landing.clone(),
                direction,
            },
            Action::CancelCall {
                landing: landing.clone(),
                direction,
            },
            Action::CarCall {
                landing: landing.clone(),
            },
            Action::OpenDoor {
                landing: landing.clone(),
            },
            Action::HoldDoor {
                landing: landing.clone(),
                hold_ms: 10_000,
            },
            Action::CloseDoor { landing },
            Action::Release,
        ]
    }

    #[test]
    fn a_lower_fence_is_dropped_for_every_action_but_query() {
        for action in actions() {
            let mut gate = FenceGate::new();
            assert_eq!(gate.pass(&command("EL001", 8, Action::Claim), 0), Ok(()));
            let lower = Dropped::LowerFence {
                fence: Fence(7),
                highest: Fence(8),
            };
            assert_eq!(
                gate.pass(&command("EL001", 7, action.clone()), 0),
                Err(lower)
            );
            assert_eq!(gate.pass(&command("EL001", 8, action.clone()), 0), Ok(()));
            assert_eq!(gate.pass(&command("EL001", 9, action), 0), Ok(()));
        }
        let mut gate = FenceGate::new();
        assert_eq!(gate.pass(&command("EL001", 8, Action::Claim), 0), Ok(()));
        assert_eq!(gate.pass(&command("EL001", 0, Action::Query), 0), Ok(()));
        assert_eq!(gate.highest(&ElevatorId::new("EL001").unwrap()), Fence(8));
    }

    #[test]
    fn a_query_of_a_new_owner_shuts_out_the_old_one() {
        let mut gate = FenceGate::new();
        assert_eq!(gate.pass(&command("EL001", 3, Action::Query), 0), Ok(()));
        let lower = Dropped::LowerFence {
            fence: Fence(2),
            highest: Fence(3),
        };
        assert_eq!(
            gate.pass(&command("EL001", 2, Action::Release), 0),
            Err(lower)
        );
    }

    #[test]
    fn each_elevator_has_its_own_fence() {
        let mut gate = FenceGate::new();
        assert_eq!(gate.pass(&command("EL001", 8, Action::Claim), 0), Ok(()));
        assert_eq!(gate.pass(&command("EL002", 1, Action::Claim), 0), Ok(()));
    }

    #[test]
    fn a_command_leaves_before_its_time_is_over_or_never() {
        for (age_ms, passes) in [(0, true), (4999, true), (5000, false), (u64::MAX, false)] {
            for action in [Action::Claim, Action::Query] {
                let said = FenceGate::new().pass(&command("EL001", 1, action), age_ms);
                let expired = Err(Dropped::Expired {
                    age_ms,
                    expires_in_ms: 5000,
                });
                assert_eq!(said, if passes { Ok(()) } else { expired });
            }
        }
    }

    #[test]
    fn a_grant_counts_though_its_command_was_too_old() {
        let mut gate = FenceGate::new();
        assert!(
            gate.pass(&command("EL001", 8, Action::Query), 9000)
                .is_err()
        );
        let lower = Dropped::LowerFence {
            fence: Fence(7),
            highest: Fence(8),
        };
        assert_eq!(
            gate.pass(&command("EL001", 7, Action::Release), 0),
            Err(lower)
        );
    }

    #[test]
    fn it_is_bounded() {
        let mut gate = FenceGate::new();
        for n in 0..ELEVATORS_MAX {
            assert_eq!(
                gate.pass(&command(&format!("E{n}"), 1, Action::Claim), 0),
                Ok(())
            );
        }
        let said = gate.pass(&command("one-more", 1, Action::Claim), 0);
        assert!(matches!(said, Err(Dropped::TooManyElevators(_))));
        assert_eq!(gate.pass(&command("E0", 2, Action::Claim), 0), Ok(()));
    }
}
