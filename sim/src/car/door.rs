//! One door of a car.

use protocol::hardware::Door;

/// What a door does, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Opening { until_ms: u64 },
    Open { since_ms: u64 },
    Closing { until_ms: u64 },
}

/// A door that opens, stays open for its dwell and its hold, and closes by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoorMachine {
    phase: Phase,
    /// It closes no earlier than this: what holds asked for.
    hold_until_ms: u64,
    /// Whether the dwell was cut short by the close button.
    dwell_waived: bool,
}

/// What a door may do beyond opening and closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conditions {
    pub(super) open_ms: u64,
    pub(super) close_ms: u64,
    pub(super) dwell_ms: u64,
    /// Whether something stands in the doorway: then it opens again instead of closing.
    pub(super) blocked: bool,
    /// It does not start to close.
    pub(super) stays_open: bool,
}

impl DoorMachine {
    pub(super) fn closed() -> Self {
        Self {
            phase: Phase::Closed,
            hold_until_ms: 0,
            dwell_waived: false,
        }
    }

    pub(super) fn seen(&self) -> Door {
        match self.phase {
            Phase::Closed => Door::Closed,
            Phase::Opening { .. } => Door::Opening,
            Phase::Open { .. } => Door::Open,
            Phase::Closing { .. } => Door::Closing,
        }
    }

    /// When it changes by itself next.
    pub(super) fn next_ms(&self, conditions: Conditions) -> Option<u64> {
        match self.phase {
            Phase::Closed => None,
            Phase::Opening { until_ms } | Phase::Closing { until_ms } => Some(until_ms),
            Phase::Open { .. } if conditions.stays_open => None,
            Phase::Open { since_ms } => Some(self.closes_at_ms(since_ms, conditions)),
        }
    }

    /// Does what is due at `now_ms`; says whether it would have closed and opens again instead.
    pub(super) fn turn(&mut self, now_ms: u64, conditions: Conditions, reopen: bool) -> bool {
        match self.phase {
            Phase::Opening { until_ms } if until_ms <= now_ms => {
                self.phase = Phase::Open { since_ms: until_ms };
                self.dwell_waived = false;
            }
            Phase::Open { since_ms }
                if !conditions.stays_open && self.closes_at_ms(since_ms, conditions) <= now_ms =>
            {
                self.phase = Phase::Closing {
                    until_ms: now_ms + conditions.close_ms,
                };
            }
            Phase::Closing { until_ms } if until_ms <= now_ms => {
                if conditions.blocked || reopen {
                    self.phase = Phase::Opening {
                        until_ms: now_ms + conditions.open_ms,
                    };
                    return true;
                }
                self.phase = Phase::Closed;
                self.hold_until_ms = 0;
            }
            Phase::Closed | Phase::Opening { .. } | Phase::Open { .. } | Phase::Closing { .. } => {}
        }
        false
    }

    /// Opens, or stays open for another dwell.
    pub(super) fn open(&mut self, now_ms: u64, conditions: Conditions) {
        match self.phase {
            Phase::Closed => {
                self.phase = Phase::Opening {
                    until_ms: now_ms + conditions.open_ms,
                }
            }
            Phase::Closing { until_ms } => {
                // Opens the part that it had closed.
                let closed_ms = conditions
                    .close_ms
                    .saturating_sub(until_ms.saturating_sub(now_ms));
                let back_ms = closed_ms * conditions.open_ms / conditions.close_ms.max(1);
                self.phase = Phase::Opening {
                    until_ms: now_ms + back_ms,
                };
            }
            Phase::Open { .. } => {
                self.phase = Phase::Open { since_ms: now_ms };
                self.dwell_waived = false;
            }
            Phase::Opening { .. } => {}
        }
    }

    /// Keeps it open until then at least.
    pub(super) fn hold(&mut self, until_ms: u64) {
        self.hold_until_ms = self.hold_until_ms.max(until_ms);
    }

    /// Ends holds; the dwell goes on.
    pub(super) fn release(&mut self) {
        self.hold_until_ms = 0;
    }

    /// Ends holds and dwell: an open door closes at once.
    pub(super) fn close(&mut self) {
        self.hold_until_ms = 0;
        self.dwell_waived = true;
    }

    fn closes_at_ms(&self, since_ms: u64, conditions: Conditions) -> u64 {
        let dwell_ms = if self.dwell_waived {
            0
        } else {
            conditions.dwell_ms
        };
        (since_ms + dwell_ms).max(self.hold_until_ms)
    }
}
