//! Whose turn it is next.

use std::collections::{BTreeMap, BTreeSet};

/// A part of the world that does things by itself. At one moment they act in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Broker,
    Gateway,
    Elevator(usize),
    Robot(usize),
}

/// One moment per part.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    by_time: BTreeSet<(u64, Part)>,
    by_part: BTreeMap<Part, u64>,
}

impl Schedule {
    /// Sets the moment of a part; `None` = it waits for others.
    pub(super) fn set(&mut self, part: Part, at_ms: Option<u64>) {
        let old_ms = self.by_part.get(&part).copied();
        if old_ms == at_ms {
            return;
        }
        if let Some(old_ms) = old_ms {
            self.by_time.remove(&(old_ms, part));
        }
        if let Some(at_ms) = at_ms {
            self.by_part.insert(part, at_ms);
            self.by_time.insert((at_ms, part));
        } else {
            self.by_part.remove(&part);
        }
    }

    /// The next moment of all.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.by_time.first().map(|(at_ms, _)| *at_ms)
    }

    /// Takes out the next part whose moment is not after `limit_ms`.
    pub(super) fn take_due(&mut self, limit_ms: u64) -> Option<(u64, Part)> {
        let (at_ms, part) = *self.by_time.first()?;
        if at_ms > limit_ms {
            return None;
        }
        self.set(part, None);
        Some((at_ms, part))
    }
}
