//! A controller that does what the test says: nothing moves in it by itself.

use std::collections::BTreeSet;

use protocol::CommandId;
use protocol::hardware::{Action, Call, Command, Door, Mode, Motion, Reading};

use super::site::floor;

/// A command as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// When.
    pub(crate) at_ms: u64,
    /// The whole command.
    pub(crate) command: Command,
}

/// The controller of one elevator.
#[derive(Debug)]
pub(crate) struct Plant {
    /// What it shows when it is asked.
    pub(crate) reading: Reading,
    /// Whether it answers queries.
    pub(crate) answers: bool,
    /// Commands that it refuses, by their word.
    pub(crate) refuses: BTreeSet<&'static str>,
    /// Commands that it does and does not answer.
    pub(crate) mutes: BTreeSet<&'static str>,
    /// Commands that it neither does nor answers.
    pub(crate) loses: BTreeSet<&'static str>,
    /// Commands that it answers and does not do.
    pub(crate) deaf: BTreeSet<&'static str>,
    /// All that arrived.
    pub(crate) log: Vec<Arrived>,
}

/// What the controller does with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Answered with the snapshot.
    Snapshot,
    /// Done and accepted.
    Accepted,
    /// Refused.
    Refused,
    /// No answer.
    Silence,
}

impl Plant {
    /// At 6F, shut, nobody inside.
    pub(crate) fn new(signal: bool) -> Self {
        Self {
            reading: Reading {
                floor: Some(floor("6F")),
                front: Door::Closed,
                rear: None,
                motion: Motion::Stopped,
                mode: Mode::Normal,
                occupied: signal.then_some(false),
                load_pct: None,
                calls: Some(Vec::new()),
                fault: None,
            },
            answers: true,
            refuses: BTreeSet::new(),
            mutes: BTreeSet::new(),
            loses: BTreeSet::new(),
            deaf: BTreeSet::new(),
            log: Vec::new(),
        }
    }

    /// The car stands open at a floor; the calls to it are answered.
    pub(crate) fn open_at(&mut self, label: &str) {
        let at = floor(label);
        if let Some(calls) = &mut self.reading.calls {
            calls.retain(|call| match call {
                Call::Hall { floor, .. } | Call::Car { floor, .. } => floor != &at,
            });
        }
        self.reading.floor = Some(at);
        self.reading.motion = Motion::Stopped;
        self.reading.front = Door::Open;
    }

    /// The car stands shut at a floor.
    pub(crate) fn shut_at(&mut self, label: &str) {
        self.reading.floor = Some(floor(label));
        self.reading.motion = Motion::Stopped;
        self.reading.front = Door::Closed;
    }

    /// The car passes a floor.
    pub(crate) fn pass(&mut self, label: &str, motion: Motion) {
        self.reading.floor = Some(floor(label));
        self.reading.motion = motion;
        self.reading.front = Door::Closed;
    }

    /// Somebody is inside, or nobody.
    pub(crate) fn occupied(&mut self, occupied: bool) {
        if self.reading.occupied.is_some() {
            self.reading.occupied = Some(occupied);
        }
    }

    /// Takes a command: does it, and says what the answer is.
    pub(crate) fn take(&mut self, at_ms: u64, command: &Command) -> Treatment {
        self.log.push(Arrived {
            at_ms,
            command: command.clone(),
        });
        let word = command.action.word();
        if command.action == Action::Query {
            return if self.answers {
                Treatment::Snapshot
            } else {
                Treatment::Silence
            };
        }
        if !self.answers || self.loses.contains(word) {
            return Treatment::Silence;
        }
        if self.refuses.contains(word) {
            return Treatment::Refused;
        }
        if !self.deaf.contains(word) {
            self.act(&command.action);
        }
        if self.mutes.contains(word) {
            Treatment::Silence
        } else {
            Treatment::Accepted
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Query | Action::HoldDoor { .. } => {}
            Action::Claim => self.reading.mode = Mode::Robot,
            Action::Release => {
                if self.reading.mode == Mode::Robot {
                    self.reading.mode = Mode::Normal;
                }
            }
            Action::HallCall { landing, direction } => self.register(Call::Hall {
                floor: landing.floor.clone(),
                side: Some(landing.side),
                direction: Some(*direction),
            }),
            Action::CarCall { landing } => self.register(Call::Car {
                floor: landing.floor.clone(),
                side: Some(landing.side),
            }),
            Action::CancelCall { landing, .. } => {
                if let Some(calls) = &mut self.reading.calls {
                    calls.retain(|call| match call {
                        Call::Hall { floor, .. } => floor != &landing.floor,
                        Call::Car { .. } => true,
                    });
                }
            }
            Action::OpenDoor { .. } => self.reading.front = Door::Open,
            Action::CloseDoor { .. } => self.reading.front = Door::Closed,
        }
    }

    fn register(&mut self, call: Call) {
        if let Some(calls) = &mut self.reading.calls
            && !calls.contains(&call)
        {
            calls.push(call);
        }
    }

    /// The ids of the commands of a word, in the order of their arrival.
    pub(crate) fn ids(&self, word: &str) -> Vec<CommandId> {
        self.log
            .iter()
            .filter(|arrived| arrived.command.action.word() == word)
            .map(|arrived| arrived.command.command_id.clone())
            .collect()
    }

    /// How often a command arrived.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.ids(word).len()
    }
}
