//! What a line is made of.

use protocol::{ElevatorId, ZoneId};

use super::device::Device;
use crate::map::{MappedFloor, Table};
use crate::rtu::serial::SerialConfig;

/// The waits of a line, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTiming {
    /// To open the connection or the port.
    pub connect_ms: u64,
    /// For the reply to a request; over RTU the longest time-out, each unit has its own
    /// ([`RtuTiming::wait`](crate::rtu::RtuTiming::wait)).
    pub request_ms: u64,
    /// After the first failure in a row.
    pub backoff_min_ms: u64,
    /// After many of the line itself.
    pub backoff_max_ms: u64,
    /// After many of one unit.
    pub unit_backoff_max_ms: u64,
    /// Without a reading of a fire input, until its signal is lost.
    pub fire_lost_ms: u64,
}

impl Default for LineTiming {
    /// A command with its fence is answered, or is not, within the 2 s of `accept_s` (`wire.md`
    /// section 7); a reply over TCP that takes longer comes from a peer that stands still. Backoff
    /// of 0.2 to 10 s as for the broker; of a unit to 3 s, so that one that is back within `silent_s`
    /// is read before the elevator counts as silent. A fire input is lost after `reading_fresh_s`: one reply that
    /// is late is no fire.
    fn default() -> Self {
        Self {
            connect_ms: 1_000,
            request_ms: 800,
            backoff_min_ms: 200,
            backoff_max_ms: 10_000,
            unit_backoff_max_ms: 3_000,
            fire_lost_ms: 3_000,
        }
    }
}

/// An elevator on a line.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The elevator.
    pub elevator: ElevatorId,
    /// Its unit on the line.
    pub unit: u8,
    /// The unit that takes what is written, where it is another one: a relay board.
    pub relay_unit: Option<u8>,
    /// What it is driven by. All units of a line speak Modbus, or all the same maker's frames.
    pub device: Device,
    /// Its floors, from the lowest.
    pub floors: Vec<MappedFloor>,
}

/// The fire input of a zone (`wire.md` section 7, `[[zones]]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneInput {
    /// The zone.
    pub zone: ZoneId,
    /// The Modbus unit that it is wired to.
    pub unit: u8,
    /// Its table.
    pub point: Table,
    /// Its address, from 0.
    pub address: u16,
    /// What it reads while there is no fire; bits are 0 or 1.
    pub clear: u16,
}

/// What carries a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// Modbus TCP.
    Tcp {
        /// `host:port`.
        address: String,
    },
    /// Modbus RTU, or the frames of a maker, on a serial port of this machine.
    Serial(SerialConfig),
    /// The same frames over a TCP connection, to a converter that passes them on as they are.
    RtuOverTcp {
        /// `host:port`.
        address: String,
    },
}

impl Transport {
    /// Where it leads: the address, or the path of the port.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Tcp { address } | Self::RtuOverTcp { address } => address.clone(),
            Self::Serial(config) => config.path.display().to_string(),
        }
    }
}

/// What a line is made of.
#[derive(Debug, Clone)]
pub struct LineConfig {
    /// What carries it.
    pub transport: Transport,
    /// The elevators.
    pub units: Vec<Unit>,
    /// The fire inputs.
    pub zones: Vec<ZoneInput>,
    /// The waits.
    pub timing: LineTiming,
    /// Of the jitter.
    pub seed: u64,
}
