//! The records of a journal as one chain: how it grows, and what of it stands after a crash
//! (law 11).

use super::journal::{JournalError, Seq};
use super::record::{self, ChainHash, Header, RecordError};
use crate::fact::Fact;

/// A record that others are tied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor {
    /// Its number; 0 = before the first record.
    pub seq: Seq,
    /// Its hash.
    pub hash: ChainHash,
}

/// The growing end of a journal.
#[derive(Debug, Clone)]
pub struct Chain {
    end: Anchor,
    durable: Seq,
}

impl Chain {
    /// A chain that goes on after `end`, which is durable with all before it.
    #[must_use]
    pub fn new(end: Anchor) -> Self {
        Self {
            end,
            durable: end.seq,
        }
    }

    /// The records of one step, in order, each with its number. On an error nothing has changed.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] for a fact that does not fit into a record.
    pub fn extend(&mut self, facts: &[Fact]) -> Result<Vec<(Seq, Vec<u8>)>, RecordError> {
        let mut end = self.end;
        let mut records = Vec::with_capacity(facts.len());
        for (index, fact) in facts.iter().enumerate() {
            let header = Header {
                seq: end.seq + 1,
                last: index + 1 == facts.len(),
                durable: self.durable,
                previous: end.hash,
            };
            let record = record::encode(&header, fact)?;
            end = Anchor {
                seq: header.seq,
                hash: ChainHash::of(&record),
            };
            records.push((header.seq, record));
        }
        self.end = end;
        Ok(records)
    }

    /// All records so far are durable.
    pub fn synced(&mut self) {
        self.durable = self.end.seq;
    }

    /// The last record.
    #[must_use]
    pub fn end(&self) -> Anchor {
        self.end
    }

    /// The last record known durable.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.durable
    }
}

/// What of the records after a snapshot stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The facts that stand, in order.
    pub facts: Vec<(Seq, Fact)>,
    /// The last record that stands; the chain goes on after it.
    pub end: Anchor,
    /// The records to be removed: a tail that was never acknowledged.
    pub cut: Vec<Seq>,
}

/// Reads records, in ascending order of the numbers they are stored under, that follow `anchor`.
/// `durable` is the last record known durable from elsewhere, 0 where nothing is known.
///
/// A record that is missing, unreadable or out of its chain ends what stands. After the highest
/// durable mark that is an unacknowledged tail and is cut off, back to the end of a whole step.
///
/// # Errors
/// [`JournalError::Corrupt`] with the first bad record, at or before the highest durable mark.
pub fn replay<B: AsRef<[u8]>>(
    anchor: Anchor,
    durable: Seq,
    records: impl IntoIterator<Item = (Seq, B)>,
) -> Result<Replay, JournalError> {
    let mut reader = Reader {
        mark: durable.max(anchor.seq),
        end: anchor,
        facts: Vec::new(),
        whole: (anchor, 0),
        fault: None,
    };
    let mut stored = Vec::new();
    for (seq, record) in records {
        stored.push(seq);
        reader.take(seq, record.as_ref());
    }
    reader.finish(&stored)
}

struct Reader {
    /// The highest durable mark.
    mark: Seq,
    /// The last record that fits.
    end: Anchor,
    facts: Vec<(Seq, Fact)>,
    /// The last record that ended a step, and the facts up to it.
    whole: (Anchor, usize),
    /// The first record that does not fit, and why.
    fault: Option<(Seq, String)>,
}

impl Reader {
    fn take(&mut self, seq: Seq, record: &[u8]) {
        let read = record::decode(record);
        if let Ok((header, _)) = &read
            && header.seq == seq
        {
            self.mark = self.mark.max(header.durable);
        }
        if self.fault.is_some() {
            return;
        }
        let Some(next) = self.end.seq.checked_add(1) else {
            self.fault = Some((seq, "no number is left for it".to_owned()));
            return;
        };
        self.fault = match read {
            _ if seq != next => Some((next, format!("it is missing, record {seq} follows"))),
            Err(error) => Some((seq, error.to_string())),
            Ok((header, _)) if header.seq != seq => {
                Some((seq, format!("in its place stands record {}", header.seq)))
            }
            Ok((header, _)) if mutate!(ChainUnchecked, header.previous != self.end.hash, false) => {
                Some((seq, "it does not follow the record before it".to_owned()))
            }
            Ok((header, fact)) => {
                self.accept(&header, fact, record);
                None
            }
        };
    }

    fn accept(&mut self, header: &Header, fact: Fact, record: &[u8]) {
        self.end = Anchor {
            seq: header.seq,
            hash: ChainHash::of(record),
        };
        self.facts.push((header.seq, fact));
        if mutate!(StepTorn, header.last, true) {
            self.whole = (self.end, self.facts.len());
        }
    }

    fn finish(mut self, stored: &[Seq]) -> Result<Replay, JournalError> {
        let (whole, facts) = self.whole;
        if mutate!(CorruptCut, whole.seq < self.mark, false) {
            let missing = || (self.end.seq.saturating_add(1), "it is missing".to_owned());
            let (seq, detail) = self.fault.unwrap_or_else(missing);
            let mark = self.mark;
            let detail = format!("{detail}; records up to {mark} were durable");
            return Err(JournalError::Corrupt { seq, detail });
        }
        self.facts.truncate(facts);
        let cut = stored
            .iter()
            .copied()
            .filter(|seq| *seq > whole.seq)
            .collect();
        Ok(Replay {
            facts: self.facts,
            end: whole,
            cut,
        })
    }
}

#[cfg(test)]
mod tests;
