//! Pools and claims as operators see them.

use std::collections::BTreeMap;

use protocol::client::ClaimState;
use protocol::{ClaimId, Code, PoolId, Seconds};
use serde::{Deserialize, Serialize};

use super::acquisition::{Acquisition, ClaimRow};
use crate::config::PoolConfig;
use crate::effect::OperatorAnswer;
use crate::step::Step;

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolView {
    /// The pool.
    pub pool: PoolId,
    /// Its places.
    pub capacity: u64,
    /// Places that are taken; more than there are where the capacity was lowered.
    pub used: u64,
    /// Claims that wait for one.
    pub waiting: u64,
    /// Resources in quarantine; they count as taken.
    pub quarantined: u64,
    /// Requests that were refused since the gateway started, by code.
    pub failures: BTreeMap<Code, u64>,
    /// Who holds what.
    pub claims: Vec<ClaimRow>,
}

impl Step<'_> {
    /// All pools, without their claims.
    pub(crate) fn pool_views(&self) -> Vec<PoolView> {
        let pools = self.config.applications.pools.values();
        pools.map(|pool| self.view_pool(pool)).collect()
    }

    /// One pool, with its claims.
    pub(crate) fn pool_view(&self, id: &PoolId) -> Result<OperatorAnswer, String> {
        let pool = self.config.applications.pools.get(id);
        let pool = pool.ok_or_else(|| format!("pool {id} is not known"))?;
        let live = self
            .state
            .claims
            .live
            .values()
            .filter(|one| &one.pool == id);
        Ok(OperatorAnswer::Pools(vec![PoolView {
            claims: live.map(|one| self.claim_row(one)).collect(),
            ..self.view_pool(pool)
        }]))
    }

    /// All claims that have not ended.
    pub(crate) fn claim_rows(&self) -> Vec<ClaimRow> {
        let live = self.state.claims.live.values();
        live.map(|one| self.claim_row(one)).collect()
    }

    /// One claim, live or past.
    pub(crate) fn claim_view(&self, id: &ClaimId) -> Result<OperatorAnswer, String> {
        let claims = &self.state.claims;
        let live = claims.live.get(id).map(|one| self.claim_row(one));
        let past = || {
            claims
                .past
                .iter()
                .rev()
                .find(|row| &row.claim_id == id)
                .cloned()
        };
        let row = live.or_else(past);
        let row = row.ok_or_else(|| format!("claim {id} is not known any more, or never was"))?;
        Ok(OperatorAnswer::Claims(vec![row]))
    }

    fn view_pool(&self, pool: &PoolConfig) -> PoolView {
        let claims = &self.state.claims;
        let quarantined = claims
            .live
            .values()
            .filter(|one| one.pool == pool.id && one.state == ClaimState::Quarantine);
        let watch = self.live.pools.get(&pool.id);
        PoolView {
            pool: pool.id.clone(),
            capacity: self.capacity(pool),
            used: claims.used(&pool.id),
            waiting: u64::try_from(claims.waiting(&pool.id)).unwrap_or(u64::MAX),
            quarantined: u64::try_from(quarantined.count()).unwrap_or(u64::MAX),
            failures: watch.map_or_else(BTreeMap::new, |watch| watch.failures.clone()),
            claims: Vec::new(),
        }
    }

    fn claim_row(&self, acquisition: &Acquisition) -> ClaimRow {
        let lease = self.live.leases.get(&acquisition.claim);
        let heard_at = lease.map_or(acquisition.since, |lease| lease.heard_at);
        let left_ms = lease.map(|lease| lease.ends_ms.saturating_sub(self.now.mono_ms));
        ClaimRow {
            expires_in_s: left_ms.map(Seconds::from_ms),
            ..acquisition.row(heard_at)
        }
    }
}
