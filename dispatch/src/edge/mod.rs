//! The pure rules of durability: what may be seen when, what is acknowledged in which order, what
//! is sent again, and which command is too old to leave.
//!
//! Used as it is by the gateway and by the simulator's world.
//!
//! # Layout
//!
//! * [`journal`]: the port behind which facts are kept. [`record`]: one fact on disk; [`chain`]:
//!   all of them, and what of them stands after a crash.
//! * [`barrier`]: nothing visible before its cause is durable. [`ack`]: acknowledgements in order.
//! * [`outbox`]: what is on its way to the broker. [`gate`]: the last look at a command.

pub mod ack;
pub mod barrier;
pub mod chain;
pub mod gate;
pub mod journal;
pub mod outbox;
pub mod record;

pub use ack::{AckLine, Ticket};
pub use barrier::Barrier;
pub use chain::{Anchor, Chain, Replay, replay};
pub use gate::{Dropped, FenceGate};
pub use journal::{Batch, Journal, JournalError, LedgerChange, Loaded, Seq};
pub use outbox::{Keep, Next, Outbox, Subject};

/// A bounded queue takes no more; the item comes back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the queue is full, it holds {capacity}")]
pub struct Full<T> {
    /// What was not taken.
    pub item: T,
    /// How many it holds.
    pub capacity: usize,
}
