//! What an elevator on a line is driven by: a register map, or the frames of its maker.

use std::sync::Arc;

use protocol::hardware::{Change, Command, Reading};

use super::ask::Ask;
use crate::map::{Block, FloorTable, Group, Image, MapError, MappedFloor, RegisterMap, Step};
use crate::rs485::{FrameProfile, Message};

/// What tells where in a unit which point lies, and what a command is on the line.
// There are few of them, and they are made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Device {
    /// A Modbus unit with this register map.
    Registers(Box<RegisterMap>),
    /// A unit that speaks its maker's frames.
    Frames(Arc<FrameProfile>),
}

impl From<RegisterMap> for Device {
    fn from(map: RegisterMap) -> Self {
        Self::Registers(Box::new(map))
    }
}

impl From<Arc<FrameProfile>> for Device {
    fn from(profile: Arc<FrameProfile>) -> Self {
        Self::Frames(profile)
    }
}

/// One step of a command.
#[derive(Debug)]
pub(super) enum Move {
    /// Points are written.
    Points(Step),
    /// A frame is sent.
    Frame(Message),
}

impl Device {
    /// How often it is read, in milliseconds.
    #[must_use]
    pub fn poll_ms(&self) -> u64 {
        self.sight().poll_ms()
    }

    /// Whether it fits an elevator with these floors, from the lowest.
    ///
    /// # Errors
    /// Every mistake.
    pub fn check_floors(&self, floors: &[MappedFloor]) -> Result<(), Vec<MapError>> {
        match self {
            Self::Registers(map) => map.check_floors(floors),
            Self::Frames(profile) => profile.check_floors(floors),
        }
    }

    /// The floor number of each floor of an elevator.
    pub(super) fn floor_table(&self, floors: &[MappedFloor]) -> FloorTable {
        self.sight().floor_table(floors)
    }

    /// All that is read, the most often first.
    pub(super) fn groups(&self) -> Vec<Group> {
        match self {
            Self::Registers(map) => map.groups(),
            // One answer tells all.
            Self::Frames(profile) => vec![profile.sight().whole()],
        }
    }

    /// The reads of these groups.
    pub(super) fn blocks_of<'g>(&self, groups: impl IntoIterator<Item = &'g Group>) -> Vec<Block> {
        match self {
            Self::Registers(map) => map.blocks_of(groups),
            Self::Frames(profile) => vec![Block::bytes(profile.status_bytes())],
        }
    }

    /// What is asked for a block.
    pub(super) fn ask(&self, block: Block) -> Ask {
        match self {
            Self::Registers(_) => block.into(),
            Self::Frames(profile) => Ask::Frame(profile.status()),
        }
    }

    /// What an image says of an elevator with these floors.
    pub(super) fn reading(&self, image: &Image, floors: &FloorTable) -> Reading {
        self.sight().reading(image, floors)
    }

    /// What a report of its unit says; nothing where its units report nothing.
    pub(super) fn change(&self, payload: &[u8], floors: &FloorTable) -> Option<Change> {
        match self {
            Self::Registers(_) => None,
            Self::Frames(profile) => Some(profile.change(payload, floors)),
        }
    }

    /// The steps of a command, in order; none for a `query`, which is a reading.
    ///
    /// # Errors
    /// A sentence that names what is missing, or the value that does not fit.
    pub(super) fn steps(
        &self,
        command: &Command,
        floors: &FloorTable,
    ) -> Result<Vec<Move>, String> {
        match self {
            Self::Registers(map) => {
                let steps = map.steps(command, floors)?;
                Ok(steps.into_iter().map(Move::Points).collect())
            }
            Self::Frames(profile) => {
                let message = profile.message(command, floors)?;
                Ok(message.into_iter().map(Move::Frame).collect())
            }
        }
    }

    fn sight(&self) -> &RegisterMap {
        match self {
            Self::Registers(map) => map,
            Self::Frames(profile) => profile.sight(),
        }
    }
}
