//! What the points are about where devices are rented: orders, states, devices and their commands.

use dispatch::RentalFact;
use protocol::{Inbound, Outgoing};

use super::plan::{About, C4, C5, Point};

/// What a fact is about.
pub(super) fn moved(fact: &RentalFact) -> Option<About> {
    match fact {
        RentalFact::Opened { rental, .. } => Some(vec![
            rental.order.to_string(),
            rental.device.to_string(),
            rental.state.to_string(),
        ]),
        RentalFact::Started { order, .. } => Some(vec![order.to_string(), "PENDING".to_owned()]),
        RentalFact::Moved { rental, state, .. } => {
            Some(vec![rental.to_string(), state.to_string()])
        }
        RentalFact::Device { device, state, .. } => {
            Some(vec![device.to_string(), format!("device {state}")])
        }
        RentalFact::Heard { .. } | RentalFact::Commanded { .. } | RentalFact::Raised { .. } => None,
    }
}

/// What a message of ours is about, and the point that it passes when it is written.
pub(super) fn said(message: &Outgoing) -> Option<(Point, About)> {
    let (point, words) = match message {
        Outgoing::DeviceCommand { command, .. } => {
            let words = [command.device_id.to_string(), command.command.to_string()];
            (C4, Vec::from(words))
        }
        Outgoing::RentalState { view, .. } => {
            let order = view.order_id.to_string();
            (C5, vec![order, view.state.to_string(), "state".to_owned()])
        }
        Outgoing::ClientReply { reply, .. } => {
            let (order, kind) = (reply.order_id.as_ref()?, reply.kind?);
            (
                C5,
                vec![order.to_string(), kind.to_string(), "reply".to_owned()],
            )
        }
        Outgoing::RideReply { .. }
        | Outgoing::RideState(_)
        | Outgoing::RideStateCleared { .. }
        | Outgoing::ElevatorState(_)
        | Outgoing::ElevatorCommand(_)
        | Outgoing::ClaimState { .. }
        | Outgoing::DeviceState(_)
        | Outgoing::Alarm(_)
        | Outgoing::Alarms(_)
        | Outgoing::Site(_)
        | Outgoing::GatewayConnection(..) => return None,
    };
    let said = ["said".to_owned()];
    Some((point, words.into_iter().chain(said).collect()))
}

/// What a message to us is about.
pub(super) fn heard(inbound: &Inbound) -> Option<About> {
    match inbound {
        Inbound::Client { request, .. } => {
            let order = request.order_id.as_ref()?.to_string();
            let kind = request.ask.kind().to_string();
            Some(vec![order, kind, "heard".to_owned()])
        }
        Inbound::Device { device, event } => {
            let word = event.device_state.map(|word| word.to_string());
            let words = [Some(device.to_string()), word, Some("heard".to_owned())];
            Some(words.into_iter().flatten().collect())
        }
        Inbound::Robot { .. }
        | Inbound::Controller { .. }
        | Inbound::Gateway { .. }
        | Inbound::OwnRide { .. }
        | Inbound::OwnElevator { .. } => None,
    }
}
