//! What waits in the outbox.

use protocol::ops::GatewayConnection;
use protocol::robot::ConnectionState;
use protocol::{Outgoing, Seconds, Stamp};

use crate::instance::Stamps;

/// A message with its id, which is that of each re-send too (`wire.md` section 2).
#[derive(Debug)]
pub(super) struct Word {
    pub(super) stamp: Stamp,
    pub(super) message: Outgoing,
}

/// A word about ourselves.
pub(super) fn presence(stamps: &Stamps, connection_state: ConnectionState) -> Outgoing {
    let instance = stamps.instance().clone();
    let connection = GatewayConnection {
        connection_state,
        instance,
    };
    Outgoing::GatewayConnection(stamps.source().clone(), connection)
}

/// What a message says about ourselves.
pub(super) fn said_of_us(message: &Outgoing) -> Option<ConnectionState> {
    match message {
        Outgoing::GatewayConnection(_, connection) => Some(connection.connection_state),
        Outgoing::RideReply { .. }
        | Outgoing::RideState(_)
        | Outgoing::RideStateCleared { .. }
        | Outgoing::ElevatorState(_)
        | Outgoing::ElevatorCommand(_)
        | Outgoing::ClientReply { .. }
        | Outgoing::ClaimState { .. }
        | Outgoing::RentalState { .. }
        | Outgoing::DeviceCommand { .. }
        | Outgoing::DeviceState(_)
        | Outgoing::Alarm(_)
        | Outgoing::Alarms(_)
        | Outgoing::Site(_) => None,
    }
}

/// The message with less of its spans left, after it waited.
pub(super) fn shortened(message: &Outgoing, waited_ms: u64) -> Outgoing {
    let mut message = message.clone();
    match &mut message {
        Outgoing::ElevatorCommand(sent) => {
            let left = sent.command.expires_in_ms.saturating_sub(waited_ms);
            sent.command.expires_in_ms = left;
        }
        Outgoing::DeviceCommand { command, .. } => {
            // What is signed is the moment, not the span.
            command.expires_in_ms = command.expires_in_ms.saturating_sub(waited_ms);
        }
        Outgoing::RideState(view) => {
            let shorten = |left: Seconds| Seconds::from_ms(left.ms.saturating_sub(waited_ms));
            view.deadline_s = view.deadline_s.map(shorten);
        }
        Outgoing::RideReply { .. }
        | Outgoing::RideStateCleared { .. }
        | Outgoing::ElevatorState(_)
        | Outgoing::ClientReply { .. }
        | Outgoing::ClaimState { .. }
        | Outgoing::RentalState { .. }
        | Outgoing::DeviceState(_)
        | Outgoing::Alarm(_)
        | Outgoing::Alarms(_)
        | Outgoing::Site(_)
        | Outgoing::GatewayConnection(..) => {}
    }
    message
}
