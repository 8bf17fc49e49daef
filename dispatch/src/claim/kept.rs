//! What is known of claims: the fold of their facts.

use std::collections::{BTreeMap, VecDeque};

use protocol::client::{ClaimState, Label};
use protocol::{ClaimId, LabelValue, PoolId, ResourceId};
use serde::{Deserialize, Serialize};

use super::acquisition::{Acquisition, ClaimRow};
use super::fact::ClaimFact;

/// Claims that ended and are still shown; all others are in the journal.
const PAST_SHOWN: usize = 1_000;

/// The resources and the waiters of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Places {
    /// The resources that are taken, and by which claim.
    pub(crate) held: BTreeMap<ResourceId, ClaimId>,
    /// The claims that wait, by their number.
    pub(crate) waiting: BTreeMap<u64, ClaimId>,
}

/// All claims.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Claims {
    /// How many were ever made.
    pub made: u64,
    /// Those that have not ended.
    pub live: BTreeMap<ClaimId, Acquisition>,
    /// Capacities that an operator set.
    pub capacities: BTreeMap<PoolId, u64>,
    /// Those that ended last.
    pub past: VecDeque<ClaimRow>,
    #[serde(skip)]
    pub(crate) pools: BTreeMap<PoolId, Places>,
    /// Resources that are taken, by what quotas count.
    #[serde(skip)]
    counts: BTreeMap<(PoolId, Label, LabelValue), u64>,
}

/// What of [`Claims`] a snapshot holds.
#[derive(Deserialize)]
struct Kept {
    made: u64,
    live: BTreeMap<ClaimId, Acquisition>,
    capacities: BTreeMap<PoolId, u64>,
    past: VecDeque<ClaimRow>,
}

impl From<Kept> for Claims {
    fn from(kept: Kept) -> Self {
        let mut claims = Self {
            made: kept.made,
            capacities: kept.capacities,
            past: kept.past,
            ..Self::default()
        };
        for acquisition in kept.live.into_values() {
            claims.insert(acquisition);
        }
        claims
    }
}

impl Claims {
    /// Resources of a pool that are taken.
    #[must_use]
    pub fn used(&self, pool: &PoolId) -> u64 {
        let held = self.pools.get(pool).map_or(0, |places| places.held.len());
        u64::try_from(held).unwrap_or(u64::MAX)
    }

    /// Claims that wait for a pool.
    #[must_use]
    pub fn waiting(&self, pool: &PoolId) -> usize {
        let places = self.pools.get(pool);
        places.map_or(0, |places| places.waiting.len())
    }

    /// Resources of a pool that claims with this label hold.
    #[must_use]
    pub fn count(&self, pool: &PoolId, label: Label, value: &LabelValue) -> u64 {
        let key = (pool.clone(), label, value.clone());
        self.counts.get(&key).copied().unwrap_or(0)
    }

    /// The place of a waiting claim, from 1.
    pub(crate) fn position(&self, acquisition: &Acquisition) -> Option<u32> {
        if acquisition.state != ClaimState::Waiting {
            return None;
        }
        let places = self.pools.get(&acquisition.pool)?;
        let position = places.waiting.range(..=acquisition.number).count();
        u32::try_from(position).ok()
    }

    pub(crate) fn apply(&mut self, fact: &ClaimFact) {
        match fact {
            ClaimFact::Made(acquisition) => {
                self.made = self.made.max(acquisition.number);
                self.insert(acquisition.as_ref().clone());
            }
            ClaimFact::Placed {
                claim,
                resource,
                state,
                at,
            } => {
                if let Some(mut acquisition) = self.remove(claim) {
                    acquisition.resource = Some(resource.clone());
                    acquisition.state = *state;
                    acquisition.since = *at;
                    acquisition.wait_until = None;
                    acquisition.changed = true;
                    self.insert(acquisition);
                }
            }
            ClaimFact::Moved {
                claim,
                state,
                why,
                heard_at,
                at,
            } => {
                if is_terminal(*state) {
                    if let Some(mut acquisition) = self.remove(claim) {
                        acquisition.state = *state;
                        acquisition.why.clone_from(why);
                        self.pass(acquisition.row_of_past(*heard_at, *at));
                    }
                } else if let Some(acquisition) = self.live.get_mut(claim) {
                    acquisition.state = *state;
                    acquisition.why.clone_from(why);
                    acquisition.changed = true;
                }
            }
            ClaimFact::Capacity { pool, capacity, .. } => {
                self.capacities.insert(pool.clone(), *capacity);
            }
        }
    }

    fn pass(&mut self, row: ClaimRow) {
        if self.past.len() >= PAST_SHOWN {
            self.past.pop_front();
        }
        self.past.push_back(row);
    }

    fn insert(&mut self, acquisition: Acquisition) {
        let (claim, pool) = (acquisition.claim.clone(), acquisition.pool.clone());
        let places = self.pools.entry(pool.clone()).or_default();
        match &acquisition.resource {
            Some(resource) => {
                places.held.insert(resource.clone(), claim.clone());
                for (label, value) in &acquisition.labels {
                    let key = (pool.clone(), *label, value.clone());
                    *self.counts.entry(key).or_default() += 1;
                }
            }
            None => {
                places.waiting.insert(acquisition.number, claim.clone());
            }
        }
        self.live.insert(claim, acquisition);
    }

    fn remove(&mut self, claim: &ClaimId) -> Option<Acquisition> {
        let acquisition = self.live.remove(claim)?;
        let pool = &acquisition.pool;
        let places = self.pools.entry(pool.clone()).or_default();
        match &acquisition.resource {
            Some(resource) => {
                places.held.remove(resource);
                for (label, value) in &acquisition.labels {
                    let key = (pool.clone(), *label, value.clone());
                    let count = self.counts.get(&key).copied().unwrap_or(0);
                    if count > 1 {
                        self.counts.insert(key, count - 1);
                    } else {
                        self.counts.remove(&key);
                    }
                }
            }
            None => {
                places.waiting.remove(&acquisition.number);
            }
        }
        if places.held.is_empty() && places.waiting.is_empty() {
            self.pools.remove(pool);
        }
        Some(acquisition)
    }
}

/// Whether a claim has come to its end.
pub(crate) fn is_terminal(state: ClaimState) -> bool {
    match state {
        ClaimState::Released | ClaimState::Expired | ClaimState::Refused => true,
        ClaimState::Waiting
        | ClaimState::PendingApproval
        | ClaimState::Initialising
        | ClaimState::Ready
        | ClaimState::Quarantine => false,
    }
}
