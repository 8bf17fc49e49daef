//! Operators' requests, over a Unix socket that only the gateway's own user may open.
//!
//! One line of JSON asks, one line answers, then the connection closes. The format is private to
//! the two sides below, which are always of one program.

mod ask;
mod server;

pub use ask::{AskError, ask};
pub use server::{Operators, OperatorsError};

use dispatch::{
    ClaimRow, OperatorAction, OperatorAnswer, PoolView, RentalRow, SeriesView, TurnView,
};
use protocol::device::DeviceView;
use protocol::elevator::ElevatorView;
use protocol::ride::RideView;
use serde::{Deserialize, Serialize};

/// The socket's name in the data directory (`wire.md` section 7).
pub const SOCKET: &str = "operator.sock";
/// Bytes of a request line.
const REQUEST_BYTES_MAX: usize = 4 * 1024;
/// Bytes of an answer line: all rides of a large queue.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of an operator's id and of a reason (`dispatch::OperatorRequest`).
const OPERATOR_BYTES_MAX: usize = 64;
const REASON_BYTES_MAX: usize = 256;

/// What an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Who, 1 to 64 bytes.
    pub operator: String,
    /// Why, 1 to 256 bytes.
    pub reason: String,
    /// What.
    pub action: OperatorAction,
}

impl Ask {
    /// What is wrong with it, if anything.
    fn defect(&self) -> Option<String> {
        let fits = |text: &str, max: usize| {
            (1..=max).contains(&text.len()) && !text.contains(char::is_control)
        };
        if !fits(&self.operator, OPERATOR_BYTES_MAX) {
            return Some(format!(
                "--operator is to be 1 to {OPERATOR_BYTES_MAX} bytes without control characters"
            ));
        }
        if !fits(&self.reason, REASON_BYTES_MAX) {
            return Some(format!(
                "--reason is to be 1 to {REASON_BYTES_MAX} bytes without control characters"
            ));
        }
        None
    }
}

/// What an operator is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Done; one sentence.
    Done(String),
    /// Elevators.
    Elevators(Vec<ElevatorView>),
    /// Orders.
    Orders(Vec<RideView>),
    /// Series.
    Series(Vec<SeriesView>),
    /// Departments.
    Turns(Vec<TurnView>),
    /// Pools.
    Pools(Vec<PoolView>),
    /// Claims.
    Claims(Vec<ClaimRow>),
    /// Rentals.
    Rentals(Vec<RentalRow>),
    /// Devices.
    Devices(Vec<DeviceView>),
    /// Refused; what is missing.
    Refused(String),
}

impl From<Result<OperatorAnswer, String>> for Reply {
    fn from(answer: Result<OperatorAnswer, String>) -> Self {
        match answer {
            Ok(OperatorAnswer::Done(sentence)) => Self::Done(sentence),
            Ok(OperatorAnswer::Elevators(elevators)) => Self::Elevators(elevators),
            Ok(OperatorAnswer::Orders(orders)) => Self::Orders(orders),
            Ok(OperatorAnswer::Series(series)) => Self::Series(series),
            Ok(OperatorAnswer::Turns(turns)) => Self::Turns(turns),
            Ok(OperatorAnswer::Pools(pools)) => Self::Pools(pools),
            Ok(OperatorAnswer::Claims(claims)) => Self::Claims(claims),
            Ok(OperatorAnswer::Rentals(rentals)) => Self::Rentals(rentals),
            Ok(OperatorAnswer::Devices(devices)) => Self::Devices(devices),
            Err(missing) => Self::Refused(missing),
        }
    }
}
