//! What accepted orders are remembered by: one answer per order id for the whole retention.
//!
//! Orders that live are few and kept as they are. Ended ones are many, a million in a busy week, so
//! they lie packed on shelves, as the bytes of their rows, found by a hash of the id.

mod row;
mod shelf;

use std::collections::{BTreeMap, BTreeSet};

use protocol::client::ReplyBody;
use protocol::ride::RideState;
use protocol::robot::Digest;
use protocol::{ClientId, ElevatorId, Fence, OrderId, ReasonCode, RobotId, SeriesId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::fact::AnswerFact;
pub(crate) use row::{decode, encode, encode_answer};
use shelf::Shelf;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// What makes a repetition the same order.
    pub digest: Digest,
    /// Whose it is.
    pub robot: RobotId,
    /// How it ended; `None` while it lives.
    pub ended: Option<Ended>,
}

/// What an application's order is remembered by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// What makes a repetition the same order.
    pub digest: Digest,
    /// Whose it is.
    pub client: ClientId,
    /// When it was answered.
    pub at: Timestamp,
    /// The answer, for every repetition.
    pub body: ReplyBody,
}

/// An order id that is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Known {
    /// By a ride.
    Ride(Remembered),
    /// By an order of an application.
    Answer(Answered),
}

/// Every accepted order within the retention.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    live: BTreeMap<OrderId, (Digest, RobotId)>,
    /// Ended orders, by the number of their shelf.
    shelves: BTreeMap<u32, Shelf>,
    /// Which shelves hold orders of a hash, and how many.
    by_order: BTreeMap<(u32, u32), u8>,
    /// Each shelf by the end of its oldest order.
    by_age: BTreeSet<(Timestamp, u32)>,
    /// How many orders are on shelves.
    ended: usize,
    /// The highest number of each series that has a row.
    highest_rows: BTreeMap<SeriesId, u64>,
}

impl Ledger {
    /// What is remembered of a ride.
    #[must_use]
    pub fn find(&self, order: &OrderId) -> Option<Remembered> {
        match self.known(order)? {
            Known::Ride(row) => Some(row),
            Known::Answer(_) => None,
        }
    }

    /// What an order id is taken by.
    #[must_use]
    pub fn known(&self, order: &OrderId) -> Option<Known> {
        if let Some((digest, robot)) = self.live.get(order) {
            return Some(Known::Ride(Remembered {
                digest: *digest,
                robot: robot.clone(),
                ended: None,
            }));
        }
        let (number, _) = self.place_of(order)?;
        // Only rows that can be read are put on a shelf.
        decode(self.shelves.get(&number)?.find(order.as_str())?).ok()
    }

    /// The highest number of a series whose row the journal held at start.
    pub(crate) fn highest_row(&self, series: &SeriesId) -> Option<u64> {
        self.highest_rows.get(series).copied()
    }

    pub(crate) fn note_row(&mut self, series: SeriesId, number: u64) {
        let highest = self.highest_rows.entry(series).or_default();
        *highest = number.max(*highest);
    }

    /// How many orders are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len() + self.ended
    }

    /// Whether no order is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The order that ended first, if it ended at or before `limit`.
    #[must_use]
    pub fn oldest_ended(&self, limit: Timestamp) -> Option<OrderId> {
        let (at, number) = self.by_age.first()?;
        if *at > limit {
            return None;
        }
        let order = self.shelves.get(number)?.oldest()?;
        OrderId::new(order).ok()
    }

    /// Takes a row in, as a journal holds it.
    ///
    /// # Errors
    /// What is wrong with the row.
    pub(crate) fn read_row(&mut self, order: OrderId, bytes: &[u8]) -> Result<(), String> {
        let row = decode(bytes)?;
        self.forget(&order);
        match row {
            Known::Answer(answered) => self.shelve(&order, answered.at, bytes),
            Known::Ride(row) => match &row.ended {
                None => {
                    self.live.insert(order, (row.digest, row.robot));
                }
                Some(ended) => self.shelve(&order, ended.at, &encode(&row)),
            },
        }
        Ok(())
    }

    pub(crate) fn apply(&mut self, fact: &AnswerFact) {
        match fact {
            AnswerFact::Given {
                order,
                client,
                digest,
                body,
                at,
            } => {
                let answered = Answered {
                    digest: *digest,
                    client: client.clone(),
                    at: *at,
                    body: body.clone(),
                };
                self.answer(order, &answered);
            }
            AnswerFact::Forgotten { order } => self.forget(order),
        }
    }

    pub(crate) fn answer(&mut self, order: &OrderId, answered: &Answered) {
        self.forget(order);
        self.shelve(order, answered.at, &encode_answer(answered));
    }

    /// An application's order as the journal holds it.
    pub(crate) fn answer_row(&self, order: &OrderId) -> Option<Vec<u8>> {
        let (number, _) = self.place_of(order)?;
        Some(self.shelves.get(&number)?.find(order.as_str())?.to_vec())
    }

    pub(crate) fn admit(&mut self, order: OrderId, digest: Digest, robot: RobotId) {
        self.forget(&order);
        self.live.insert(order, (digest, robot));
    }

    pub(crate) fn end(&mut self, order: &OrderId, ended: Ended) {
        let Some(mut row) = self.find(order) else {
            return;
        };
        self.forget(order);
        let at = ended.at;
        row.ended = Some(ended);
        self.shelve(order, at, &encode(&row));
    }

    pub(crate) fn forget(&mut self, order: &OrderId) {
        if self.live.remove(order).is_some() {
            return;
        }
        let Some((number, hash)) = self.place_of(order) else {
            return;
        };
        let Some(shelf) = self.shelves.get_mut(&number) else {
            return;
        };
        self.by_age.remove(&(shelf.oldest_at(), number));
        shelf.remove(order.as_str());
        if shelf.is_empty() {
            self.shelves.remove(&number);
        } else {
            self.by_age.insert((shelf.oldest_at(), number));
        }
        if let Some(count) = self.by_order.get_mut(&(hash, number)) {
            *count -= 1;
            if *count == 0 {
                self.by_order.remove(&(hash, number));
            }
        }
        self.ended -= 1;
    }

    fn shelve(&mut self, order: &OrderId, at: Timestamp, row: &[u8]) {
        let last = self.shelves.last_key_value();
        let number = match last {
            Some((number, shelf)) if shelf.has_room_for(order.as_str(), row) => *number,
            Some((number, _)) => number + 1,
            None => 0,
        };
        let shelf = self.shelves.entry(number).or_default();
        if !shelf.is_empty() {
            self.by_age.remove(&(shelf.oldest_at(), number));
        }
        shelf.put(order.as_str(), at, row);
        self.by_age.insert((shelf.oldest_at(), number));
        let count = self.by_order.entry((hash(order), number)).or_default();
        // A shelf has no room for 255 rows.
        *count += 1;
        self.ended += 1;
    }

    /// The shelf of an ended order, and the hash of its id.
    fn place_of(&self, order: &OrderId) -> Option<(u32, u32)> {
        let hash = hash(order);
        let numbers = self.by_order.range((hash, 0)..=(hash, u32::MAX));
        numbers
            .map(|((_, number), _)| *number)
            .find(|number| {
                let shelf = self.shelves.get(number);
                shelf.is_some_and(|shelf| shelf.find(order.as_str()).is_some())
            })
            .map(|number| (number, hash))
    }
}

impl PartialEq for Ledger {
    /// Equal when the same is remembered, wherever it lies.
    fn eq(&self, other: &Self) -> bool {
        fn rows(ledger: &Ledger) -> BTreeMap<&str, &[u8]> {
            ledger.shelves.values().flat_map(Shelf::rows).collect()
        }
        self.live == other.live && self.ended == other.ended && rows(self) == rows(other)
    }
}

/// Robots choose order ids, so it must cost much to find many of one hash.
fn hash(order: &OrderId) -> u32 {
    let digest = Sha256::digest(order.as_str().as_bytes());
    let mut first = [0; 4];
    first.copy_from_slice(&digest[..4]);
    u32::from_be_bytes(first)
}

#[cfg(test)]
mod tests;
