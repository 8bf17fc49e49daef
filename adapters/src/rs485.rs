//! Makers that speak frames of their own over a serial line: bytes that begin and end a frame, a
//! unit, a code, a payload and a checksum. What they look like is configuration, a *frame profile*;
//! `configs/frames/kestrel.toml` explains every key.
//!
//! # What it promises
//!
//! * A frame counts by its content: where it begins and ends, its length, its code and its
//!   checksum. Junk, cut and merged frames, frames of others and the echo of our own bytes are
//!   passed over, and what is whole behind them is found: no byte that comes holds up another frame.
//! * An answer is one to what was asked: of the unit, of the code, and where the maker numbers its
//!   frames, of the number. Where it does not, a unit that did not answer is asked again only when
//!   its answer has come or `late_ms` have passed, so that a late one is not the next one's
//!   (T-LIFT-43).
//! * What a unit reports without being asked is kept apart, and is no answer.
//! * Every wait has an end. Nothing is sent twice.

mod answers;
mod checksum;
mod commands;
mod decoder;
mod error;
mod framing;
mod framing_section;
mod master;
mod profile;

pub use self::answers::{Message, Verdict};
pub use self::checksum::{Checksum, ChecksumKind};
pub use self::decoder::Decoder;
pub use self::error::{FrameError, FrameMiss};
pub use self::framing::{Frame, Framing, Head, Way};
pub use self::master::{FrameMaster, Unasked};
pub use self::profile::FrameProfile;

#[cfg(test)]
mod tests;
