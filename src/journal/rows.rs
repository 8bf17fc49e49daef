//! What stands in the trees of the store beside the records: each value sealed with a checksum
//! over its key and itself, so that none is taken for another.

use dispatch::edge::record::{ChainHash, checksum};
use dispatch::edge::{Anchor, JournalError, Seq};

const SEAL_BYTES: usize = 4;

/// A value with its seal: CRC-32C over key and value, after it.
#[must_use]
pub fn seal(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(value.len() + SEAL_BYTES);
    sealed.extend_from_slice(value);
    sealed.extend_from_slice(&checksum(&[key, value]).to_be_bytes());
    sealed
}

/// The value in a sealed one.
///
/// # Errors
/// [`JournalError::Corrupt`] when the seal is broken.
pub fn unseal<'a>(tree: &str, key: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], JournalError> {
    match sealed.split_last_chunk::<SEAL_BYTES>() {
        Some((value, seal)) if checksum(&[key, value]).to_be_bytes() == *seal => Ok(value),
        _ => Err(corrupt(format!(
            "the seal of {tree} `{}` is broken",
            key.escape_ascii()
        ))),
    }
}

/// Damage that is in no record.
#[must_use]
pub fn corrupt(detail: String) -> JournalError {
    JournalError::Corrupt { seq: 0, detail }
}

/// A row of the ledger as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// The last record of the step that made it.
    pub made: Seq,
    /// The last record of the step that changed it last.
    pub changed: Seq,
    /// Whether it stays as it is until it is removed.
    pub settled: bool,
    /// The row.
    pub row: Vec<u8>,
}

/// The highest bit of the number of a row's last change: it is settled. Format 1 had none.
const SETTLED: u64 = 1 << 63;

impl LedgerRow {
    /// The row as a sealed value.
    #[must_use]
    pub fn write(&self, key: &[u8]) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.row.len() + 16);
        let settled = if self.settled { SETTLED } else { 0 };
        value.extend_from_slice(&self.made.to_be_bytes());
        value.extend_from_slice(&(self.changed | settled).to_be_bytes());
        value.extend_from_slice(&self.row);
        seal(key, &value)
    }

    /// Reads a sealed value.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it is none.
    pub fn read(key: &[u8], sealed: &[u8]) -> Result<Self, JournalError> {
        let mut value = Reader {
            name: "ledger row",
            rest: unseal("ledger", key, sealed)?,
        };
        let (made, changed) = (value.number()?, value.number()?);
        Ok(Self {
            made,
            changed: changed & !SETTLED,
            settled: changed & SETTLED != 0,
            row: value.rest.to_vec(),
        })
    }
}

/// What a block of the ledger's ended rows holds ([`super::blocks`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHead {
    /// The last record of the step that changed one of its rows last.
    pub changed: Seq,
    /// Its bytes.
    pub bytes: u16,
    /// Its rows.
    pub rows: u8,
    /// CRC-32C over its bytes.
    pub sum: u32,
    /// A bit for each row that is gone, from the lowest on.
    pub gone: u128,
}

impl BlockHead {
    /// As a sealed value.
    #[must_use]
    pub fn write(&self, key: &[u8]) -> Vec<u8> {
        let mut value = Vec::with_capacity(32);
        value.extend_from_slice(&self.changed.to_be_bytes());
        value.extend_from_slice(&self.bytes.to_be_bytes());
        value.push(self.rows);
        value.extend_from_slice(&self.sum.to_be_bytes());
        value.extend_from_slice(&self.gone.to_be_bytes());
        seal(key, &value)
    }

    /// Reads a sealed value.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it is none.
    pub fn read(key: &[u8], sealed: &[u8]) -> Result<Self, JournalError> {
        let mut value = Reader {
            name: "block",
            rest: unseal("blocks", key, sealed)?,
        };
        let changed = value.number()?;
        let bytes = u16::from_be_bytes(value.take()?);
        let [rows] = value.take()?;
        let sum = u32::from_be_bytes(value.take()?);
        let gone = u128::from_be_bytes(value.take()?);
        value.end()?;
        Ok(Self {
            changed,
            bytes,
            rows,
            sum,
            gone,
        })
    }
}

/// How many values hold the ledger, and the sum of their seals: one that is lost shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    values: u64,
    seals: u64,
}

impl Tally {
    /// Counts a sealed value in.
    pub fn add(&mut self, sealed: &[u8]) {
        self.values = self.values.wrapping_add(1);
        self.seals = self.seals.wrapping_add(u64::from(seal_of(sealed)));
    }

    /// Counts a value out by its seal ([`seal_of`]).
    pub fn remove(&mut self, seal: u32) {
        self.values = self.values.wrapping_sub(1);
        self.seals = self.seals.wrapping_sub(u64::from(seal));
    }

    /// As a sealed value.
    #[must_use]
    pub fn write(self, key: &[u8]) -> Vec<u8> {
        seal(
            key,
            &[self.values.to_be_bytes(), self.seals.to_be_bytes()].concat(),
        )
    }

    /// Reads a sealed value.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it is none.
    pub fn read(key: &[u8], sealed: &[u8]) -> Result<Self, JournalError> {
        let mut value = Reader {
            name: "tally",
            rest: unseal("meta", key, sealed)?,
        };
        let tally = Self {
            values: value.number()?,
            seals: value.number()?,
        };
        value.end()?;
        Ok(tally)
    }

    /// How many values.
    #[must_use]
    pub fn values(self) -> u64 {
        self.values
    }
}

/// Where a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotHead {
    /// The last record that it covers; its chunks are stored under this number.
    pub covers: Anchor,
    /// Its bytes.
    pub bytes: u64,
    /// CRC-32C over all of them.
    pub sum: u32,
}

impl SnapshotHead {
    /// As a sealed value.
    #[must_use]
    pub fn write(&self, key: &[u8]) -> Vec<u8> {
        let mut value = Vec::with_capacity(36);
        value.extend_from_slice(&self.covers.seq.to_be_bytes());
        value.extend_from_slice(&self.covers.hash.0);
        value.extend_from_slice(&self.bytes.to_be_bytes());
        value.extend_from_slice(&self.sum.to_be_bytes());
        seal(key, &value)
    }

    /// Reads a sealed value.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when it is none.
    pub fn read(key: &[u8], sealed: &[u8]) -> Result<Self, JournalError> {
        let mut value = Reader {
            name: "snapshot",
            rest: unseal("meta", key, sealed)?,
        };
        let seq = value.number()?;
        let covers = Anchor {
            seq,
            hash: ChainHash(value.take()?),
        };
        let (bytes, sum) = (value.number()?, u32::from_be_bytes(value.take()?));
        value.end()?;
        Ok(Self { covers, bytes, sum })
    }
}

/// Reads a sealed number of 64 bits.
///
/// # Errors
/// [`JournalError::Corrupt`] when it is none.
pub fn read_number(key: &[u8], sealed: &[u8]) -> Result<u64, JournalError> {
    let mut value = Reader {
        name: "number",
        rest: unseal("meta", key, sealed)?,
    };
    let number = value.number()?;
    value.end()?;
    Ok(number)
}

/// The seal of a sealed value.
#[must_use]
pub fn seal_of(sealed: &[u8]) -> u32 {
    sealed
        .last_chunk::<SEAL_BYTES>()
        .map_or(0, |seal| u32::from_be_bytes(*seal))
}

/// The fields of a value, taken from the front.
struct Reader<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], JournalError> {
        let Some((field, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(corrupt(format!("a {} is too short", self.name)));
        };
        self.rest = rest;
        Ok(*field)
    }

    fn number(&mut self) -> Result<u64, JournalError> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    fn end(&self) -> Result<(), JournalError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(corrupt(format!("a {} is too long", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_key_and_value_together() {
        // CRC-32C of "123456789" is 0xe3069283.
        let sealed = seal(b"1234", b"56789");
        assert_eq!(sealed, b"56789\xe3\x06\x92\x83");
        assert_eq!(unseal("t", b"1234", &sealed).unwrap(), b"56789");
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal("t", b"1234", &flipped).is_err());
        }
        assert!(
            unseal("t", b"1235", &sealed).is_err(),
            "the row of another key"
        );
        for end in 0..sealed.len() {
            assert!(unseal("t", b"1234", &sealed[..end]).is_err());
        }
        let said = unseal("ledger", b"r:T-1", b"").unwrap_err().to_string();
        assert!(said.contains("ledger `r:T-1`"), "{said}");
    }

    #[test]
    fn what_is_written_is_read() {
        let row = LedgerRow {
            made: 3,
            changed: 9,
            settled: false,
            row: b"accepted".to_vec(),
        };
        assert_eq!(LedgerRow::read(b"k", &row.write(b"k")).unwrap(), row);
        let settled = LedgerRow {
            settled: true,
            ..row
        };
        assert_eq!(
            LedgerRow::read(b"k", &settled.write(b"k")).unwrap(),
            settled
        );
        let block = BlockHead {
            changed: 9,
            bytes: 16_384,
            rows: 128,
            sum: 77,
            gone: 1 << 127 | 1,
        };
        assert_eq!(BlockHead::read(b"k", &block.write(b"k")).unwrap(), block);
        let covers = Anchor {
            seq: 7,
            hash: ChainHash([5; 16]),
        };
        let head = SnapshotHead {
            covers,
            bytes: 5000,
            sum: 77,
        };
        assert_eq!(SnapshotHead::read(b"k", &head.write(b"k")).unwrap(), head);
        let tally = Tally {
            values: 2,
            seals: 8,
        };
        assert_eq!(Tally::read(b"k", &tally.write(b"k")).unwrap(), tally);
        assert!(Tally::read(b"k", &head.write(b"k")).is_err(), "too long");
        assert!(
            SnapshotHead::read(b"k", &tally.write(b"k")).is_err(),
            "too short"
        );
        assert_eq!(
            read_number(b"k", &seal(b"k", &5_u64.to_be_bytes())).unwrap(),
            5
        );
    }

    #[test]
    fn the_tally_shows_a_lost_a_changed_and_an_added_row() {
        let rows = [seal(b"a", b"1"), seal(b"b", b"2"), seal(b"c", b"3")];
        let count = |rows: &[Vec<u8>]| {
            let mut tally = Tally::default();
            rows.iter().for_each(|row| tally.add(row));
            tally
        };
        let all = count(&rows);
        assert_ne!(count(&rows[1..]), all);
        assert_ne!(
            count(&[rows[0].clone(), rows[1].clone(), seal(b"c", b"4")]),
            all
        );
        let mut back = all;
        back.remove(seal_of(&rows[2]));
        assert_eq!(back, count(&rows[..2]));
    }
}
