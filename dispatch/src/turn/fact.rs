//! What happened to the tickets of a department, for ever.

use protocol::{Date, DepartmentId, DeskId, OrderId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

/// About the tickets of a department.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnFact {
    /// A new day: numbers begin at 1, and who still waited is expired.
    DayBegan {
        /// The department.
        department: DepartmentId,
        /// The day.
        date: Date,
        /// When.
        at: Timestamp,
    },
    /// A ticket was taken.
    Taken {
        /// The department.
        department: DepartmentId,
        /// Its number on this day.
        number: u64,
        /// Whose.
        user: UserId,
        /// The order that took it.
        order: OrderId,
        /// When.
        at: Timestamp,
    },
    /// The first of those that wait was called.
    Called {
        /// The department.
        department: DepartmentId,
        /// Its number on this day.
        number: u64,
        /// To where.
        desk: DeskId,
        /// When.
        at: Timestamp,
    },
}

impl TurnFact {
    /// The department that the fact is about.
    #[must_use]
    pub fn department(&self) -> &DepartmentId {
        match self {
            Self::DayBegan { department, .. }
            | Self::Taken { department, .. }
            | Self::Called { department, .. } => department,
        }
    }
}
