//! The one thread that owns the core.

use dispatch::Input;
use protocol::ElevatorId;
use protocol::elevator::ElevatorEvent;
use tokio::sync::mpsc;

use crate::mqtt::AckToken;

/// Where everything that happens goes. Bounded: whoever sends waits while it is full.
pub type Inbox = mpsc::Sender<Arrival>;

/// Something that happened.
#[derive(Debug)]
pub struct Arrival {
    /// What.
    pub heard: Heard,
    /// The message behind it, to be acknowledged once all that it caused is durable.
    pub ack: Option<AckToken>,
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
}
