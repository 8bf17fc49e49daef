//! From the bytes that come to the answer, byte by byte. Nothing here reads, writes or waits, and
//! what comes out does not depend on how the bytes were split.
//!
//! A frame counts by its content: unit, function, length, byte count or echo, and checksum. A program
//! cannot measure the silence of 1.5 characters inside a frame; where a frame ends is known from
//! what was asked. So noise, frames of others and the echo of our own bytes are passed over.

use std::fmt;

use super::echo::{Echo, EchoTrace};
use super::reply::{Answer, Shape};

/// Bytes of the longest frame (Modbus over Serial Line V1.02, section 2.3).
pub const FRAME_MAX: usize = 256;

/// What a byte brought to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The answer to the request.
    Answer(Answer),
    /// An answer to an earlier request, by its place in what is owed.
    Late(usize),
}

/// Listens for the answer to one request.
#[derive(Debug, Clone)]
pub struct Hearing {
    sent: Vec<u8>,
    shape: Shape,
    echo: Echo,
    /// The request looks like its own reply, as those of functions 05 and 06 do.
    is_twin: bool,
    tail: Vec<u8>,
    count: usize,
    echoes: usize,
    /// Bytes of the answer.
    answered: usize,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// Not a byte came.
    Silence,
    /// Nothing but the echo of our own bytes.
    OwnEcho,
    /// A whole frame of another unit.
    OtherUnit(u8),
    /// A whole frame of the unit with another function.
    OtherFunction(u8),
    /// A whole frame of the unit and the function that answers something else.
    OtherContent,
    /// The beginning of the reply.
    Cut {
        /// What came.
        bytes: usize,
        /// What a reply has.
        expected: usize,
    },
    /// A reply with a wrong checksum or a wrong length.
    Damaged,
    /// Bytes that say nothing.
    Noise(usize),
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => f.write_str("no reply"),
            Self::OwnEcho => f.write_str("no reply, only the echo of the request"),
            Self::OtherUnit(unit) => write!(f, "no reply, but one of unit {unit}"),
            Self::OtherFunction(function) => {
                write!(f, "no reply, but one to function {function:02}")
            }
            Self::OtherContent => f.write_str("no reply, but one to another request"),
            Self::Cut { bytes, expected } => {
                write!(f, "a reply that was cut off: {bytes} of {expected} bytes")
            }
            Self::Damaged => f.write_str("a damaged reply"),
            Self::Noise(bytes) => write!(f, "no reply, but {bytes} bytes that are none"),
        }
    }
}

impl Hearing {
    /// Listens for what answers `sent`, which is the frame of the request.
    #[must_use]
    pub fn new(sent: Vec<u8>, shape: Shape, echo: Echo) -> Self {
        let is_twin = shape.answer(&sent).is_some();
        Self {
            sent,
            shape,
            echo,
            is_twin,
            tail: Vec::with_capacity(FRAME_MAX),
            count: 0,
            echoes: 0,
            answered: 0,
        }
    }

    /// Takes a byte in. `owed` is what units may still answer to earlier requests, the oldest
    /// first; an exception that could answer both is an earlier one's.
    pub fn feed(&mut self, byte: u8, owed: &[Shape]) -> Option<Event> {
        self.count = self.count.saturating_add(1);
        put(&mut self.tail, byte);
        let may_be_echo = !self.is_twin || (self.echo != Echo::Absent && self.echoes == 0);
        if may_be_echo && self.tail.ends_with(&self.sent) {
            self.echoes += 1;
            self.tail.clear();
            return None;
        }
        if let Some(at) = late(&self.tail, owed) {
            self.tail.clear();
            return Some(Event::Late(at));
        }
        if self.echo == Echo::Present && self.echoes == 0 {
            return None;
        }
        let answer = self.shape.answer(&self.tail)?;
        self.answered = self.shape.answer_len(&answer);
        self.tail.clear();
        Some(Event::Answer(answer))
    }

    /// What came shows of the line's echo.
    #[must_use]
    pub fn echo(&self) -> EchoTrace {
        let beside = self.count - self.answered;
        match (self.is_twin, self.echoes > 0) {
            (false, true) => EchoTrace::Whole,
            (true, true) => EchoTrace::Nothing,
            (false, false) if self.answered > 0 && beside * 2 < self.sent.len() => EchoTrace::None,
            (_, false) => EchoTrace::Unclear,
        }
    }

    /// Why there is no answer yet.
    #[must_use]
    pub fn miss(&self) -> Miss {
        let tail = self.tail.as_slice();
        let is_sound = super::crc::is_sound(tail);
        let expected = self.shape.frame_len();
        match tail {
            [] if self.echoes > 0 => Miss::OwnEcho,
            [] => Miss::Silence,
            [unit, ..] if is_sound && *unit != self.shape.unit() => Miss::OtherUnit(*unit),
            [_, function, ..] if is_sound && function & 0x7F != self.shape.function() => {
                Miss::OtherFunction(*function)
            }
            _ if is_sound => Miss::OtherContent,
            [unit] if *unit == self.shape.unit() => Miss::Cut { bytes: 1, expected },
            [unit, function, ..]
                if *unit == self.shape.unit() && function & 0x7F == self.shape.function() =>
            {
                if tail.len() < expected && function & 0x80 == 0 {
                    let bytes = tail.len();
                    Miss::Cut { bytes, expected }
                } else {
                    Miss::Damaged
                }
            }
            _ => Miss::Noise(tail.len()),
        }
    }
}

/// Listens while nothing is asked: what is owed may come then.
#[derive(Debug, Clone, Default)]
pub(super) struct Strays {
    tail: Vec<u8>,
}

impl Strays {
    /// Takes a byte in: the place of what it brought to its end, in what is owed.
    pub(super) fn feed(&mut self, byte: u8, owed: &[Shape]) -> Option<usize> {
        put(&mut self.tail, byte);
        let at = late(&self.tail, owed)?;
        self.tail.clear();
        Some(at)
    }

    /// What came so far belongs to nothing that comes.
    pub(super) fn clear(&mut self) {
        self.tail.clear();
    }
}

fn late(tail: &[u8], owed: &[Shape]) -> Option<usize> {
    owed.iter().position(|shape| shape.answer(tail).is_some())
}

/// Keeps as much as the longest frame.
fn put(tail: &mut Vec<u8>, byte: u8) {
    if tail.len() >= FRAME_MAX {
        tail.remove(0);
    }
    tail.push(byte);
}
