//! Law 4: nothing is visible before its cause is durable.

use std::collections::VecDeque;

use super::Full;
use super::journal::Seq;

/// Holds what a step wants seen until all facts that were appended before it are durable, and
/// gives it back in the order in which it came. With none pending it gives it back at once.
#[derive(Debug)]
pub struct Barrier<T> {
    /// The last record appended.
    appended: Seq,
    /// The last record known durable.
    durable: Seq,
    /// What waits, each with the record that it waits for; the numbers never fall.
    waiting: VecDeque<(Seq, T)>,
    capacity: usize,
}

impl<T> Barrier<T> {
    /// A barrier behind which all records up to `last` are durable, for at most `capacity` items.
    #[must_use]
    pub fn new(last: Seq, capacity: usize) -> Self {
        Self {
            appended: last,
            durable: last,
            waiting: VecDeque::new(),
            capacity,
        }
    }

    /// Records up to `last` were appended; what comes from here on waits for them.
    pub fn appended(&mut self, last: Seq) {
        self.appended = mutate!(BarrierForgets, self.appended.max(last), self.appended);
    }

    /// Takes an item; [`Barrier::release`] gives it back once its time has come.
    ///
    /// # Errors
    /// [`Full`] with the item when as many wait as may.
    pub fn hold(&mut self, item: T) -> Result<(), Full<T>> {
        if self.waiting.len() >= self.capacity {
            return Err(Full {
                item,
                capacity: self.capacity,
            });
        }
        self.waiting.push_back((self.appended, item));
        Ok(())
    }

    /// Records up to `last` are durable. A number above the last one appended counts as that one:
    /// what was not appended cannot be durable.
    pub fn durable(&mut self, last: Seq) {
        self.durable = self.durable.max(last.min(self.appended));
    }

    /// The next item that may be seen.
    pub fn release(&mut self) -> Option<T> {
        let (waits_for, _) = self.waiting.front()?;
        if mutate!(BarrierOpen, *waits_for > self.durable, false) {
            return None;
        }
        self.waiting.pop_front().map(|(_, item)| item)
    }

    /// Whether facts were appended that are not known durable.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.durable < self.appended
    }

    /// The last record known durable.
    #[must_use]
    pub fn durable_seq(&self) -> Seq {
        self.durable
    }

    /// How many items wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none wait.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Step {
        Append(Seq),
        Hold(&'static str),
        Durable(Seq),
    }
    use Step::{Append, Durable, Hold};

    fn check(last: Seq, steps: &[Step], released: &[&[&str]]) {
        let mut barrier = Barrier::new(last, 8);
        for (step, expected) in steps.iter().zip(released) {
            match step {
                Append(seq) => barrier.appended(*seq),
                Hold(item) => barrier.hold(*item).unwrap(),
                Durable(seq) => barrier.durable(*seq),
            }
            let got: Vec<_> = std::iter::from_fn(|| barrier.release()).collect();
            assert_eq!(got, *expected);
        }
        assert_eq!(steps.len(), released.len());
    }

    #[test]
    fn with_none_pending_an_item_leaves_at_once() {
        check(0, &[Hold("a")], &[&["a"]]);
        check(7, &[Hold("a"), Hold("b")], &[&["a"], &["b"]]);
    }

    #[test]
    fn an_item_waits_for_all_facts_before_it() {
        check(
            0,
            &[Append(2), Hold("a"), Durable(1), Durable(2)],
            &[&[], &[], &[], &["a"]],
        );
    }

    #[test]
    fn an_item_without_facts_waits_for_those_of_others_and_keeps_its_place() {
        check(
            4,
            &[
                Append(5),
                Hold("a"),
                Hold("duplicate"),
                Append(6),
                Hold("b"),
                Durable(5),
            ],
            &[&[], &[], &[], &[], &[], &["a", "duplicate"]],
        );
    }

    #[test]
    fn one_sync_releases_all_that_it_covers_in_order() {
        check(
            0,
            &[
                Append(1),
                Hold("a"),
                Append(2),
                Hold("b"),
                Append(3),
                Hold("c"),
                Durable(3),
            ],
            &[&[], &[], &[], &[], &[], &[], &["a", "b", "c"]],
        );
    }

    #[test]
    fn durable_never_runs_ahead_of_appended_nor_back() {
        check(
            0,
            &[
                Durable(9),
                Append(5),
                Hold("a"),
                Durable(5),
                Durable(3),
                Hold("b"),
            ],
            &[&[], &[], &[], &["a"], &[], &["b"]],
        );
    }

    #[test]
    fn it_is_bounded_and_gives_the_item_back() {
        let mut barrier = Barrier::new(0, 1);
        barrier.appended(1);
        barrier.hold('a').unwrap();
        let full = barrier.hold('b').unwrap_err();
        assert_eq!((full.item, full.capacity), ('b', 1));
        assert!(barrier.is_pending());
        assert_eq!(barrier.len(), 1);
        barrier.durable(1);
        assert_eq!(barrier.release(), Some('a'));
        assert!(barrier.is_empty() && !barrier.is_pending());
        assert_eq!(barrier.durable_seq(), 1);
    }
}
