//! `hallcall bus` against simulated lines. What was on the wire is told by the simulator's own
//! record, or by a peer that is played byte by byte (issue 4, part 5).

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used, unreachable_pub)]

mod ask;
mod line;
mod listen;
mod site;
#[path = "../support/mod.rs"]
mod support;
