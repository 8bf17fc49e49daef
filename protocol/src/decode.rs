//! Bytes to messages: what the gateway takes from robots, controllers and gateways.
//!
//! Reading keeps no state. Every rule of `wire.md` sections 2, 3, 5 and 6 that can be judged from
//! one message alone is judged here; what needs a site, a clock or a ride is the core's.
//!
//! Where `wire.md` is silent:
//! * A whole snapshot (`state`) needs `motion`, `mode` and `door` or `doors`; `floor` null means a
//!   car that does not know where it stands, `calls` null one whose calls cannot be read.
//! * `hold_s` and `again` are checked in every event, and used in theirs only.
//! * `-0` is no integer, nor is a number beyond 64 bits.
//! * An id is reported in a refusal where it was read before the defect, is valid, and came once.

mod client;
mod controller;
mod device;
mod robot;

use crate::code::Code;
use crate::field::{Bad, integer, name, optional, required, word};
use crate::id::{ClientId, DeviceId, ElevatorId, Fence, GatewayId, RobotId};
use crate::json::{self, Object};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::message::{Inbound, Refusal, RobotMessage, RobotTopic};
use crate::ops::GatewayConnection;
use crate::ride::RideState;
use crate::text::detail;
use crate::topic::{Topic, Topics};

/// What bytes on a topic are.
#[derive(Debug, Clone, PartialEq)]
pub enum Decoded {
    /// A message.
    Message(Inbound),
    /// On a topic of ours, but it cannot be read.
    Refused(Refusal),
    /// Nothing that the gateway acts on or answers; to be counted and acknowledged.
    Ignored(Ignored),
}

/// Why something is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// No topic that the gateway reads; topics with a bad identifier in them too.
    NotOurs,
    /// Delivered with the retain flag: an old word, which is no command and no event.
    Retained,
    /// The gateway's own state, published while it was subscribed to it.
    Echo,
    /// An empty payload that deletes a retained word.
    Cleared,
    /// A retained state of the gateway's own that cannot be read.
    UnreadableState,
}

/// Reads one MQTT message. `retained` is the retain flag of its delivery.
///
/// No input panics, recurses deeply or takes more than a bounded multiple of its size.
#[must_use]
pub fn decode(topics: &Topics, topic: &str, payload: &[u8], retained: bool) -> Decoded {
    let Some(topic) = topics.parse(topic) else {
        return Decoded::Ignored(Ignored::NotOurs);
    };
    match topic {
        Topic::RideRequest(id) => from_robot(id, RobotTopic::Request, payload, retained),
        Topic::RideEvent(id) => from_robot(id, RobotTopic::Event, payload, retained),
        Topic::RideCancel(id) => from_robot(id, RobotTopic::Cancel, payload, retained),
        Topic::RobotStatus(id) => from_robot(id, RobotTopic::Status, payload, retained),
        Topic::RobotConnection(id) => from_robot(id, RobotTopic::Connection, payload, retained),
        Topic::ClientRequest(id) => from_client(id, payload, retained),
        Topic::DeviceEvent(id) => from_device(id, payload, retained),
        Topic::ElevatorEvent(elevator) => from_controller(elevator, payload, retained),
        Topic::GatewayConnection(gateway) => from_gateway(gateway, payload),
        Topic::RideState(robot) => own(payload, retained, |fields| own_ride(robot, fields)),
        Topic::ElevatorState(elevator) => {
            own(payload, retained, |fields| own_elevator(elevator, fields))
        }
        Topic::Site
        | Topic::RideReply(_)
        | Topic::ElevatorCommand(_)
        | Topic::ClientReply(_)
        | Topic::DeviceCommand(_)
        | Topic::DeviceState(_)
        | Topic::Alarm
        | Topic::Alarms => Decoded::Ignored(Ignored::NotOurs),
    }
}

fn from_robot(robot: RobotId, topic: RobotTopic, payload: &[u8], retained: bool) -> Decoded {
    if topic == RobotTopic::Connection {
        if payload.is_empty() {
            return Decoded::Ignored(Ignored::Cleared);
        }
    } else if retained {
        return Decoded::Ignored(Ignored::Retained);
    }
    let read = |fields: &Object<'_>| match topic {
        RobotTopic::Request => robot::request(fields).map(RobotMessage::Request),
        RobotTopic::Event => robot::event(fields).map(RobotMessage::Event),
        RobotTopic::Cancel => robot::cancel(fields).map(RobotMessage::Cancel),
        RobotTopic::Status => robot::status(fields).map(RobotMessage::Status),
        RobotTopic::Connection => robot::connection(fields).map(RobotMessage::Connection),
    };
    match message(payload, read) {
        Ok(message) => Decoded::Message(Inbound::Robot { robot, message }),
        Err(refusal) => Decoded::Refused(Refusal {
            robot: Some((robot, topic)),
            ..*refusal
        }),
    }
}

fn from_client(id: ClientId, payload: &[u8], retained: bool) -> Decoded {
    if retained {
        return Decoded::Ignored(Ignored::Retained);
    }
    match message(payload, client::request) {
        Ok(request) => Decoded::Message(Inbound::Client {
            client: id,
            request: Box::new(request),
        }),
        Err(refusal) => Decoded::Refused(Refusal {
            client: Some((id, client::kind_of(payload))),
            ..*refusal
        }),
    }
}

fn from_device(device: DeviceId, payload: &[u8], retained: bool) -> Decoded {
    if retained {
        return Decoded::Ignored(Ignored::Retained);
    }
    match message(payload, device::event) {
        Ok(event) => Decoded::Message(Inbound::Device { device, event }),
        // The sentence goes into the log, where what a device says of its place must not stand.
        Err(refusal) => {
            let field = refusal.detail.split(' ').next().unwrap_or_default();
            let detail = format!("{field} of a device's event cannot be read");
            Decoded::Refused(Refusal { detail, ..*refusal })
        }
    }
}

fn from_controller(elevator: ElevatorId, payload: &[u8], retained: bool) -> Decoded {
    if retained {
        return Decoded::Ignored(Ignored::Retained);
    }
    match message(payload, controller::event) {
        Ok(event) => Decoded::Message(Inbound::Controller { elevator, event }),
        Err(refusal) => Decoded::Refused(*refusal),
    }
}

fn from_gateway(gateway: GatewayId, payload: &[u8]) -> Decoded {
    if payload.is_empty() {
        return Decoded::Ignored(Ignored::Cleared);
    }
    let read = |fields: &Object<'_>| {
        robot::stamp(fields)?;
        Ok(GatewayConnection {
            connection_state: required(fields, "connection_state", word)?,
            instance: required(fields, "instance", name)?,
        })
    };
    match message(payload, read) {
        Ok(connection) => Decoded::Message(Inbound::Gateway {
            gateway,
            connection,
        }),
        Err(refusal) => Decoded::Refused(*refusal),
    }
}

/// Reads a payload as a whole, then its fields.
fn message<T>(
    payload: &[u8],
    read: impl FnOnce(&Object<'_>) -> Result<T, Bad>,
) -> Result<T, Box<Refusal>> {
    if payload.len() > MESSAGE_BYTES_MAX {
        let bytes = payload.len();
        return Err(Box::new(Refusal {
            robot: None,
            client: None,
            code: Code::TooLarge,
            detail: format!(
                "the payload is {bytes} bytes long, at most {MESSAGE_BYTES_MAX} are allowed"
            ),
            message_id: None,
            order_id: None,
        }));
    }
    let document = json::read(payload);
    let result = match document.defect {
        Some(defect) => Err(defect),
        None => read(&document.fields).map_err(|bad| bad.to_string()),
    };
    result.map_err(|why| {
        Box::new(Refusal {
            robot: None,
            client: None,
            code: Code::Malformed,
            detail: detail(&why),
            message_id: optional(&document.fields, "message_id", name)
                .ok()
                .flatten(),
            order_id: optional(&document.fields, "order_id", name).ok().flatten(),
        })
    })
}

/// Reads a retained state of the gateway's own, leniently: it tells what to look at, no more.
fn own(
    payload: &[u8],
    retained: bool,
    read: impl FnOnce(&Object<'_>) -> Result<Inbound, Bad>,
) -> Decoded {
    if !retained {
        return Decoded::Ignored(Ignored::Echo);
    }
    match message(payload, read) {
        Ok(inbound) => Decoded::Message(inbound),
        Err(_) => Decoded::Ignored(Ignored::UnreadableState),
    }
}

fn own_ride(robot: RobotId, fields: &Object<'_>) -> Result<Inbound, Bad> {
    let state: RideState = required(fields, "state", word)?;
    Ok(Inbound::OwnRide {
        robot,
        order: required(fields, "order_id", name)?,
        terminal: state.is_terminal(),
    })
}

fn own_elevator(elevator: ElevatorId, fields: &Object<'_>) -> Result<Inbound, Bad> {
    let fence = required(fields, "fence", integer(0..=u64::MAX))?;
    Ok(Inbound::OwnElevator {
        elevator,
        fence: Fence(fence),
    })
}
