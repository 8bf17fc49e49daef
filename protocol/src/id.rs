//! Identifiers. Each is a name of its own type, checked once, where it enters.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::ID_BYTES_MAX;

/// Why a text is no identifier. `wire.md` section 1: `^[A-Za-z0-9_.:-]{1,64}$`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// No character at all.
    #[error("is empty")]
    Empty,
    /// More than [`ID_BYTES_MAX`] bytes.
    #[error("is {0} bytes long, at most {ID_BYTES_MAX} are allowed")]
    TooLong(usize),
    /// A character outside `A-Z a-z 0-9 _ . : -`.
    #[error("holds the character {0:?}, only A-Z a-z 0-9 _ . : - are allowed")]
    BadCharacter(char),
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if let Some(c) = text
        .chars()
        .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-')))
    {
        return Err(IdError::BadCharacter(c));
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong(text.len()));
    }
    Ok(())
}

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and makes it an identifier.
            ///
            /// # Errors
            /// What is wrong with the text, see [`IdError`].
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }
    )*};
}

identifiers! {
    /// Whoever approves a claim, or refuses it.
    ApproverId;
    /// A bank of elevators that one group controller serves.
    BankId;
    /// One acquisition of a resource; each has its own.
    ClaimId;
    /// An application; also its MQTT user name.
    ClientId;
    /// One command to a controller; a re-send of the same effect carries the same one.
    CommandId;
    /// A department whose customers take turns.
    DepartmentId;
    /// A desk at which a turn is called.
    DeskId;
    /// A device that is rented: a vehicle, a charging pile; also its MQTT user name.
    DeviceId;
    /// An elevator: one car.
    ElevatorId;
    /// A gateway, as in its client ids and topics.
    GatewayId;
    /// One start of a gateway process; new at each start.
    InstanceId;
    /// What a quota counts by: a user, a department, a project, a tenant or a line.
    LabelValue;
    /// One message on the wire; a sender's re-send carries the same one.
    MessageId;
    /// An order: the task a ride belongs to, unique per site.
    OrderId;
    /// Whoever holds a claim.
    OwnerId;
    /// A pool: resources of one kind with one capacity.
    PoolId;
    /// One rental of a device; each has its own.
    RentalId;
    /// A resource of a pool: a robot place, a charger, a licence.
    ResourceId;
    /// A robot; also its MQTT user name.
    RobotId;
    /// A series of numbers.
    SeriesId;
    /// A site: a building or a campus under one gateway.
    SiteId;
    /// A user of an application: a customer, a member of staff.
    UserId;
    /// A zone: the elevators that fire and suspension touch together.
    ZoneId;
}

/// The number of a grant. One counter per elevator that only grows, over restarts and lost
/// journals too; 0 before the first grant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
