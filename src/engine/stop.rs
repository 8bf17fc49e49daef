//! What an engine must know to stop well: which doors stand open, which commands are under way.

use std::collections::BTreeMap;

use dispatch::{Effect, Input};
use protocol::hardware::{Action, Change, Door, Motion, Outcome, Reading, Report};
use protocol::{CommandId, ElevatorId};

/// Commands that are followed; a site has one under way for each elevator.
const COMMANDS_MAX: usize = 1_024;

/// Which doors were seen open last, of a car that stands.
#[derive(Debug, Default)]
pub(super) struct Doors {
    /// Only elevators of the configuration have reports.
    seen: BTreeMap<ElevatorId, Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    front: Door,
    rear: Door,
    motion: Motion,
}

impl Doors {
    pub(super) fn see(&mut self, input: &Input) {
        let Input::Report { elevator, report } = input else {
            return;
        };
        match report {
            Report::Reading { reading, .. } => {
                self.seen.insert(elevator.clone(), Seen::of(reading));
            }
            Report::Change(change) => {
                if let Some(seen) = self.seen.get_mut(elevator) {
                    seen.change(change);
                }
            }
            Report::Link { .. } => {
                self.seen.remove(elevator);
            }
            Report::Outcome { .. } | Report::Stale { .. } | Report::Clock { .. } => {}
        }
    }

    pub(super) fn is_open(&self, elevator: &ElevatorId) -> bool {
        self.seen.get(elevator).is_some_and(|seen| {
            seen.motion == Motion::Stopped && [seen.front, seen.rear].contains(&Door::Open)
        })
    }
}

impl Seen {
    fn of(reading: &Reading) -> Self {
        let rear = reading.rear.unwrap_or(Door::Closed);
        Self {
            front: reading.front,
            rear,
            motion: reading.motion,
        }
    }

    fn change(&mut self, change: &Change) {
        self.front = change.front.unwrap_or(self.front);
        self.rear = change.rear.unwrap_or(self.rear);
        self.motion = change.motion.unwrap_or(self.motion);
    }
}

/// Commands, other than queries, whose outcome is not known.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    since_ms: BTreeMap<CommandId, u64>,
}

impl InFlight {
    pub(super) fn released(&mut self, effects: &[Effect], now_ms: u64) {
        for effect in effects {
            if let Effect::Command(command) = effect
                && command.action != Action::Query
            {
                if self.since_ms.len() >= COMMANDS_MAX {
                    // What has no outcome after so long never gets one.
                    let patience_ms = command.expires_in_ms.saturating_mul(2);
                    self.since_ms
                        .retain(|_, since_ms| since_ms.saturating_add(patience_ms) > now_ms);
                }
                self.since_ms.insert(command.command_id.clone(), now_ms);
            }
        }
    }

    pub(super) fn see(&mut self, input: &Input) {
        let Input::Report {
            report:
                Report::Outcome {
                    command_id,
                    outcome,
                },
            ..
        } = input
        else {
            return;
        };
        match outcome {
            Outcome::Sent => {}
            Outcome::Accepted
            | Outcome::Done
            | Outcome::Failed { .. }
            | Outcome::Unknown { .. }
            | Outcome::Dropped { .. } => {
                self.since_ms.remove(command_id);
            }
        }
    }

    /// Whether one was released so late that its outcome may still come.
    pub(super) fn is_any_younger_than(&self, patience_ms: u64, now_ms: u64) -> bool {
        self.since_ms
            .values()
            .any(|since_ms| since_ms.saturating_add(patience_ms) > now_ms)
    }
}
