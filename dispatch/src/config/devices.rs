//! Devices that may be rented, and how long their rentals wait.

use std::collections::BTreeSet;

use protocol::DeviceId;

/// Rentals of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RentalConfig {
    /// The devices.
    pub devices: BTreeSet<DeviceId>,
    /// A reservation lasts so long where its request does not say, in milliseconds.
    pub token_ms: u64,
    /// A device has so long for each start and each stop, in milliseconds.
    pub pending_ms: u64,
    /// It is told so often again.
    pub resends: u32,
    /// Open rentals of one user.
    pub per_user: u32,
}

impl Default for RentalConfig {
    /// The defaults of `wire.md` section 8.
    fn default() -> Self {
        Self {
            devices: BTreeSet::new(),
            token_ms: 300_000,
            pending_ms: 30_000,
            resends: 3,
            per_user: 1,
        }
    }
}
