//! What robots, controllers and devices say, as bytes.

use serde::Serialize;

use crate::device::DeviceEvent;
use crate::elevator::{ControllerEvent, Doors, ElevatorEvent};
use crate::encode::Envelope;
use crate::floor::{FloorLabel, Side};
use crate::hardware::{Call, Door, Mode, Motion};
use crate::id::{CommandId, DeviceId, ElevatorId, Fence, InstanceId, MessageId, OrderId, RobotId};
use crate::message::RobotMessage;
use crate::robot::{Position, RideEvent, RobotEvent, RobotStatus};
use crate::sensitive::Sensitive;
use crate::time::Timestamp;
use crate::topic::{Topic, Topics};

/// A message of a robot, a controller or a device.
#[derive(Debug, Clone, PartialEq)]
pub enum Spoken {
    /// From a robot.
    Robot {
        /// Which.
        robot: RobotId,
        /// What it says.
        message: RobotMessage,
    },
    /// From a controller that speaks MQTT.
    Controller {
        /// Of which elevator.
        elevator: ElevatorId,
        /// What it says.
        event: ElevatorEvent,
    },
    /// From a device that is rented.
    Device {
        /// Which.
        device: DeviceId,
        /// What it says.
        event: DeviceEvent,
    },
}

impl Spoken {
    /// The topic that it goes to.
    #[must_use]
    pub fn topic(&self) -> Topic {
        match self {
            Self::Robot { robot, message } => {
                let make: fn(RobotId) -> Topic = match message {
                    RobotMessage::Request(_) => Topic::RideRequest,
                    RobotMessage::Event(_) => Topic::RideEvent,
                    RobotMessage::Cancel(_) => Topic::RideCancel,
                    RobotMessage::Status(_) => Topic::RobotStatus,
                    RobotMessage::Connection(_) => Topic::RobotConnection,
                };
                make(robot.clone())
            }
            Self::Controller { elevator, .. } => Topic::ElevatorEvent(elevator.clone()),
            Self::Device { device, .. } => Topic::DeviceEvent(device.clone()),
        }
    }

    /// The message as MQTT takes it; only a robot's connection is retained.
    #[must_use]
    pub fn encode(&self, topics: &Topics) -> Envelope {
        let topic = topics.name(&self.topic());
        match self {
            Self::Robot { message, .. } => match message {
                RobotMessage::Request(request) => Envelope::new(topic, request, false),
                RobotMessage::Event(event) => Envelope::new(topic, &EventBody::new(event), false),
                RobotMessage::Cancel(cancel) => Envelope::new(topic, cancel, false),
                RobotMessage::Status(status) => {
                    Envelope::new(topic, &StatusBody::new(status), false)
                }
                RobotMessage::Connection(connection) => Envelope::new(topic, connection, true),
            },
            Self::Controller { event, .. } => {
                Envelope::new(topic, &ControllerBody::new(event), false)
            }
            Self::Device { event, .. } => Envelope::new(topic, event, false),
        }
    }
}

#[derive(Serialize)]
struct EventBody<'a> {
    message_id: &'a MessageId,
    timestamp: Timestamp,
    order_id: &'a OrderId,
    event: &'static str,
    fence: Option<Fence>,
    elevator_id: &'a Option<ElevatorId>,
    hold_s: Option<u32>,
    again: Option<bool>,
}

impl<'a> EventBody<'a> {
    fn new(event: &'a RideEvent) -> Self {
        let (hold_s, again) = match event.event {
            RobotEvent::HoldDoor { hold_s } => (Some(hold_s), None),
            RobotEvent::CancelEnter { again } => (None, Some(again)),
            RobotEvent::Query
            | RobotEvent::AtDoor
            | RobotEvent::Entered
            | RobotEvent::Exited
            | RobotEvent::CancelExit => (None, None),
        };
        Self {
            message_id: &event.message_id,
            timestamp: event.timestamp,
            order_id: &event.order_id,
            event: event.event.word(),
            fence: event.fence,
            elevator_id: &event.elevator_id,
            hold_s,
            again,
        }
    }
}

#[derive(Serialize)]
struct StatusBody<'a> {
    message_id: &'a MessageId,
    timestamp: Timestamp,
    floor: &'a Option<FloorLabel>,
    at_door: Option<bool>,
    eta_s: Option<u32>,
    battery_pct: Option<f64>,
    position: Option<&'a Position>,
    in_car: Option<bool>,
}

impl<'a> StatusBody<'a> {
    fn new(status: &'a RobotStatus) -> Self {
        Self {
            message_id: &status.message_id,
            timestamp: status.timestamp,
            floor: &status.floor,
            at_door: status.at_door,
            eta_s: status.eta_s,
            battery_pct: status.battery_pct,
            position: status.position.as_ref().map(Sensitive::reveal),
            in_car: status.in_car,
        }
    }
}

#[derive(Serialize)]
struct ControllerBody<'a> {
    message_id: &'a MessageId,
    timestamp: Timestamp,
    event: ControllerEvent,
    boot_id: &'a Option<InstanceId>,
    seq: Option<u64>,
    command_id: &'a Option<CommandId>,
    floor: &'a Option<FloorLabel>,
    side: Option<Side>,
    door: Option<Door>,
    doors: Option<Doors>,
    motion: Option<Motion>,
    mode: Option<Mode>,
    occupied: Option<bool>,
    load_pct: Option<u8>,
    calls: &'a Option<Vec<Call>>,
    detail: &'a Option<String>,
}

impl<'a> ControllerBody<'a> {
    fn new(event: &'a ElevatorEvent) -> Self {
        Self {
            message_id: &event.message_id,
            timestamp: event.timestamp,
            event: event.event,
            boot_id: &event.boot_id,
            seq: event.seq,
            command_id: &event.command_id,
            floor: &event.floor,
            side: event.side,
            door: event.door,
            doors: event.doors,
            motion: event.motion,
            mode: event.mode,
            occupied: event.occupied,
            load_pct: event.load_pct,
            calls: &event.calls,
            detail: &event.detail,
        }
    }
}
