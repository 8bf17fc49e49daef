//! Acknowledgements leave in the order in which the messages came (T-STACK-02), and none leaves on
//! another connection than that of its message (T-STACK-03).

use std::collections::VecDeque;

use super::Full;

/// Names one message of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The connection, numbered at each CONNACK.
    pub epoch: u64,
    /// The message of that connection, from 0.
    pub number: u64,
}

/// The acknowledgements of one connection. Only the head may leave, and only once it is due.
#[derive(Debug)]
pub struct AckLine<A> {
    epoch: u64,
    /// The number of the head.
    head: u64,
    line: VecDeque<(A, bool)>,
    capacity: usize,
}

impl<A> AckLine<A> {
    /// An empty line before any connection (epoch 0), for at most `capacity` messages.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            epoch: 0,
            head: 0,
            line: VecDeque::new(),
            capacity,
        }
    }

    /// A new connection: all of the old one is dropped, since its broker delivers it again.
    /// Returns how many were dropped. An epoch that is not newer changes nothing.
    pub fn connected(&mut self, epoch: u64) -> usize {
        if epoch <= self.epoch {
            return 0;
        }
        let dropped = self.line.len();
        mutate!(AckOld, self.line.clear(), ());
        self.epoch = epoch;
        self.head = 0;
        dropped
    }

    /// A message of the present connection came; `ack` acknowledges it.
    ///
    /// # Errors
    /// [`Full`] when as many wait as may: stop reading the socket.
    pub fn received(&mut self, ack: A) -> Result<Ticket, Full<A>> {
        if self.line.len() >= self.capacity {
            return Err(Full {
                item: ack,
                capacity: self.capacity,
            });
        }
        let number = self.head + self.line.len() as u64;
        self.line.push_back((ack, false));
        Ok(Ticket {
            epoch: self.epoch,
            number,
        })
    }

    /// The barrier opened for a message. Returns whether that changed something; a ticket of an
    /// old connection never does.
    pub fn due(&mut self, ticket: Ticket) -> bool {
        if ticket.epoch != self.epoch {
            return false;
        }
        let place = ticket
            .number
            .checked_sub(self.head)
            .and_then(|n| usize::try_from(n).ok());
        match place.and_then(|place| self.line.get_mut(place)) {
            Some((_, due)) => !std::mem::replace(due, true),
            None => false,
        }
    }

    /// The acknowledgement that may leave: that of the head, once it is due.
    pub fn leave(&mut self) -> Option<A> {
        let (_, due) = self.line.front()?;
        if mutate!(AckEarly, !due, false) {
            return None;
        }
        self.head += 1;
        self.line.pop_front().map(|(ack, _)| ack)
    }

    /// The present connection.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// Whether none wait.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaving(line: &mut AckLine<char>) -> String {
        std::iter::from_fn(|| line.leave()).collect()
    }

    #[test]
    fn they_leave_in_the_order_received_whatever_order_they_fall_due() {
        // (order in which they fall due, what leaves after each)
        let table: [([usize; 3], [&str; 3]); 6] = [
            ([0, 1, 2], ["a", "b", "c"]),
            ([0, 2, 1], ["a", "", "bc"]),
            ([1, 0, 2], ["", "ab", "c"]),
            ([1, 2, 0], ["", "", "abc"]),
            ([2, 0, 1], ["", "a", "bc"]),
            ([2, 1, 0], ["", "", "abc"]),
        ];
        for (order, left) in table {
            let mut line = AckLine::new(8);
            line.connected(1);
            let tickets = ['a', 'b', 'c'].map(|ack| line.received(ack).unwrap());
            for (index, expected) in order.into_iter().zip(left) {
                assert!(line.due(tickets[index]));
                assert_eq!(leaving(&mut line), expected, "{order:?}");
            }
            assert!(line.is_empty());
        }
    }

    #[test]
    fn a_new_connection_drops_all_of_the_old() {
        let mut line = AckLine::new(8);
        line.connected(1);
        let old = line.received('a').unwrap();
        line.received('b').unwrap();
        assert_eq!(line.connected(2), 2);
        let new = line.received('A').unwrap();
        assert_eq!(
            (old.number, new.number),
            (0, 0),
            "the epoch alone tells them apart"
        );
        assert!(!line.due(old), "T-STACK-03");
        assert_eq!(line.leave(), None);
        assert!(line.due(new));
        assert_eq!(line.leave(), Some('A'));
    }

    #[test]
    fn an_epoch_that_is_not_newer_changes_nothing() {
        let mut line = AckLine::new(8);
        line.connected(5);
        let ticket = line.received('a').unwrap();
        assert_eq!((line.connected(5), line.connected(4)), (0, 0));
        assert_eq!(line.epoch(), 5);
        assert!(line.due(ticket));
        assert_eq!(line.leave(), Some('a'));
    }

    #[test]
    fn a_ticket_counts_once_and_only_while_it_waits() {
        let mut line = AckLine::new(8);
        let ticket = line.received('a').unwrap();
        assert!(line.due(ticket));
        assert!(!line.due(ticket));
        assert_eq!(line.leave(), Some('a'));
        assert!(!line.due(ticket));
        assert!(!line.due(Ticket {
            epoch: 0,
            number: 77
        }));
        assert_eq!(line.leave(), None);
    }

    #[test]
    fn it_is_bounded() {
        let mut line = AckLine::new(2);
        line.received('a').unwrap();
        line.received('b').unwrap();
        let full = line.received('c').unwrap_err();
        assert_eq!((full.item, full.capacity, line.len()), ('c', 2, 2));
    }
}
