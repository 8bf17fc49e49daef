//! Who is told how full pools are, what was cleaned up and what is in quarantine.

use protocol::client::ClaimState;
use protocol::ops::Severity;
use protocol::{AlarmCode, PoolId};

use crate::alarm::{Subject, Wanted};
use crate::step::Step;
use crate::timer::TimerKey;

/// A pool is nearly full from this share on, in percent (R-REG-050).
const HIGH_PERCENT: u64 = 80;
/// For so long, until it is told (`wire.md` section 8).
const HIGH_MS: u64 = 60_000;
/// So many claims of a pool cleaned up by one sweep are told (`wire.md` section 8).
const CLEANUP_HIGH: u64 = 10;

impl Step<'_> {
    /// Looks how full a pool is.
    pub(crate) fn watch_pool(&mut self, pool: &PoolId) {
        let (used, capacity) = (self.state.claims.used(pool), self.capacity_of(pool));
        let is_high = capacity > 0 && used.saturating_mul(100) >= capacity * HIGH_PERCENT;
        let now_ms = self.now.mono_ms;
        let watch = self.live.pool(pool);
        let was_told = watch.is_high;
        if is_high {
            let since_ms = *watch.high_since_ms.get_or_insert(now_ms);
            let told_ms = since_ms.saturating_add(HIGH_MS);
            watch.is_high = now_ms >= told_ms;
            if !watch.is_high {
                self.live
                    .timers
                    .hasten(TimerKey::Pool(pool.clone()), told_ms);
            }
        } else {
            watch.high_since_ms = None;
            watch.is_high = false;
        }
        if self.live.pool(pool).is_high != was_told {
            self.tend_claim_alarms();
        }
    }

    /// A pool's moment: more to give to those that wait, or a minute that is over.
    pub(crate) fn tend_pool(&mut self, pool: &PoolId) {
        self.promote(pool);
        self.watch_pool(pool);
    }

    /// Raises and clears the alarms of claims.
    pub(crate) fn tend_claim_alarms(&mut self) {
        let mut high = Wanted::new();
        let mut cleanup = Wanted::new();
        for (pool, watch) in &self.live.pools {
            if watch.is_high {
                let (used, capacity) = (self.state.claims.used(pool), self.capacity_of(pool));
                let detail = format!("{used} of {capacity} places of pool {pool} are taken");
                high.insert(
                    subject(AlarmCode::CapacityHigh, pool.to_string()),
                    (Severity::Warning, detail),
                );
            }
            if watch.cleaned_before >= CLEANUP_HIGH {
                let count = watch.cleaned_before;
                let detail = format!("the last sweep took {count} claims of pool {pool} back");
                cleanup.insert(
                    subject(AlarmCode::CleanupHigh, pool.to_string()),
                    (Severity::Warning, detail),
                );
            }
        }
        let mut quarantined = Wanted::new();
        for claim in self.state.claims.live.values() {
            if let (ClaimState::Quarantine, Some(resource)) = (claim.state, &claim.resource) {
                let place = format!("{}/{resource}", claim.pool);
                let detail = format!(
                    "{resource} of pool {} lost its holder {} and was not seen stopped",
                    claim.pool, claim.owner
                );
                quarantined.insert(
                    subject(AlarmCode::Quarantined, place),
                    (Severity::Critical, detail),
                );
            }
        }
        self.tend_alarms_of_code(AlarmCode::CapacityHigh, high);
        self.tend_alarms_of_code(AlarmCode::CleanupHigh, cleanup);
        self.tend_alarms_of_code(AlarmCode::Quarantined, quarantined);
    }
}

fn subject(code: AlarmCode, place: String) -> Subject {
    Subject {
        code,
        elevator: None,
        order: None,
        place: Some(place),
    }
}
