//! A table of moments at which something is due, and the earliest of them.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{ClaimId, DeviceId, ElevatorId, OrderId, PoolId, RentalId};

/// Whose moment it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKey {
    /// The sweep over all rides.
    Sweep,
    /// The alarms that are repeated.
    Alarms,
    /// The end of the day.
    Day,
    /// The sweep over all claims.
    ClaimSweep,
    /// A claim: its deadline, or the end of its wait.
    Claim(ClaimId),
    /// A pool: more for those that wait, or a minute that it was nearly full.
    Pool(PoolId),
    /// A rental: the end of its hold, or a command that is told again.
    Rental(RentalId),
    /// A device: to be asked, or silent.
    Device(DeviceId),
    /// An elevator: polls, answers, holds, and the ride that owns it.
    Elevator(ElevatorId),
    /// A ride without an elevator: lease, expiry, promotion.
    Ride(OrderId),
}

/// The table. One moment per key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timers {
    by_time: BTreeSet<(u64, TimerKey)>,
    by_key: BTreeMap<TimerKey, u64>,
}

impl Timers {
    /// Sets the moment of a key; `None` removes it.
    pub(crate) fn set(&mut self, key: TimerKey, at_ms: Option<u64>) {
        if self.by_key.get(&key).copied() == at_ms {
            return;
        }
        if let Some(old) = self.by_key.remove(&key) {
            self.by_time.remove(&(old, key.clone()));
        }
        if let Some(at) = at_ms {
            self.by_key.insert(key.clone(), at);
            self.by_time.insert((at, key));
        }
    }

    /// Brings the moment of a key forward to `at_ms`, never back.
    pub(crate) fn hasten(&mut self, key: TimerKey, at_ms: u64) {
        if self.by_key.get(&key).is_none_or(|old| *old > at_ms) {
            self.set(key, Some(at_ms));
        }
    }

    /// The earliest moment.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes out the earliest key that is due.
    pub(crate) fn pop_due(&mut self, now_ms: u64) -> Option<TimerKey> {
        let (at, _) = self.by_time.first()?;
        if *at > now_ms {
            return None;
        }
        let (_, key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_each_key_once() {
        let mut timers = Timers::default();
        timers.set(TimerKey::Sweep, Some(50));
        timers.set(TimerKey::Alarms, Some(10));
        timers.set(TimerKey::Alarms, Some(70));
        timers.hasten(TimerKey::Sweep, 40);
        timers.hasten(TimerKey::Sweep, 60);
        assert_eq!(timers.next_ms(), Some(40));
        assert_eq!(timers.pop_due(39), None);
        assert_eq!(timers.pop_due(80), Some(TimerKey::Sweep));
        assert_eq!(timers.pop_due(80), Some(TimerKey::Alarms));
        assert_eq!(timers.pop_due(80), None);
    }
}
