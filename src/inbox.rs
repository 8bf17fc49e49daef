//! What happens to the gateway, on its way to the engine.

use dispatch::Input;
use dispatch::edge::Ticket;
use protocol::ElevatorId;
use protocol::elevator::ElevatorEvent;
use tokio::sync::mpsc;

/// Where everything that happens goes. Bounded: whoever sends waits while it is full.
pub type Inbox = mpsc::Sender<Arrival>;

/// Arrivals that may wait.
pub const INBOX_MAX: usize = 1_024;

/// Something that happened.
#[derive(Debug)]
pub struct Arrival {
    /// What.
    pub heard: Heard,
    /// The message behind it, to be acknowledged once all that it caused is durable.
    pub ack: Option<Ticket>,
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
