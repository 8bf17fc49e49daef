//! What a unit answers where it does not do what it was asked.

use std::fmt;

/// The code of an exception response (Modbus application protocol 1.1b3, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exception(pub u8);

impl Exception {
    /// Its name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            1 => "ILLEGAL FUNCTION",
            2 => "ILLEGAL DATA ADDRESS",
            3 => "ILLEGAL DATA VALUE",
            4 => "SERVER DEVICE FAILURE",
            5 => "ACKNOWLEDGE",
            6 => "SERVER DEVICE BUSY",
            8 => "MEMORY PARITY ERROR",
            10 => "GATEWAY PATH UNAVAILABLE",
            11 => "GATEWAY TARGET DEVICE FAILED TO RESPOND",
            _ => "which the specification does not name",
        }
    }

    /// Whether the unit says that it has not done it and will not. It has not where it is busy, and
    /// may do it yet where it acknowledges; a gateway that got no reply cannot know.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        !matches!(self.0, 5 | 6) && !self.is_of_gateway()
    }

    /// Whether nothing of it was tried: the request itself was wrong, or the unit busy.
    #[must_use]
    pub fn is_untried(self) -> bool {
        matches!(self.0, 1 | 2 | 3 | 6)
    }

    /// Whether a gateway in front of the unit says it, and not the unit.
    #[must_use]
    pub fn is_of_gateway(self) -> bool {
        matches!(self.0, 10 | 11)
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modbus exception {:02}, {}", self.0, self.name())
    }
}
