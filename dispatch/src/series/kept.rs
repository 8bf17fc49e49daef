//! What is known of a series: the fold of its facts. The rows themselves are the journal's.

use std::collections::{BTreeMap, VecDeque};

use protocol::{OrderId, Timestamp};
use serde::{Deserialize, Serialize};

use super::fact::SeriesFact;

/// Rows that are at hand for those who look; all others are in the journal.
const ROWS_SHOWN: usize = 16;

/// A row that bears a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The number.
    pub number: u64,
    /// The order that it was given to.
    pub order_id: OrderId,
    /// Its attributes, as compact JSON.
    pub device: String,
    /// When.
    pub at: Timestamp,
}

/// A series.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Series {
    /// The number given last.
    pub last: Option<u64>,
    /// How many were given.
    pub given: u64,
    /// The numbers that are void, and since when.
    pub voided: BTreeMap<u64, Timestamp>,
    /// Why it gives none.
    pub stopped: Option<String>,
    /// The newest rows.
    pub rows: VecDeque<Row>,
}

impl Series {
    pub(crate) fn apply(&mut self, fact: &SeriesFact) {
        match fact {
            SeriesFact::Given {
                number,
                order,
                device,
                at,
                ..
            } => {
                // What is not the next number is no fact of this fold: nothing is overwritten.
                if self.last.is_some_and(|last| *number <= last) {
                    return;
                }
                self.last = Some(*number);
                self.given = self.given.saturating_add(1);
                if self.rows.len() >= ROWS_SHOWN {
                    self.rows.pop_front();
                }
                self.rows.push_back(Row {
                    number: *number,
                    order_id: order.clone(),
                    device: device.clone(),
                    at: *at,
                });
            }
            SeriesFact::Voided { number, at, .. } => {
                self.voided.entry(*number).or_insert(*at);
            }
            SeriesFact::Stopped { reason, .. } => self.stopped = Some(reason.clone()),
            SeriesFact::Resumed { last, .. } => {
                self.stopped = None;
                self.last = self.last.max(*last);
            }
        }
    }

    /// Whether the number was given, where numbers begin at `start` and are `step` apart.
    pub(crate) fn has_given(&self, number: u64, start: u64, step: u64) -> bool {
        let is_of_it = number >= start && (number - start).is_multiple_of(step);
        is_of_it && self.last.is_some_and(|last| number <= last)
    }
}
