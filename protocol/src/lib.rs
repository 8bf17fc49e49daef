//! What is said between robots, controllers, operators and the gateway.
//!
//! This crate knows the wire and nothing else: it keeps no state, reads no clock and owns no rule
//! of who gets what. It is the only place in hallcall that knows JSON.
//!
//! # Layout
//!
//! * [`id`]: identifiers that cannot hold a bad value; [`floor`]: floor labels, sides, landings;
//!   [`time`]: time stamps and seconds as they are written.
//! * [`limits`]: every bound of the wire; [`code`]: every code that a refusal, a ride or an alarm
//!   carries.
//! * [`robot`]: what a robot says; [`ride`]: what it is told; [`elevator`]: controllers and the
//!   state of an elevator on MQTT; [`ops`]: alarms, site, gateway presence.
//! * [`client`]: what applications say and are told about claims, rentals, numbers
//!   and turns; [`device`]: devices that are rented.
//! * [`hardware`]: commands to and observations of an elevator, whatever wire they use.
//! * [`message`]: all of them as one type each; [`topic`], [`mod@decode`], [`encode`]: bytes to
//!   messages and back; [`peer`]: the same from the robots' and controllers' side.
//! * [`schema`]: JSON Schema of every message; [`text`]: what may stand in a `detail`;
//!   [`Sensitive`]: what may stand nowhere.

pub mod client;
pub mod code;
pub mod decode;
pub mod device;
pub mod elevator;
pub mod encode;
mod field;
pub mod floor;
pub mod hardware;
pub mod id;
mod json;
pub mod limits;
pub mod message;
pub mod ops;
pub mod peer;
pub mod ride;
pub mod robot;
pub mod schema;
mod sensitive;
pub mod text;
pub mod time;
pub mod topic;
mod word;

pub use code::{AlarmCode, Code, ReasonCode};
pub use decode::{Decoded, Ignored, decode};
pub use encode::{Envelope, Stamp};
pub use floor::{FloorLabel, Landing, Side};
pub use id::{
    ApproverId, BankId, ClaimId, ClientId, CommandId, DepartmentId, DeskId, DeviceId, ElevatorId,
    Fence, GatewayId, InstanceId, LabelValue, MessageId, OrderId, OwnerId, PoolId, RentalId,
    ResourceId, RobotId, SeriesId, SiteId, UserId, ZoneId,
};
pub use message::{Inbound, Outgoing, Refusal, RobotMessage};
pub use sensitive::Sensitive;
pub use time::{Date, Seconds, Timestamp};
pub use topic::{Topic, Topics};
