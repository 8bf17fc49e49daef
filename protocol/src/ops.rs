//! Alarms, the site, and the gateway's presence (`wire.md` sections 1 and 6).

use serde::{Deserialize, Serialize};

use crate::code::AlarmCode;
use crate::floor::{FloorLabel, Side};
use crate::id::{BankId, ElevatorId, GatewayId, InstanceId, OrderId, ZoneId};
use crate::robot::ConnectionState;
use crate::time::{Seconds, Timestamp};
use crate::word::words;

words! {
    /// How soon somebody must look.
    Severity {
        /// At daytime.
        Warning = "warning",
        /// At night too; repeated every 60 s while it stands.
        Critical = "critical",
    }
}

/// `ops/alarm`: an alarm raised, repeated or cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// The same for each repetition.
    pub alarm_id: String,
    /// How soon somebody must look.
    pub severity: Severity,
    /// What it is about.
    pub code: AlarmCode,
    /// The elevator that it concerns.
    pub elevator_id: Option<ElevatorId>,
    /// The order that it concerns.
    pub order_id: Option<OrderId>,
    /// Since when.
    pub raised_at: Timestamp,
    /// Until when; null while it stands.
    pub cleared_at: Option<Timestamp>,
    /// One English sentence, at most 256 bytes.
    #[serde(serialize_with = "crate::text::serialize_detail")]
    pub detail: String,
}

words! {
    /// Why a site, or a part of it, gives no elevators.
    SuspensionCode {
        /// An operator suspended it.
        Suspended = "SUSPENDED",
        /// A fire signal stands or is latched.
        FireMode = "FIRE_MODE",
    }
}

/// What is suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Why; fire where both hold.
    pub code: SuspensionCode,
    /// The zones.
    pub zones: Vec<ZoneId>,
    /// Since when.
    pub since: Timestamp,
}

words! {
    /// Which presence signal a car has (`wire.md` section 7).
    Presence {
        /// No signal: the robot's word counts.
        None = "none",
        /// Senses robots only.
        Robot = "robot",
        /// Senses people too.
        Any = "any",
    }
}

/// A floor of the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFloor {
    /// Its label.
    pub label: FloorLabel,
    /// Its place from the lowest, from 0.
    pub index: u32,
    /// The sides at which any elevator opens there.
    pub sides: Vec<Side>,
}

/// An elevator of the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteElevator {
    /// Its id.
    pub id: ElevatorId,
    /// Its bank.
    pub bank_id: Option<BankId>,
    /// Its zone.
    pub zone: ZoneId,
    /// The floors that it serves.
    pub floors: Vec<FloorLabel>,
    /// Its presence signal.
    pub presence: Presence,
    /// How long its controller keeps one door hold.
    pub hold_max_s: Seconds,
}

/// `site`: what there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteView {
    /// The versions of this interface that are spoken.
    pub versions: Vec<String>,
    /// The gateway.
    pub gateway: GatewayId,
    /// What is suspended; null where nothing is.
    pub suspended: Option<Suspension>,
    /// How long a waiting robot may be silent.
    pub lease_s: Seconds,
    /// How often it shall send `status` at least.
    pub status_s: Seconds,
    /// The floors.
    pub floors: Vec<SiteFloor>,
    /// The elevators.
    pub elevators: Vec<SiteElevator>,
}

/// `gateways/{gateway}/connection`: the gateway's presence, and its will.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayConnection {
    /// The state.
    pub connection_state: ConnectionState,
    /// This start of the process.
    pub instance: InstanceId,
}
