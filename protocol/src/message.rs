//! The messages of both directions, as one type each.

use serde::{Deserialize, Serialize};

use crate::client::{AskKind, ClaimView, ClientReply, ClientRequest, RentalView};
use crate::code::Code;
use crate::device::{DeviceCommand, DeviceEvent, DeviceView, Signature};
use crate::elevator::{ElevatorCommand, ElevatorEvent, ElevatorView};
use crate::id::{ClientId, DeviceId, ElevatorId, GatewayId, MessageId, OrderId, RobotId};
use crate::ops::{Alarm, GatewayConnection, SiteView};
use crate::ride::{RideReply, RideView};
use crate::robot::{RideCancel, RideEvent, RideRequest, RobotConnection, RobotStatus};

/// What a robot said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RobotMessage {
    /// `ride/request`.
    Request(RideRequest),
    /// `ride/event`.
    Event(RideEvent),
    /// `ride/cancel`.
    Cancel(RideCancel),
    /// `status`.
    Status(RobotStatus),
    /// `connection`.
    Connection(RobotConnection),
}

/// A message that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    /// From a robot.
    Robot {
        /// The robot of the topic.
        robot: RobotId,
        /// What it said.
        message: RobotMessage,
    },
    /// From an application.
    Client {
        /// The application of the topic.
        client: ClientId,
        /// What it asks for.
        request: Box<ClientRequest>,
    },
    /// From a device that is rented.
    Device {
        /// The device of the topic.
        device: DeviceId,
        /// What it said.
        event: DeviceEvent,
    },
    /// From a controller that speaks MQTT.
    Controller {
        /// The elevator of the topic.
        elevator: ElevatorId,
        /// What it said.
        event: ElevatorEvent,
    },
    /// A gateway's presence, ours or another's.
    Gateway {
        /// The gateway of the topic.
        gateway: GatewayId,
        /// What it said.
        connection: GatewayConnection,
    },
    /// Our own retained word about a robot's ride, from before this start.
    OwnRide {
        /// The robot of the topic.
        robot: RobotId,
        /// The order that it names.
        order: OrderId,
        /// Whether that order was at its end.
        terminal: bool,
    },
    /// Our own retained word about an elevator, from before this start.
    OwnElevator {
        /// The elevator of the topic.
        elevator: ElevatorId,
        /// The fence that it names.
        fence: crate::id::Fence,
    },
}

/// Which robot topic an unreadable message came on; it decides whether and how it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RobotTopic {
    /// `ride/request`.
    Request,
    /// `ride/event`.
    Event,
    /// `ride/cancel`.
    Cancel,
    /// `status`; never answered.
    Status,
    /// `connection`; never answered.
    Connection,
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refusal {
    /// The robot and its topic, where the topic is a robot's: there an answer goes.
    pub robot: Option<(RobotId, RobotTopic)>,
    /// The application and what it asks for, as far as that could be read, where the topic is an
    /// application's: there an answer goes.
    #[serde(default)]
    pub client: Option<(ClientId, Option<AskKind>)>,
    /// `TOO_LARGE` or `MALFORMED`.
    pub code: Code,
    /// One sentence that names the field and the value, at most 256 bytes.
    pub detail: String,
    /// The message id, where it could be read.
    pub message_id: Option<MessageId>,
    /// The order id, where it could be read.
    pub order_id: Option<OrderId>,
}

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// `robots/{robot}/ride/reply`.
    RideReply {
        /// To whom.
        robot: RobotId,
        /// The answer.
        reply: RideReply,
    },
    /// `robots/{robot}/ride/state`, retained.
    RideState(RideView),
    /// `robots/{robot}/ride/state`, retained, empty: overwrites a word of ours that no longer
    /// stands for any order.
    RideStateCleared {
        /// Whose.
        robot: RobotId,
    },
    /// `elevators/{e}/state`, retained.
    ElevatorState(ElevatorView),
    /// `elevators/{e}/command`.
    ElevatorCommand(ElevatorCommand),
    /// `clients/{client}/reply`: the answer to a request.
    ClientReply {
        /// To whom.
        client: ClientId,
        /// The answer.
        reply: Box<ClientReply>,
    },
    /// `clients/{client}/reply`: what became of a claim later.
    ClaimState {
        /// To whom.
        client: ClientId,
        /// The claim.
        view: Box<ClaimView>,
    },
    /// `clients/{client}/reply`: what became of a rental later.
    RentalState {
        /// To whom.
        client: ClientId,
        /// The rental.
        view: Box<RentalView>,
    },
    /// `devices/{device}/command`.
    DeviceCommand {
        /// The command.
        command: Box<DeviceCommand>,
        /// What proves that it is ours.
        signature: Signature,
    },
    /// `devices/{device}/state`, retained.
    DeviceState(Box<DeviceView>),
    /// `ops/alarm`.
    Alarm(Alarm),
    /// `ops/alarms`, retained.
    Alarms(Vec<Alarm>),
    /// `site`, retained.
    Site(SiteView),
    /// `gateways/{gateway}/connection`, retained.
    GatewayConnection(GatewayId, GatewayConnection),
}
