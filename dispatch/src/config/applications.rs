//! What applications may ask a site for.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{DepartmentId, PoolId, SeriesId, Timestamp};

use super::devices::RentalConfig;
use super::pools::PoolConfig;

/// A series of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesConfig {
    /// Its id.
    pub id: SeriesId,
    /// The highest number that it may give.
    pub max: u64,
    /// The first number.
    pub start: u64,
    /// From one number to the next, from 1.
    pub step: u64,
    /// Whether a request goes on with the next series when this one is full.
    pub switch: bool,
}

/// What applications may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applications {
    /// The series, in the order in which they go on with each other.
    pub series: Vec<SeriesConfig>,
    /// The pools.
    pub pools: BTreeMap<PoolId, PoolConfig>,
    /// The devices that are rented.
    pub rentals: RentalConfig,
    /// The departments.
    pub departments: BTreeSet<DepartmentId>,
    /// Where the days of departments begin and end.
    pub zone: CivilZone,
}

/// A time zone: how far clocks are ahead of UTC, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CivilZone {
    /// Each change and the seconds ahead of UTC from then on, the earliest first. Before the first
    /// one clocks show UTC.
    pub offsets: Vec<(Timestamp, i32)>,
}

impl CivilZone {
    /// Seconds that clocks are ahead of UTC at a moment.
    #[must_use]
    pub fn offset_s(&self, at: Timestamp) -> i32 {
        let later = self.offsets.partition_point(|(since, _)| *since <= at);
        let last = later.checked_sub(1).and_then(|last| self.offsets.get(last));
        last.map_or(0, |(_, offset_s)| *offset_s)
    }
}
