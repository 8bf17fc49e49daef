//! What happened to rentals and their devices, for ever.

use protocol::client::{RentalState, RentalWhy};
use protocol::device::{DeviceState, DeviceWord};
use protocol::{ClientId, DeviceId, Fence, InstanceId, OrderId, RentalId, Timestamp};
use serde::{Deserialize, Serialize};

use super::row::Rental;

/// About a rental or a device. What changes a device's state names the version that it was decided
/// on, and changes nothing where the device has another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RentalFact {
    /// A free device was reserved, or started without a reservation.
    Opened {
        /// The version of the device.
        version: u64,
        /// The rental, RESERVED or PENDING.
        rental: Box<Rental>,
    },
    /// A reserved device is started by the holder of the token.
    Started {
        /// The version of the device.
        version: u64,
        /// The rental.
        rental: RentalId,
        /// The order that starts it.
        order: OrderId,
        /// Whose order.
        client: ClientId,
        /// When.
        at: Timestamp,
    },
    /// A rental went on to another state.
    Moved {
        /// The rental.
        rental: RentalId,
        /// Its state.
        state: RentalState,
        /// Why.
        why: Option<RentalWhy>,
        /// The user gets back what was paid.
        refunded: bool,
        /// When.
        at: Timestamp,
    },
    /// A device went on to another state.
    Device {
        /// The device.
        device: DeviceId,
        /// Its version before.
        version: u64,
        /// Its state.
        state: DeviceState,
        /// When.
        at: Timestamp,
    },
    /// A device said how it stands.
    Heard {
        /// The device.
        device: DeviceId,
        /// Its start.
        boot: InstanceId,
        /// The number of the event in that start.
        seq: u64,
        /// How it stands.
        word: Option<DeviceWord>,
        /// When.
        at: Timestamp,
    },
    /// A device was told something.
    Commanded {
        /// The device.
        device: DeviceId,
        /// The number of the command.
        sequence: u64,
        /// The rental, and how often it was told the same again.
        rental: Option<(RentalId, u32)>,
    },
    /// Fences and sequences were raised above those that a device may have seen.
    Raised {
        /// The device.
        device: DeviceId,
        /// The new fence.
        fence: Fence,
        /// The new sequence.
        sequence: u64,
    },
}
