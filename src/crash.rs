//! Points at which a test ends the process, in a build with the feature `crash-points` only.
//!
//! [`crash_point`] marks one. Without the feature it is nothing at all, and what it would have
//! called is not there: no other code may name this module.

#[cfg(feature = "crash-points")]
mod plan;
#[cfg(feature = "crash-points")]
mod points;
#[cfg(feature = "crash-points")]
mod rentals;

#[cfg(feature = "crash-points")]
pub(crate) use points::*;

/// Passes a crash point, or notes what one needs to know: `crash_point!(synced())`.
#[cfg(feature = "crash-points")]
macro_rules! crash_point {
    ($name:ident($($argument:expr),*)) => {
        $crate::crash::$name($($argument),*)
    };
}

/// Nothing.
#[cfg(not(feature = "crash-points"))]
macro_rules! crash_point {
    ($name:ident($($argument:expr),*)) => {};
}
