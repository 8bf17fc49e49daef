//! Waiting rides in the order in which they are served.
//!
//! Ages grow alike, so that the order of two ranks changes only when one ride is promoted or its
//! robot says something of the door: then it is ranked anew, and nothing is looked at in between.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use protocol::OrderId;

use crate::reach::Elevators;

/// The rank of a waiter; a greater one is served first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// It has waited for `promote_s`: before all that have not, the oldest first.
    pub(crate) promoted: bool,
    /// Its worth in milliseconds, less the moment of its birth where waiting counts.
    pub(crate) score: i64,
    /// The older first.
    pub(crate) born: Reverse<i64>,
    /// The smaller id first, so that ranks are never equal.
    pub(crate) order: Reverse<OrderId>,
}

/// The waiters. Bounded by the site's queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiters {
    by_rank: BTreeSet<Rank>,
    by_order: BTreeMap<OrderId, (Rank, Elevators)>,
}

impl Waiters {
    /// Adds a waiter that the elevators `able` could serve, or ranks it anew.
    pub(crate) fn put(&mut self, rank: Rank, able: Elevators) {
        match self.by_order.entry(rank.order.0.clone()) {
            Entry::Occupied(known) if known.get().0 == rank => return,
            Entry::Occupied(mut known) => {
                let (old, _) = known.insert((rank.clone(), able));
                self.by_rank.remove(&old);
            }
            Entry::Vacant(place) => {
                place.insert((rank.clone(), able));
            }
        }
        self.by_rank.insert(rank);
    }

    /// Takes a waiter out.
    pub(crate) fn remove(&mut self, order: &OrderId) {
        if let Some((rank, _)) = self.by_order.remove(order) {
            self.by_rank.remove(&rank);
        }
    }

    /// Whether the order waits.
    pub(crate) fn contains(&self, order: &OrderId) -> bool {
        self.by_order.contains_key(order)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.by_order.len()
    }

    /// Nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_order.is_empty()
    }

    /// The waiters, first the one that is served first.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = &Rank> {
        self.by_rank.iter().rev()
    }

    /// The waiters, by order id.
    pub(crate) fn orders(&self) -> impl Iterator<Item = &OrderId> {
        self.by_order.keys()
    }

    /// How many waiters the elevator at a place could serve.
    pub(crate) fn able(&self, place: usize) -> usize {
        let able = self.by_order.values();
        able.filter(|(_, able)| able.has(place)).count()
    }

    /// The place of a waiter, from 1.
    pub(crate) fn position(&self, order: &OrderId) -> Option<usize> {
        let (own, _) = self.by_order.get(order)?;
        let better = (Bound::Excluded(own), Bound::Unbounded);
        Some(self.by_rank.range(better).count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(order: &str, promoted: bool, score: i64) -> Rank {
        let order = Reverse(OrderId::new(order).unwrap());
        Rank {
            promoted,
            score,
            born: Reverse(0),
            order,
        }
    }

    #[test]
    fn each_waiter_has_one_place_the_best_first() {
        let mut waiters = Waiters::default();
        for rank in [rank("a", false, 5), rank("b", false, 9), rank("c", true, 1)] {
            waiters.put(rank, Elevators::default());
        }
        waiters.put(rank("a", false, 10), Elevators::default());
        let order = |rank: &Rank| rank.order.0.to_string();
        assert_eq!(
            waiters.ranked().map(order).collect::<Vec<_>>(),
            ["c", "a", "b"]
        );
        let place = |name: &str| waiters.position(&OrderId::new(name).unwrap());
        assert_eq!(
            [place("c"), place("a"), place("b"), place("d")],
            [Some(1), Some(2), Some(3), None]
        );
        waiters.remove(&OrderId::new("a").unwrap());
        assert_eq!(waiters.len(), 2);
    }
}
