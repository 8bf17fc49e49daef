//! What a request may end with instead of a reply.

use std::fmt;
use std::time::Duration;

use super::exception::Exception;
use super::hearing::Miss;
use super::request::BadRequest;

/// Why there is no good reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RtuError {
    /// It cannot be asked.
    BadRequest(BadRequest),
    /// Nothing was sent; why.
    NotSent(String),
    /// Nothing was sent, because its gate did not let it pass; why.
    Dropped(String),
    /// The unit answered that it does not.
    Exception(Exception),
    /// It was sent, and no answer came within this time.
    NoAnswer {
        /// The time-out.
        wait: Duration,
        /// What came instead.
        miss: Miss,
    },
    /// The stream is gone; what was under way may have been sent.
    Gone(String),
}

impl RtuError {
    /// The same of a line that failed before anything was sent.
    pub(super) fn before_sending(self) -> Self {
        match self {
            Self::Gone(detail) => Self::NotSent(detail),
            Self::BadRequest(_)
            | Self::NotSent(_)
            | Self::Dropped(_)
            | Self::Exception(_)
            | Self::NoAnswer { .. } => self,
        }
    }
}

impl fmt::Display for RtuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(bad) => bad.fmt(f),
            Self::NotSent(detail) | Self::Dropped(detail) | Self::Gone(detail) => {
                f.write_str(detail)
            }
            Self::Exception(exception) => exception.fmt(f),
            Self::NoAnswer { wait, miss } => write!(f, "{miss} within {} ms", wait.as_millis()),
        }
    }
}

impl std::error::Error for RtuError {}
