//! The way to the broker: two connections with two client ids, because acknowledgements would wait
//! behind a full outgoing window.
//!
//! * [`Account`]: which broker, and as whom. [`Backoff`]: how soon to try again.
//! * [`ingest`]: what the gateway hears; every message is acknowledged when all that it caused is
//!   durable, in the order received, on the connection that brought it.
//! * [`egress`]: what the gateway says; a message leaves the outbox at its PUBACK.
//! * [`look`]: whether another gateway with our id lives, and what the broker still shows of ours,
//!   asked on a connection of its own before either of the two is taken.

mod account;
mod acks;
mod backoff;
pub mod egress;
pub mod ingest;
mod link;
pub mod look;
mod oddities;

pub use account::{Account, AccountError, Client};
pub use acks::{AckToken, Acks};
pub use backoff::Backoff;
pub use egress::Egress;
pub use look::Gate;
