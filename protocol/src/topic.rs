//! Topics (`wire.md` section 1): a name for each, its text, and the filters of each side.

use std::fmt;

use crate::id::{ClientId, DeviceId, ElevatorId, GatewayId, RobotId, SiteId};
use crate::text::quote;

/// Bytes of a topic root; leaves room for the rest of a topic in every broker.
pub const ROOT_BYTES_MAX: usize = 256;

/// Why a text is no topic root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "topic root {0}: 1 to {ROOT_BYTES_MAX} visible ASCII characters without + # $ are allowed, in \
     levels divided by single slashes"
)]
pub struct RootError(String);

/// The topics of one site: all that lies below `{root}/{site}/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    /// `{root}/{site}/`.
    base: String,
}

/// One topic of a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// `site`.
    Site,
    /// `robots/{robot}/ride/request`.
    RideRequest(RobotId),
    /// `robots/{robot}/ride/event`.
    RideEvent(RobotId),
    /// `robots/{robot}/ride/cancel`.
    RideCancel(RobotId),
    /// `robots/{robot}/status`.
    RobotStatus(RobotId),
    /// `robots/{robot}/connection`.
    RobotConnection(RobotId),
    /// `robots/{robot}/ride/reply`.
    RideReply(RobotId),
    /// `robots/{robot}/ride/state`.
    RideState(RobotId),
    /// `elevators/{elevator}/state`.
    ElevatorState(ElevatorId),
    /// `elevators/{elevator}/command`.
    ElevatorCommand(ElevatorId),
    /// `elevators/{elevator}/event`.
    ElevatorEvent(ElevatorId),
    /// `clients/{client}/request`.
    ClientRequest(ClientId),
    /// `clients/{client}/reply`.
    ClientReply(ClientId),
    /// `devices/{device}/command`.
    DeviceCommand(DeviceId),
    /// `devices/{device}/event`.
    DeviceEvent(DeviceId),
    /// `devices/{device}/state`.
    DeviceState(DeviceId),
    /// `ops/alarm`.
    Alarm,
    /// `ops/alarms`.
    Alarms,
    /// `gateways/{gateway}/connection`.
    GatewayConnection(GatewayId),
}

impl fmt::Display for Topic {
    /// The topic below the base.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site => f.write_str("site"),
            Self::RideRequest(robot) => write!(f, "robots/{robot}/ride/request"),
            Self::RideEvent(robot) => write!(f, "robots/{robot}/ride/event"),
            Self::RideCancel(robot) => write!(f, "robots/{robot}/ride/cancel"),
            Self::RobotStatus(robot) => write!(f, "robots/{robot}/status"),
            Self::RobotConnection(robot) => write!(f, "robots/{robot}/connection"),
            Self::RideReply(robot) => write!(f, "robots/{robot}/ride/reply"),
            Self::RideState(robot) => write!(f, "robots/{robot}/ride/state"),
            Self::ElevatorState(elevator) => write!(f, "elevators/{elevator}/state"),
            Self::ElevatorCommand(elevator) => write!(f, "elevators/{elevator}/command"),
            Self::ElevatorEvent(elevator) => write!(f, "elevators/{elevator}/event"),
            Self::ClientRequest(client) => write!(f, "clients/{client}/request"),
            Self::ClientReply(client) => write!(f, "clients/{client}/reply"),
            Self::DeviceCommand(device) => write!(f, "devices/{device}/command"),
            Self::DeviceEvent(device) => write!(f, "devices/{device}/event"),
            Self::DeviceState(device) => write!(f, "devices/{device}/state"),
            Self::Alarm => f.write_str("ops/alarm"),
            Self::Alarms => f.write_str("ops/alarms"),
            Self::GatewayConnection(gateway) => write!(f, "gateways/{gateway}/connection"),
        }
    }
}

impl Topics {
    /// The topics of `site` under `root`, which may have several levels (`hallcall/v1`).
    ///
    /// # Errors
    /// [`RootError`] when `root` is empty, too long, has an empty level, or holds a wildcard, `$`,
    /// a space, a control character or anything that is not ASCII.
    pub fn new(root: &str, site: &SiteId) -> Result<Self, RootError> {
        let good = |b: u8| b.is_ascii_graphic() && !matches!(b, b'+' | b'#' | b'$');
        let is_good = (1..=ROOT_BYTES_MAX).contains(&root.len())
            && root
                .split('/')
                .all(|level| !level.is_empty() && level.bytes().all(good));
        if is_good {
            Ok(Self {
                base: format!("{root}/{site}/"),
            })
        } else {
            Err(RootError(quote(root)))
        }
    }

    /// What a whole topic names; `None` where it is none of this site's, which includes every topic
    /// with a bad identifier in it.
    #[must_use]
    pub fn parse(&self, topic: &str) -> Option<Topic> {
        let rest = topic.strip_prefix(&self.base)?;
        let mut levels = rest.split('/');
        let first = levels.next()?;
        let second = levels.next();
        let third = levels.next();
        let fourth = levels.next();
        if levels.next().is_some() {
            return None;
        }
        match (first, second, third, fourth) {
            ("site", None, None, None) => Some(Topic::Site),
            ("ops", Some("alarm"), None, None) => Some(Topic::Alarm),
            ("ops", Some("alarms"), None, None) => Some(Topic::Alarms),
            ("robots", Some(robot), Some(kind), word) => robot_topic(robot, kind, word),
            ("elevators", Some(elevator), Some(kind), None) => elevator_topic(elevator, kind),
            ("clients", Some(client), Some("request"), None) => {
                ClientId::new(client).ok().map(Topic::ClientRequest)
            }
            ("clients", Some(client), Some("reply"), None) => {
                ClientId::new(client).ok().map(Topic::ClientReply)
            }
            ("devices", Some(device), Some(kind), None) => device_topic(device, kind),
            ("gateways", Some(gateway), Some("connection"), None) => {
                GatewayId::new(gateway).ok().map(Topic::GatewayConnection)
            }
            _ => None,
        }
    }

    /// The whole text of a topic.
    #[must_use]
    pub fn name(&self, topic: &Topic) -> String {
        format!("{}{topic}", self.base)
    }

    /// What the gateway `own` subscribes to while it runs.
    #[must_use]
    pub fn ingest_filters(&self, own: &GatewayId) -> Vec<String> {
        vec![
            self.below("robots/+/ride/request"),
            self.below("robots/+/ride/event"),
            self.below("robots/+/ride/cancel"),
            self.below("robots/+/status"),
            self.below("robots/+/connection"),
            self.below("elevators/+/event"),
            self.below("clients/+/request"),
            self.below("devices/+/event"),
            self.name(&Topic::GatewayConnection(own.clone())),
        ]
    }

    /// What the gateway subscribes to at its start only: its own retained words.
    #[must_use]
    pub fn start_filters(&self) -> Vec<String> {
        vec![
            self.below("robots/+/ride/state"),
            self.below("elevators/+/state"),
        ]
    }

    /// What a robot subscribes to.
    #[must_use]
    pub fn robot_filters(&self, robot: &RobotId) -> Vec<String> {
        vec![
            self.name(&Topic::RideReply(robot.clone())),
            self.name(&Topic::RideState(robot.clone())),
            self.below("gateways/+/connection"),
        ]
    }

    /// What a controller that speaks MQTT subscribes to.
    #[must_use]
    pub fn controller_filters(&self, elevator: &ElevatorId) -> Vec<String> {
        vec![self.name(&Topic::ElevatorCommand(elevator.clone()))]
    }

    /// What an application subscribes to.
    #[must_use]
    pub fn client_filters(&self, client: &ClientId) -> Vec<String> {
        vec![
            self.name(&Topic::ClientReply(client.clone())),
            self.below("gateways/+/connection"),
        ]
    }

    /// What a device subscribes to.
    #[must_use]
    pub fn device_filters(&self, device: &DeviceId) -> Vec<String> {
        vec![self.name(&Topic::DeviceCommand(device.clone()))]
    }

    /// Everything of the site, for those who only watch.
    #[must_use]
    pub fn site_filter(&self) -> String {
        self.below("#")
    }

    fn below(&self, rest: &str) -> String {
        format!("{}{rest}", self.base)
    }
}

fn robot_topic(robot: &str, kind: &str, word: Option<&str>) -> Option<Topic> {
    let make: fn(RobotId) -> Topic = match (kind, word) {
        ("ride", Some("request")) => Topic::RideRequest,
        ("ride", Some("event")) => Topic::RideEvent,
        ("ride", Some("cancel")) => Topic::RideCancel,
        ("ride", Some("reply")) => Topic::RideReply,
        ("ride", Some("state")) => Topic::RideState,
        ("status", None) => Topic::RobotStatus,
        ("connection", None) => Topic::RobotConnection,
        _ => return None,
    };
    RobotId::new(robot).ok().map(make)
}

fn elevator_topic(elevator: &str, kind: &str) -> Option<Topic> {
    let make: fn(ElevatorId) -> Topic = match kind {
        "state" => Topic::ElevatorState,
        "command" => Topic::ElevatorCommand,
        "event" => Topic::ElevatorEvent,
        _ => return None,
    };
    ElevatorId::new(elevator).ok().map(make)
}

fn device_topic(device: &str, kind: &str) -> Option<Topic> {
    let make: fn(DeviceId) -> Topic = match kind {
        "command" => Topic::DeviceCommand,
        "event" => Topic::DeviceEvent,
        "state" => Topic::DeviceState,
        _ => return None,
    };
    DeviceId::new(device).ok().map(make)
}
