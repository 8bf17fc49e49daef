//! What is said of a claim by its holder and by its approver.

use protocol::client::{
    ByApprover, ByOwner, ClaimBody, ClaimReason, ClaimState, ClaimWhy, ReplyBody,
};
use protocol::{ClaimId, Code, OwnerId};

use super::acquisition::Acquisition;
use super::fact::ClaimFact;
use super::kept::is_terminal;
use crate::client::{Answer, Caller, Granted, Refused};
use crate::effect::Note;
use crate::fact::Fact;
use crate::step::{Step, cut};

impl Step<'_> {
    /// `claim.heartbeat`: the lease begins anew.
    pub(crate) fn heartbeat(&mut self, caller: &Caller, said: &ByOwner) -> Answer {
        let held = self
            .held_by(said)
            .and_then(|acquisition| match acquisition.state {
                ClaimState::Quarantine => Err(ended(&said.claim_id)),
                ClaimState::Waiting
                | ClaimState::PendingApproval
                | ClaimState::Initialising
                | ClaimState::Ready
                | ClaimState::Released
                | ClaimState::Expired
                | ClaimState::Refused => Ok(()),
            });
        match held {
            Ok(()) => {
                self.renew_lease(&said.claim_id);
                Ok(Granted::Done(self.claim_body(&said.claim_id)))
            }
            Err((code, detail)) => {
                self.note(Note::HeartbeatRefused {
                    claim: said.claim_id.clone(),
                    owner: said.owner_id.clone(),
                    client: caller.client.clone(),
                    code,
                });
                Err((code, detail))
            }
        }
    }

    /// `claim.release`: the resource is free.
    pub(crate) fn release_claim(&mut self, caller: &Caller, said: &ByOwner) -> Answer {
        if self.was_released_by(said) {
            return Ok(Granted::Before(past_body(said, ClaimState::Released)));
        }
        let acquisition = self.held_by(said).cloned();
        if let Err((Code::NotOwner, _)) = &acquisition {
            self.note_stranger(caller, said);
        }
        let acquisition = acquisition?;
        if acquisition.state == ClaimState::Quarantine {
            return Err(ended(&said.claim_id));
        }
        self.move_claim(&said.claim_id, ClaimState::Released, None);
        self.ask_if_running(&acquisition);
        Ok(Granted::Done(past_body(said, ClaimState::Released)))
    }

    /// `claim.ready`: the resource is initialised.
    pub(crate) fn claim_ready(&mut self, said: &ByOwner) -> Answer {
        match self.held_by(said)?.state {
            ClaimState::Ready => Ok(Granted::Before(self.claim_body(&said.claim_id))),
            ClaimState::Initialising => {
                self.move_claim(&said.claim_id, ClaimState::Ready, None);
                Ok(Granted::Done(self.claim_body(&said.claim_id)))
            }
            state @ (ClaimState::Waiting
            | ClaimState::PendingApproval
            | ClaimState::Quarantine
            | ClaimState::Released
            | ClaimState::Expired
            | ClaimState::Refused) => Err(misplaced(&said.claim_id, state)),
        }
    }

    /// `claim.failed`: the resource could not be initialised, and is free.
    pub(crate) fn claim_failed(&mut self, said: &ByOwner) -> Answer {
        let acquisition = self.held_by(said)?.clone();
        if acquisition.state != ClaimState::Initialising {
            return Err(misplaced(&said.claim_id, acquisition.state));
        }
        let why = (
            ClaimReason::InitFailed,
            "its holder could not initialise it".to_owned(),
        );
        self.move_claim(&said.claim_id, ClaimState::Released, Some(why));
        self.ask_if_running(&acquisition);
        Ok(Granted::Done(past_body(said, ClaimState::Released)))
    }

    /// `claim.approve`.
    pub(crate) fn approve(&mut self, said: &ByApprover) -> Answer {
        let acquisition = self.pending(said)?;
        let state = if acquisition.init {
            ClaimState::Initialising
        } else {
            ClaimState::Ready
        };
        self.move_claim(&said.claim_id, state, None);
        self.tell_claim(&said.claim_id);
        Ok(Granted::Done(self.claim_body(&said.claim_id)))
    }

    /// `claim.refuse`: the resource is free.
    pub(crate) fn refuse_claim(&mut self, said: &ByApprover) -> Answer {
        let acquisition = self.pending(said)?;
        let detail = format!("{} refused it", said.approver_id);
        let why = (ClaimReason::RefusedByApprover, detail);
        self.end_claim(&acquisition, ClaimState::Refused, why);
        Ok(Granted::Done(ReplyBody::Claim(ClaimBody {
            claim_id: Some(said.claim_id.clone()),
            state: Some(ClaimState::Refused),
            ..ClaimBody::default()
        })))
    }

    fn pending(&self, said: &ByApprover) -> Result<Acquisition, Refused> {
        let acquisition = self.live_claim(&said.claim_id)?;
        if acquisition.state == ClaimState::PendingApproval {
            return Ok(acquisition.clone());
        }
        Err(misplaced(&said.claim_id, acquisition.state))
    }

    /// The claim, if it is this owner's.
    fn held_by(&self, said: &ByOwner) -> Result<&Acquisition, Refused> {
        let acquisition = self.live_claim(&said.claim_id)?;
        if acquisition.owner == said.owner_id {
            return Ok(acquisition);
        }
        let detail = format!("owner_id {} does not hold {}", said.owner_id, said.claim_id);
        Err((Code::NotOwner, detail))
    }

    fn live_claim(&self, claim: &ClaimId) -> Result<&Acquisition, Refused> {
        if let Some(acquisition) = self.state.claims.live.get(claim) {
            return Ok(acquisition);
        }
        let number = claim
            .as_str()
            .rsplit_once('-')
            .map(|(_, number)| number.parse::<u64>());
        match number {
            Some(Ok(number)) if (1..=self.state.claims.made).contains(&number) => Err(ended(claim)),
            Some(_) | None => {
                let detail = format!("claim_id {claim} is not known");
                Err((Code::UnknownClaim, detail))
            }
        }
    }

    fn was_released_by(&self, said: &ByOwner) -> bool {
        let past = self.state.claims.past.iter().rev();
        past.clone()
            .find(|row| row.claim_id == said.claim_id)
            .is_some_and(|row| row.owner_id == said.owner_id && row.state == ClaimState::Released)
    }

    fn note_stranger(&mut self, caller: &Caller, said: &ByOwner) {
        let Some(acquisition) = self.state.claims.live.get(&said.claim_id) else {
            return;
        };
        let note = Note::NotOwner {
            claim: said.claim_id.clone(),
            resource: acquisition.resource.clone(),
            owner: acquisition.owner.clone(),
            caller: said.owner_id.clone(),
            client: caller.client.clone(),
        };
        self.note(note);
    }

    /// A claim comes to its end by other than its holder's word, and its application hears of it.
    pub(super) fn end_claim(
        &mut self,
        acquisition: &Acquisition,
        state: ClaimState,
        why: (ClaimReason, String),
    ) {
        self.move_claim(&acquisition.claim, state, Some(why.clone()));
        let (code, detail) = why;
        let view = protocol::client::ClaimView {
            claim_id: acquisition.claim.clone(),
            order_id: acquisition.order.clone(),
            resource_id: acquisition.resource.clone(),
            state,
            expires_at: None,
            expires_in_s: None,
            queue_position: None,
            reason: Some(ClaimWhy {
                code,
                detail: cut(detail),
            }),
        };
        self.say_claim(acquisition, view);
    }

    /// A claim goes on to another state. At its end its resource is free, and those that wait for
    /// one are looked at.
    pub(super) fn move_claim(
        &mut self,
        claim: &ClaimId,
        state: ClaimState,
        why: Option<(ClaimReason, String)>,
    ) {
        let Some(acquisition) = self.state.claims.live.get(claim) else {
            return;
        };
        let (pool, owner) = (acquisition.pool.clone(), acquisition.owner.clone());
        let resource = acquisition.resource.clone();
        let lease = self.live.leases.get(claim);
        let heard_at = lease.map_or(acquisition.since, |lease| lease.heard_at);
        self.record(Fact::Claim(ClaimFact::Moved {
            claim: claim.clone(),
            state,
            why: why.map(|(code, detail)| ClaimWhy {
                code,
                detail: cut(detail),
            }),
            heard_at,
            at: self.now.wall,
        }));
        self.start_lease(claim);
        if is_terminal(state) {
            self.note_released(claim, &pool, resource, owner, state);
            self.promote(&pool);
        }
        self.watch_pool(&pool);
    }

    fn note_released(
        &mut self,
        claim: &ClaimId,
        pool: &protocol::PoolId,
        resource: Option<protocol::ResourceId>,
        owner: OwnerId,
        state: ClaimState,
    ) {
        let note = Note::Released {
            claim: claim.clone(),
            pool: pool.clone(),
            resource,
            owner,
            state,
            used: self.state.claims.used(pool),
            capacity: self.capacity_of(pool),
        };
        self.note(note);
    }
}

fn past_body(said: &ByOwner, state: ClaimState) -> ReplyBody {
    ReplyBody::Claim(ClaimBody {
        claim_id: Some(said.claim_id.clone()),
        state: Some(state),
        ..ClaimBody::default()
    })
}

fn ended(claim: &ClaimId) -> Refused {
    (Code::ClaimExpired, format!("claim_id {claim} has ended"))
}

fn misplaced(claim: &ClaimId, state: ClaimState) -> Refused {
    (Code::WrongState, format!("claim_id {claim} is {state}"))
}
