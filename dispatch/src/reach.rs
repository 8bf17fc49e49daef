//! Which elevators serve what, worked out once from the configuration: who waits is looked at
//! with every reading.

use std::collections::{BTreeMap, BTreeSet};

use protocol::limits::ELEVATORS_MAX;
use protocol::{ElevatorId, FloorLabel, Landing, Side};

use crate::config::SiteConfig;

const WORDS: usize = ELEVATORS_MAX / 64;

/// A set of elevators, each by its place in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Elevators([u64; WORDS]);

impl Elevators {
    /// Whether the elevator at a place is in the set.
    pub(crate) fn has(self, place: usize) -> bool {
        let word = self.0.get(place / 64);
        word.is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    /// How many are in the set.
    pub(crate) fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn insert(&mut self, place: usize) {
        if let Some(word) = self.0.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn and(mut self, other: Self) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
        self
    }
}

/// The site's elevators by what they serve. A site has at most [`ELEVATORS_MAX`]; what comes after
/// them serves nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    places: BTreeMap<ElevatorId, usize>,
    landings: BTreeMap<Landing, Elevators>,
    sides: BTreeMap<FloorLabel, BTreeSet<Side>>,
}

impl Reach {
    pub(crate) fn of(config: &SiteConfig) -> Self {
        let mut reach = Self::default();
        for (place, elevator) in config.elevators.values().enumerate() {
            reach.places.insert(elevator.id.clone(), place);
            for floor in &elevator.floors {
                let known = reach.sides.entry(floor.label.clone()).or_default();
                known.extend(&floor.sides);
                for side in &floor.sides {
                    let landing = Landing {
                        floor: floor.label.clone(),
                        side: *side,
                    };
                    reach.landings.entry(landing).or_default().insert(place);
                }
            }
        }
        reach
    }

    /// The place of an elevator in the configuration.
    pub(crate) fn place(&self, elevator: &ElevatorId) -> Option<usize> {
        self.places.get(elevator).copied()
    }

    /// The sides at which any car opens on a floor; `None` where the site lacks it.
    pub(crate) fn sides(&self, floor: &FloorLabel) -> Option<&BTreeSet<Side>> {
        self.sides.get(floor)
    }

    /// The elevators that open at both landings, of those that are `allowed` (none named: all).
    pub(crate) fn able(
        &self,
        from: &Landing,
        to: &Landing,
        allowed: &BTreeSet<ElevatorId>,
    ) -> Elevators {
        let serves = |landing| self.landings.get(landing).copied().unwrap_or_default();
        let able = serves(from).and(serves(to));
        if allowed.is_empty() {
            return able;
        }
        let mut named = Elevators::default();
        for place in allowed.iter().filter_map(|id| self.place(id)) {
            named.insert(place);
        }
        able.and(named)
    }
}
