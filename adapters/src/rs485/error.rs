//! What a request may end with instead of an answer.

use std::fmt;
use std::time::Duration;

/// Why there is no good answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameError {
    /// Nothing was sent; why.
    NotSent(String),
    /// Nothing was sent, because its gate did not let it pass; why.
    Dropped(String),
    /// The unit answered that it does not.
    Refused {
        /// The number that it gave for that, where it gives any.
        reason: Option<u8>,
        /// It may do it yet, or another time.
        is_busy: bool,
    },
    /// It was sent, and no answer came within this time.
    NoAnswer {
        /// The time-out.
        wait: Duration,
        /// What came instead.
        miss: FrameMiss,
    },
    /// The stream is gone; what was under way may have been sent.
    Gone(String),
}

/// What came instead of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameMiss {
    /// Not a byte.
    Silence,
    /// Nothing but the echo of our own bytes.
    OwnEcho,
    /// A whole frame of another unit.
    OtherUnit(u8),
    /// A whole frame of the unit that answers something else.
    OtherContent(u8),
    /// Bytes that are no frame.
    Noise(usize),
}

impl FrameError {
    /// The same of a line that failed before anything was sent.
    pub(super) fn before_sending(self) -> Self {
        match self {
            Self::Gone(detail) => Self::NotSent(detail),
            Self::NotSent(_) | Self::Dropped(_) | Self::Refused { .. } | Self::NoAnswer { .. } => {
                self
            }
        }
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(detail) | Self::Dropped(detail) | Self::Gone(detail) => {
                f.write_str(detail)
            }
            Self::Refused { reason, is_busy } => {
                f.write_str(if *is_busy { "busy" } else { "refused" })?;
                reason.map_or(Ok(()), |reason| write!(f, ", reason 0x{reason:02X}"))
            }
            Self::NoAnswer { wait, miss } => write!(f, "{miss} within {} ms", wait.as_millis()),
        }
    }
}

impl std::error::Error for FrameError {}

impl fmt::Display for FrameMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => f.write_str("no answer"),
            Self::OwnEcho => f.write_str("no answer, only the echo of the request"),
            Self::OtherUnit(unit) => write!(f, "no answer, but a frame of unit {unit}"),
            Self::OtherContent(code) => {
                write!(f, "no answer, but a frame 0x{code:02X} that is none to it")
            }
            Self::Noise(bytes) => write!(f, "no answer, but {bytes} bytes that are no frame"),
        }
    }
}
