//! What time does to claims: leases, deadlines, waits, and the sweep.

use std::collections::BTreeMap;

use protocol::client::{ClaimReason, ClaimState, ClaimView};
use protocol::{ClaimId, Code, Outgoing, PoolId, Seconds, Timestamp};

use super::acquire::first_state;
use super::acquisition::Acquisition;
use super::fact::ClaimFact;
use crate::config::ResourceClass;
use crate::effect::Note;
use crate::fact::Fact;
use crate::step::Step;
use crate::timer::TimerKey;

/// From one sweep to the next (`wire.md` section 8).
const SWEEP_MS: u64 = 60_000;
/// Claims that one step cleans up, or gives resources to, at most; the rest follow at once.
const AT_ONCE_MAX: usize = 100;
/// From a step that left something to the next one.
const AGAIN_MS: u64 = 1;

/// How long a claim has, in its state.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    /// When its lease, its deadline or its wait ends.
    pub(crate) ends_ms: u64,
    /// When its holder was heard last.
    pub(crate) heard_at: Timestamp,
}

/// What is known of a pool while the process runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct PoolWatch {
    /// Requests that were refused, by code.
    pub(crate) failures: BTreeMap<Code, u64>,
    /// Nearly full since.
    pub(crate) high_since_ms: Option<u64>,
    /// It was told so.
    pub(crate) is_high: bool,
    /// Claims that the sweep under way has cleaned up.
    pub(crate) cleaned: u64,
    /// Those of the last sweep.
    pub(crate) cleaned_before: u64,
}

impl Step<'_> {
    /// The first input of a process: leases begin anew.
    pub(crate) fn start_claims(&mut self) {
        let has_pools = !self.config.applications.pools.is_empty();
        if !has_pools && self.state.claims.live.is_empty() {
            return;
        }
        let claims: Vec<ClaimId> = self.state.claims.live.keys().cloned().collect();
        for claim in claims {
            self.start_lease(&claim);
            let changed = self.state.claims.live.get(&claim);
            if changed.is_some_and(|acquisition| acquisition.changed) {
                self.tell_claim(&claim);
            }
        }
        let pools: Vec<PoolId> = self.config.applications.pools.keys().cloned().collect();
        for pool in pools {
            self.promote(&pool);
            self.watch_pool(&pool);
        }
        let next = self.now.mono_ms.saturating_add(SWEEP_MS);
        self.live.timers.set(TimerKey::ClaimSweep, Some(next));
        self.tend_claim_alarms();
    }

    /// Ingest was away for so long: nobody could be heard.
    pub(crate) fn thaw_claims(&mut self, away_ms: u64) {
        let claims: Vec<ClaimId> = self.live.leases.keys().cloned().collect();
        for claim in claims {
            if let Some(lease) = self.live.leases.get_mut(&claim) {
                lease.ends_ms = lease.ends_ms.saturating_add(away_ms);
            }
            self.set_claim_timer(&claim);
        }
    }

    /// What a claim has in the state that it is in begins now.
    pub(super) fn start_lease(&mut self, claim: &ClaimId) {
        let Some(acquisition) = self.state.claims.live.get(claim) else {
            self.live.leases.remove(claim);
            self.live.timers.set(TimerKey::Claim(claim.clone()), None);
            return;
        };
        let pool = self.config.applications.pools.get(&acquisition.pool);
        let wall = self.now.wall;
        let span_ms = match acquisition.state {
            ClaimState::Waiting => acquisition.wait_until.map_or(0, |until| until.since(wall)),
            ClaimState::Initialising => pool.map_or(acquisition.lease_ms, |pool| pool.init_ms),
            ClaimState::PendingApproval
            | ClaimState::Ready
            | ClaimState::Quarantine
            | ClaimState::Released
            | ClaimState::Expired
            | ClaimState::Refused => acquisition.lease_ms,
        };
        let lease = Lease {
            ends_ms: self.now.mono_ms.saturating_add(span_ms),
            heard_at: wall,
        };
        if acquisition.state == ClaimState::Quarantine {
            self.live.leases.remove(claim);
        } else {
            self.live.leases.insert(claim.clone(), lease);
        }
        self.set_claim_timer(claim);
    }

    /// The holder was heard: its lease begins anew. Deadlines and waits do not.
    pub(super) fn renew_lease(&mut self, claim: &ClaimId) {
        let Some(acquisition) = self.state.claims.live.get(claim) else {
            return;
        };
        let has_lease = has_lease(acquisition.state);
        let ends_ms = self.now.mono_ms.saturating_add(acquisition.lease_ms);
        if let Some(lease) = self.live.leases.get_mut(claim) {
            lease.heard_at = self.now.wall;
            if has_lease {
                lease.ends_ms = ends_ms;
            }
        }
    }

    /// Leases are looked at by the sweep, deadlines and waits at their moment.
    fn set_claim_timer(&mut self, claim: &ClaimId) {
        let acquisition = self.state.claims.live.get(claim);
        let is_exact = acquisition.is_some_and(|acquisition| !has_lease(acquisition.state));
        let lease = self.live.leases.get(claim).filter(|_| is_exact);
        let at = lease.map(|lease| lease.ends_ms);
        self.live.timers.set(TimerKey::Claim(claim.clone()), at);
    }

    /// The deadline or the wait of a claim may have ended.
    pub(crate) fn tend_claim(&mut self, claim: &ClaimId) {
        let is_over = self
            .live
            .leases
            .get(claim)
            .is_some_and(|lease| lease.ends_ms <= self.now.mono_ms);
        if !is_over || self.live.frozen_since_ms.is_some() {
            // What stands still goes on by `thaw_claims`.
            return;
        }
        let Some(acquisition) = self.state.claims.live.get(claim).cloned() else {
            return;
        };
        match acquisition.state {
            ClaimState::Waiting => {
                let why = format!("no place of pool {} became free in time", acquisition.pool);
                self.end_claim(
                    &acquisition,
                    ClaimState::Expired,
                    (ClaimReason::CapacityFull, why),
                );
            }
            ClaimState::Initialising => {
                let why = "it was not initialised in time".to_owned();
                self.reclaim(&acquisition, (ClaimReason::InitTimeout, why));
            }
            ClaimState::PendingApproval
            | ClaimState::Ready
            | ClaimState::Quarantine
            | ClaimState::Released
            | ClaimState::Expired
            | ClaimState::Refused => {}
        }
    }

    /// Takes a resource back from a holder that is gone: a physical one only once it was seen
    /// stopped.
    fn reclaim(&mut self, acquisition: &Acquisition, why: (ClaimReason, String)) {
        let pool = self.config.applications.pools.get(&acquisition.pool);
        let is_physical = pool.is_some_and(|pool| pool.class == ResourceClass::Physical);
        // Until it is approved nobody has moved it.
        if is_physical && acquisition.state != ClaimState::PendingApproval {
            self.end_claim(acquisition, ClaimState::Quarantine, why);
            self.ask_in_quarantine(acquisition);
            self.tend_claim_alarms();
        } else {
            self.end_claim(acquisition, ClaimState::Expired, why);
        }
    }

    /// Every 60 s: takes back what holders have not been heard of for their lease.
    pub(crate) fn sweep_claims(&mut self) {
        let now_ms = self.now.mono_ms;
        let next = now_ms.saturating_add(SWEEP_MS);
        self.live.timers.set(TimerKey::ClaimSweep, Some(next));
        if self.live.frozen_since_ms.is_some() {
            return;
        }
        let live = &self.state.claims.live;
        let over = self.live.leases.iter().filter(|(claim, lease)| {
            let acquisition = live.get(*claim);
            lease.ends_ms <= now_ms && acquisition.is_some_and(|one| has_lease(one.state))
        });
        let over: Vec<ClaimId> = over
            .map(|(claim, _)| claim.clone())
            .take(AT_ONCE_MAX)
            .collect();
        for claim in &over {
            let Some(acquisition) = self.state.claims.live.get(claim).cloned() else {
                continue;
            };
            self.live.pool(&acquisition.pool).cleaned += 1;
            let detail = format!(
                "{} was not heard for {} s",
                acquisition.owner,
                acquisition.lease_ms / 1000
            );
            self.reclaim(&acquisition, (ClaimReason::LeaseEnded, detail));
        }
        if over.len() >= AT_ONCE_MAX {
            let soon = now_ms.saturating_add(AGAIN_MS);
            self.live.timers.set(TimerKey::ClaimSweep, Some(soon));
            return;
        }
        let mut count = 0;
        for watch in self.live.pools.values_mut() {
            watch.cleaned_before = std::mem::take(&mut watch.cleaned);
            count += watch.cleaned_before;
        }
        if count > 0 {
            self.note(Note::Cleaned { count });
        }
        self.ask_all_in_quarantine();
        self.tend_claim_alarms();
    }

    /// Gives what is free to those that wait, in the order in which they came.
    pub(crate) fn promote(&mut self, pool: &PoolId) {
        let Some(config) = self.config.applications.pools.get(pool) else {
            return;
        };
        let waiting = self
            .state
            .claims
            .pools
            .get(pool)
            .map(|places| &places.waiting);
        let waiting: Vec<ClaimId> = waiting
            .into_iter()
            .flat_map(BTreeMap::values)
            .cloned()
            .collect();
        let mut placed = 0;
        for claim in waiting {
            let Some(acquisition) = self.state.claims.live.get(&claim) else {
                continue;
            };
            let wanted = acquisition.wanted.as_ref();
            let resource = match self.find_place(config, wanted, &acquisition.labels) {
                Ok(resource) => resource,
                Err((Code::CapacityFull, _)) => break,
                Err(_) => continue,
            };
            if placed >= AT_ONCE_MAX {
                let soon = self.now.mono_ms.saturating_add(AGAIN_MS);
                self.live.timers.hasten(TimerKey::Pool(pool.clone()), soon);
                break;
            }
            placed += 1;
            let state = first_state(config, acquisition.init);
            self.record(Fact::Claim(ClaimFact::Placed {
                claim: claim.clone(),
                resource,
                state,
                at: self.now.wall,
            }));
            self.start_lease(&claim);
            self.tell_claim(&claim);
            self.note_acquired(&claim);
        }
    }

    /// Publishes a claim as it is.
    pub(super) fn tell_claim(&mut self, claim: &ClaimId) {
        let Some(acquisition) = self.state.claims.live.get(claim).cloned() else {
            return;
        };
        let left_ms = self.live.leases.get(claim);
        let left_ms = left_ms.map(|lease| lease.ends_ms.saturating_sub(self.now.mono_ms));
        let view = ClaimView {
            claim_id: claim.clone(),
            order_id: acquisition.order.clone(),
            resource_id: acquisition.resource.clone(),
            state: acquisition.state,
            expires_at: left_ms.map(|left| Timestamp(self.now.wall.0.saturating_add(left))),
            expires_in_s: left_ms.map(Seconds::from_ms),
            queue_position: self.state.claims.position(&acquisition),
            reason: acquisition.why.clone(),
        };
        self.say_claim(&acquisition, view);
    }

    pub(super) fn say_claim(&mut self, acquisition: &Acquisition, view: ClaimView) {
        self.say(Outgoing::ClaimState {
            client: acquisition.client.clone(),
            view: Box::new(view),
        });
    }
}

/// Whether a claim in this state lives by heartbeats.
fn has_lease(state: ClaimState) -> bool {
    match state {
        ClaimState::PendingApproval | ClaimState::Ready => true,
        ClaimState::Waiting
        | ClaimState::Initialising
        | ClaimState::Quarantine
        | ClaimState::Released
        | ClaimState::Expired
        | ClaimState::Refused => false,
    }
}
