//! Claims: resources of pools, each held by one owner at a time (R-REG).
//!
//! Capacity, quotas and the resource itself are looked at and taken in one step, all or nothing.
//! What a holder no longer says it has is taken back by time, a physical resource only once it was
//! seen stopped. Capacity that is lowered evicts nobody.

mod acquire;
mod acquisition;
mod fact;
mod hold;
mod kept;
mod place;
mod pool;
mod tend;
mod view;
mod watch;

pub use acquisition::{Acquisition, ClaimRow};
pub use fact::ClaimFact;
pub use kept::Claims;
pub use view::PoolView;

pub(crate) use tend::{Lease, PoolWatch};
