//! The other side of the wire, for the simulator's robots and controllers, for tests and for tools:
//! what robots and controllers say, and how they read what the gateway says.

mod application;
mod heard;
mod spoken;

pub use heard::{Head, HearError, Heard, Said};
pub use spoken::Spoken;
