//! Who gets what: the pure core, and the pure rules of durability around it.
//!
//! The core is one state machine: [`Core::step`] takes the moment and one [`Input`], and yields
//! facts to keep and effects to release once they are kept. It reads no clock, socket, file,
//! environment or random source, cannot fail and cannot panic on any input. It knows orders and
//! elevators, no topics and no JSON.
//!
//! # Layout
//!
//! * [`config`]: what a site is. [`input`], [`fact`], [`effect`]: what goes in and comes out.
//! * [`edge`]: journal, barrier, acknowledgements, outbox and fence gate, all without I/O.

mod alarm;
mod assign;
mod command;
pub mod config;
mod core;
pub mod edge;
pub mod effect;
pub mod fact;
pub mod input;
pub mod ledger;
mod live;
mod observe;
mod operator;
mod queue;
mod render;
mod request;
mod ride;
pub mod state;
mod timer;
mod turn;

pub use config::{
    ElevatorConfig, Limits, QueuePolicy, ServedFloor, SiteConfig, Timing, ZoneConfig,
};
pub use core::Core;
pub use effect::{Effect, Effects, OperatorAnswer};
pub use fact::{ElevatorFact, Fact, KeptUntil, RideFact, SiteFact};
pub use input::{Input, Now, OperatorAction, OperatorRequest, ResolveOutcome};
pub use ledger::LoadError;
pub use state::State;
