//! A building to try hallcall on.
//!
//! # Layout
//!
//! * [`car`]: the physics of one car: shaft, doors, calls, people. No clock of its own.
//! * [`check`]: what must never happen in a world, and what must.
//! * [`explore`]: worlds from seeds, with faults of every kind, until one breaks a law.
//! * [`live`]: the same cars on real sockets and real time, with real robots.
//! * [`matrix`]: every point at which a gateway can be cut off, for every kind of fact.
//! * [`record`]: the simulator's own record of what happened, and its judgement of it. It takes
//!   nothing from the gateway but what arrived at controllers and robots.
//! * [`small`]: a world so small that all that can happen in it is looked at.
//! * [`world`]: core, edge, real messages, a model disk and a model broker in one thread on a
//!   virtual clock.

pub mod car;
pub mod check;
pub mod explore;
pub mod live;
pub mod matrix;
pub mod record;
pub mod small;
pub mod world;
