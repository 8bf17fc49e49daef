//! A ledger row as bytes, in the journal and on the shelves.
//!
//! Version 2: the version, the digest (16 bytes), 0 for a live order or 1 for an ended one; of an
//! ended one the moment of its end in milliseconds since 1970, its sequence number and its fence (8
//! bytes each, big-endian; a fence is never 0, which means none); then texts, each after its length in
//! one byte: the robot, and of an ended order the state, the reason and the elevator (empty: none).
//! Version 1 was a CBOR map; it is read.
//!
//! Version 3 is an order of an application: the version, the digest, 1, the moment of its answer,
//! the application after its length in one byte, and the answer in CBOR.

use protocol::ride::RideState;
use protocol::robot::Digest;
use protocol::{ClientId, ElevatorId, Fence, ReasonCode, RobotId, Timestamp};
use serde::Deserialize;

use super::{Answered, Ended, Known, Remembered};

const VERSION: u8 = 2;
/// The version of an application's order.
const ANSWER: u8 = 3;
const DIGEST_BYTES: usize = 16;
/// Where the moment of the end stands.
const AT: usize = 1 + DIGEST_BYTES + 1;

/// The row in the newest version.
pub(crate) fn encode(row: &Remembered) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(96);
    bytes.push(VERSION);
    bytes.extend_from_slice(&row.digest.0);
    bytes.push(u8::from(row.ended.is_some()));
    if let Some(ended) = &row.ended {
        bytes.extend_from_slice(&ended.at.0.to_be_bytes());
        bytes.extend_from_slice(&ended.seq.to_be_bytes());
        let fence = ended.fence.map_or(0, |fence| fence.0);
        bytes.extend_from_slice(&fence.to_be_bytes());
    }
    put(&mut bytes, row.robot.as_str());
    if let Some(ended) = &row.ended {
        put(&mut bytes, ended.state.as_str());
        put(&mut bytes, ended.reason.map_or("", ReasonCode::as_str));
        put(
            &mut bytes,
            ended.elevator.as_ref().map_or("", ElevatorId::as_str),
        );
    }
    bytes
}

/// An application's order as a row.
pub(crate) fn encode_answer(row: &Answered) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(160);
    bytes.push(ANSWER);
    bytes.extend_from_slice(&row.digest.0);
    bytes.push(1);
    bytes.extend_from_slice(&row.at.0.to_be_bytes());
    put(&mut bytes, row.client.as_str());
    // Writing to a Vec cannot fail, and every field can be written.
    let _ = ciborium::into_writer(&row.body, &mut bytes);
    bytes
}

/// Identifiers have at most 64 bytes and words less.
fn put(bytes: &mut Vec<u8>, text: &str) {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    bytes.push(length);
    bytes.extend_from_slice(&text.as_bytes()[..usize::from(length)]);
}

/// Reads a row of any version.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Known, String> {
    match bytes.first() {
        Some(&VERSION) => read(Fields(&bytes[1..])).map(Known::Ride),
        Some(&ANSWER) => read_answer(Fields(&bytes[1..])).map(Known::Answer),
        // A CBOR map of less than 24 members.
        Some(0xa0..=0xb7) => read_first_version(bytes).map(Known::Ride),
        Some(version) => Err(format!("version {version} is not known")),
        None => Err("it is empty".to_owned()),
    }
}

/// When the order ended, by a row that [`encode`] made.
pub(super) fn ended_at(row: &[u8]) -> Option<Timestamp> {
    if *row.get(AT - 1)? == 0 {
        return None;
    }
    let at = row.get(AT..)?.first_chunk()?;
    Some(Timestamp(u64::from_be_bytes(*at)))
}

fn read(mut fields: Fields<'_>) -> Result<Remembered, String> {
    let digest = Digest(fields.take()?);
    let is_ended = match fields.take::<1>()? {
        [0] => false,
        [1] => true,
        [other] => return Err(format!("{other} says neither live nor ended")),
    };
    let numbers = if is_ended {
        Some((fields.number()?, fields.number()?, fields.number()?))
    } else {
        None
    };
    let robot = fields.text()?;
    let robot = RobotId::new(robot).map_err(|error| format!("robot {robot:?} {error}"))?;
    let ended = match numbers {
        Some((at, seq, fence)) => Some(Ended {
            at: Timestamp(at),
            state: word("state", fields.text()?, RideState::ALL, RideState::as_str)?,
            seq,
            reason: match fields.text()? {
                "" => None,
                text => Some(word("reason", text, ReasonCode::ALL, ReasonCode::as_str)?),
            },
            elevator: match fields.text()? {
                "" => None,
                text => Some(
                    ElevatorId::new(text).map_err(|error| format!("elevator {text:?} {error}"))?,
                ),
            },
            fence: (fence > 0).then_some(Fence(fence)),
        }),
        None => None,
    };
    if !fields.0.is_empty() {
        return Err(format!("{} bytes follow its end", fields.0.len()));
    }
    Ok(Remembered {
        digest,
        robot,
        ended,
    })
}

fn read_answer(mut fields: Fields<'_>) -> Result<Answered, String> {
    let digest = Digest(fields.take()?);
    let [answered] = fields.take()?;
    if answered != 1 {
        return Err(format!("{answered} does not say that it was answered"));
    }
    let at = Timestamp(fields.number()?);
    let client = fields.text()?;
    let client = ClientId::new(client).map_err(|error| format!("client {client:?} {error}"))?;
    let body = ciborium::from_reader(&mut fields.0).map_err(|error| error.to_string())?;
    if !fields.0.is_empty() {
        return Err(format!("{} bytes follow its end", fields.0.len()));
    }
    Ok(Answered {
        digest,
        client,
        at,
        body,
    })
}

fn word<W: Copy>(
    field: &str,
    text: &str,
    all: &[W],
    as_str: fn(W) -> &'static str,
) -> Result<W, String> {
    let found = all.iter().find(|word| as_str(**word) == text);
    found
        .copied()
        .ok_or_else(|| format!("{field} {text:?} is not known"))
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (field, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or_else(|| "it is too short".to_owned())?;
        self.0 = rest;
        Ok(*field)
    }

    fn number(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_be_bytes)
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let [length] = self.take()?;
        let (text, rest) = self
            .0
            .split_at_checked(usize::from(length))
            .ok_or_else(|| "it is too short".to_owned())?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|error| error.to_string())
    }
}

fn read_first_version(bytes: &[u8]) -> Result<Remembered, String> {
    #[derive(Deserialize)]
    struct Row {
        version: u8,
        digest: Digest,
        robot: RobotId,
        ended: Option<Ended>,
    }
    let mut rest = bytes;
    let row: Row = ciborium::from_reader(&mut rest).map_err(|error| error.to_string())?;
    if !rest.is_empty() {
        return Err(format!("{} bytes follow its end", rest.len()));
    }
    if row.version != 1 {
        return Err(format!("version {} is not known", row.version));
    }
    Ok(Remembered {
        digest: row.digest,
        robot: row.robot,
        ended: row.ended,
    })
}
