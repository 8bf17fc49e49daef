//! What leaves a gateway of the world.

use std::sync::Arc;

use dispatch::{Effect, Fact, Input, OperatorAnswer};
use protocol::hardware::Command;
use protocol::{Envelope, Outgoing, Timestamp};

/// What leaves a gateway, or happens in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Emission {
    /// A message to the broker; its number comes back with `Gateway::published`.
    Publish {
        /// Its number.
        id: u64,
        /// What it says.
        message: Wanted,
        /// As MQTT takes it.
        envelope: Envelope,
    },
    /// A command that passed the gate, and when it left on the gateway's clock.
    Command {
        /// The command.
        command: Command,
        /// When it left.
        sent_ms: u64,
    },
    /// A command that did not pass the gate.
    Dropped {
        /// The command.
        command: Command,
        /// Why.
        why: String,
    },
    /// An operator's answer.
    Answer {
        /// The ticket of the question.
        ticket: u64,
        /// The answer.
        answer: Result<OperatorAnswer, String>,
    },
    /// A message of the ingest connection is acknowledged.
    Acknowledge {
        /// On which connection.
        epoch: u64,
        /// Which message.
        packet: u64,
    },
    /// Somebody says that this gateway is not there; it says that it is.
    SaidToBeAway,
    /// Facts were appended.
    Facts(Vec<Fact>),
    /// The core took an input.
    Stepped(Arc<Stepped>),
    /// What a step wanted seen came out of the barrier; the step's last record.
    Released(u64),
    /// The disk has everything up to this record for good.
    Synced(u64),
}

/// A step of the core, as it is shown to the checker.
#[derive(Debug, Clone, PartialEq)]
pub struct Stepped {
    /// Its monotonic clock.
    pub mono_ms: u64,
    /// Its wall clock.
    pub wall: Timestamp,
    /// What it was given.
    pub input: Input,
    /// What it wants done.
    pub effects: Vec<Effect>,
    /// How many facts it yielded.
    pub facts: usize,
    /// The last record that was appended when it was done.
    pub appended: u64,
    /// The message that the input came from: connection and packet.
    pub ticket: Option<(u64, u64)>,
}

/// What the core or the process itself wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// An effect of a step, by its place.
    OfStep(Arc<Stepped>, usize),
    /// What the process itself says.
    Own(Arc<Effect>),
}

impl Wanted {
    /// What it is.
    #[must_use]
    pub fn effect(&self) -> &Effect {
        match self {
            Self::OfStep(stepped, place) => &stepped.effects[*place],
            Self::Own(effect) => effect,
        }
    }

    /// The message, where it is one.
    #[must_use]
    pub fn message(&self) -> Option<&Outgoing> {
        match self.effect() {
            Effect::Say(message) => Some(message),
            Effect::Command(_) | Effect::Device(_) | Effect::Note(_) | Effect::Answer { .. } => {
                None
            }
        }
    }
}

/// A moment of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the world began.
    pub now_ms: u64,
    /// The wall clock.
    pub wall: Timestamp,
}
