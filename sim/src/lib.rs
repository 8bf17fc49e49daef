//! A building to try hallcall on.
//!
//! # Layout
//!
//! * [`car`]: the physics of one car: shaft, doors, calls, people. No clock of its own.
//! * [`record`]: the simulator's own record of what happened, and its judgement of it. It takes
//!   nothing from the gateway but what arrived at controllers and robots.

pub mod car;
pub mod record;
