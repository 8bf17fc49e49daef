//! A shelf: some eighty ended orders in one piece of memory.

use protocol::Timestamp;

use super::row::ended_at;

/// Bytes of a shelf. Small, as an order on it is found by looking through it.
const SHELF_BYTES: usize = 8 * 1024;
/// Before each entry: its bytes, and those of its order id.
const HEAD_BYTES: usize = 3;

/// Entries one after the other: head, order id, row.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    bytes: Vec<u8>,
    oldest_at: Timestamp,
}

struct Entry<'a> {
    start: usize,
    end: usize,
    order: &'a str,
    row: &'a [u8],
}

impl Shelf {
    pub(super) fn has_room_for(&self, order: &str, row: &[u8]) -> bool {
        self.bytes.len() + HEAD_BYTES + order.len() + row.len() <= SHELF_BYTES
    }

    /// Puts an order that ended at `at` on the shelf.
    pub(super) fn put(&mut self, order: &str, at: Timestamp, row: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.reserve_exact(SHELF_BYTES);
            self.oldest_at = at;
        }
        self.oldest_at = self.oldest_at.min(at);
        // Ids have at most 64 bytes, and rows a few hundred: they name a robot, an elevator and
        // two words.
        let (Ok(entry), Ok(id)) = (
            u16::try_from(HEAD_BYTES + order.len() + row.len()),
            u8::try_from(order.len()),
        ) else {
            return;
        };
        self.bytes.extend_from_slice(&entry.to_be_bytes());
        self.bytes.push(id);
        self.bytes.extend_from_slice(order.as_bytes());
        self.bytes.extend_from_slice(row);
    }

    pub(super) fn find(&self, order: &str) -> Option<&[u8]> {
        self.entries()
            .find(|entry| entry.order == order)
            .map(|entry| entry.row)
    }

    pub(super) fn remove(&mut self, order: &str) {
        let found = self.entries().find(|entry| entry.order == order);
        let Some(span) = found.map(|entry| entry.start..entry.end) else {
            return;
        };
        self.bytes.drain(span);
        if self.bytes.len() < self.bytes.capacity() / 2 {
            self.bytes.shrink_to_fit();
        }
        let ends = self.entries().filter_map(|entry| ended_at(entry.row));
        self.oldest_at = ends.min().unwrap_or_default();
    }

    /// When its oldest order ended.
    pub(super) fn oldest_at(&self) -> Timestamp {
        self.oldest_at
    }

    pub(super) fn oldest(&self) -> Option<&str> {
        self.entries()
            .find(|entry| ended_at(entry.row) == Some(self.oldest_at))
            .map(|entry| entry.order)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Orders and their rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries().map(|entry| (entry.order, entry.row))
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = self.bytes.get(start..)?;
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (id, rest) = rest.split_first()?;
            let end = start + usize::from(u16::from_be_bytes(*length));
            let (order, _) = rest.split_at_checked(usize::from(*id))?;
            let entry = Entry {
                start,
                end,
                order: std::str::from_utf8(order).ok()?,
                row: self.bytes.get(start + HEAD_BYTES + order.len()..end)?,
            };
            start = end;
            Some(entry)
        })
    }
}
