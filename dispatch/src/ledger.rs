//! What accepted orders are remembered by: one answer per order id for the whole retention.

use std::collections::{BTreeMap, VecDeque};

use protocol::ride::RideState;
use protocol::robot::Digest;
use protocol::{ElevatorId, Fence, OrderId, ReasonCode, RobotId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::edge::LedgerChange;
use crate::fact::{Fact, RideFact};
use crate::state::{Ride, State};

/// The version of a row.
const ROW_VERSION: u8 = 1;
/// The tag of the ride workflow in a row's key.
const RIDE_TAG: &[u8] = b"ride/";

/// How an order ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// The terminal state.
    pub state: RideState,
    /// The last sequence number.
    pub seq: u64,
    /// Why.
    pub reason: Option<ReasonCode>,
    /// The elevator that it had last.
    pub elevator: Option<ElevatorId>,
    /// The fence of its last grant.
    pub fence: Option<Fence>,
}

/// What an order is remembered by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The version of this row.
    pub version: u8,
    /// What makes a repetition the same order.
    pub digest: Digest,
    /// Whose it is.
    pub robot: RobotId,
    /// How it ended; `None` while it lives.
    pub ended: Option<Ended>,
}

/// Every accepted order within the retention.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    orders: BTreeMap<OrderId, Remembered>,
    /// Ended orders in the order of their end, so that the oldest is found at once.
    ended: VecDeque<(Timestamp, OrderId)>,
}

impl Ledger {
    /// What is remembered of an order.
    #[must_use]
    pub fn find(&self, order: &OrderId) -> Option<&Remembered> {
        self.orders.get(order)
    }

    /// How many orders are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// Whether no order is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// The order that ended first, if it ended at or before `limit`.
    #[must_use]
    pub fn oldest_ended(&self, limit: Timestamp) -> Option<&OrderId> {
        self.ended
            .front()
            .filter(|(at, _)| *at <= limit)
            .map(|(_, order)| order)
    }

    pub(crate) fn admit(&mut self, ride: &Ride) {
        let row = Remembered {
            version: ROW_VERSION,
            digest: ride.digest,
            robot: ride.robot.clone(),
            ended: None,
        };
        self.orders.insert(ride.order.clone(), row);
    }

    pub(crate) fn end(&mut self, ride: &Ride) {
        let at = ride.ended_at.unwrap_or_default();
        if let Some(row) = self.orders.get_mut(&ride.order) {
            row.ended = Some(Ended {
                at,
                state: ride.state,
                seq: ride.seq,
                reason: ride.reason.as_ref().map(|reason| reason.code),
                elevator: ride.elevator.clone(),
                fence: ride.fence,
            });
            self.ended.push_back((at, ride.order.clone()));
        }
    }

    pub(crate) fn forget(&mut self, order: &OrderId) {
        self.orders.remove(order);
        if self
            .ended
            .front()
            .is_some_and(|(_, oldest)| oldest == order)
        {
            self.ended.pop_front();
        }
    }
}

/// The rows of the ledger that change by these facts; `state` is the state after them.
#[must_use]
pub fn changes(state: &State, facts: &[Fact]) -> Vec<LedgerChange> {
    let mut changes = Vec::new();
    for fact in facts {
        let order = match fact {
            Fact::Ride(RideFact::Admitted { order, .. } | RideFact::Forgotten { order }) => order,
            Fact::Ride(RideFact::Moved { order, state, .. }) if state.is_terminal() => order,
            Fact::Ride(_) | Fact::Elevator(_) | Fact::Site(_) => continue,
        };
        let row = state.ledger.find(order).map(encode_row);
        changes.push(LedgerChange {
            key: key_of(order),
            row,
        });
    }
    changes
}

fn key_of(order: &OrderId) -> Vec<u8> {
    [RIDE_TAG, order.as_str().as_bytes()].concat()
}

fn encode_row(row: &Remembered) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    // Writing to a Vec cannot fail, and every field can be written.
    let _ = ciborium::into_writer(row, &mut bytes);
    bytes
}

/// Why what a journal holds is no state of ours.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The snapshot cannot be read.
    #[error("the snapshot cannot be read: {0}")]
    Snapshot(String),
    /// A row of the ledger cannot be read.
    #[error("the ledger row of {key:?} cannot be read: {detail}")]
    Row {
        /// Its key.
        key: String,
        /// What is wrong.
        detail: String,
    },
}

impl State {
    /// The live state as bytes, without the ledger.
    #[must_use]
    pub fn encode_snapshot(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to a Vec cannot fail, and every field can be written.
        let _ = ciborium::into_writer(self, &mut bytes);
        bytes
    }

    /// The state that a journal holds: the newest snapshot, the ledger, and the facts since.
    ///
    /// # Errors
    /// [`LoadError`] names what cannot be read; a part is never taken for nothing.
    pub fn load<'f>(
        snapshot: Option<&[u8]>,
        ledger: &[(Vec<u8>, Vec<u8>)],
        facts: impl IntoIterator<Item = &'f Fact>,
    ) -> Result<Self, LoadError> {
        let mut state: Self = match snapshot {
            Some(bytes) => ciborium::from_reader(bytes)
                .map_err(|error| LoadError::Snapshot(error.to_string()))?,
            None => Self::default(),
        };
        for (key, bytes) in ledger {
            let (order, row) = decode_row(key, bytes)?;
            state.ledger.orders.insert(order, row);
        }
        for fact in facts {
            state.apply(fact);
        }
        state.ledger.sort_ended();
        Ok(state)
    }
}

impl Ledger {
    fn sort_ended(&mut self) {
        let mut ended: Vec<_> = self
            .orders
            .iter()
            .filter_map(|(order, row)| row.ended.as_ref().map(|end| (end.at, order.clone())))
            .collect();
        ended.sort();
        self.ended = ended.into();
    }
}

fn decode_row(key: &[u8], bytes: &[u8]) -> Result<(OrderId, Remembered), LoadError> {
    let wrong = |detail: String| LoadError::Row {
        key: String::from_utf8_lossy(key).into_owned(),
        detail,
    };
    let name = key
        .strip_prefix(RIDE_TAG)
        .ok_or_else(|| wrong("unknown workflow".to_owned()))?;
    let name = std::str::from_utf8(name).map_err(|error| wrong(error.to_string()))?;
    let order = OrderId::new(name).map_err(|error| wrong(error.to_string()))?;
    let row: Remembered = ciborium::from_reader(bytes).map_err(|error| wrong(error.to_string()))?;
    if row.version != ROW_VERSION {
        return Err(wrong(format!("version {} is not known", row.version)));
    }
    Ok((order, row))
}
