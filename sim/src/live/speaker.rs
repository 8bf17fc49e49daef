//! Names for messages and runs, and the wall clock that they bear.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::id::IdError;
use protocol::{MessageId, Timestamp};

/// The wall clock.
#[must_use]
pub fn wall() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A short text that is new at each start: milliseconds of the wall clock, in hexadecimal. Part of
/// ids, so that a second run with one seed makes other orders.
#[must_use]
pub fn run_id() -> String {
    format!("{:x}", wall().0)
}

/// Who speaks; numbers its messages.
#[derive(Debug, Clone)]
pub struct Speaker {
    prefix: MessageId,
    said: u64,
}

impl Speaker {
    /// The longest prefix, in bytes; leaves room for the number.
    pub const PREFIX_BYTES_MAX: usize = 43;

    /// `prefix` makes the message ids unlike those of all others.
    ///
    /// # Errors
    /// [`IdError`] where it is no identifier, or longer than [`Speaker::PREFIX_BYTES_MAX`].
    pub fn new(prefix: &str) -> Result<Self, IdError> {
        if prefix.len() > Self::PREFIX_BYTES_MAX {
            return Err(IdError::TooLong(prefix.len()));
        }
        Ok(Self {
            prefix: MessageId::new(prefix)?,
            said: 0,
        })
    }

    /// A new message id.
    pub fn message_id(&mut self) -> MessageId {
        self.said += 1;
        let text = format!("{}-{}", self.prefix, self.said);
        // A checked prefix, a hyphen and at most 20 digits are an identifier.
        MessageId::new(&text).unwrap_or_else(|_| self.prefix.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_count_up() {
        let mut speaker = Speaker::new("R001-1a").unwrap();
        assert_eq!(speaker.message_id().as_str(), "R001-1a-1");
        assert_eq!(speaker.message_id().as_str(), "R001-1a-2");
        assert!(Speaker::new(&"x".repeat(44)).is_err());
    }
}
