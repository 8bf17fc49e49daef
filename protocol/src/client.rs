//! What applications say and are told about claims, rentals, numbers and turns (`wire.md` section 8).

mod rental;
mod reply;
mod request;
mod token;

pub use rental::{
    CancelRental, EndRental, RentalBody, RentalReason, RentalState, RentalView, RentalWhy, Reserve,
    StartRental,
};
pub(crate) use reply::Fields;
pub use reply::{
    ClaimBody, ClaimReason, ClaimState, ClaimView, ClaimWhy, ClientReply, ReplyBody, SeriesBody,
    TurnBody,
};
pub use request::{
    Acquire, Ask, AskKind, ByApprover, ByOwner, ClientRequest, Label, Labels, NextNumber, TakeTurn,
    VoidNumber,
};
pub use token::{Token, TokenHash, TokenKey};
pub(crate) use token::{hex, hmac_sha256};
