//! Exit codes (`wire.md` section 7).

/// Usage or configuration.
pub const USAGE: u8 = 2;
/// The data directory is in use by another process, or a line is.
pub const IN_USE: u8 = 3;
/// The store is corrupt.
pub const CORRUPT: u8 = 4;
/// The journal failed.
pub const JOURNAL_FAILED: u8 = 5;
/// Another live instance has this gateway id.
pub const DUPLICATE_GATEWAY: u8 = 6;
/// An operator's action was refused, or a write to a bus lacks its consent.
pub const REFUSED: u8 = 7;
