//! Every bound of the wire. What exceeds one is refused by name, never cut.

/// Bytes of a message's payload (`wire.md` section 2).
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of an MQTT packet that broker and gateway take (`wire.md` section 2).
pub const PACKET_BYTES_MAX: usize = 1024 * 1024;
/// Levels of nesting in a message (`wire.md` section 2).
pub const NESTING_MAX: usize = 8;
/// Bytes of an identifier (`wire.md` section 1).
pub const ID_BYTES_MAX: usize = 64;
/// Bytes of a floor label (`wire.md` section 1).
pub const FLOOR_BYTES_MAX: usize = 8;
/// Elevators that a request may name (`wire.md` section 3).
pub const REQUEST_ELEVATORS_MAX: usize = 32;
/// Highest priority (`wire.md` section 3).
pub const PRIORITY_MAX: u8 = 9;
/// Priority where none is given (`wire.md` section 3).
pub const PRIORITY_DEFAULT: u8 = 5;
/// Seconds until the robot stands at the door (`wire.md` section 3).
pub const ETA_S_MAX: u32 = 86_400;
/// Bytes of `detail` and of an outgoing text (`wire.md` section 3).
pub const DETAIL_BYTES_MAX: usize = 256;
/// Bytes of an incoming `reason` (`wire.md` section 5).
pub const REASON_BYTES_MAX: usize = 256;
/// Seconds of one `hold_door` (`wire.md` section 5).
pub const HOLD_S_MAX: u32 = 60;
/// Seconds of one `hold_door` where none are given (`wire.md` section 5).
pub const HOLD_S_DEFAULT: u32 = 30;
/// Seconds that `hold_door` may extend one deadline in all (`wire.md` section 5).
pub const HOLD_TOTAL_S_MAX: u32 = 120;
/// Seconds that a request's time stamp may lie in the future (`wire.md` section 3).
pub const FUTURE_S_MAX: u32 = 300;
/// Bytes of a map's name in `position` (`wire.md` section 5 is silent; as an identifier).
pub const MAP_BYTES_MAX: usize = 64;
/// Calls that a controller's snapshot may list (two per floor and side, and the car's own).
pub const CALLS_MAX: usize = 512;
/// Floors of a site and of an elevator.
pub const FLOORS_MAX: usize = 256;
/// Elevators of a site.
pub const ELEVATORS_MAX: usize = 256;
/// Zones of a site.
pub const ZONES_MAX: usize = 64;
/// Open alarms listed in `ops/alarms`.
pub const ALARMS_MAX: usize = 1024;
/// Robots whose rate, lease and connection the gateway keeps.
pub const ROBOTS_MAX: usize = 100_000;
/// Bytes of the text of a controller's fault or answer (`wire.md` section 6, `detail`).
pub const CONTROLLER_DETAIL_BYTES_MAX: usize = 256;
/// Bytes of a device's attributes in a series, as compact JSON (`wire.md` section 8).
pub const DEVICE_BYTES_MAX: usize = 2 * 1024;
/// Shortest lease of a claim in seconds (`wire.md` section 8).
pub const LEASE_S_MIN: u32 = 5;
/// Longest lease of a claim in seconds (`wire.md` section 8).
pub const LEASE_S_MAX: u32 = 3_600;
/// Longest wait for a place in seconds (`wire.md` section 8).
pub const WAIT_S_MAX: u32 = 86_400;
/// Applications whose rate the gateway keeps.
pub const CLIENTS_MAX: usize = 10_000;
/// Series of a site.
pub const SERIES_MAX: usize = 1_024;
/// Departments of a site.
pub const DEPARTMENTS_MAX: usize = 1_024;
/// Longest hold of a reservation in seconds (`wire.md` section 8).
pub const HOLD_RENTAL_S_MAX: u32 = 3_600;
/// Bytes of a token that may be one of the gateway's; its own have 40.
pub const TOKEN_BYTES_MAX: usize = 128;
/// Devices of a site.
pub const DEVICES_MAX: usize = 10_000;
/// Pools of a site.
pub const POOLS_MAX: usize = 256;
/// Resources that a pool may name, and places that it may have.
pub const RESOURCES_MAX: usize = 100_000;
/// Quotas of a site.
pub const QUOTAS_MAX: usize = 1_024;
