//! A device that is also a place of a pool: the physical resource of its id. One at a time has it,
//! by a rental or by a claim.

use protocol::client::ClaimState;
use protocol::device::{DeviceState, DeviceWord};
use protocol::{Code, DeviceId, PoolId, ResourceId};

use crate::claim::Acquisition;
use crate::client::Refused;
use crate::config::{PoolConfig, ResourceClass};
use crate::step::Step;

/// From one device to the next where many are asked: no step is long.
const APART_MS: u64 = 2;

impl Step<'_> {
    /// A device that a claim has, or that is in quarantine, is rented to nobody.
    pub(super) fn refuse_claimed(&self, id: &DeviceId) -> Result<(), Refused> {
        match self.claim_on(id) {
            Some(claim) => {
                let detail = format!("device_id {id} is a taken place of pool {}", claim.pool);
                Err((Code::DeviceUnavailable, detail))
            }
            None => Ok(()),
        }
    }

    /// Whether a device runs for the holder of a claim.
    pub(super) fn runs_for_a_claim(&self, id: &DeviceId) -> bool {
        let state = self.claim_on(id).map(|claim| claim.state);
        matches!(state, Some(ClaimState::Ready | ClaimState::Initialising))
    }

    /// Why a resource of a pool cannot be given, where it is a device that is rented, or cannot be
    /// used.
    pub(crate) fn device_in_use(
        &self,
        pool: &PoolConfig,
        resource: &ResourceId,
    ) -> Option<DeviceState> {
        let id = self.device_of(pool, resource)?;
        let state = self.state.rentals.device(&id).state;
        (state != DeviceState::Idle).then_some(state)
    }

    /// A claim lost its holder: its device is asked how it stands, and told to stop if it runs
    /// (`device_runs`). It leaves quarantine by its word.
    pub(crate) fn ask_in_quarantine(&mut self, claim: &Acquisition) {
        if let Some(id) = self.device_of_claim(claim) {
            let soon = self.now.mono_ms.saturating_add(1);
            self.ask_device_at(&id, soon);
        }
    }

    /// The same for all that are in quarantine: a device that was away may be back.
    pub(crate) fn ask_all_in_quarantine(&mut self) {
        let mut at_ms = self.now.mono_ms;
        let live = self.state.claims.live.values();
        let waiting = live.filter(|claim| claim.state == ClaimState::Quarantine);
        let devices: Vec<DeviceId> = waiting
            .filter_map(|claim| self.device_of_claim(claim))
            .collect();
        for id in devices {
            at_ms = at_ms.saturating_add(APART_MS);
            self.ask_device_at(&id, at_ms);
        }
    }

    /// A claim was given back. A device that ran for its holder has to stand, or somebody is told.
    pub(crate) fn ask_if_running(&mut self, claim: &Acquisition) {
        let Some(id) = self.device_of_claim(claim) else {
            return;
        };
        if self.state.rentals.device(&id).word == Some(DeviceWord::Running) {
            let soon = self.now.mono_ms.saturating_add(1);
            self.ask_device_at(&id, soon);
        }
    }

    /// A device was seen standing: it leaves the quarantine of its pools.
    pub(super) fn free_quarantined(&mut self, id: &DeviceId) {
        for (pool, resource) in self.places_of(id) {
            // Refused where the resource is in no quarantine.
            let _ = self.resource_stopped(&pool, &resource);
        }
    }

    /// A device is free: who waits for a place of its pools may have it.
    pub(super) fn give_place(&mut self, id: &DeviceId) {
        for (pool, _) in self.places_of(id) {
            self.promote(&pool);
        }
    }

    fn ask_device_at(&mut self, id: &DeviceId, at_ms: u64) {
        let watch = self.live.device(id);
        let query_ms = watch.query_ms.map_or(at_ms, |before| before.min(at_ms));
        watch.query_ms = Some(query_ms);
        let key = crate::timer::TimerKey::Device(id.clone());
        self.live.timers.hasten(key, query_ms);
    }

    /// The claim that has a device, in quarantine too.
    fn claim_on(&self, id: &DeviceId) -> Option<&Acquisition> {
        let claims = &self.state.claims;
        self.places_of(id).into_iter().find_map(|(pool, resource)| {
            let held = &claims.pools.get(&pool)?.held;
            claims.live.get(held.get(&resource)?)
        })
    }

    fn device_of_claim(&self, claim: &Acquisition) -> Option<DeviceId> {
        let pool = self.config.applications.pools.get(&claim.pool)?;
        self.device_of(pool, claim.resource.as_ref()?)
    }

    fn device_of(&self, pool: &PoolConfig, resource: &ResourceId) -> Option<DeviceId> {
        let devices = &self.config.applications.rentals.devices;
        if pool.class != ResourceClass::Physical || devices.is_empty() {
            return None;
        }
        let id = DeviceId::new(resource.as_str()).ok()?;
        devices.contains(&id).then_some(id)
    }

    /// The physical pools that a device may be a place of.
    fn places_of(&self, id: &DeviceId) -> Vec<(PoolId, ResourceId)> {
        let Ok(resource) = ResourceId::new(id.as_str()) else {
            return Vec::new();
        };
        let pools = self.config.applications.pools.values();
        let has_it = |pool: &&PoolConfig| {
            let is_physical = pool.class == ResourceClass::Physical;
            is_physical && (pool.any_id || pool.resources.contains(&resource))
        };
        let pools = pools.filter(has_it);
        pools
            .map(|pool| (pool.id.clone(), resource.clone()))
            .collect()
    }
}
