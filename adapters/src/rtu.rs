//! A Modbus RTU master (Modbus over Serial Line V1.02) on any stream of bytes.

mod crc;
mod exception;
mod reply;
mod request;

pub use self::crc::crc16;
pub use self::exception::Exception;
pub use self::reply::{Answer, Reply, Shape};
pub use self::request::{BadRequest, COIL_OFF, COIL_ON, Request};
