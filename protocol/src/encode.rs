//! Messages to bytes: what the gateway says.
//!
//! Every named field of `wire.md` is written, null where it has none, in the order of its examples.

use serde::Serialize;

use crate::client::{ClientReply, Fields};
use crate::code::Code;
use crate::device::{DeviceAction, DeviceCommand, Signature};
use crate::elevator::ElevatorCommand;
use crate::floor::{FloorLabel, Side};
use crate::hardware::{Action, Direction};
use crate::id::{CommandId, ElevatorId, Fence, GatewayId, MessageId, OrderId};
use crate::message::Outgoing;
use crate::ops::Alarm;
use crate::ride::{Instruction, ReplyResult, RideReply, RideState};
use crate::text::serialize_optional_detail;
use crate::time::{Seconds, Timestamp};
use crate::topic::{Topic, Topics};

/// What the gateway puts on every message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The id of this message; a re-send carries the same one.
    pub message_id: MessageId,
    /// When it was made.
    pub timestamp: Timestamp,
    /// Who says it; written as `gateway/{source}`.
    pub source: GatewayId,
}

/// A message as MQTT takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The whole topic.
    pub topic: String,
    /// JSON, or nothing to delete a retained message.
    pub payload: Vec<u8>,
    /// Whether the broker keeps it.
    pub retain: bool,
    /// The quality of service, 1 for all that the gateway says.
    pub qos: u8,
}

impl Envelope {
    pub(crate) fn new(topic: String, body: &impl Serialize, retain: bool) -> Self {
        Self {
            topic,
            payload: json(body),
            retain,
            qos: 1,
        }
    }
}

impl Outgoing {
    /// The topic that it goes to.
    #[must_use]
    pub fn topic(&self) -> Topic {
        match self {
            Self::RideReply { robot, .. } => Topic::RideReply(robot.clone()),
            Self::RideState(view) => Topic::RideState(view.robot_id.clone()),
            Self::RideStateCleared { robot } => Topic::RideState(robot.clone()),
            Self::ElevatorState(view) => Topic::ElevatorState(view.elevator_id.clone()),
            Self::ElevatorCommand(command) => {
                Topic::ElevatorCommand(command.command.elevator_id.clone())
            }
            Self::ClientReply { client, .. }
            | Self::ClaimState { client, .. }
            | Self::RentalState { client, .. } => Topic::ClientReply(client.clone()),
            Self::DeviceCommand { command, .. } => Topic::DeviceCommand(command.device_id.clone()),
            Self::DeviceState(view) => Topic::DeviceState(view.device_id.clone()),
            Self::Alarm(_) => Topic::Alarm,
            Self::Alarms(_) => Topic::Alarms,
            Self::Site(_) => Topic::Site,
            Self::GatewayConnection(gateway, _) => Topic::GatewayConnection(gateway.clone()),
        }
    }

    /// Whether the broker keeps it (`wire.md` section 1). A command is never kept.
    #[must_use]
    pub fn is_retained(&self) -> bool {
        match self {
            Self::RideState(_)
            | Self::RideStateCleared { .. }
            | Self::ElevatorState(_)
            | Self::DeviceState(_)
            | Self::Alarms(_)
            | Self::Site(_)
            | Self::GatewayConnection(..) => true,
            Self::RideReply { .. }
            | Self::ElevatorCommand(_)
            | Self::ClientReply { .. }
            | Self::ClaimState { .. }
            | Self::RentalState { .. }
            | Self::DeviceCommand { .. }
            | Self::Alarm(_) => false,
        }
    }

    /// The message as MQTT takes it.
    #[must_use]
    pub fn encode(&self, topics: &Topics, stamp: &Stamp) -> Envelope {
        let payload = match self {
            Self::RideReply { reply, .. } => json(&ReplyFrame::new(stamp, reply)),
            Self::RideState(view) => frame("ride.state", stamp, view),
            Self::RideStateCleared { .. } => Vec::new(),
            Self::ElevatorState(view) => frame("elevator.state", stamp, view),
            Self::ElevatorCommand(command) => {
                frame("elevator.command", stamp, &CommandBody::new(command))
            }
            Self::ClientReply { reply, .. } => json(&ClientFrame::new(stamp, reply)),
            Self::ClaimState { view, .. } => frame("claim.state", stamp, view.as_ref()),
            Self::RentalState { view, .. } => frame("rental.state", stamp, view.as_ref()),
            Self::DeviceCommand { command, signature } => {
                let body = DeviceBody::new(command, signature);
                frame("device.command", stamp, &body)
            }
            Self::DeviceState(view) => frame("device.state", stamp, view.as_ref()),
            Self::Alarm(alarm) => frame("ops.alarm", stamp, alarm),
            Self::Alarms(alarms) => frame("ops.alarms", stamp, &AlarmsBody { alarms }),
            Self::Site(site) => frame("site", stamp, site),
            Self::GatewayConnection(_, connection) => {
                frame("gateway.connection", stamp, connection)
            }
        };
        Envelope {
            topic: topics.name(&self.topic()),
            payload,
            retain: self.is_retained(),
            qos: 1,
        }
    }
}

impl ClientReply {
    /// The reply as JSON, for whom no topic leads to.
    #[must_use]
    pub fn encode(&self, stamp: &Stamp) -> Vec<u8> {
        json(&ClientFrame::new(stamp, self))
    }
}

fn json(body: &impl Serialize) -> Vec<u8> {
    // Serializing fails for keys that are no strings and for failing `Serialize` impls only; the
    // bodies of this crate are structs and have neither.
    serde_json::to_vec(body).expect("the bodies of messages serialize")
}

fn frame(kind: &'static str, stamp: &Stamp, body: &impl Serialize) -> Vec<u8> {
    json(&Frame {
        kind,
        message_id: &stamp.message_id,
        timestamp: stamp.timestamp,
        source: source(stamp),
        body,
    })
}

fn source(stamp: &Stamp) -> String {
    format!("gateway/{}", stamp.source)
}

#[derive(Serialize)]
struct Frame<'a, B> {
    #[serde(rename = "type")]
    kind: &'static str,
    message_id: &'a MessageId,
    timestamp: Timestamp,
    source: String,
    #[serde(flatten)]
    body: &'a B,
}

#[derive(Serialize)]
struct AlarmsBody<'a> {
    alarms: &'a [Alarm],
}

/// A reply has `received_at` beside `timestamp`, before `source`.
#[derive(Serialize)]
struct ReplyFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    message_id: &'a MessageId,
    timestamp: Timestamp,
    received_at: Timestamp,
    source: String,
    in_reply_to: &'a Option<MessageId>,
    order_id: &'a Option<OrderId>,
    result: ReplyResult,
    code: Option<Code>,
    #[serde(serialize_with = "serialize_optional_detail")]
    detail: &'a Option<String>,
    retry_after_s: Option<Seconds>,
    state: Option<RideState>,
    seq: Option<u64>,
    instruction: Option<Instruction>,
    valid_s: Option<Seconds>,
    elevator_id: &'a Option<ElevatorId>,
    fence: Option<Fence>,
    floor: &'a Option<FloorLabel>,
    side: Option<Side>,
    queue_position: Option<u32>,
    eta_s: Option<Seconds>,
}

impl<'a> ReplyFrame<'a> {
    fn new(stamp: &'a Stamp, reply: &'a RideReply) -> Self {
        Self {
            kind: "ride.reply",
            message_id: &stamp.message_id,
            timestamp: stamp.timestamp,
            received_at: reply.received_at,
            source: source(stamp),
            in_reply_to: &reply.in_reply_to,
            order_id: &reply.order_id,
            result: reply.result,
            code: reply.code,
            detail: &reply.detail,
            retry_after_s: reply.retry_after_s,
            state: reply.state,
            seq: reply.seq,
            instruction: reply.instruction,
            valid_s: reply.valid_s,
            elevator_id: &reply.elevator_id,
            fence: reply.fence,
            floor: &reply.floor,
            side: reply.side,
            queue_position: reply.queue_position,
            eta_s: reply.eta_s,
        }
    }
}

/// An application's reply: as [`ReplyFrame`], with the fields of what was asked for.
#[derive(Serialize)]
struct ClientFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    message_id: &'a MessageId,
    timestamp: Timestamp,
    received_at: Timestamp,
    source: String,
    in_reply_to: &'a Option<MessageId>,
    order_id: &'a Option<OrderId>,
    result: ReplyResult,
    code: Option<Code>,
    #[serde(serialize_with = "serialize_optional_detail")]
    detail: &'a Option<String>,
    retry_after_s: Option<Seconds>,
    #[serde(flatten)]
    body: Fields<'a>,
}

impl<'a> ClientFrame<'a> {
    fn new(stamp: &'a Stamp, reply: &'a ClientReply) -> Self {
        Self {
            kind: reply.kind_word(),
            message_id: &stamp.message_id,
            timestamp: stamp.timestamp,
            received_at: reply.received_at,
            source: source(stamp),
            in_reply_to: &reply.in_reply_to,
            order_id: &reply.order_id,
            result: reply.result,
            code: reply.code,
            detail: &reply.detail,
            retry_after_s: reply.retry_after_s,
            body: Fields(&reply.body),
        }
    }
}

#[derive(Serialize)]
struct CommandBody<'a> {
    elevator_id: &'a ElevatorId,
    order_id: &'a Option<OrderId>,
    command_id: &'a CommandId,
    fence: Fence,
    command: &'static str,
    floor: Option<&'a FloorLabel>,
    side: Option<Side>,
    direction: Option<Direction>,
    hold_s: Option<Seconds>,
    expires_at: Timestamp,
    expires_in_s: Seconds,
}

impl<'a> CommandBody<'a> {
    fn new(told: &'a ElevatorCommand) -> Self {
        let command = &told.command;
        let (landing, direction, hold_ms) = match &command.action {
            Action::Query | Action::Claim | Action::Release => (None, None, None),
            Action::HallCall { landing, direction } | Action::CancelCall { landing, direction } => {
                (Some(landing), Some(*direction), None)
            }
            Action::CarCall { landing }
            | Action::OpenDoor { landing }
            | Action::CloseDoor { landing } => (Some(landing), None, None),
            Action::HoldDoor { landing, hold_ms } => (Some(landing), None, Some(*hold_ms)),
        };
        Self {
            elevator_id: &command.elevator_id,
            order_id: &command.order_id,
            command_id: &command.command_id,
            fence: command.fence,
            command: command.action.word(),
            floor: landing.map(|landing| &landing.floor),
            side: landing.map(|landing| landing.side),
            direction,
            hold_s: hold_ms.map(Seconds::from_ms),
            expires_at: told.expires_at,
            expires_in_s: Seconds::from_ms(command.expires_in_ms),
        }
    }
}

#[derive(Serialize)]
struct DeviceBody<'a> {
    command_id: &'a CommandId,
    order_id: &'a Option<OrderId>,
    sequence: u64,
    fence: Fence,
    command: DeviceAction,
    expires_at: Timestamp,
    expires_in_s: Seconds,
    signature: &'a Signature,
}

impl<'a> DeviceBody<'a> {
    fn new(command: &'a DeviceCommand, signature: &'a Signature) -> Self {
        Self {
            command_id: &command.command_id,
            order_id: &command.order_id,
            sequence: command.sequence,
            fence: command.fence,
            command: command.command,
            expires_at: command.expires_at,
            expires_in_s: Seconds::from_ms(command.expires_in_ms),
            signature,
        }
    }
}
