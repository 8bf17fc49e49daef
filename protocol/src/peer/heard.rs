//! What the gateway says, read back.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::application::{self, Told};
use super::device;
use crate::client::{ClaimView, ClientReply, RentalView};
use crate::device::{DeviceCommand, DeviceView, Signature};
use crate::elevator::{ElevatorCommand, ElevatorView};
use crate::floor::{FloorLabel, Landing, Side};
use crate::hardware::{Action, Command, Direction};
use crate::id::{ClientId, CommandId, ElevatorId, Fence, GatewayId, MessageId, OrderId, RobotId};
use crate::ops::{Alarm, GatewayConnection, SiteView};
use crate::ride::{RideReply, RideView};
use crate::time::{Seconds, Timestamp};
use crate::topic::{Topic, Topics};

/// A message of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its head; `None` for an empty payload.
    pub head: Option<Head>,
    /// What it says.
    pub said: Said,
}

/// What the gateway puts on every message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Head {
    /// The kind of message, such as `ride.reply`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id of the message.
    pub message_id: MessageId,
    /// When it was made.
    pub timestamp: Timestamp,
    /// Who said it, such as `gateway/gw-1`.
    pub source: String,
}

/// What a message of the gateway says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// `ride/reply`.
    RideReply {
        /// To whom.
        robot: RobotId,
        /// The answer.
        reply: RideReply,
    },
    /// `ride/state`.
    RideState {
        /// Whose.
        robot: RobotId,
        /// The ride; `None` where the word was deleted.
        view: Option<RideView>,
    },
    /// `elevators/{e}/state`.
    ElevatorState(ElevatorView),
    /// `elevators/{e}/command`.
    ElevatorCommand(ElevatorCommand),
    /// `clients/{client}/reply`: an answer.
    ClientReply {
        /// To whom.
        client: ClientId,
        /// The answer.
        reply: Box<ClientReply>,
    },
    /// `clients/{client}/reply`: a claim.
    ClaimState {
        /// To whom.
        client: ClientId,
        /// The claim.
        view: Box<ClaimView>,
    },
    /// `clients/{client}/reply`: a rental.
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
        /// What has to prove that it is the gateway's.
        signature: Signature,
    },
    /// `devices/{device}/state`.
    DeviceState(Box<DeviceView>),
    /// `ops/alarm`.
    Alarm(Alarm),
    /// `ops/alarms`.
    Alarms(Vec<Alarm>),
    /// `site`.
    Site(SiteView),
    /// `gateways/{gateway}/connection`.
    GatewayConnection(GatewayId, GatewayConnection),
}

/// Why bytes are no message of the gateway.
#[derive(Debug, thiserror::Error)]
pub enum HearError {
    /// The topic is none on which the gateway of this site speaks.
    #[error("topic {0:?} is none of the gateway's")]
    Topic(String),
    /// The payload is not the JSON that the topic promises.
    #[error("payload on topic {topic:?}: {source}")]
    Payload {
        /// The topic.
        topic: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A command that lacks what it needs.
    #[error("command {command:?} lacks {field}")]
    Command {
        /// The word of the command.
        command: String,
        /// The field.
        field: &'static str,
    },
}

impl Heard {
    /// Reads a message of the gateway.
    ///
    /// # Errors
    /// [`HearError`] says what is wrong.
    pub fn read(topics: &Topics, topic: &str, payload: &[u8]) -> Result<Self, HearError> {
        let said = Said::read(topics, topic, payload)?;
        let bad = |source| HearError::Payload {
            topic: topic.to_owned(),
            source,
        };
        let head = if payload.is_empty() {
            None
        } else {
            Some(body(payload).map_err(bad)?)
        };
        Ok(Self { head, said })
    }
}

impl Said {
    /// Reads what a message of the gateway says, without its head.
    ///
    /// # Errors
    /// As for [`Heard::read`].
    pub fn read(topics: &Topics, topic: &str, payload: &[u8]) -> Result<Self, HearError> {
        let not_heard = || HearError::Topic(topic.to_owned());
        let named = topics.parse(topic).ok_or_else(not_heard)?;
        if let (Topic::RideState(robot), []) = (&named, payload) {
            return Ok(Self::RideState {
                robot: robot.clone(),
                view: None,
            });
        }
        let bad = |source| HearError::Payload {
            topic: topic.to_owned(),
            source,
        };
        Ok(match named {
            Topic::RideReply(robot) => Self::RideReply {
                robot,
                reply: body(payload).map_err(bad)?,
            },
            Topic::RideState(robot) => Self::RideState {
                robot,
                view: Some(body(payload).map_err(bad)?),
            },
            Topic::ElevatorState(_) => Self::ElevatorState(body(payload).map_err(bad)?),
            Topic::ElevatorCommand(_) => {
                let told: CommandBody = body(payload).map_err(bad)?;
                Self::ElevatorCommand(told.command()?)
            }
            Topic::ClientReply(client) => match application::read(payload).map_err(bad)? {
                Told::Reply(reply) => Self::ClientReply { client, reply },
                Told::Claim(view) => Self::ClaimState { client, view },
                Told::Rental(view) => Self::RentalState { client, view },
            },
            Topic::DeviceCommand(device) => {
                let (command, signature) = device::command(device, payload).map_err(bad)?;
                Self::DeviceCommand { command, signature }
            }
            Topic::DeviceState(_) => Self::DeviceState(body(payload).map_err(bad)?),
            Topic::Alarm => Self::Alarm(body(payload).map_err(bad)?),
            Topic::Alarms => Self::Alarms(body::<AlarmsBody>(payload).map_err(bad)?.alarms),
            Topic::Site => Self::Site(body(payload).map_err(bad)?),
            Topic::GatewayConnection(gateway) => {
                Self::GatewayConnection(gateway, body(payload).map_err(bad)?)
            }
            Topic::RideRequest(_)
            | Topic::RideEvent(_)
            | Topic::RideCancel(_)
            | Topic::RobotStatus(_)
            | Topic::RobotConnection(_)
            | Topic::ClientRequest(_)
            | Topic::DeviceEvent(_)
            | Topic::ElevatorEvent(_) => return Err(not_heard()),
        })
    }
}

fn body<T: DeserializeOwned>(payload: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(payload)
}

#[derive(Deserialize)]
struct AlarmsBody {
    alarms: Vec<Alarm>,
}

#[derive(Deserialize)]
struct CommandBody {
    elevator_id: ElevatorId,
    order_id: Option<OrderId>,
    command_id: CommandId,
    fence: Fence,
    command: String,
    floor: Option<FloorLabel>,
    side: Option<Side>,
    direction: Option<Direction>,
    hold_s: Option<Seconds>,
    expires_at: Timestamp,
    expires_in_s: Seconds,
}

impl CommandBody {
    fn command(self) -> Result<ElevatorCommand, HearError> {
        let action = match self.command.as_str() {
            "query" => Action::Query,
            "claim" => Action::Claim,
            "release" => Action::Release,
            "hall_call" => Action::HallCall {
                landing: self.landing()?,
                direction: self.direction()?,
            },
            "cancel_call" => Action::CancelCall {
                landing: self.landing()?,
                direction: self.direction()?,
            },
            "car_call" => Action::CarCall {
                landing: self.landing()?,
            },
            "open_door" => Action::OpenDoor {
                landing: self.landing()?,
            },
            "close_door" => Action::CloseDoor {
                landing: self.landing()?,
            },
            "hold_door" => {
                let hold = self.hold_s.ok_or_else(|| self.lacks("hold_s"))?;
                Action::HoldDoor {
                    landing: self.landing()?,
                    hold_ms: hold.ms,
                }
            }
            _ => return Err(self.lacks("a known command")),
        };
        Ok(ElevatorCommand {
            command: Command {
                elevator_id: self.elevator_id,
                command_id: self.command_id,
                fence: self.fence,
                order_id: self.order_id,
                action,
                expires_in_ms: self.expires_in_s.ms,
            },
            expires_at: self.expires_at,
        })
    }

    fn landing(&self) -> Result<Landing, HearError> {
        let floor = self.floor.clone().ok_or_else(|| self.lacks("floor"))?;
        let side = self.side.ok_or_else(|| self.lacks("side"))?;
        Ok(Landing { floor, side })
    }

    fn direction(&self) -> Result<Direction, HearError> {
        self.direction.ok_or_else(|| self.lacks("direction"))
    }

    fn lacks(&self, field: &'static str) -> HearError {
        HearError::Command {
            command: self.command.clone(),
            field,
        }
    }
}
