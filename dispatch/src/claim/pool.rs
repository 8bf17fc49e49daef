//! What operators do about pools: capacity, and resources in quarantine.

use protocol::client::{ClaimReason, ClaimState};
use protocol::{PoolId, ResourceId, limits};

use super::fact::ClaimFact;
use crate::effect::OperatorAnswer;
use crate::fact::Fact;
use crate::step::Step;

impl Step<'_> {
    /// Places of a pool; 0 where there is no such pool.
    pub(super) fn capacity_of(&self, pool: &PoolId) -> u64 {
        let config = self.config.applications.pools.get(pool);
        config.map_or(0, |config| self.capacity(config))
    }

    /// Changes the capacity of a pool. Nobody is evicted: where more is taken than there is, nobody
    /// gets a place until enough was given back.
    pub(crate) fn set_capacity(
        &mut self,
        pool: &PoolId,
        capacity: u64,
    ) -> Result<OperatorAnswer, String> {
        if !self.config.applications.pools.contains_key(pool) {
            return Err(format!("pool {pool} is not known"));
        }
        let most = u64::try_from(limits::RESOURCES_MAX).unwrap_or(u64::MAX);
        if capacity > most {
            return Err(format!("a pool has at most {most} places, not {capacity}"));
        }
        self.record(Fact::Claim(ClaimFact::Capacity {
            pool: pool.clone(),
            capacity,
            at: self.now.wall,
        }));
        self.promote(pool);
        self.watch_pool(pool);
        let used = self.state.claims.used(pool);
        Ok(OperatorAnswer::Done(format!(
            "pool {pool} has {capacity} places, {used} are taken"
        )))
    }

    /// Somebody saw a resource stopped: it leaves quarantine.
    pub(crate) fn resource_stopped(
        &mut self,
        pool: &PoolId,
        resource: &ResourceId,
    ) -> Result<OperatorAnswer, String> {
        let places = self.state.claims.pools.get(pool);
        let claim = places.and_then(|places| places.held.get(resource));
        let Some(claim) = claim
            .and_then(|claim| self.state.claims.live.get(claim))
            .cloned()
        else {
            return Err(format!("resource {resource} of pool {pool} is not taken"));
        };
        if claim.state != ClaimState::Quarantine {
            return Err(format!(
                "resource {resource} of pool {pool} is {} with {}, not in quarantine",
                claim.state, claim.owner
            ));
        }
        let why = (ClaimReason::Stopped, "it was seen stopped".to_owned());
        self.end_claim(&claim, ClaimState::Expired, why);
        self.tend_claim_alarms();
        Ok(OperatorAnswer::Done(format!(
            "resource {resource} of pool {pool} is free"
        )))
    }
}
