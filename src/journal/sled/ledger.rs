//! The ledger: rows that may change lie loose in sled, those that have settled are packed into
//! blocks ([`crate::journal::blocks`]).
//!
//! What is where is known in memory, so that a step reads nothing from the disk but the block whose
//! row it removes. Rows are forgotten in about the order in which they settled: the block is the
//! oldest one, or is found by the hashes of the keys.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use ::sled::Batch as Writes;
use dispatch::edge::record::checksum;
use dispatch::edge::{JournalError, LedgerChange, Seq};

use crate::journal::blocks::{self, BLOCK_BYTES, BlockNumber, Blocks, ROWS_MAX};
use crate::journal::rows::{BlockHead, LedgerRow, Tally, seal_of};

/// Settled rows of so many bytes are waited for before one block of them is packed: some of them
/// are not durable yet, and a block takes none of those.
const PACK_FROM_BYTES: usize = 2 * BLOCK_BYTES;

/// Where the rows are.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Of all that is in sled.
    pub(super) tally: Tally,
    loose: BTreeMap<Vec<u8>, Loose>,
    /// Settled rows among the loose ones, in the order of their last change; also some that are
    /// there no more, or changed since.
    settled: VecDeque<Settled>,
    settled_bytes: usize,
    /// The oldest first.
    packed: VecDeque<Packed>,
    pending: Vec<Pending>,
    /// The block that was read last.
    read: Option<BlockNumber>,
    read_bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Loose {
    made: Seq,
    changed: Seq,
    seal: u32,
}

#[derive(Debug)]
struct Settled {
    changed: Seq,
    /// Tells it from another value of the same row.
    seal: u32,
    key: Vec<u8>,
    row: Vec<u8>,
}

#[derive(Debug)]
struct Packed {
    number: BlockNumber,
    head: BlockHead,
    seal: u32,
    /// Of its keys.
    hashes: Box<[u32]>,
}

/// A block that is written and not named by sled yet.
#[derive(Debug)]
struct Pending {
    number: BlockNumber,
    head: BlockHead,
    /// Its keys, and the seal of each row.
    rows: Vec<(Vec<u8>, u32)>,
    is_durable: bool,
}

/// What steps write to sled.
#[derive(Debug, Default)]
pub(super) struct LedgerWrites {
    pub(super) loose: Writes,
    pub(super) blocks: Writes,
}

impl Ledger {
    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        let packed = self.packed.iter().map(|packed| {
            u64::from(packed.head.rows).saturating_sub(packed.head.gone.count_ones().into())
        });
        self.loose.len() as u64 + packed.sum::<u64>()
    }

    /// Takes in a loose row, as it is stored.
    pub(super) fn found_loose(&mut self, key: &[u8], sealed: &[u8], row: &LedgerRow) {
        self.tally.add(sealed);
        let place = Loose {
            made: row.made,
            changed: row.changed,
            seal: seal_of(sealed),
        };
        self.loose.insert(key.to_vec(), place);
        if row.settled {
            self.settles(key, &row.row, place);
        }
    }

    /// Takes in a block, as it is stored, with its keys.
    pub(super) fn found_block<'k>(
        &mut self,
        (number, sealed): (BlockNumber, &[u8]),
        head: BlockHead,
        keys: impl Iterator<Item = &'k [u8]>,
    ) {
        self.tally.add(sealed);
        self.packed.push_back(Packed {
            number,
            head,
            seal: seal_of(sealed),
            hashes: keys.map(hash).collect(),
        });
    }

    /// All was taken in.
    pub(super) fn found_all(&mut self) {
        let packed = self.packed.make_contiguous();
        packed.sort_by_key(|packed| (packed.head.changed, packed.number));
        let settled = self.settled.make_contiguous();
        settled.sort_by_key(|settled| settled.changed);
    }

    /// The blocks that sled names.
    pub(super) fn blocks(&self) -> BTreeSet<BlockNumber> {
        self.packed.iter().map(|packed| packed.number).collect()
    }

    /// A change by a step whose last record is `last`.
    pub(super) fn change(
        &mut self,
        change: &LedgerChange,
        last: Seq,
        blocks: &mut Blocks,
        writes: &mut LedgerWrites,
    ) -> Result<(), JournalError> {
        match &change.row {
            Some(row) => {
                self.set(change, row, last, writes);
                Ok(())
            }
            None => self.remove(&change.key, blocks, writes),
        }
    }

    /// Sled names the blocks that are durable, in the place of their rows.
    pub(super) fn name_blocks(&mut self, blocks: &mut Blocks, writes: &mut LedgerWrites) {
        for pending in std::mem::take(&mut self.pending) {
            if pending.is_durable {
                self.name(pending, blocks, writes);
            } else {
                self.pending.push(pending);
            }
        }
    }

    /// Writes blocks of settled rows that are durable up to record `durable`, where there are
    /// enough. What is written after the next sync will name them.
    pub(super) fn pack(&mut self, durable: Seq, blocks: &mut Blocks) -> io::Result<()> {
        while self.settled_bytes >= PACK_FROM_BYTES && self.pack_one(durable, blocks)? {}
        Ok(())
    }

    /// Writes one block, however few rows there are for it; false where there are none.
    pub(super) fn pack_one(&mut self, durable: Seq, blocks: &mut Blocks) -> io::Result<bool> {
        let (mut bytes, mut rows) = (Vec::with_capacity(BLOCK_BYTES), Vec::new());
        let mut changed = 0;
        while let Some(next) = self.settled.front() {
            let is_there = self
                .loose
                .get(&next.key)
                .is_some_and(|row| row.seal == next.seal);
            if is_there {
                let has_room = rows.len() < ROWS_MAX && next.changed <= durable;
                if !has_room || !blocks::add(&mut bytes, &next.key, &next.row) {
                    break;
                }
            }
            let Some(next) = self.settled.pop_front() else {
                break;
            };
            self.settled_bytes -= blocks::bytes_of(&next.key, &next.row);
            if is_there {
                changed = changed.max(next.changed);
                rows.push((next.key, next.seal));
            }
        }
        // At most BLOCK_BYTES and ROWS_MAX.
        let (Ok(length), Ok(count)) = (u16::try_from(bytes.len()), u8::try_from(rows.len())) else {
            return Ok(false);
        };
        if rows.is_empty() {
            return Ok(false);
        }
        let head = BlockHead {
            changed,
            bytes: length,
            rows: count,
            sum: checksum(&[&bytes]),
            gone: 0,
        };
        self.pending.push(Pending {
            number: blocks.put(&bytes)?,
            head,
            rows,
            is_durable: false,
        });
        Ok(true)
    }

    /// Bytes of the settled rows that lie loose.
    pub(super) fn settled_bytes(&self) -> usize {
        self.settled_bytes
    }

    /// The blocks that were written are durable.
    pub(super) fn synced(&mut self) {
        for pending in &mut self.pending {
            pending.is_durable = true;
        }
    }

    /// A loose row was made after `end`, in a tail that is cut off: it never was.
    pub(super) fn forget_loose(&mut self, key: &[u8]) {
        if let Some(row) = self.loose.remove(key) {
            self.tally.remove(row.seal);
        }
    }

    fn set(&mut self, change: &LedgerChange, row: &[u8], last: Seq, writes: &mut LedgerWrites) {
        let (key, settled) = (change.key.as_slice(), change.settled);
        let before = self.loose.get(key).copied();
        if let Some(before) = before {
            self.tally.remove(before.seal);
        }
        let made = before.map_or(last, |before| before.made);
        let stored = LedgerRow {
            made,
            changed: last,
            settled,
            row: row.to_vec(),
        };
        let sealed = stored.write(key);
        self.tally.add(&sealed);
        let place = Loose {
            made,
            changed: last,
            seal: seal_of(&sealed),
        };
        self.loose.insert(key.to_vec(), place);
        if settled {
            self.settles(key, row, place);
        }
        writes.loose.insert(key, sealed);
    }

    fn settles(&mut self, key: &[u8], row: &[u8], place: Loose) {
        if blocks::bytes_of(key, row) > BLOCK_BYTES {
            return;
        }
        self.settled_bytes += blocks::bytes_of(key, row);
        self.settled.push_back(Settled {
            changed: place.changed,
            seal: place.seal,
            key: key.to_vec(),
            row: row.to_vec(),
        });
    }

    fn remove(
        &mut self,
        key: &[u8],
        blocks: &mut Blocks,
        writes: &mut LedgerWrites,
    ) -> Result<(), JournalError> {
        if self.loose.contains_key(key) {
            self.forget_loose(key);
            writes.loose.remove(key);
        } else if let Some((at, bit)) = self.find(key, blocks)? {
            let packed = &mut self.packed[at];
            packed.head.gone |= bit;
            self.tally.remove(packed.seal);
            let block = packed.number.to_be_bytes();
            if packed.head.gone.count_ones() == u32::from(packed.head.rows) {
                blocks.leave(packed.number);
                self.read = None;
                self.packed.remove(at);
                writes.blocks.remove(&block);
            } else {
                let sealed = packed.head.write(&block);
                packed.seal = seal_of(&sealed);
                self.tally.add(&sealed);
                writes.blocks.insert(&block, sealed);
            }
        }
        Ok(())
    }

    /// Where a packed row is: the place of its block, and its bit.
    fn find(&mut self, key: &[u8], blocks: &Blocks) -> Result<Option<(usize, u128)>, JournalError> {
        let wanted = hash(key);
        for (at, packed) in self.packed.iter().enumerate() {
            let hashes = (0_u32..).zip(&packed.hashes);
            for (index, _) in hashes.filter(|(_, hash)| **hash == wanted) {
                if packed.head.gone & (1 << index) != 0 {
                    continue;
                }
                if self.read != Some(packed.number) {
                    self.read = None;
                    blocks.read(packed.number, &packed.head, &mut self.read_bytes)?;
                    self.read = Some(packed.number);
                }
                let found = blocks::rows(&self.read_bytes).nth(index as usize);
                if found.is_some_and(|(found, _)| found == key) {
                    return Ok(Some((at, 1 << index)));
                }
            }
        }
        Ok(None)
    }

    /// Sled names a durable block in the place of its rows. Those that changed or went meanwhile
    /// are gone from it.
    fn name(&mut self, pending: Pending, blocks: &mut Blocks, writes: &mut LedgerWrites) {
        let Pending {
            number,
            mut head,
            rows,
            ..
        } = pending;
        for (index, (key, seal)) in (0_u32..).zip(&rows) {
            if self.loose.get(key).is_some_and(|row| row.seal == *seal) {
                self.forget_loose(key);
                writes.loose.remove(key.as_slice());
            } else {
                head.gone |= 1 << index;
            }
        }
        if head.gone.count_ones() == u32::from(head.rows) {
            return blocks.leave(number);
        }
        let block = number.to_be_bytes();
        let sealed = head.write(&block);
        let keys = rows.iter().map(|(key, _)| key.as_slice());
        self.found_block((number, &sealed), head, keys);
        self.read = None;
        writes.blocks.insert(&block, sealed);
    }
}

fn hash(key: &[u8]) -> u32 {
    checksum(&[key])
}

#[cfg(test)]
mod tests;
