//! The other side of the wire, for the simulator's robots, controllers and devices, for tests and for
//! tools: what they say, and how they read what the gateway says.

mod application;
mod device;
mod heard;
mod spoken;

pub use heard::{Head, HearError, Heard, Said};
pub use spoken::Spoken;
