//! Turns: tickets of a department, taken and called in one order, from 1 on each day (R-TURN).
//!
//! The day is that of the configured time zone at the moment of the step, and never goes back: a
//! number of a day is given once, whatever the clock does. Whoever still waits when the day ends is
//! not carried over.

mod ask;
mod fact;
mod kept;
mod tend;
mod view;

pub use fact::TurnFact;
pub use kept::{Department, Ticket, TicketStatus};
pub use view::TurnView;
