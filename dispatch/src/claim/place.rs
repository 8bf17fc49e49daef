//! Whether a pool has a resource to give: the resource, the quotas and the capacity.

use protocol::client::Labels;
use protocol::{Code, ResourceId};

use crate::client::Refused;
use crate::config::PoolConfig;
use crate::step::Step;

impl Step<'_> {
    /// Places of a pool, as the configuration or an operator has it.
    pub(super) fn capacity(&self, pool: &PoolConfig) -> u64 {
        let set = self.state.claims.capacities.get(&pool.id).copied();
        set.unwrap_or(pool.capacity)
    }

    /// The resource that a claim gets, if it asks now.
    pub(super) fn find_place(
        &self,
        pool: &PoolConfig,
        wanted: Option<&ResourceId>,
        labels: &Labels,
    ) -> Result<ResourceId, Refused> {
        let id = &pool.id;
        let claims = &self.state.claims;
        let held = claims.pools.get(id).map(|places| &places.held);
        if let Some(wanted) = wanted {
            if !pool.any_id && !pool.resources.contains(wanted) {
                let detail = format!("resource_id {wanted} is none of pool {id}");
                return Err((Code::NotEligible, detail));
            }
            if held.is_some_and(|held| held.contains_key(wanted)) {
                let detail = format!("resource_id {wanted} of pool {id} is taken");
                return Err((Code::ResourceTaken, detail));
            }
            if let Some(state) = self.device_in_use(pool, wanted) {
                let detail =
                    format!("resource_id {wanted} of pool {id} is a device that is {state}");
                return Err((Code::ResourceTaken, detail));
            }
        }
        self.check_quotas(pool, labels)?;
        let (used, capacity) = (claims.used(id), self.capacity(pool));
        let full = || {
            let detail = format!("pool {id} is full: {used} of {capacity} places are taken");
            Err((Code::CapacityFull, detail))
        };
        if used >= capacity {
            return full();
        }
        if let Some(wanted) = wanted {
            return Ok(wanted.clone());
        }
        let is_free = |resource: &ResourceId| {
            let is_held = held.is_some_and(|held| held.contains_key(resource));
            !is_held && self.device_in_use(pool, resource).is_none()
        };
        if !pool.any_id {
            let free = pool.resources.iter().find(|resource| is_free(resource));
            return free.cloned().ok_or_else(|| {
                let detail = format!("no resource of pool {id} is free");
                (Code::CapacityFull, detail)
            });
        }
        // Each claim has its own number; a resource of that name may have been asked for.
        let numbers = claims.made.saturating_add(1)..;
        let names = numbers.filter_map(|number| ResourceId::new(&number.to_string()).ok());
        let mut names = names.take(
            usize::try_from(used)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
        );
        names.find(is_free).map_or_else(full, Ok)
    }

    /// Every quota that the labels fall under holds.
    fn check_quotas(&self, pool: &PoolConfig, labels: &Labels) -> Result<(), Refused> {
        for quota in &pool.quotas {
            let Some(value) = labels.get(&quota.label) else {
                continue;
            };
            if quota.value.as_ref().is_some_and(|one| one != value) {
                continue;
            }
            let count = self.state.claims.count(&pool.id, quota.label, value);
            if count >= quota.limit {
                let (label, limit) = (quota.label, quota.limit);
                let detail = format!(
                    "labels.{label} {value} holds {count} of pool {}, at most {limit} are allowed",
                    pool.id
                );
                return Err((Code::QuotaExceeded, detail));
            }
        }
        Ok(())
    }
}
