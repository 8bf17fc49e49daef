//! What a unit can be asked, and the bytes of it.

use std::fmt;

use super::crc::seal;
use crate::map::Table;

/// The value with which function 05 sets a coil (Modbus application protocol 1.1b3, section 6.5).
pub const COIL_ON: u16 = 0xFF00;
/// The value with which function 05 resets a coil.
pub const COIL_OFF: u16 = 0x0000;

/// Bits of one read (sections 6.1 and 6.2).
const READ_BITS_MAX: usize = 2_000;
/// Registers of one read (sections 6.3 and 6.4).
const READ_WORDS_MAX: usize = 125;
/// Coils of one write (section 6.11).
const WRITE_BITS_MAX: usize = 1_968;
/// Registers of one write (section 6.12).
const WRITE_WORDS_MAX: usize = 123;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Functions 01, 02, 03 and 04.
    Read {
        /// Which table.
        table: Table,
        /// The first address, from 0.
        address: u16,
        /// How many points: 1 to 2000 bits or 125 registers.
        count: u16,
    },
    /// Function 05.
    WriteCoil {
        /// Which coil.
        address: u16,
        /// [`COIL_ON`], [`COIL_OFF`], or what a maker has given a meaning of its own.
        value: u16,
    },
    /// Function 06.
    WriteRegister {
        /// Which register.
        address: u16,
        /// What it shall hold.
        value: u16,
    },
    /// Function 15.
    WriteCoils {
        /// The first coil.
        address: u16,
        /// The states, 1 to 1968.
        states: Vec<bool>,
    },
    /// Function 16.
    WriteRegisters {
        /// The first register.
        address: u16,
        /// What they shall hold, 1 to 123.
        words: Vec<u16>,
    },
}

/// A request that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequest {
    /// Which part of it.
    pub field: &'static str,
    /// Its value.
    pub value: usize,
    /// The least that would be right.
    pub min: usize,
    /// The most.
    pub max: usize,
}

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            value,
            min,
            max,
        } = self;
        write!(f, "{field} = {value}: expected {min} to {max}")
    }
}

impl std::error::Error for BadRequest {}

impl Request {
    /// Its function code.
    #[must_use]
    pub fn function(&self) -> u8 {
        match self {
            Self::Read { table, .. } => match table {
                Table::Coil => 1,
                Table::Discrete => 2,
                Table::Holding => 3,
                Table::Input => 4,
            },
            Self::WriteCoil { .. } => 5,
            Self::WriteRegister { .. } => 6,
            Self::WriteCoils { .. } => 15,
            Self::WriteRegisters { .. } => 16,
        }
    }

    /// The first address that it is about.
    #[must_use]
    pub fn address(&self) -> u16 {
        match self {
            Self::Read { address, .. }
            | Self::WriteCoil { address, .. }
            | Self::WriteRegister { address, .. }
            | Self::WriteCoils { address, .. }
            | Self::WriteRegisters { address, .. } => *address,
        }
    }

    /// The frame of it, checksum and all, for a unit.
    ///
    /// # Errors
    /// A unit that is 0 (a broadcast has no reply), too few or too many points, or points beyond
    /// address 65535.
    pub fn frame(&self, unit: u8) -> Result<Vec<u8>, BadRequest> {
        between("unit", usize::from(unit), 1, 255)?;
        self.check()?;
        let (count, _) = self.count();
        let mut bytes = vec![unit, self.function()];
        bytes.extend_from_slice(&self.address().to_be_bytes());
        // At most 2000, checked above.
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        match self {
            Self::Read { .. } => bytes.extend_from_slice(&count.to_be_bytes()),
            Self::WriteCoil { value, .. } | Self::WriteRegister { value, .. } => {
                bytes.extend_from_slice(&value.to_be_bytes());
            }
            Self::WriteCoils { states, .. } => {
                bytes.extend_from_slice(&count.to_be_bytes());
                put(&mut bytes, states.chunks(8).map(packed));
            }
            Self::WriteRegisters { words, .. } => {
                bytes.extend_from_slice(&count.to_be_bytes());
                put(&mut bytes, words.iter().flat_map(|word| word.to_be_bytes()));
            }
        }
        Ok(seal(bytes))
    }

    /// Whether it can be asked at all.
    pub(crate) fn check(&self) -> Result<(), BadRequest> {
        let (count, max) = self.count();
        between("count", count, 1, max)?;
        let room = 65_536 - usize::from(self.address());
        between("count", count, 1, room)
    }

    /// How many points it is about, and the most that its function takes.
    fn count(&self) -> (usize, usize) {
        match self {
            Self::Read { table, count, .. } if table.is_bits() => {
                (usize::from(*count), READ_BITS_MAX)
            }
            Self::Read { count, .. } => (usize::from(*count), READ_WORDS_MAX),
            Self::WriteCoil { .. } | Self::WriteRegister { .. } => (1, 1),
            Self::WriteCoils { states, .. } => (states.len(), WRITE_BITS_MAX),
            Self::WriteRegisters { words, .. } => (words.len(), WRITE_WORDS_MAX),
        }
    }
}

fn between(field: &'static str, value: usize, min: usize, max: usize) -> Result<(), BadRequest> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(BadRequest {
        field,
        value,
        min,
        max,
    })
}

/// Adds data behind its length; a request has at most 246 bytes of it.
fn put(bytes: &mut Vec<u8>, data: impl Iterator<Item = u8>) {
    let data: Vec<u8> = data.collect();
    bytes.push(u8::try_from(data.len()).unwrap_or(u8::MAX));
    bytes.extend(data);
}

/// Up to eight states in a byte, the first one lowest.
fn packed(states: &[bool]) -> u8 {
    let bits = states.iter().enumerate();
    bits.fold(0, |byte, (at, state)| byte | (u8::from(*state) << at))
}
