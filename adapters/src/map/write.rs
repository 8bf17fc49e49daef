//! What a command is on a device.

use super::point::Table;

/// One write transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Write {
    /// One coil, by function 05, or 15 where `multiple`.
    Coil {
        /// Where.
        address: u16,
        /// What.
        on: bool,
        /// By function 15.
        multiple: bool,
    },
    /// One relay for a while that the board itself ends: by function 05 with a value that is a time.
    Flash {
        /// The relay's place among those of this command.
        address: u16,
        /// The time, in the board's own unit.
        value: u16,
    },
    /// Holding registers, by function 06, or 16 where `multiple`.
    Registers {
        /// Where.
        address: u16,
        /// What; one word unless `multiple`.
        words: Vec<u16>,
        /// By function 16.
        multiple: bool,
    },
}

impl Write {
    /// The point that it writes, the first one of several.
    pub(crate) fn point(&self) -> (Table, u16) {
        match self {
            Self::Coil { address, .. } | Self::Flash { address, .. } => (Table::Coil, *address),
            Self::Registers { address, .. } => (Table::Holding, *address),
        }
    }
}

/// One step of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// What is written.
    pub(crate) write: Write,
    /// What is written afterwards and how many milliseconds later, where a press has to be ended.
    pub(crate) off: Option<(u64, Write)>,
}

impl From<Write> for Step {
    fn from(write: Write) -> Self {
        Self { write, off: None }
    }
}
