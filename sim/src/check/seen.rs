//! What a checker sees of a world, one thing after the other, borrowed: most of it is looked at
//! and gone.

use dispatch::{Effect, Input};
use protocol::hardware::Command;
use protocol::{ElevatorId, Landing, OrderId, Outgoing, RobotId, Timestamp};

use crate::car::CarEvent;

/// One thing that happened.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// A robot was given a task to ride.
    Asked {
        /// Who.
        robot: &'a RobotId,
        /// The order.
        order: &'a OrderId,
        /// Where it gets in.
        from: &'a Landing,
        /// Where it gets out.
        to: &'a Landing,
    },
    /// A client other than the gateway handed a message to the broker.
    Published {
        /// The client.
        client: &'a str,
        /// The topic.
        topic: &'a str,
        /// The payload.
        payload: &'a [u8],
    },
    /// The broker gave a message to the gateway's ingest connection.
    Delivered {
        /// The connection.
        epoch: u64,
        /// To be acknowledged with this.
        packet: u64,
        /// The topic.
        topic: &'a str,
        /// The payload.
        payload: &'a [u8],
        /// It is an old word, sent because of a subscription.
        retained: bool,
    },
    /// The gateway's acknowledgement of a message left it.
    Acknowledged {
        /// The connection.
        epoch: u64,
        /// Of what.
        packet: u64,
    },
    /// A message of the gateway left it for the broker.
    Said {
        /// What it says.
        message: &'a Outgoing,
        /// The topic.
        topic: &'a str,
        /// The payload.
        payload: &'a [u8],
        /// Whether the broker keeps it.
        retain: bool,
    },
    /// The core took an input.
    Stepped(Step<'a>),
    /// Something that a step wanted seen came out of the barrier.
    Released {
        /// The last record that was appended when the step was done.
        waits_for: u64,
    },
    /// The disk has everything up to a record for good.
    Synced {
        /// That record.
        seq: u64,
    },
    /// A command's bytes left the gateway.
    Sent {
        /// The command.
        command: &'a Command,
    },
    /// The fence gate stopped a command.
    Dropped {
        /// The command.
        command: &'a Command,
    },
    /// A command reached a controller.
    Received {
        /// The command.
        command: &'a Command,
    },
    /// Something truly happened to a car.
    Car {
        /// Which.
        elevator: &'a ElevatorId,
        /// What.
        event: &'a CarEvent,
    },
    /// A robot that keeps the rules drives onto a threshold.
    Crosses {
        /// Who.
        robot: &'a RobotId,
        /// Of which car.
        elevator: &'a ElevatorId,
        /// Where.
        landing: &'a Landing,
        /// Inwards, else outwards.
        inwards: bool,
    },
    /// A gateway process starts.
    Started {
        /// The last record that it found.
        last: u64,
        /// Whether what it read is what the process before had in mind, where nothing was lost.
        same: Option<bool>,
    },
    /// The gateway process is gone, and of what it wrote all after a record.
    Crashed {
        /// The last record that is still there.
        survived: u64,
    },
    /// The gateway process ended by itself, or could not start.
    Ended {
        /// Why.
        detail: &'a str,
        /// Whether the disk was made to fail.
        disk_failed: bool,
    },
    /// The wall clock jumped.
    ClockJumped {
        /// To what.
        wall: Timestamp,
    },
    /// What the core says of its own laws, looked at now and then.
    Audited {
        /// The laws that are broken.
        broken: &'a [String],
    },
}

/// A step of the core, as far as it can be seen from outside.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The gateway's monotonic clock, in milliseconds.
    pub mono_ms: u64,
    /// Its wall clock.
    pub wall: Timestamp,
    /// What it was given.
    pub input: &'a Input,
    /// What it wants done.
    pub effects: &'a [Effect],
    /// How many facts it yielded.
    pub facts: usize,
    /// The last record that was appended when it was done.
    pub appended: u64,
    /// The message that the input came from: connection and packet.
    pub ticket: Option<(u64, u64)>,
}
