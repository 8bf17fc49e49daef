//! What a power cut leaves of what was not synced, and what time does to what was.

use dispatch::edge::Seq;
use dispatch::edge::record::{ChainHash, decode, encode};

use super::{ModelDisk, Unsynced};
use crate::world::dice::Dice;

/// What a power cut did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// Batches that are gone.
    pub lost: u64,
    /// Batches behind a lost one that are there.
    pub beyond_a_hole: u64,
    /// Records of which only the beginning is there.
    pub torn: u64,
    /// Records with a bit that is another.
    pub flipped: u64,
}

impl ModelDisk {
    /// The power goes: of the batches that were not synced only the first `kept` are there later.
    pub fn power_cut(&mut self, kept: usize) {
        let survived: Vec<_> = self.unsynced.drain(..).take(kept).collect();
        self.unsynced.clear();
        for batch in survived {
            self.write(batch);
        }
        self.end_of_process();
    }

    /// The power goes: any subset of the batches that were not synced is there later, each whole,
    /// torn or with a flipped bit.
    pub fn power_cut_anyhow(&mut self, dice: &mut Dice) -> Cut {
        let mut cut = Cut::default();
        let mut whole_to = self.last();
        for mut batch in std::mem::take(&mut self.unsynced) {
            if dice.happens(500) {
                cut.lost += 1;
                continue;
            }
            if dice.happens(300)
                && let Some((_, record)) = batch.records.last_mut()
            {
                damage(record, dice, &mut cut);
            }
            if cut == Cut::default() {
                whole_to = batch.records.last().map_or(whole_to, |(seq, _)| *seq);
                self.write(batch);
            } else {
                cut.beyond_a_hole += 1;
                self.write_beyond_a_hole(batch);
            }
        }
        self.whole_to = Some(whole_to);
        self.end_of_process();
        cut
    }

    /// The power goes: of the batches that were not synced those are there later whose turn in
    /// `kept` says so, and the last of these ends after `whole` bytes of its last record.
    pub fn power_cut_at(&mut self, kept: &[bool], whole: usize) {
        let batches = std::mem::take(&mut self.unsynced);
        let last = kept.iter().rposition(|kept| *kept);
        let mut hole = false;
        for (place, mut batch) in batches.into_iter().enumerate() {
            if !kept.get(place).is_some_and(|kept| *kept) {
                hole = true;
                continue;
            }
            if Some(place) == last
                && let Some((_, record)) = batch.records.last_mut()
            {
                hole |= whole < record.len();
                record.truncate(whole);
            }
            if hole {
                self.write_beyond_a_hole(batch);
            } else {
                self.write(batch);
            }
        }
        self.end_of_process();
    }

    /// Bytes of the last record that was not synced.
    #[must_use]
    pub fn unsynced_bytes(&self) -> usize {
        let record = self.unsynced.last().and_then(|batch| batch.records.last());
        record.map_or(0, |(_, record)| record.len())
    }

    /// A record that was synced is read otherwise from here on. False where there is none.
    pub fn alter(&mut self, dice: &mut Dice) -> bool {
        let last = self.records.range(..=self.durable).count() as u64;
        if last == 0 || self.altered.is_some() {
            return false;
        }
        let place = usize::try_from(dice.between(0, last - 1)).unwrap_or(0);
        let Some((seq, record)) = self.records.iter_mut().nth(place) else {
            return false;
        };
        self.altered = Some((*seq, record.clone()));
        if !dice.happens(250) || !estrange(record) {
            flip(record, dice);
        }
        true
    }

    /// The altered record is as it was, from a copy.
    pub fn repair(&mut self) {
        if let Some((seq, record)) = self.altered.take() {
            self.records.insert(seq, record);
        }
    }

    /// The record that is altered.
    #[must_use]
    pub fn altered(&self) -> Option<Seq> {
        self.altered.as_ref().map(|(seq, _)| *seq)
    }

    fn end_of_process(&mut self) {
        self.chain = None;
        self.anchors.clear();
    }

    /// Rows of orders that are new can be there; a row that has an older value keeps it, since the
    /// store keeps its own order within a row.
    fn write_beyond_a_hole(&mut self, batch: Unsynced) {
        let end = batch.records.last().map_or(0, |(seq, _)| *seq);
        self.records.extend(batch.records);
        for change in batch.ledger {
            if let Some(row) = change.row {
                self.ledger.entry(change.key).or_insert((end, row));
            }
        }
    }
}

/// The record becomes that of another history: whole in itself, behind another record. False where
/// it cannot be.
fn estrange(record: &mut Vec<u8>) -> bool {
    let Ok((mut header, fact)) = decode(record) else {
        return false;
    };
    header.previous = ChainHash::of(record);
    let Ok(other) = encode(&header, &fact) else {
        return false;
    };
    *record = other;
    true
}

fn damage(record: &mut Vec<u8>, dice: &mut Dice, cut: &mut Cut) {
    if dice.happens(500) {
        let length = dice.between(0, record.len().saturating_sub(1) as u64);
        record.truncate(usize::try_from(length).unwrap_or(0));
        cut.torn += 1;
    } else {
        flip(record, dice);
        cut.flipped += 1;
    }
}

fn flip(record: &mut [u8], dice: &mut Dice) {
    let last = record.len().saturating_sub(1) as u64;
    let place = usize::try_from(dice.between(0, last)).unwrap_or(0);
    if let Some(byte) = record.get_mut(place) {
        *byte ^= 1 << dice.between(0, 7);
    }
}
