//! The rows of orders that have ended, packed: a file of blocks beside sled's.
//!
//! A week has a million ended orders, which nobody changes until they are forgotten. As rows of
//! their own in sled they cost it twelve times their size on disk and seconds at start. Here they
//! lie together, in the order in which they ended.
//!
//! A block is written and synced before sled names it (tree `blocks`), in the same step that takes
//! its rows out of the ledger's tree; a block that sled does not name is free. It is never changed:
//! which of its rows are gone stands in sled. It is written again only once it is durable that sled
//! names it no more.
//!
//! A block is a sequence of rows: the length of the key, the length of the row (2 bytes each,
//! big-endian), the key, the row.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use dispatch::edge::JournalError;
use dispatch::edge::record::checksum;

use super::rows::{BlockHead, corrupt};

/// The name in the journal's directory.
pub const NAME: &str = "ended";
/// Bytes of a block.
pub const BLOCK_BYTES: usize = 16 * 1024;
/// Rows of a block: a bit for each says whether it is gone.
pub const ROWS_MAX: usize = 128;

/// Bytes before a row's key.
const LENGTHS_BYTES: usize = 4;

/// The number of a block in the file, from 0.
pub type BlockNumber = u32;

/// The file.
#[derive(Debug)]
pub struct Blocks {
    file: File,
    /// How many blocks have ever been used.
    end: BlockNumber,
    free: BTreeSet<BlockNumber>,
    /// Free once what was done so far is durable.
    leaving: Vec<BlockNumber>,
    /// Whether something was written since the last sync.
    unsynced: bool,
}

impl Blocks {
    /// Makes an empty file.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(journal: &Path) -> io::Result<()> {
        let path = journal.join(NAME);
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.sync_all()
    }

    /// Opens the file; which blocks are in use is told later ([`Blocks::in_use`]).
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] where there is none, [`JournalError::Store`] for what else the
    /// system says.
    pub fn open(journal: &Path) -> Result<Self, JournalError> {
        let path = journal.join(NAME);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|error| {
            let said = format!("cannot open {}: {error}", path.display());
            if error.kind() == io::ErrorKind::NotFound {
                corrupt(said)
            } else {
                JournalError::Store(said)
            }
        })?;
        Ok(Self {
            file,
            end: 0,
            free: BTreeSet::new(),
            leaving: Vec::new(),
            unsynced: false,
        })
    }

    /// These blocks are in use, and no others.
    pub fn in_use(&mut self, used: &BTreeSet<BlockNumber>) {
        self.end = used.last().map_or(0, |last| last + 1);
        self.free = (0..self.end)
            .filter(|number| !used.contains(number))
            .collect();
        self.leaving.clear();
    }

    /// Writes a block; it is durable after [`Blocks::sync`].
    ///
    /// # Errors
    /// What the system says.
    pub fn put(&mut self, rows: &[u8]) -> io::Result<BlockNumber> {
        let number = self.free.pop_first().unwrap_or(self.end);
        self.file.write_all_at(rows, offset(number))?;
        self.end = self.end.max(number + 1);
        self.unsynced = true;
        Ok(number)
    }

    /// Sled no longer names this block, after what is done next is durable.
    pub fn leave(&mut self, number: BlockNumber) {
        self.leaving.push(number);
    }

    /// Makes what was put durable.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.file.sync_data()?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// What sled was told so far is durable.
    pub fn left(&mut self) {
        self.free.extend(self.leaving.drain(..));
    }

    /// Reads a block into `bytes`, whole as it was written.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it is not as `head` says, [`JournalError::Store`] for what
    /// else the system says.
    pub fn read(
        &self,
        number: BlockNumber,
        head: &BlockHead,
        bytes: &mut Vec<u8>,
    ) -> Result<(), JournalError> {
        bytes.resize(usize::from(head.bytes), 0);
        let is_whole = match self.file.read_exact_at(bytes, offset(number)) {
            Ok(()) => checksum(&[bytes]) == head.sum,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => {
                let said = format!("cannot read block {number} of `{NAME}`: {error}");
                return Err(JournalError::Store(said));
            }
        };
        let is_whole = is_whole && rows(bytes).count() == usize::from(head.rows);
        if is_whole {
            return Ok(());
        }
        Err(corrupt(format!(
            "block {number} of `{NAME}` is not what was written"
        )))
    }
}

fn offset(number: BlockNumber) -> u64 {
    u64::from(number) * BLOCK_BYTES as u64
}

/// Bytes that a row takes in a block.
#[must_use]
pub fn bytes_of(key: &[u8], row: &[u8]) -> usize {
    LENGTHS_BYTES + key.len() + row.len()
}

/// Adds a row, as far as a block has room.
#[must_use]
pub fn add(block: &mut Vec<u8>, key: &[u8], row: &[u8]) -> bool {
    let lengths = (u16::try_from(key.len()), u16::try_from(row.len()));
    let (Ok(key_bytes), Ok(row_bytes)) = lengths else {
        return false;
    };
    if block.len() + bytes_of(key, row) > BLOCK_BYTES {
        return false;
    }
    block.extend_from_slice(&key_bytes.to_be_bytes());
    block.extend_from_slice(&row_bytes.to_be_bytes());
    block.extend_from_slice(key);
    block.extend_from_slice(row);
    true
}

/// The rows of a block (key, row); it ends where the bytes are no rows.
pub fn rows(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let (key_bytes, after) = rest.split_first_chunk::<2>()?;
        let (row_bytes, after) = after.split_first_chunk::<2>()?;
        let (key, after) = after.split_at_checked(u16::from_be_bytes(*key_bytes).into())?;
        let (row, after) = after.split_at_checked(u16::from_be_bytes(*row_bytes).into())?;
        rest = after;
        Some((key, row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(block: &[u8], rows: u8) -> BlockHead {
        BlockHead {
            changed: 7,
            bytes: u16::try_from(block.len()).unwrap(),
            rows,
            sum: checksum(&[block]),
            gone: 0,
        }
    }

    #[test]
    fn rows_are_packed_and_read() {
        let mut block = Vec::new();
        assert!(add(&mut block, b"ride/T-1", b"one") && add(&mut block, b"k", b""));
        let by_hand = b"\x00\x08\x00\x03ride/T-1one\x00\x01\x00\x00k";
        assert_eq!(block, by_hand);
        let found: Vec<_> = rows(&block).collect();
        assert_eq!(found, [(&b"ride/T-1"[..], &b"one"[..]), (b"k", b"")]);
        assert_eq!(bytes_of(b"ride/T-1", b"one"), 15);
        let huge = vec![0; BLOCK_BYTES];
        assert!(!add(&mut block, b"k", &huge[..BLOCK_BYTES - 20]), "no room");
        assert_eq!(block.len(), by_hand.len(), "it is left as it was");
    }

    #[test]
    fn a_block_is_used_again_only_after_it_is_durable_that_it_was_left() {
        let dir = tempfile::tempdir().unwrap();
        Blocks::create(dir.path()).unwrap();
        let mut blocks = Blocks::open(dir.path()).unwrap();
        blocks.in_use(&BTreeSet::from([0, 2]));
        assert_eq!(blocks.put(b"").unwrap(), 1, "the hole first");
        blocks.leave(2);
        assert_eq!(blocks.put(b"").unwrap(), 3);
        blocks.left();
        assert_eq!(blocks.put(b"").unwrap(), 2);
    }

    #[test]
    fn any_change_of_a_block_is_found() {
        let dir = tempfile::tempdir().unwrap();
        Blocks::create(dir.path()).unwrap();
        let mut blocks = Blocks::open(dir.path()).unwrap();
        let mut block = Vec::new();
        assert!(add(&mut block, b"ride/T-1", b"one"));
        let number = blocks.put(&block).unwrap();
        let head = head(&block, 1);
        let mut bytes = Vec::new();
        blocks.read(number, &head, &mut bytes).unwrap();
        assert_eq!(bytes, block);
        for bit in 0..block.len() * 8 {
            let mut flipped = block.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            blocks.file.write_all_at(&flipped, 0).unwrap();
            let said = blocks
                .read(number, &head, &mut bytes)
                .unwrap_err()
                .to_string();
            assert!(said.contains("block 0 of `ended`"), "{said}");
        }
        blocks.file.set_len(3).unwrap();
        let cut = blocks.read(number, &head, &mut bytes);
        assert!(matches!(cut, Err(JournalError::Corrupt { .. })));
        std::fs::remove_file(dir.path().join(NAME)).unwrap();
        let gone = Blocks::open(dir.path());
        assert!(matches!(gone, Err(JournalError::Corrupt { .. })));
    }
}
