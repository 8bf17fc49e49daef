//! What applications ask for and are told about rentals (`wire.md` section 8).

use serde::{Deserialize, Serialize};

use super::token::{Token, TokenHash};
use crate::id::{DeviceId, OrderId, RentalId, UserId};
use crate::time::{Seconds, Timestamp};
use crate::word::words;

/// `rental.reserve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// The device.
    pub device_id: DeviceId,
    /// Who will ride.
    pub user_id: UserId,
    /// Seconds until it must be started; `None` = the site's.
    pub hold_s: Option<u32>,
}

/// `rental.start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartRental {
    /// The device.
    pub device_id: DeviceId,
    /// Who rides.
    pub user_id: UserId,
    /// The reservation.
    pub rental_id: Option<RentalId>,
    /// Its token.
    pub token: Option<TokenHash>,
}

/// `rental.end`: with the token or by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRental {
    /// The rental.
    pub rental_id: RentalId,
    /// Its token.
    pub token: Option<TokenHash>,
    /// Whose it is.
    pub user_id: Option<UserId>,
}

/// `rental.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRental {
    /// The rental.
    pub rental_id: RentalId,
    /// Its token.
    pub token: TokenHash,
}

words! {
    /// Where a rental stands.
    RentalState {
        /// The device is locked for the holder of the token.
        Reserved = "RESERVED",
        /// The start is on its way to the device.
        Pending = "PENDING",
        /// The device said that it runs: metered from then on.
        Active = "ACTIVE",
        /// The stop is on its way to the device.
        Ending = "ENDING",
        /// The device said that it stands.
        Ended = "ENDED",
        /// Given up before the device ran.
        Cancelled = "CANCELLED",
        /// Not started in time.
        Expired = "EXPIRED",
        /// The device cannot be used.
        Failed = "FAILED",
    }
}

impl RentalState {
    /// Whether it is over.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Ended | Self::Cancelled | Self::Expired | Self::Failed => true,
            Self::Reserved | Self::Pending | Self::Active | Self::Ending => false,
        }
    }
}

words! {
    /// Why a rental is in its state.
    RentalReason {
        /// It was not started within its hold.
        TokenExpired = "TOKEN_EXPIRED",
        /// The holder of the token gave it up.
        CancelledByUser = "CANCELLED_BY_USER",
        /// The device did not say that it runs, however often it was told to start.
        DeviceSilent = "DEVICE_SILENT",
        /// The device says that it is out of order, or runs for nobody.
        DeviceFault = "DEVICE_FAULT",
        /// The device says that it stands, without having been told to.
        DeviceStopped = "DEVICE_STOPPED",
        /// An operator took the device out of use.
        Maintenance = "MAINTENANCE",
    }
}

/// Why a rental is in its state, in a word and in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RentalWhy {
    /// The word.
    pub code: RentalReason,
    /// One English sentence, at most 256 bytes.
    #[serde(serialize_with = "crate::text::serialize_detail")]
    pub detail: String,
}

/// `rental.state`: what became of a rental.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RentalView {
    /// The rental.
    pub rental_id: RentalId,
    /// The order that started it, else the one that reserved it.
    pub order_id: OrderId,
    /// The device.
    pub device_id: DeviceId,
    /// The state.
    pub state: RentalState,
    /// Whole seconds from the device's RUNNING to the accepted end, so far.
    pub metered_s: Seconds,
    /// The user gets back what was paid.
    pub refunded: bool,
    /// Why it is in its state.
    pub reason: Option<RentalWhy>,
}

/// What a reply says of a rental. Its token is on the wire only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RentalBody {
    /// The rental.
    pub rental_id: Option<RentalId>,
    /// What starts it; in the answer to `rental.reserve`.
    #[serde(skip)]
    pub token: Option<Token>,
    /// Its state.
    pub state: Option<RentalState>,
    /// When the reservation ends, for people.
    pub expires_at: Option<Timestamp>,
    /// How long until then, for machines.
    pub expires_in_s: Option<Seconds>,
    /// Whole seconds that were metered; in the answer to `rental.end`.
    pub metered_s: Option<Seconds>,
}

/// The same as it stands on the wire.
#[derive(Serialize)]
pub(super) struct OnTheWire<'a> {
    rental_id: &'a Option<RentalId>,
    token: Option<&'a str>,
    state: Option<RentalState>,
    expires_at: Option<Timestamp>,
    expires_in_s: Option<Seconds>,
    metered_s: Option<Seconds>,
}

impl<'a> From<&'a RentalBody> for OnTheWire<'a> {
    fn from(body: &'a RentalBody) -> Self {
        Self {
            rental_id: &body.rental_id,
            token: body.token.as_ref().map(Token::reveal),
            state: body.state,
            expires_at: body.expires_at,
            expires_in_s: body.expires_in_s,
            metered_s: body.metered_s,
        }
    }
}
