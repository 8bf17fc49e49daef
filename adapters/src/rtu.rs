//! A Modbus RTU master (Modbus over Serial Line V1.02) on any stream of bytes: a serial port
//! ([`serial`]), a TCP connection to a gateway that passes frames on, a pair of pipes in a test.
//!
//! ```no_run
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! use adapters::map::Table;
//! use adapters::rtu::{Request, RtuMaster, Seen, serial};
//!
//! let port = serial::open(&serial::SerialConfig::new("/dev/ttyUSB0", 19_200)).await?;
//! let mut line = RtuMaster::new(port.timing());
//! line.observe(Box::new(|at, seen| match seen {
//!     Seen::Sent(bytes) => tracing::debug!("{at:?} > {bytes:02x?}"),
//!     Seen::Heard(bytes) => tracing::debug!("{at:?} < {bytes:02x?}"),
//! }));
//! line.attach(port);
//! let read = Request::Read { table: Table::Holding, address: 0, count: 10 };
//! let reply = line.request(1, &read).await?;
//! # let _ = reply;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! * A reply counts by its content: unit, function, length, byte count, checksum, and for a write
//!   the echoed address and value or count. Noise, frames of others and our own echo are passed over.
//! * A late reply is never taken for the next one's (T-LIFT-43): after a time-out the line is left
//!   alone until it was silent for as long, and what the unit may still answer is remembered. A
//!   request whose reply would look like that is asked only after the unit has answered something
//!   that looks otherwise. This holds for units that answer in the order in which they are asked.
//! * On a line that echoes, the echo of a write by function 05 or 06, which looks like its reply,
//!   confirms nothing.
//! * Every wait has an end. Nothing is sent twice.

mod crc;
mod echo;
mod error;
mod exception;
mod figures;
mod hearing;
mod master;
mod observer;
mod owed;
mod patience;
mod probe;
mod reply;
mod request;
pub mod serial;
mod timing;

pub use self::crc::crc16;
pub use self::echo::{Echo, EchoTrace};
pub use self::error::RtuError;
pub use self::exception::Exception;
pub use self::figures::{LineFigures, UnitFigures};
pub use self::hearing::{Event, FRAME_MAX, Hearing, Miss};
pub use self::master::RtuMaster;
pub use self::observer::{Observer, Seen};
pub use self::reply::{Answer, Reply, Shape};
pub use self::request::{BadRequest, COIL_OFF, COIL_ON, Request};
pub use self::timing::RtuTiming;

#[cfg(test)]
pub(crate) mod tests;
