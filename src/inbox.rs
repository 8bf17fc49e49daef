//! What happens to the gateway, on its way to the engine.

use dispatch::Input;
use dispatch::edge::Ticket;
use protocol::ElevatorId;
use protocol::client::ClientReply;
use protocol::elevator::ElevatorEvent;
use tokio::sync::{mpsc, oneshot};

/// Where everything that happens goes. Bounded: whoever sends waits while it is full.
pub type Inbox = mpsc::Sender<Arrival>;

/// Arrivals that may wait.
pub const INBOX_MAX: usize = 1_024;

/// Something that happened.
#[derive(Debug)]
pub struct Arrival {
    /// What.
    pub heard: Heard,
    /// What is owed to whoever brought it, once all that it caused is durable.
    pub ack: Option<Owed>,
}

/// What is owed for something that happened.
#[derive(Debug)]
pub enum Owed {
    /// The acknowledgement of a message.
    Ack(Ticket),
    /// The reply to an application's request, which goes here and not to its topic.
    Reply(oneshot::Sender<Box<ClientReply>>),
}

/// What happened.
#[derive(Debug)]
pub enum Heard {
    /// Something for the core.
    Input(Input),
    /// A controller that speaks MQTT said something; its driver makes reports of it.
    Controller {
        /// The elevator.
        elevator: ElevatorId,
        /// What it said.
        event: ElevatorEvent,
    },
    /// The process is to end: nothing new, and what must be finished is finished.
    Stop,
    /// The journal failed: nothing moves any more, doors stay held for a while.
    JournalFailed,
}
