//! What makes one start of the process different from every other.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use protocol::{GatewayId, InstanceId, MessageId, Stamp};

use crate::clock::Clock;

/// Sixty-four random bits of the operating system.
///
/// # Errors
/// Where it has none to give.
pub fn entropy() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A new instance id: twelve random hexadecimal digits.
///
/// # Errors
/// As [`entropy`].
pub fn new_instance() -> io::Result<InstanceId> {
    let text = format!("{:012x}", entropy()? >> 16);
    InstanceId::new(&text).map_err(io::Error::other)
}

/// Stamps what the gateway says: message ids `{instance}-{n}`, which are unique over all starts.
#[derive(Debug, Clone)]
pub struct Stamps {
    source: GatewayId,
    instance: InstanceId,
    clock: Clock,
    /// The number of the last stamp; shared by all clones.
    last: Arc<AtomicU64>,
}

impl Stamps {
    /// Stamps of the gateway `source` in its start `instance`.
    #[must_use]
    pub fn new(source: GatewayId, instance: InstanceId, clock: Clock) -> Self {
        Self {
            source,
            instance,
            clock,
            last: Arc::new(AtomicU64::new(0)),
        }
    }

    /// The start that these stamps name.
    #[must_use]
    pub fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// The gateway that these stamps name.
    #[must_use]
    pub fn source(&self) -> &GatewayId {
        &self.source
    }

    /// A new stamp, of this moment.
    #[must_use]
    pub fn next(&self) -> Stamp {
        let n = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        Stamp {
            message_id: self.message_id(n),
            timestamp: self.clock.wall(),
            source: self.source.clone(),
        }
    }

    fn message_id(&self, n: u64) -> MessageId {
        // Twelve hexadecimal digits, a hyphen and at most twenty digits are an identifier.
        #[allow(clippy::expect_used)]
        MessageId::new(&format!("{}-{n}", self.instance)).expect("instance and number fit an id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_count_and_name_the_instance() {
        let instance = InstanceId::new("00ff00ff00ff").unwrap();
        let gateway = GatewayId::new("gw-1").unwrap();
        let stamps = Stamps::new(gateway, instance, Clock::start());
        let other = stamps.clone();
        assert_eq!(stamps.next().message_id.as_str(), "00ff00ff00ff-1");
        assert_eq!(other.next().message_id.as_str(), "00ff00ff00ff-2");
        assert_eq!(stamps.next().message_id.as_str(), "00ff00ff00ff-3");
    }

    #[test]
    fn two_starts_have_two_instances() {
        let (one, other) = (new_instance().unwrap(), new_instance().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.as_str().len(), 12);
    }
}
