//! What a car is.

use std::collections::BTreeSet;

use protocol::ops::Presence;
use protocol::{FloorLabel, Side};

use super::travel::{Trip, whole_ms};

/// A floor at which a car stops.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Its label.
    pub label: FloorLabel,
    /// Height over the lowest floor, in metres.
    pub height_m: f64,
    /// The sides at which the car opens there.
    pub sides: BTreeSet<Side>,
}

/// A car: its shaft, its doors, its signals. Times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct CarConfig {
    /// The floors, from the lowest; at least one.
    pub floors: Vec<Stop>,
    /// Where it stands at the beginning, as an index into `floors`.
    pub start: usize,
    /// Top speed.
    pub speed_m_s: f64,
    /// How fast it speeds up and slows down.
    pub acceleration_m_s2: f64,
    /// From closed to open.
    pub door_open_s: f64,
    /// From open to closed.
    pub door_close_s: f64,
    /// How long an open door stays open by itself.
    pub dwell_s: f64,
    /// The longest that one hold keeps a door open.
    pub hold_max_s: f64,
    /// A fixed travel time between any two floors instead of the physics.
    pub ride_s: Option<f64>,
    /// Its presence signal.
    pub presence: Presence,
    /// Where it goes, and stands open, in fire mode; `None` = it stops where its trip ends.
    pub recall: Option<FloorLabel>,
}

impl CarConfig {
    /// A usual passenger elevator that serves `floors` and stands at the first: 1.6 m/s, 0.8 m/s2,
    /// doors 2.5 s and 3 s, dwell 6 s, holds of 10 s, no presence signal, no recall.
    #[must_use]
    pub fn new(floors: Vec<Stop>) -> Self {
        Self {
            floors,
            start: 0,
            speed_m_s: 1.6,
            acceleration_m_s2: 0.8,
            door_open_s: 2.5,
            door_close_s: 3.0,
            dwell_s: 6.0,
            hold_max_s: 10.0,
            ride_s: None,
            presence: Presence::None,
            recall: None,
        }
    }

    /// The same car in a world that runs `factor` times as fast; `factor` over 0.
    #[must_use]
    pub fn sped_up(&self, factor: f64) -> Self {
        Self {
            floors: self.floors.clone(),
            start: self.start,
            speed_m_s: self.speed_m_s * factor,
            acceleration_m_s2: self.acceleration_m_s2 * factor * factor,
            door_open_s: self.door_open_s / factor,
            door_close_s: self.door_close_s / factor,
            dwell_s: self.dwell_s / factor,
            hold_max_s: self.hold_max_s / factor,
            ride_s: self.ride_s.map(|ride_s| ride_s / factor),
            presence: self.presence,
            recall: self.recall.clone(),
        }
    }

    /// The index of a floor.
    #[must_use]
    pub fn index(&self, label: &FloorLabel) -> Option<usize> {
        self.floors.iter().position(|floor| &floor.label == label)
    }

    /// Whether any floor has a rear side.
    #[must_use]
    pub fn has_rear(&self) -> bool {
        self.floors
            .iter()
            .any(|floor| floor.sides.contains(&Side::Rear))
    }

    pub(super) fn hold_max_ms(&self) -> u64 {
        whole_ms(self.hold_max_s)
    }

    pub(super) fn trip(&self, distance_m: f64) -> Trip {
        match self.ride_s {
            Some(ride_s) => Trip::fixed(distance_m, ride_s),
            None => Trip::physical(distance_m, self.speed_m_s, self.acceleration_m_s2),
        }
    }
}
