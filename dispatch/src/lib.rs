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
//! * [`state`] is the fold of facts, [`ledger`] what orders are remembered by, `keep` both as
//!   bytes; `live` is what is known only while the process runs.
//! * `core` takes one input; `hearing` is what comes from robots; `step` is one at work:
//!   `request` admits, `queue`, `rank` and `assign` give elevators, `ride` is the table of
//!   `ride.md`, `command` and `effort` talk to elevators, `observe` and `sight` say what may be
//!   believed, `sweep` is what time does, `operator` and `site` what people do, `invariant` the
//!   laws as code, `render`, `elevator_view` and `watch` what others are told.
//! * `client` is what comes from applications, for all their workflows; `series` gives numbers,
//!   `turn` tickets, `claim` resources.
//! * [`edge`]: journal, barrier, acknowledgements, outbox and fence gate, all without I/O.

#[macro_use]
#[cfg(not(feature = "mutants"))]
mod mutant;
#[macro_use]
#[cfg(feature = "mutants")]
pub mod mutant;

mod alarm;
mod assign;
mod claim;
mod client;
mod command;
pub mod config;
mod core;
pub mod edge;
pub mod effect;
mod effort;
mod elevator;
mod elevator_view;
pub mod fact;
mod hearing;
pub mod input;
mod invariant;
mod keep;
pub mod ledger;
mod live;
mod observe;
mod operator;
mod queue;
mod rank;
mod reach;
mod render;
mod rental;
mod request;
mod ride;
mod series;
mod sight;
mod site;
pub mod state;
mod step;
mod sweep;
mod timer;
mod turn;
mod watch;

pub use claim::{Acquisition, ClaimFact, ClaimRow, Claims, PoolView};
pub use config::{
    Applications, CivilZone, ElevatorConfig, Limits, PoolConfig, QueuePolicy, Quota, RentalConfig,
    ResourceClass, SeriesConfig, ServedFloor, SiteConfig, Timing, WhenFull, ZoneConfig,
};
pub use core::Core;
pub use effect::{Effect, Effects, Note, OperatorAnswer};
pub use fact::{AnswerFact, ElevatorFact, Fact, KeptUntil, RideFact, SiteFact};
pub use input::{Input, Now, OperatorAction, OperatorRequest, ResolveOutcome};
pub use keep::{LoadError, ledger_changes, read_row};
pub use ledger::Ledger;
pub use rental::{Device, Rental, RentalFact, RentalRow, Rentals};
pub use series::{Row as SeriesRow, Series, SeriesFact, SeriesView};
pub use state::State;
pub use turn::{Department, Ticket, TicketStatus, TurnFact, TurnView};
