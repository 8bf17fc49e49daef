//! `claim.acquire`: refused by the first rule that it breaks, or made.

use protocol::client::{Acquire, ClaimBody, ClaimState, ReplyBody};
use protocol::{ClaimId, Code, PoolId, ResourceId, Seconds, Timestamp, limits};

use super::acquisition::Acquisition;
use super::fact::ClaimFact;
use crate::client::{Answer, Caller, Granted, Refused};
use crate::config::{PoolConfig, WhenFull};
use crate::effect::Note;
use crate::fact::Fact;
use crate::step::Step;

/// What a request gets: a resource of a pool, or a place among those that wait for it.
struct Given {
    pool: PoolId,
    resource: Option<ResourceId>,
}

impl Step<'_> {
    /// One resource of a pool, within its capacity and every quota, all or nothing.
    pub(crate) fn acquire(&mut self, caller: &Caller, ask: &Acquire) -> Answer {
        let given = match self.give(ask) {
            Ok(given) => given,
            Err((code, detail)) => {
                self.note_failure(&ask.pool, code);
                return Err((code, detail));
            }
        };
        let Some(config) = self.config.applications.pools.get(&given.pool) else {
            return Err(unknown(&ask.pool));
        };
        let Some(order) = caller.order.clone() else {
            return Err((Code::Malformed, "order_id is missing".to_owned()));
        };
        let number = self.state.claims.made.saturating_add(1);
        let state = match &given.resource {
            Some(_) => first_state(config, ask.init),
            None => ClaimState::Waiting,
        };
        let wait_ms = u64::from(ask.wait_s.unwrap_or(limits::WAIT_S_MAX)) * 1000;
        let wait_until = Timestamp(self.now.wall.0.saturating_add(wait_ms));
        let lease_ms = ask
            .lease_s
            .map_or(config.heartbeat_ms, |s| u64::from(s) * 1000);
        let acquisition = Acquisition {
            claim: claim_id(self.now.wall, number),
            number,
            order,
            client: caller.client.clone(),
            pool: given.pool,
            wanted: ask.resource_id.clone(),
            resource: given.resource,
            owner: ask.owner_id.clone(),
            labels: ask.labels.clone(),
            lease_ms,
            init: ask.init,
            state,
            why: None,
            since: self.now.wall,
            wait_until: (state == ClaimState::Waiting).then_some(wait_until),
            changed: false,
        };
        let claim = acquisition.claim.clone();
        self.record(Fact::Claim(ClaimFact::Made(Box::new(acquisition))));
        self.start_lease(&claim);
        self.note_acquired(&claim);
        Ok(Granted::Done(self.claim_body(&claim)))
    }

    fn give(&self, ask: &Acquire) -> Result<Given, Refused> {
        let pools = &self.config.applications.pools;
        let pool = pools.get(&ask.pool).ok_or_else(|| unknown(&ask.pool))?;
        let place = self.find_place(pool, ask.resource_id.as_ref(), &ask.labels);
        let detail = match place {
            Ok(resource) => {
                return Ok(Given {
                    pool: pool.id.clone(),
                    resource: Some(resource),
                });
            }
            Err((Code::CapacityFull, detail)) => detail,
            Err(refused) => return Err(refused),
        };
        match &pool.when_full {
            WhenFull::Refuse => Err((Code::CapacityFull, detail)),
            WhenFull::Spare(spare) => {
                let spare = pools.get(spare).ok_or_else(|| unknown(spare))?;
                let resource = self.find_place(spare, None, &ask.labels)?;
                Ok(Given {
                    pool: spare.id.clone(),
                    resource: Some(resource),
                })
            }
            WhenFull::Wait if ask.wait_s == Some(0) => Err((Code::CapacityFull, detail)),
            WhenFull::Wait => {
                let waiting = self.state.claims.waiting(&pool.id);
                if waiting >= usize::try_from(self.config.limits.queue).unwrap_or(usize::MAX) {
                    let detail = format!("{waiting} wait for pool {} already", pool.id);
                    return Err((Code::QueueFull, detail));
                }
                Ok(Given {
                    pool: pool.id.clone(),
                    resource: None,
                })
            }
        }
    }

    fn note_failure(&mut self, pool: &PoolId, code: Code) {
        // Only pools of the configuration are counted, so that the counters are few.
        if self.config.applications.pools.contains_key(pool) {
            let failures = &mut self.live.pool(pool).failures;
            let count = failures.entry(code).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Tells that a claim has its resource, and looks how full the pool is.
    pub(super) fn note_acquired(&mut self, claim: &ClaimId) {
        let Some(acquisition) = self.state.claims.live.get(claim) else {
            return;
        };
        let pool = acquisition.pool.clone();
        if let Some(resource) = &acquisition.resource {
            let note = Note::Acquired {
                claim: claim.clone(),
                pool: pool.clone(),
                resource: resource.clone(),
                owner: acquisition.owner.clone(),
                used: self.state.claims.used(&pool),
                capacity: self.capacity_of(&pool),
            };
            self.note(note);
        }
        self.watch_pool(&pool);
    }

    /// A claim as its replies show it.
    pub(super) fn claim_body(&self, claim: &ClaimId) -> ReplyBody {
        let acquisition = self.state.claims.live.get(claim);
        let left_ms = self.live.leases.get(claim);
        let left_ms = left_ms.map(|lease| lease.ends_ms.saturating_sub(self.now.mono_ms));
        ReplyBody::Claim(ClaimBody {
            claim_id: Some(claim.clone()),
            resource_id: acquisition.and_then(|one| one.resource.clone()),
            state: acquisition.map(|one| one.state),
            expires_at: left_ms.map(|left| Timestamp(self.now.wall.0.saturating_add(left))),
            expires_in_s: left_ms.map(Seconds::from_ms),
            queue_position: acquisition.and_then(|one| self.state.claims.position(one)),
        })
    }
}

/// The state of a claim that has just got its resource.
pub(super) fn first_state(pool: &PoolConfig, init: bool) -> ClaimState {
    if pool.approval {
        ClaimState::PendingApproval
    } else if init {
        ClaimState::Initialising
    } else {
        ClaimState::Ready
    }
}

/// An id that no other claim has: the number never comes again, and after a lost journal the
/// moment is another one.
fn claim_id(at: Timestamp, number: u64) -> ClaimId {
    let text = format!("c{:x}-{number}", at.0);
    // At most 16 hexadecimal and 20 decimal digits, a letter and a hyphen: always an identifier.
    ClaimId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an identifier"))
}

fn unknown(pool: &PoolId) -> Refused {
    (Code::UnknownPool, format!("pool {pool} is not known"))
}
