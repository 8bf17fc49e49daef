//! How elevator hardware is told what to do, and how it is asked what it does.
//!
//! This crate knows commands and observations ([`protocol::hardware`]); it knows no orders, robots
//! or rules. It never retries a command and never says more than a controller showed.
//!
//! # Layout
//!
//! * [`driver`]: the port. One driver is one line: a bus connection with all its elevators.
//! * [`map`]: register maps, which are configuration: where in a device which point lies.
//! * [`modbus`]: Modbus TCP lines, over a register map.
//! * [`rtu`]: a Modbus RTU master on any stream of bytes.
//! * [`mqtt`]: controllers that speak MQTT themselves, a pure translation without a client.

mod backoff;
#[cfg(feature = "crash-points")]
pub mod crash;
pub mod driver;
pub mod map;
pub mod modbus;
pub mod mqtt;
pub mod rtu;
