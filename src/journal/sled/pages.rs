//! Where records lie in the store: several one behind the other in each value, since sled takes as
//! long for a small value as for a large one, and removing them takes longer still.

use std::collections::VecDeque;

use ::sled::Tree;
use dispatch::edge::record::{ChainHash, split};
use dispatch::edge::{JournalError, Seq};

use super::store;
use crate::journal::rows::corrupt;

/// Bytes of a page; a larger record is a page of its own. sled moves large values into files that it
/// does not sync.
const PAGE_BYTES: usize = 4000;

/// Pages that are not in the store yet.
#[derive(Debug, Default)]
pub(super) struct NewPages {
    pages: Vec<(Seq, Vec<u8>)>,
    records: u64,
}

/// The pages of the store.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) tree: Tree,
    /// The first record of each, ascending.
    first: VecDeque<Seq>,
}

impl NewPages {
    /// Puts the next record behind those before.
    pub(super) fn push(&mut self, seq: Seq, record: Vec<u8>) {
        self.records += 1;
        match self.pages.last_mut() {
            Some((_, page)) if page.len() + record.len() <= PAGE_BYTES => page.extend(record),
            Some(_) | None => self.pages.push((seq, record)),
        }
    }

    /// How many records.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// How many pages.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// First record and value of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Seq, &[u8])> {
        self.pages.iter().map(|(first, page)| (*first, &page[..]))
    }
}

impl Pages {
    /// The pages of a tree; [`Pages::count`] finds out which there are.
    pub(super) fn new(tree: Tree) -> Self {
        Self {
            tree,
            first: VecDeque::new(),
        }
    }

    /// Finds out which pages there are.
    pub(super) fn count(&mut self) -> Result<(), JournalError> {
        self.first.clear();
        for key in self.tree.iter().keys() {
            self.first.push_back(number(&key.map_err(store)?)?);
        }
        Ok(())
    }

    /// The records from number `from` on, in order, until `each` has had enough.
    pub(super) fn records<E: From<JournalError>>(
        &self,
        from: Seq,
        mut each: impl FnMut(Seq, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let begin = self.page_of(from)?.map_or(from, |(first, _)| first);
        for row in self.tree.range(begin.to_be_bytes()..) {
            let (key, page) = row.map_err(store).map_err(E::from)?;
            for (seq, record) in (number(&key)?..).zip(split(&page)) {
                if seq >= from {
                    each(seq, record)?;
                }
            }
        }
        Ok(())
    }

    /// The hash of a record.
    pub(super) fn hash_of(&self, seq: Seq) -> Result<ChainHash, JournalError> {
        let page = self.page_of(seq)?;
        let record = page.as_ref().and_then(|(first, page)| {
            let mut records = (*first..).zip(split(page));
            records.find(|(number, _)| *number == seq)
        });
        let missing = || JournalError::Corrupt {
            seq,
            detail: "it is missing".to_owned(),
        };
        record
            .map(|(_, record)| ChainHash::of(record))
            .ok_or_else(missing)
    }

    /// Takes what comes after record `last` out of the store.
    pub(super) fn cut_after(&self, last: Seq) -> Result<(), JournalError> {
        if let Some((first, page)) = self.page_of(last)? {
            let stand = (first..=last).zip(split(&page));
            let bytes: usize = stand.map(|(_, record)| record.len()).sum();
            if bytes < page.len() {
                let page = &page[..bytes];
                self.tree.insert(first.to_be_bytes(), page).map_err(store)?;
            }
        }
        for row in self.tree.range((last + 1).to_be_bytes()..) {
            self.tree.remove(row.map_err(store)?.0).map_err(store)?;
        }
        Ok(())
    }

    /// The oldest pages, as many as `max`, that hold no record after `covered`; never the last one,
    /// of which it is not known where it ends.
    pub(super) fn covered(&self, covered: Seq, max: usize) -> impl Iterator<Item = Seq> {
        let pages = self.first.iter().zip(self.first.iter().skip(1));
        pages
            .take_while(move |(_, next)| **next <= covered + 1)
            .map(|(first, _)| *first)
            .take(max)
    }

    /// These pages are in the store, and so many of the oldest no more.
    pub(super) fn written(&mut self, new: &NewPages, removed: usize) {
        self.first.drain(..removed);
        self.first.extend(new.iter().map(|(first, _)| first));
    }

    /// The page that a record lies in, if it is there: the last one that begins no later.
    fn page_of(&self, seq: Seq) -> Result<Option<(Seq, ::sled::IVec)>, JournalError> {
        let Some(row) = self.tree.range(..=seq.to_be_bytes()).next_back() else {
            return Ok(None);
        };
        let (key, page) = row.map_err(store)?;
        Ok(Some((number(&key)?, page)))
    }
}

fn number(key: &[u8]) -> Result<Seq, JournalError> {
    let number = <[u8; 8]>::try_from(key).map(u64::from_be_bytes);
    number.map_err(|_| corrupt(format!("`{}` is no number of a record", key.escape_ascii())))
}
