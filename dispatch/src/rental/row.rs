//! One rental, as it is kept and as operators see it.

use protocol::client::{RentalState, RentalView, RentalWhy, TokenHash};
use protocol::{ClientId, DeviceId, Fence, OrderId, RentalId, Seconds, Timestamp, UserId};
use serde::{Deserialize, Serialize};

/// A rental.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rental {
    /// Its id.
    pub rental: RentalId,
    /// The device.
    pub device: DeviceId,
    /// Whose.
    pub user: UserId,
    /// The application that hears of it.
    pub client: ClientId,
    /// The order that started it, else the one that reserved it.
    pub order: OrderId,
    /// Where it stands.
    pub state: RentalState,
    /// What its token is known by; `None` where it was started without a reservation.
    pub token: Option<TokenHash>,
    /// When the reservation ends.
    pub expires_at: Option<Timestamp>,
    /// Of the device, since this rental.
    pub fence: Fence,
    /// How often the device was told the same again.
    pub tries: u32,
    /// When it was made.
    pub made_at: Timestamp,
    /// When the device said that it runs; metered from here.
    pub active_at: Option<Timestamp>,
    /// When its end was accepted; metered until here.
    pub metered_until: Option<Timestamp>,
    /// When it was over.
    pub over_at: Option<Timestamp>,
    /// The user gets back what was paid.
    pub refunded: bool,
    /// Why it is in its state.
    pub why: Option<RentalWhy>,
}

/// A rental as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RentalRow {
    /// The rental.
    pub rental_id: RentalId,
    /// The device.
    pub device_id: DeviceId,
    /// Whose.
    pub user_id: UserId,
    /// The application that hears of it.
    pub client_id: ClientId,
    /// The order that started it, else the one that reserved it.
    pub order_id: OrderId,
    /// Where it stands.
    pub state: RentalState,
    /// When it was made.
    pub made_at: Timestamp,
    /// When the reservation ends.
    pub expires_at: Option<Timestamp>,
    /// When the device said that it runs.
    pub active_at: Option<Timestamp>,
    /// When it was over.
    pub over_at: Option<Timestamp>,
    /// Whole seconds that were metered so far.
    pub metered_s: Seconds,
    /// The user gets back what was paid.
    pub refunded: bool,
    /// Why it is in its state.
    pub reason: Option<RentalWhy>,
}

impl Rental {
    /// Whole seconds that are metered by a moment.
    pub(crate) fn metered(&self, now: Timestamp) -> Seconds {
        let ms = self.active_at.map_or(0, |since| {
            self.metered_until.unwrap_or(now).since(since) / 1000 * 1000
        });
        Seconds::from_ms(ms)
    }

    /// What its application is told.
    pub(crate) fn view(&self, now: Timestamp) -> RentalView {
        RentalView {
            rental_id: self.rental.clone(),
            order_id: self.order.clone(),
            device_id: self.device.clone(),
            state: self.state,
            metered_s: self.metered(now),
            refunded: self.refunded,
            reason: self.why.clone(),
        }
    }

    /// What operators are shown.
    pub(crate) fn row(&self, now: Timestamp) -> RentalRow {
        RentalRow {
            rental_id: self.rental.clone(),
            device_id: self.device.clone(),
            user_id: self.user.clone(),
            client_id: self.client.clone(),
            order_id: self.order.clone(),
            state: self.state,
            made_at: self.made_at,
            expires_at: self.expires_at,
            active_at: self.active_at,
            over_at: self.over_at,
            metered_s: self.metered(now),
            refunded: self.refunded,
            reason: self.why.clone(),
        }
    }
}
