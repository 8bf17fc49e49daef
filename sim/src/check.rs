//! What must never happen in a world, and what must: a small reference model written from
//! `wire.md` and `ride.md`, fed with what is [`Seen`].
//!
//! It takes nothing of `dispatch` but inputs, effects and the configuration, and each thing is
//! judged when it is seen, at the cost of what it changes.

mod seen;
mod trace;

use dispatch::SiteConfig;
use protocol::Outgoing;

use crate::record::{Entry, Record};

pub use self::seen::{Seen, Step};
pub use self::trace::Trace;

/// Judges a world.
#[derive(Debug)]
pub struct Checker {
    record: Record,
    trace: Trace,
    violations: Vec<(u64, String)>,
}

impl Checker {
    /// A checker that has seen nothing.
    #[must_use]
    pub fn new(_site: &SiteConfig) -> Self {
        Self {
            record: Record::new(),
            trace: Trace::default(),
            violations: Vec::new(),
        }
    }

    /// Keeps only so many entries of the record for reading.
    #[must_use]
    pub fn keeping(mut self, entries: usize) -> Self {
        self.record = self.record.keeping(entries);
        self
    }

    /// Judges what happened at `now_ms` of the world; times never go back.
    pub fn saw(&mut self, now_ms: u64, seen: Seen<'_>) {
        self.trace.saw(now_ms, &seen);
        self.note(now_ms, seen);
    }

    /// Keeps the record of what truly happened.
    fn note(&mut self, now_ms: u64, seen: Seen<'_>) {
        match seen {
            Seen::Asked {
                robot,
                order,
                from,
                to,
            } => {
                self.record.asked(now_ms, robot, order, (from, to));
                self.record.keep(now_ms, || Entry::Asked {
                    robot: robot.clone(),
                    order: order.clone(),
                    from: from.clone(),
                    to: to.clone(),
                });
            }
            Seen::Received { command } => {
                self.record.command(now_ms, command);
                self.record.keep(now_ms, || Entry::Command(command.clone()));
            }
            Seen::Car { elevator, event } => {
                self.record.car(now_ms, elevator, event);
                self.record.keep(now_ms, || Entry::Car {
                    elevator: elevator.clone(),
                    event: event.clone(),
                });
            }
            Seen::Said {
                message: Outgoing::RideState(view),
                ..
            } => {
                let grant = view.elevator_id.as_ref().zip(view.fence);
                let (robot, order) = (&view.robot_id, &view.order_id);
                self.record.told(now_ms, robot, order, view.state, grant);
                self.record.keep(now_ms, || Entry::Told {
                    robot: robot.clone(),
                    order: order.clone(),
                    state: view.state,
                    instruction: view.instruction,
                    elevator: view.elevator_id.clone(),
                    fence: view.fence,
                });
            }
            Seen::Said { .. }
            | Seen::Published { .. }
            | Seen::Delivered { .. }
            | Seen::Acknowledged { .. }
            | Seen::Stepped(_)
            | Seen::Released { .. }
            | Seen::Synced { .. }
            | Seen::Sent { .. }
            | Seen::Dropped { .. }
            | Seen::Crosses { .. }
            | Seen::Started { .. }
            | Seen::Crashed { .. }
            | Seen::Ended { .. }
            | Seen::ClockJumped { .. }
            | Seen::Audited { .. } => {}
        }
    }

    /// What cars, controllers and robots saw, judged by itself.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The run as one number, and what was counted.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// What should not have happened, beside what [`Record::judge`] says.
    #[must_use]
    pub fn violations(&self) -> &[(u64, String)] {
        &self.violations
    }
}
