//! What a request may end with instead of a reply.

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
    Exception(Exception),
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
