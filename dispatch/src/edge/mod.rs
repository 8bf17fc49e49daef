//! The pure rules of durability: what may be seen when, what is acknowledged in which order, what
//! is sent again, and which command is too old to leave.
//!
//! Used as it is by the gateway and by the simulator's world.

pub mod journal;

pub use journal::{Batch, Journal, JournalError, LedgerChange, Loaded, Seq};
