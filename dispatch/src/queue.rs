//! The queue: who is next when a car frees, and what a waiter is told meanwhile.

use std::cmp::Reverse;

use protocol::ride::{Reason, RideState};
use protocol::{ElevatorId, OrderId, ReasonCode, limits};

use crate::rank::Rank;
use crate::state::Ride;
use crate::step::{Step, reason};

/// A position or an estimate is told again after this (`wire.md` section 4).
const TELL_MS: u64 = 5_000;
/// How long a ride takes where none was seen yet, for estimates only.
const RIDE_MS_GUESS: u64 = 60_000;

impl Step<'_> {
    /// Puts a ride into the queue, or ranks it anew where it is in it.
    pub(crate) fn enqueue(&mut self, order: &OrderId) {
        if let Some(ride) = self.state.rides.get(order) {
            let (rank, able) = (self.rank(ride), self.able(ride));
            self.live.queued.put(rank, able);
        }
    }

    /// The rank of a queued ride at this moment.
    fn rank(&self, ride: &Ride) -> Rank {
        let policy = &self.config.queue;
        let progress = self.live.rides.get(&ride.order);
        let born = progress.map_or(0, |progress| progress.born_ms);
        let promoted = self.is_promoted(&ride.order);
        let mut score = 0;
        if policy.ageing {
            score -= born;
        }
        if !promoted {
            score += i64::from(ride.priority) * signed(policy.priority_step_ms);
            score += signed(self.door_bonus_ms(&ride.order));
        }
        Rank {
            promoted,
            score,
            born: Reverse(born),
            order: Reverse(ride.order.clone()),
        }
    }

    /// A robot at the door is worth the whole bonus, one on its way less the later it comes.
    fn door_bonus_ms(&self, order: &OrderId) -> u64 {
        let whole = self.config.queue.at_door_ms;
        let Some(progress) = self.live.rides.get(order) else {
            return 0;
        };
        if progress.at_door {
            return whole;
        }
        let away = progress
            .at_door_ms
            .map(|at| at.saturating_sub(self.now.mono_ms));
        away.map_or(0, |away| whole.saturating_sub(away) / 2)
    }

    /// The waiters, first the one that is served first: now and then one of low class that has
    /// waited for `promote_s`.
    pub(crate) fn next_waiters(&self) -> impl Iterator<Item = &OrderId> {
        let due = self.live.grants_since_reserved.saturating_add(1);
        let reserved = (due >= self.config.queue.reserved_every)
            .then(|| {
                let promoted = self.live.queued.ranked().take_while(|rank| rank.promoted);
                let mut orders = promoted.map(|rank| &rank.order.0);
                orders.find(|order| self.is_low_class(order))
            })
            .flatten();
        let others = self.live.queued.ranked().map(|rank| &rank.order.0);
        reserved.into_iter().chain(others)
    }

    /// It has waited for `promote_s`.
    pub(crate) fn is_promoted(&self, order: &OrderId) -> bool {
        let born = self
            .live
            .rides
            .get(order)
            .map_or(0, |progress| progress.born_ms);
        let age = signed(self.now.mono_ms).saturating_sub(born);
        mutate!(
            NoPromotion,
            age >= signed(self.config.timing.promote_ms),
            false
        )
    }

    /// Low class: less than the usual priority, or not at the door.
    pub(crate) fn is_low_class(&self, order: &OrderId) -> bool {
        let Some(ride) = self.state.rides.get(order) else {
            return false;
        };
        let at_door = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.at_door);
        ride.priority < limits::PRIORITY_DEFAULT || !at_door
    }

    /// The place of a queued ride, from 1.
    pub(crate) fn queue_position(&self, order: &OrderId) -> Option<u32> {
        let place = self.live.queued.position(order)?;
        u32::try_from(place).ok()
    }

    /// How many queued rides an elevator could serve.
    pub(crate) fn queue_length(&self, elevator: &ElevatorId) -> u32 {
        let place = self.reach.place(elevator);
        let able = place.map_or(0, |place| self.live.queued.able(place));
        u32::try_from(able).unwrap_or(u32::MAX)
    }

    /// An estimate: until the grant for a queued ride, until the car comes for a granted one.
    pub(crate) fn eta_ms(&self, ride: &Ride, position: Option<u32>) -> Option<u64> {
        match ride.state {
            RideState::Queued => {
                let able = u64::from(self.able(ride).len().max(1));
                let rounds = u64::from(position?).div_ceil(able);
                Some(rounds.saturating_mul(self.mean_ride_ms()))
            }
            RideState::Granted | RideState::WaitingHallCall => {
                let cost_ms = self.travel_cost_ms(ride.elevator.as_ref()?, ride);
                (cost_ms < u64::MAX).then_some(cost_ms)
            }
            RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => None,
        }
    }

    fn mean_ride_ms(&self) -> u64 {
        if self.live.mean_ride_ms == 0 {
            RIDE_MS_GUESS
        } else {
            self.live.mean_ride_ms
        }
    }

    /// A ride came to its end: it counts in the mean with one eighth.
    pub(crate) fn note_ride_end(&mut self, order: &OrderId) {
        let Some(progress) = self.live.rides.get(order) else {
            return;
        };
        if progress.granted_ms > 0 {
            let took = self.now.mono_ms.saturating_sub(progress.granted_ms);
            self.live.mean_ride_ms = (self.mean_ride_ms().saturating_mul(7) + took) / 8;
        }
    }

    /// Why a queued ride waits.
    pub(crate) fn why_queued(&self, ride: &Ride) -> Reason {
        let mut why = reason(ReasonCode::Suspended, "every able elevator is suspended");
        for id in self.ids(self.able(ride)) {
            if self.is_suspended(id) {
                continue;
            }
            if self.is_fit(id) {
                return reason(ReasonCode::Busy, "every able elevator serves another order");
            }
            why = reason(ReasonCode::Unavailable, "no able elevator is fit for use");
        }
        why
    }

    /// Tells waiters that their place, estimate or reason changed, at most every 5 s each.
    pub(crate) fn tell_waiters(&mut self) {
        let orders: Vec<OrderId> = self.live.queued.orders().cloned().collect();
        for order in orders {
            self.enqueue(&order);
            let Some(ride) = self.state.rides.get(&order) else {
                continue;
            };
            let Some(progress) = self.live.rides.get(&order) else {
                continue;
            };
            if self.now.mono_ms < progress.told_ms.saturating_add(TELL_MS) {
                continue;
            }
            let why = self.why_queued(ride);
            if ride.reason.as_ref().map(|reason| reason.code) != Some(why.code) {
                self.explain(&order, protocol::ride::Instruction::Wait, why);
                continue;
            }
            let view = self.view(ride);
            let moved = progress.shown.as_ref().is_none_or(|shown| {
                (shown.queue_position, shown.eta_s) != (view.queue_position, view.eta_s)
            });
            if moved {
                self.show(&order);
            }
        }
    }
}

/// A moment or span as a signed number; none is ever near the limit.
pub(crate) fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
