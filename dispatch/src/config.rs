//! What a site is: its elevators, zones, waits and bounds. Made by the gateway from its
//! configuration file; nothing here changes while the gateway runs.

mod applications;
mod devices;
mod pools;

use std::collections::{BTreeMap, BTreeSet};

use protocol::ops::Presence;
use protocol::{BankId, ElevatorId, FloorLabel, GatewayId, Landing, Side, ZoneId};

pub use pools::{PoolConfig, Quota, ResourceClass, WhenFull};

pub use devices::RentalConfig;

pub use applications::{Applications, CivilZone, SeriesConfig};

/// Every wait that a site may tune, in milliseconds (`wire.md` section 7, `[timing]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// How long a waiting robot may be silent.
    pub lease_ms: u64,
    /// GRANTED without a good reading.
    pub grant_check_ms: u64,
    /// WAITING_HALL_CALL without the car, twice.
    pub hall_call_ms: u64,
    /// ELEVATOR_ARRIVED without the robot.
    pub entry_ms: u64,
    /// Between two looks at a presence signal that disagrees, three times.
    pub entry_recheck_ms: u64,
    /// A door that does not close.
    pub door_close_ms: u64,
    /// RUNNING without arrival.
    pub travel_ms: u64,
    /// TARGET_ARRIVED without the robot's exit.
    pub exit_ms: u64,
    /// How long a permission lasts.
    pub valid_ms: u64,
    /// After an accepted command, before its effect is judged.
    pub settle_ms: u64,
    /// Between two queries for one effect, three times.
    pub requery_ms: u64,
    /// Between two sweeps over all rides.
    pub sweep_ms: u64,
    /// QUEUED until promoted.
    pub promote_ms: u64,
    /// How old a reading may be to found a permission.
    pub reading_fresh_ms: u64,
    /// A command without an answer.
    pub accept_ms: u64,
    /// Without a reading, until one is asked for.
    pub poll_ms: u64,
    /// Without a reading, until the controller is silent.
    pub silent_ms: u64,
    /// Of good readings, until an elevator that was silent is granted again.
    pub heal_ms: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease_ms: 30_000,
            grant_check_ms: 5_000,
            hall_call_ms: 60_000,
            entry_ms: 60_000,
            entry_recheck_ms: 1_000,
            door_close_ms: 15_000,
            travel_ms: 180_000,
            exit_ms: 60_000,
            valid_ms: 5_000,
            settle_ms: 500,
            requery_ms: 2_000,
            sweep_ms: 5_000,
            promote_ms: 120_000,
            reading_fresh_ms: 3_000,
            accept_ms: 2_000,
            poll_ms: 2_000,
            silent_ms: 10_000,
            heal_ms: 10_000,
        }
    }
}

/// Bounds that a site may tune (`wire.md` section 7, `[limits]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// QUEUED orders.
    pub queue: u32,
    /// Messages of one robot.
    pub robot_messages_per_s: u32,
    /// Messages of one application.
    pub client_messages_per_s: u32,
    /// How long an accepted order is remembered after its end, in seconds.
    pub dedup_retention_s: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queue: 1_000,
            robot_messages_per_s: 20,
            client_messages_per_s: 500,
            dedup_retention_s: 604_800,
        }
    }
}

/// How waiting rides are ranked (R-LIFT-062, 067, 068; T-LIFT-38, 55).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePolicy {
    /// What one step of priority is worth, in milliseconds of waiting.
    pub priority_step_ms: u64,
    /// What standing at the door is worth, in milliseconds of waiting.
    pub at_door_ms: u64,
    /// Whether waiting counts at all; only a test switches it off, to see that it matters.
    pub ageing: bool,
    /// Of so many grants one goes to a promoted ride of low class, where there is one.
    pub reserved_every: u32,
}

impl Default for QueuePolicy {
    fn default() -> Self {
        Self {
            priority_step_ms: 20_000,
            at_door_ms: 60_000,
            ageing: true,
            reserved_every: 4,
        }
    }
}

/// A floor that an elevator serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedFloor {
    /// Its label.
    pub label: FloorLabel,
    /// The sides at which the car opens there.
    pub sides: BTreeSet<Side>,
    /// Height over the lowest floor of the site, in millimetres.
    pub height_mm: i64,
}

/// An elevator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElevatorConfig {
    /// Its id.
    pub id: ElevatorId,
    /// Its bank.
    pub bank_id: Option<BankId>,
    /// Its zone.
    pub zone: ZoneId,
    /// Its presence signal.
    pub presence: Presence,
    /// Whether the mode can be read; if not, the zone has a fire input.
    pub mode_signal: bool,
    /// How long the controller keeps one door hold, in milliseconds.
    pub hold_max_ms: u64,
    /// Whether the controller has a robot mode to be claimed and released.
    pub claim: bool,
    /// The floors, from the lowest.
    pub floors: Vec<ServedFloor>,
}

impl ElevatorConfig {
    /// The floor of that label, where this elevator serves it.
    #[must_use]
    pub fn floor(&self, label: &FloorLabel) -> Option<&ServedFloor> {
        self.floors.iter().find(|floor| &floor.label == label)
    }

    /// Whether the car opens at the landing.
    #[must_use]
    pub fn serves(&self, landing: &Landing) -> bool {
        self.floor(&landing.floor)
            .is_some_and(|floor| floor.sides.contains(&landing.side))
    }
}

/// A zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ZoneConfig {
    /// Whether it has a fire input of its own.
    pub fire_input: bool,
}

/// A site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteConfig {
    /// What applications may ask for.
    pub applications: Applications,
    /// The gateway's id.
    pub gateway: GatewayId,
    /// The waits.
    pub timing: Timing,
    /// The bounds.
    pub limits: Limits,
    /// How waiting rides are ranked.
    pub queue: QueuePolicy,
    /// The elevators.
    pub elevators: BTreeMap<ElevatorId, ElevatorConfig>,
    /// The zones: each that an elevator names, and no other.
    pub zones: BTreeMap<ZoneId, ZoneConfig>,
}

impl SiteConfig {
    /// The floors of the site from the lowest, each with the sides of all its elevators.
    #[must_use]
    pub fn floors(&self) -> Vec<ServedFloor> {
        let mut floors: BTreeMap<FloorLabel, ServedFloor> = BTreeMap::new();
        for floor in self
            .elevators
            .values()
            .flat_map(|elevator| &elevator.floors)
        {
            floors
                .entry(floor.label.clone())
                .and_modify(|known| known.sides.extend(&floor.sides))
                .or_insert_with(|| floor.clone());
        }
        let mut floors: Vec<_> = floors.into_values().collect();
        floors.sort_by(|a, b| (a.height_mm, &a.label).cmp(&(b.height_mm, &b.label)));
        floors
    }
}
