//! What leaves a gateway of the world.

use dispatch::{Fact, OperatorAnswer};
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
        message: Outgoing,
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
    /// Facts were appended.
    Facts(Vec<Fact>),
}

/// A moment of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the world began.
    pub now_ms: u64,
    /// The wall clock.
    pub wall: Timestamp,
}
