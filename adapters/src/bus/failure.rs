//! What a request may end with instead of a reply.

use std::fmt;

use crate::rtu::Exception;

/// Why a request has no good reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// Nothing was sent; it may work another time.
    NotSent(String),
    /// Nothing was sent, and never will be: it cannot be asked.
    BadRequest(String),
    /// Nothing was sent, because the gate did not let it pass.
    Dropped(String),
    /// The unit answered that it does not.
    Refused(Refusal),
    /// It was sent, and no reply came that can be trusted.
    Lost {
        /// Why.
        detail: String,
        /// What carries it failed, and not the unit.
        is_line_fault: bool,
    },
}

impl Failure {
    /// The unit did not reply.
    pub(super) fn lost(detail: String) -> Self {
        Self::Lost {
            detail,
            is_line_fault: false,
        }
    }
}

/// The answer of a unit that does not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A Modbus exception.
    Modbus(Exception),
    /// A maker's frame that says so.
    Maker {
        /// What it says.
        detail: String,
        /// It may do it yet, or another time.
        is_busy: bool,
    },
}

impl Refusal {
    /// Whether the unit says that it has not done it and will not.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Modbus(exception) => exception.is_refusal(),
            Self::Maker { is_busy, .. } => !is_busy,
        }
    }

    /// Whether nothing of it was tried.
    pub(super) fn is_untried(&self) -> bool {
        match self {
            Self::Modbus(exception) => exception.is_untried(),
            Self::Maker { is_busy, .. } => !is_busy,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modbus(exception) => exception.fmt(f),
            Self::Maker { detail, .. } => f.write_str(detail),
        }
    }
}
