//! What applications say and are told about claims, numbers and turns (`wire.md` section 8).

mod reply;
mod request;

pub(crate) use reply::Fields;
pub use reply::{
    ClaimBody, ClaimReason, ClaimState, ClaimView, ClaimWhy, ClientReply, ReplyBody, SeriesBody,
    TurnBody,
};
pub use request::{
    Acquire, Ask, AskKind, ByApprover, ByOwner, ClientRequest, Label, Labels, NextNumber, TakeTurn,
    VoidNumber,
};
