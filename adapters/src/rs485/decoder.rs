//! From the bytes that come to whole frames, byte by byte. Nothing here reads, writes or waits, and
//! what comes out does not depend on how the bytes were split.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::framing::{Frame, Framing, Way};

/// Looks for frames in what comes. Each byte may end one, wherever that began: a false beginning, or
/// the first part of a frame that was cut, holds up nothing that follows it.
#[derive(Debug, Clone)]
pub struct Decoder {
    framing: Arc<Framing>,
    /// The bytes of the payload of each code that units send.
    payloads: BTreeMap<u8, usize>,
    frame_max: usize,
    tail: Vec<u8>,
}

impl Decoder {
    /// Looks for frames with these codes, each with so many bytes in its payload.
    #[must_use]
    pub fn new(framing: Arc<Framing>, payloads: BTreeMap<u8, usize>) -> Self {
        let longest = payloads.values().copied().max().unwrap_or(0);
        let frame_max = framing.len_max(Way::Answer, longest);
        Self {
            framing,
            payloads,
            frame_max,
            tail: Vec::with_capacity(frame_max),
        }
    }

    /// Takes a byte in: the frame that it ends.
    pub fn feed(&mut self, byte: u8) -> Option<Frame> {
        if self.tail.len() >= self.frame_max {
            self.tail.remove(0);
        }
        self.tail.push(byte);
        if !self.tail.ends_with(&self.framing.end) {
            return None;
        }
        let starts = (0..self.tail.len())
            .map(|at| &self.tail[at..])
            .filter(|bytes| bytes.starts_with(&self.framing.start));
        let frame = starts
            .filter_map(|bytes| self.framing.decode(bytes))
            .find(|frame| self.payloads.get(&frame.code) == Some(&frame.payload.len()))?;
        self.tail.clear();
        Some(frame)
    }

    /// What came so far belongs to nothing that comes.
    pub fn clear(&mut self) {
        self.tail.clear();
    }

    /// Whether the last bytes that came are these.
    pub(super) fn ends_with(&self, bytes: &[u8]) -> bool {
        self.tail.ends_with(bytes)
    }

    /// How many bytes came since the last frame, as far as they are kept.
    pub(super) fn pending(&self) -> usize {
        self.tail.len()
    }
}
