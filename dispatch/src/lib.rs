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

pub mod config;
pub mod edge;
pub mod effect;
pub mod fact;
pub mod input;

pub use config::{ElevatorConfig, Limits, ServedFloor, SiteConfig, Timing, ZoneConfig};
pub use effect::{Effect, Effects, OperatorAnswer};
pub use fact::{ElevatorFact, Fact, KeptUntil, RideFact, SiteFact};
pub use input::{Input, Now, OperatorAction, OperatorRequest, ResolveOutcome};
