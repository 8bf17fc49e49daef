//! Rentals: devices that one user at a time has, for a while (R-RENT).
//!
//! A device's state, its version and the rental change in one fact, so that nobody ever has a
//! device without a rental, nor two users one device. What the device does is what it says: a
//! rental is metered from its RUNNING, and the device is free again only by its word that it
//! stands. All that it is told goes out under an order id, so that it acts once however often it
//! is told.

mod ask;
mod fact;
mod finish;
mod heard;
mod kept;
mod place;
mod row;
mod tell;
mod tend;
mod view;

pub use fact::RentalFact;
pub use kept::{Device, Rentals};
pub use row::{Rental, RentalRow};

pub(crate) use tend::DeviceWatch;
