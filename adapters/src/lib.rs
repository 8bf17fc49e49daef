//! How elevator hardware is told what to do, and how it is asked what it does.
//!
//! This crate knows commands and observations ([`protocol::hardware`]); it knows no orders, robots
//! or rules. It never retries a command and never says more than a controller showed.
//!
//! # Layout
//!
//! * [`driver`]: the port. One driver is one line: a bus connection with all its elevators.
//! * [`map`]: register maps, which are configuration: where in a device which point lies.
//! * [`bus`]: the owner of a line: Modbus TCP, Modbus RTU, or frames of a maker.
//! * [`rtu`]: a Modbus RTU master on any stream of bytes.
//! * [`rs485`]: a master for the frames of makers that have their own.
//! * [`mqtt`]: controllers that speak MQTT themselves, a pure translation without a client.

mod backoff;
pub mod bus;
#[cfg(feature = "crash-points")]
pub mod crash;
pub mod driver;
pub mod map;
pub mod mqtt;
pub mod rs485;
pub mod rtu;
