//! What accepted orders are remembered by: one answer per order id for the whole retention.

use std::collections::{BTreeMap, BTreeSet};

use protocol::ride::RideState;
use protocol::robot::Digest;
use protocol::{ElevatorId, Fence, OrderId, ReasonCode, RobotId, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of a row.
pub(crate) const ROW_VERSION: u8 = 1;

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
    /// Ended orders by the time of their end, so that the oldest is found at once.
    ended: BTreeSet<(Timestamp, OrderId)>,
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
            .first()
            .filter(|(at, _)| *at <= limit)
            .map(|(_, order)| order)
    }

    pub(crate) fn insert(&mut self, order: OrderId, row: Remembered) {
        self.orders.insert(order, row);
    }

    pub(crate) fn admit(&mut self, order: OrderId, digest: Digest, robot: RobotId) {
        let row = Remembered {
            version: ROW_VERSION,
            digest,
            robot,
            ended: None,
        };
        self.orders.insert(order, row);
    }

    pub(crate) fn end(&mut self, order: &OrderId, ended: Ended) {
        if let Some(row) = self.orders.get_mut(order) {
            self.ended.insert((ended.at, order.clone()));
            row.ended = Some(ended);
        }
    }

    pub(crate) fn forget(&mut self, order: &OrderId) {
        let ended = self.orders.remove(order).and_then(|row| row.ended);
        if let Some(ended) = ended {
            self.ended.remove(&(ended.at, order.clone()));
        }
    }

    /// Finds the ended orders among all, after loading.
    pub(crate) fn sort_ended(&mut self) {
        let rows = self.orders.iter();
        let ended = rows.filter_map(|(order, row)| Some((row.ended.as_ref()?.at, order.clone())));
        self.ended = ended.collect();
    }
}
