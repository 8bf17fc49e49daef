//! Floors, sides and landings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::id::Name;
use crate::limits::FLOOR_BYTES_MAX;

/// Why a text is no floor label. `wire.md` section 1: `^[A-Za-z0-9_-]{1,8}$`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no floor label: 1 to {FLOOR_BYTES_MAX} of A-Z a-z 0-9 _ - are allowed")]
pub struct FloorError;

/// The label of a floor as the building writes it, such as `1F`, `B2`, `M`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct FloorLabel(Name);

impl FloorLabel {
    /// Checks `text` and makes it a floor label.
    ///
    /// # Errors
    /// [`FloorError`] when the text does not match the pattern.
    pub fn new(text: &str) -> Result<Self, FloorError> {
        let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if (1..=FLOOR_BYTES_MAX).contains(&text.len()) && text.bytes().all(good) {
            Ok(Self(Name::new(text)))
        } else {
            Err(FloorError)
        }
    }

    /// The label as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for FloorLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for FloorLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FloorLabel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl FromStr for FloorLabel {
    type Err = FloorError;
    fn from_str(text: &str) -> Result<Self, FloorError> {
        Self::new(text)
    }
}

impl TryFrom<String> for FloorLabel {
    type Error = FloorError;
    fn try_from(text: String) -> Result<Self, FloorError> {
        Self::new(&text)
    }
}

impl From<FloorLabel> for String {
    fn from(label: FloorLabel) -> Self {
        label.as_str().to_owned()
    }
}

/// A side of the car that has a door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The main door.
    Front,
    /// The door opposite to it.
    Rear,
}

impl Side {
    /// Both, in the order of the wire.
    pub const ALL: [Self; 2] = [Self::Front, Self::Rear];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Rear => "rear",
        }
    }
}

impl crate::word::Word for Side {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.as_str()
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A door on a floor: the place where a robot stands before it enters or after it left.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Landing {
    /// The floor.
    pub floor: FloorLabel,
    /// The side of the car whose door opens there.
    pub side: Side,
}

impl fmt::Display for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.floor, self.side)
    }
}
