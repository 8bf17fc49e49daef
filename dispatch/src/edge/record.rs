//! One fact on disk: the codec of journal records.
//!
//! Version 1, integers big-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | flags: bit 0 = last record of its step; others 0 |
//! | 2..6 | length of the payload |
//! | 6..14 | number of the record, from 1 |
//! | 14..22 | durable mark: the last record known durable when this one was written |
//! | 22..38 | chain: the first 16 bytes of SHA-256 over the whole previous record |
//! | 38..n | payload: the fact in CBOR |
//! | n..n+4 | CRC-32C over all bytes before it |

use protocol::text::detail;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::journal::Seq;
use crate::fact::Fact;

/// The version that is written. Every version up to it is read.
pub const VERSION: u8 = 1;
/// Bytes of a whole record (architecture, The journal).
pub const RECORD_BYTES_MAX: usize = 4096;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 38;

const CHECKSUM_BYTES: usize = 4;
const OVERHEAD_BYTES: usize = HEADER_BYTES + CHECKSUM_BYTES;
const FLAG_LAST: u8 = 1;

/// What ties a record to the one before it: the first 16 bytes of its SHA-256. All zero before the
/// first record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChainHash(pub [u8; 16]);

impl ChainHash {
    /// The hash of a whole record.
    #[must_use]
    pub fn of(record: &[u8]) -> Self {
        let whole: [u8; 32] = Sha256::digest(record).into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Self(half)
    }
}

/// All of a record but its fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its number, from 1.
    pub seq: Seq,
    /// Whether it is the last of its step; a step is kept whole or not at all.
    pub last: bool,
    /// The last record that was known durable when this one was written.
    pub durable: Seq,
    /// The hash of the record before it.
    pub previous: ChainHash,
}

/// Why bytes are no record, or a fact is none that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Fewer bytes than the smallest record has.
    #[error("it is torn: {0} bytes, at least {OVERHEAD_BYTES} are needed")]
    Torn(usize),
    /// A version that this program does not know.
    #[error("it has version {0}, this program reads up to {VERSION}")]
    UnknownVersion(u8),
    /// A flag that version 1 does not have.
    #[error("its flags are {0:#04x}, only 0x00 and 0x01 are known")]
    UnknownFlags(u8),
    /// The length field and the bytes do not fit.
    #[error("its length field says {said} bytes in all, it has {is}")]
    WrongLength {
        /// Bytes of the record by its length field.
        said: u64,
        /// Bytes that there are.
        is: usize,
    },
    /// The checksum is another one.
    #[error("its checksum is {stored:#010x}, its bytes give {computed:#010x}")]
    WrongChecksum {
        /// What stands in the record.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// The payload is no fact.
    #[error("its payload is no fact: {0}")]
    BadPayload(String),
    /// The record would be larger than a record may be.
    #[error("it has {0} bytes, at most {RECORD_BYTES_MAX} are allowed")]
    TooLarge(usize),
}

/// Writes a record.
///
/// # Errors
/// [`RecordError::TooLarge`] for a fact that does not fit into [`RECORD_BYTES_MAX`].
pub fn encode(header: &Header, fact: &Fact) -> Result<Vec<u8>, RecordError> {
    let mut payload = Vec::with_capacity(256);
    ciborium::into_writer(fact, &mut payload)
        .map_err(|error| RecordError::BadPayload(error.to_string()))?;
    let whole = payload.len() + OVERHEAD_BYTES;
    let length = u32::try_from(payload.len()).map_err(|_| RecordError::TooLarge(whole))?;
    if whole > RECORD_BYTES_MAX {
        return Err(RecordError::TooLarge(whole));
    }
    let mut record = Vec::with_capacity(whole);
    record.push(VERSION);
    record.push(if header.last { FLAG_LAST } else { 0 });
    record.extend_from_slice(&length.to_be_bytes());
    record.extend_from_slice(&header.seq.to_be_bytes());
    record.extend_from_slice(&header.durable.to_be_bytes());
    record.extend_from_slice(&header.previous.0);
    record.extend_from_slice(&payload);
    let sum = checksum(&[&record]);
    record.extend_from_slice(&sum.to_be_bytes());
    Ok(record)
}

/// Reads a record of any known version. Whether it is the right one at its place in the chain is
/// for [`super::chain`] to say.
///
/// # Errors
/// The first thing that is wrong with the bytes; any change of any byte is one.
pub fn decode(record: &[u8]) -> Result<(Header, Fact), RecordError> {
    let (header, payload) = open(record)?;
    let mut rest = payload;
    let fact = ciborium::from_reader(&mut rest)
        .map_err(|error| RecordError::BadPayload(detail(&error.to_string())))?;
    if !rest.is_empty() {
        return Err(RecordError::BadPayload(format!(
            "{} bytes follow it",
            rest.len()
        )));
    }
    Ok((header, fact))
}

/// The records that lie one behind the other. Where the length of one leads beyond the end, all
/// that is left is the last one.
pub fn split(records: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = records;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = rest.get(2..6).and_then(|field| field.try_into().ok());
        let length = length.and_then(|field| usize::try_from(u32::from_be_bytes(field)).ok());
        let whole = length.and_then(|length| length.checked_add(OVERHEAD_BYTES));
        let whole = whole.unwrap_or(usize::MAX).min(rest.len());
        let (record, behind) = rest.split_at(whole);
        rest = behind;
        Some(record)
    })
}

/// CRC-32C over the parts, one after the other.
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> u32 {
    parts
        .iter()
        .fold(0, |sum, part| crc32c::crc32c_append(sum, part))
}

/// Reads a value of the journal's own format (snapshots, ledger rows), for those who only show it.
#[must_use]
pub fn read_value<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut rest = bytes;
    let value = ciborium::from_reader(&mut rest).ok()?;
    rest.is_empty().then_some(value)
}

fn open(record: &[u8]) -> Result<(Header, &[u8]), RecordError> {
    let torn = || RecordError::Torn(record.len());
    let version = *record.first().ok_or_else(torn)?;
    if version != VERSION {
        return Err(RecordError::UnknownVersion(version));
    }
    let (body, sum) = record
        .split_last_chunk::<CHECKSUM_BYTES>()
        .ok_or_else(torn)?;
    let (head, payload) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(torn)?;
    let mut fields = Fields(head);
    let [_, flags] = fields.take::<2>();
    let said = u64::from(u32::from_be_bytes(fields.take())) + OVERHEAD_BYTES as u64;
    if said != record.len() as u64 {
        return Err(RecordError::WrongLength {
            said,
            is: record.len(),
        });
    }
    if record.len() > RECORD_BYTES_MAX {
        return Err(RecordError::TooLarge(record.len()));
    }
    let (stored, computed) = (u32::from_be_bytes(*sum), checksum(&[body]));
    if stored != computed {
        return Err(RecordError::WrongChecksum { stored, computed });
    }
    if flags & !FLAG_LAST != 0 {
        return Err(RecordError::UnknownFlags(flags));
    }
    let header = Header {
        last: flags & FLAG_LAST != 0,
        seq: u64::from_be_bytes(fields.take()),
        durable: u64::from_be_bytes(fields.take()),
        previous: ChainHash(fields.take()),
    };
    Ok((header, payload))
}

/// The header's bytes, taken from the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        // The takes of `open` sum up to HEADER_BYTES, the length of what it starts with.
        let Some((field, rest)) = self.0.split_first_chunk::<N>() else {
            return [0; N];
        };
        self.0 = rest;
        *field
    }
}

#[cfg(test)]
mod tests;
