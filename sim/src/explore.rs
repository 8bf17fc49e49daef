//! Deterministic exploration: from one seed a building with faults of every kind, run for hours on
//! a virtual clock, every law looked at after every step.
//!
//! # Layout
//!
//! * [`plan`]: all that is done in a run, as data and as text. [`draw`]: a plan from a seed.
//! * [`run`]: a plan played; `perform`: deeds done; `stage`: the world of a plan; `end`: faults are
//!   over, and everything must come to an end; `excuse`: what is not judged; [`attendant`]: those
//!   who look after the building; [`fault`]: the kinds of faults and their counters.
//! * [`shrink`]: a plan that fails, made small; [`script`]: as a transcript for people.
//! * [`sweep`]: many seeds on several threads.

pub mod attendant;
pub mod draw;
mod end;
mod excuse;
pub mod fault;
mod perform;
pub mod plan;
pub mod run;
pub mod script;
pub mod shrink;
mod stage;
pub mod sweep;

pub use self::draw::draw;
pub use self::plan::Plan;
pub use self::run::{Failure, Options, Outcome, Totals, run};
