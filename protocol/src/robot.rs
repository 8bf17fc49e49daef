//! What a robot says (`wire.md` sections 3 and 5).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::floor::{FloorLabel, Side};
use crate::id::{ElevatorId, Fence, MessageId, OrderId, RobotId};
use crate::sensitive::Sensitive;
use crate::time::Timestamp;
use crate::word::words;

/// A landing as a robot names it: the side may be left out where the floor has one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The floor.
    pub floor: FloorLabel,
    /// The side, where given.
    pub side: Option<Side>,
}

/// `ride/request`: ask for a ride.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RideRequest {
    /// Correlates the reply.
    pub message_id: MessageId,
    /// When the robot made it.
    pub timestamp: Timestamp,
    /// The order.
    pub order_id: OrderId,
    /// Where the robot gets in.
    pub from: Place,
    /// Where it gets out.
    pub to: Place,
    /// The elevators it may be given; empty = any.
    pub elevators: BTreeSet<ElevatorId>,
    /// 0 to 9, 9 first.
    pub priority: u8,
    /// Whether it stands at the door; `None` = it did not say.
    pub at_door: Option<bool>,
    /// Seconds until it stands at the door; `None` = it did not say.
    pub eta_s: Option<u32>,
    /// Give up if still queued then.
    pub expires_at: Option<Timestamp>,
    /// Check everything, keep nothing.
    pub dry_run: bool,
}

/// What makes two requests with one order id the same order (`wire.md` section 3, Idempotency).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub [u8; 16]);

impl RideRequest {
    /// The digest over robot, from, to (sides as sent), elevators (as a set) and priority: the
    /// first 16 bytes of a SHA-256 over the fields, each ended by a line feed.
    #[must_use]
    pub fn digest(&self, robot: &RobotId) -> Digest {
        let mut hash = Sha256::new();
        let mut field = |text: &str| {
            hash.update(text.as_bytes());
            hash.update(b"\n");
        };
        field(robot.as_str());
        for place in [&self.from, &self.to] {
            field(place.floor.as_str());
            field(place.side.map_or("", Side::as_str));
        }
        field(&self.priority.to_string());
        for elevator in &self.elevators {
            field(elevator.as_str());
        }
        let whole: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Digest(half)
    }
}

/// What happened, or is asked, in a `ride/event`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotEvent {
    /// May I?
    Query,
    /// I stand at the door.
    AtDoor,
    /// My whole footprint is inside and I stand still.
    Entered,
    /// My whole footprint is at least half a metre outside.
    Exited,
    /// I will not enter, and stand as for `Exited`.
    CancelEnter {
        /// Queue me again with my age.
        again: bool,
    },
    /// I cannot leave; I am inside.
    CancelExit,
    /// Keep the door open.
    HoldDoor {
        /// For how long: 1 to 60 s.
        hold_s: u32,
    },
}

impl RobotEvent {
    /// One of each, with these parameters where the event has them.
    #[must_use]
    pub fn all(again: bool, hold_s: u32) -> [Self; 7] {
        [
            Self::Query,
            Self::AtDoor,
            Self::Entered,
            Self::Exited,
            Self::CancelEnter { again },
            Self::CancelExit,
            Self::HoldDoor { hold_s },
        ]
    }

    /// The word on the wire.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::AtDoor => "at_door",
            Self::Entered => "entered",
            Self::Exited => "exited",
            Self::CancelEnter { .. } => "cancel_enter",
            Self::CancelExit => "cancel_exit",
            Self::HoldDoor { .. } => "hold_door",
        }
    }
}

/// `ride/event`: what the robot did, or asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RideEvent {
    /// Correlates the reply.
    pub message_id: MessageId,
    /// For records.
    pub timestamp: Timestamp,
    /// The order.
    pub order_id: OrderId,
    /// What happened.
    pub event: RobotEvent,
    /// The fence of the ride as the robot knows it.
    pub fence: Option<Fence>,
    /// The elevator as the robot knows it.
    pub elevator_id: Option<ElevatorId>,
}

/// `ride/cancel`: give a ride up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RideCancel {
    /// Correlates the reply.
    pub message_id: MessageId,
    /// For records.
    pub timestamp: Timestamp,
    /// The order.
    pub order_id: OrderId,
    /// Why, at most 256 bytes.
    pub reason: String,
}

/// Where a robot stands on a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// The map, at most 64 bytes.
    pub map: String,
}

/// `status`: the heartbeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RobotStatus {
    /// The sender's id of the message.
    pub message_id: MessageId,
    /// For records.
    pub timestamp: Timestamp,
    /// The floor it is on.
    pub floor: Option<FloorLabel>,
    /// Whether it stands at the door.
    pub at_door: Option<bool>,
    /// Seconds until it stands at the door.
    pub eta_s: Option<u32>,
    /// Charge in percent, 0 to 100.
    pub battery_pct: Option<f64>,
    /// Where it is. Nothing needs it, so that it is kept and recorded nowhere.
    #[serde(skip)]
    pub position: Option<Sensitive<Position>>,
    /// Whether it is in a car.
    pub in_car: Option<bool>,
}

words! {
    /// The state of a client's connection, as the client or its will says it.
    ConnectionState {
        /// Connected.
        Online = "ONLINE",
        /// Left in good order.
        Offline = "OFFLINE",
        /// The will: the connection broke.
        ConnectionBroken = "CONNECTIONBROKEN",
    }
}

/// `connection` of a robot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotConnection {
    /// The sender's id of the message.
    pub message_id: MessageId,
    /// For records.
    pub timestamp: Timestamp,
    /// The state.
    pub connection_state: ConnectionState,
}
