//! What time does to rides that wait, and the sweep: leases, expiry, retention.

use protocol::ride::{Instruction, RideState};
use protocol::{OrderId, ReasonCode};

use crate::fact::{AnswerFact, Fact, KeptUntil, RideFact};
use crate::live::Robot;
use crate::queue::signed;
use crate::ride::Afterwards;
use crate::step::{Shift, Step};
use crate::timer::TimerKey;

/// What a robot is told about an ended ride is kept so long (`wire.md` section 4).
const ARCHIVE_MS: u64 = 3_600_000;
/// Orders forgotten, and rides archived, in one sweep at most: a step stays short, and what it
/// records is no more than a group of the journal.
const SWEEP_MAX: usize = 100;
/// From a sweep that left something to the next one: 5,000 orders a second.
const SWEEP_AGAIN_MS: u64 = 20;
/// A robot without a live ride is forgotten after so long without a word.
const ROBOT_FORGOTTEN_MS: u64 = 600_000;

impl Step<'_> {
    /// Lease, expiry and promotion of a ride.
    pub(crate) fn tend_ride(&mut self, order: &OrderId) {
        if self.live.frozen_since_ms.is_some() {
            return;
        }
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let Some(progress) = self.live.rides.get(order) else {
            return;
        };
        let now_ms = self.now.mono_ms;
        let lease_ends = progress
            .heard_ms
            .saturating_add(self.config.timing.lease_ms);
        let waits = match ride.state {
            RideState::Queued | RideState::Granted | RideState::WaitingHallCall => true,
            RideState::ElevatorArrived => !ride.inside,
            RideState::Hold if mutate!(HoldLeased, false, true) => true,
            RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => false,
        };
        let queued = ride.state == RideState::Queued;
        if waits
            && now_ms
                >= mutate!(
                    LeaseShort,
                    lease_ends,
                    progress.heard_ms.saturating_add(15_000)
                )
        {
            self.lose_robot(order);
            return;
        }
        let expires_at = ride.expires_at.filter(|_| queued);
        if expires_at.is_some_and(|at| at <= self.now.wall) {
            let shift = Shift::to(RideState::Expired, Instruction::Clear)
                .because(ReasonCode::RequestExpired, "still queued at expires_at");
            self.leave(order, shift, Afterwards::Free);
            return;
        }
        let expiry = expires_at.map(|at| now_ms.saturating_add(at.since(self.now.wall)));
        let promote_ms = signed(self.config.timing.promote_ms);
        let promotion = u64::try_from(progress.born_ms.saturating_add(promote_ms))
            .ok()
            .filter(|at| queued && *at > now_ms);
        let next = [Some(lease_ends), expiry, promotion].into_iter().flatten();
        let next = next.filter(|at| *at > now_ms).min();
        let next = next.unwrap_or_else(|| now_ms.saturating_add(self.config.timing.sweep_ms));
        self.live
            .timers
            .set(TimerKey::Ride(order.clone()), Some(next));
        if queued {
            // It may have been promoted.
            self.enqueue(order);
        }
    }

    fn lose_robot(&mut self, order: &OrderId) {
        let Some(ride) = self.state.rides.get(order).cloned() else {
            return;
        };
        let afterwards = match (ride.state, &ride.elevator) {
            (RideState::WaitingHallCall, Some(elevator)) => {
                Afterwards::Keep(self.until_cleared(elevator, &ride))
            }
            (RideState::ElevatorArrived, Some(_)) => Afterwards::Keep(KeptUntil::Shut),
            (
                RideState::Queued
                | RideState::Granted
                | RideState::WaitingHallCall
                | RideState::ElevatorArrived
                | RideState::RobotEntered
                | RideState::Running
                | RideState::TargetArrived
                | RideState::RobotExited
                | RideState::Hold
                | RideState::Cancelled
                | RideState::Expired
                | RideState::Failed,
                _,
            ) => Afterwards::Free,
        };
        let detail = format!("{} was not heard for its lease while it waited", ride.robot);
        self.fail(order, ReasonCode::RobotLost, &detail, afterwards);
    }

    /// Every `sweep_s`: look at every elevator, tell waiters, drop what is past its time.
    pub(crate) fn sweep(&mut self) {
        let now_ms = self.now.mono_ms;
        let next = now_ms.saturating_add(self.config.timing.sweep_ms);
        self.live.timers.set(TimerKey::Sweep, Some(next));
        self.live
            .touched
            .extend(self.config.elevators.keys().cloned());
        self.live.dispatch_due = true;
        self.dispatch();
        self.tell_waiters();
        if self.archive_old() {
            let soon = self.now.mono_ms.saturating_add(SWEEP_AGAIN_MS);
            self.live.timers.set(TimerKey::Sweep, Some(soon));
        }
        self.forget_silent_clients();
        let robots = &self.state.robots;
        self.live.robots.retain(|id, robot: &mut Robot| {
            robots.contains_key(id) || now_ms < robot.heard_ms.saturating_add(ROBOT_FORGOTTEN_MS)
        });
    }

    /// Says whether more is old than one sweep takes.
    fn archive_old(&mut self) -> bool {
        let old = |at: protocol::Timestamp, now: protocol::Timestamp, span_ms: u64| {
            now.since(at) >= span_ms
        };
        let wall = self.now.wall;
        let archived: Vec<OrderId> = self
            .state
            .rides
            .values()
            .filter(|ride| ride.ended_at.is_some_and(|at| old(at, wall, ARCHIVE_MS)))
            .take(SWEEP_MAX)
            .map(|ride| ride.order.clone())
            .collect();
        let is_more = archived.len() >= SWEEP_MAX;
        for order in archived {
            self.record(Fact::Ride(RideFact::Archived { order }));
        }
        let retention_ms = self.config.limits.dedup_retention_s.saturating_mul(1000);
        let limit = protocol::Timestamp(wall.0.saturating_sub(retention_ms));
        for _ in 0..SWEEP_MAX {
            let Some(order) = self.state.ledger.oldest_ended(limit) else {
                return is_more;
            };
            let is_ride = self.state.ledger.find(&order).is_some();
            self.record(if is_ride {
                Fact::Ride(RideFact::Forgotten { order })
            } else {
                Fact::Answer(AnswerFact::Forgotten { order })
            });
        }
        true
    }
}
