//! The laws that a world is judged by, and what breaks one.

use std::fmt;

/// What must hold. `I` and `L` are the numbers of the reliability plan: safety at every step, and
/// liveness once the faults have stopped. `P` is the permission of `wire.md` section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// One elevator, one order; it is free again only by what was seen.
    I1,
    /// Fences only grow, per elevator, over restarts too.
    I2,
    /// No command leaves with a lower fence than the elevator has seen.
    I3,
    /// One command under way per elevator; an unanswered one is read first.
    I4,
    /// An order id rides once; a repetition has the same answer.
    I5,
    /// The same id with another content is a conflict.
    I6,
    /// Acknowledged means durable, and in the order received.
    I7,
    /// Nothing is visible before its cause is durable.
    I8,
    /// Nobody boards but the owner, where the car was read level and open.
    I9,
    /// No door closes before the crossing is confirmed; none opens off level; held while open.
    I10,
    /// A request is answered by the table of `ride.md`.
    I11,
    /// Outside a mode that serves robots only `query` and `release` are said.
    I12,
    /// An elevator that was not read, is blocked, out of service or suspended is not granted.
    I13,
    /// What the journal gives back is what the process had in mind.
    I14,
    /// What is published keeps the bounds of the wire.
    I16,
    /// No robot sees another's order.
    I17,
    /// The journal opens after every crash that it promises to survive.
    I18,
    /// Deadlines and leases count on the clock that never jumps.
    I19,
    /// A ride moves only along the table, by fresh readings, and never ends with a robot inside.
    Ride,
    /// The core's own laws.
    Core,
    /// Every order comes to an end, or to HOLD with an alarm.
    L1,
    /// The car of a robot that died waiting is free again.
    L3,
    /// The queue runs empty when nobody asks any more.
    L5,
}

/// A law was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub law: Law,
    /// How.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.detail)
    }
}

/// Violations kept; one is already too many.
const FOUND_MAX: usize = 1_000;

/// What was found, with the moment of the world.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) now_ms: u64,
    pub(super) list: Vec<(u64, Violation)>,
}

impl Found {
    /// A law is broken.
    pub(super) fn add(&mut self, law: Law, detail: String) {
        if self.list.len() < FOUND_MAX {
            self.list.push((self.now_ms, Violation { law, detail }));
        }
    }

    /// A law is broken unless it holds.
    pub(super) fn check(&mut self, holds: bool, law: Law, detail: impl FnOnce() -> String) {
        if !holds {
            self.add(law, detail());
        }
    }
}
