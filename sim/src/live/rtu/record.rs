//! The line's own record: who spoke when, and whether the master kept the rules of the line.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Frames that are kept; the oldest go first.
const FRAMES_MAX: usize = 8_192;
/// Breaches that are kept; later ones are only counted.
const BREACHES_MAX: usize = 1_024;
/// Less than this between two characters is no gap.
pub(super) const NO_GAP: Duration = Duration::from_micros(1);

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talker {
    /// The master.
    Master,
    /// The device with this unit number, which it may not be what it says.
    Unit(u8),
    /// The line gave the master's own bytes back.
    Echo,
    /// Junk, another conversation, or whatever was put on the line by hand.
    Noise,
}

/// What was on the line from one silence, or talker, to the next. Times count from the line's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who.
    pub talker: Talker,
    /// When its first bit was on the line.
    pub from: Duration,
    /// When its last bit was.
    pub to: Duration,
    /// What.
    pub bytes: Vec<u8>,
}

/// The master spoke when it must not (AT-LIFT-20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breach {
    /// Somebody was speaking, and the master had bytes of it already.
    SpokeOver {
        /// When it began.
        at: Duration,
        /// Over whom.
        talker: Talker,
    },
    /// The line had been silent for less than 3.5 characters.
    TooSoon {
        /// When it began.
        at: Duration,
        /// For how long the line had been silent.
        silence: Duration,
    },
}

/// What the line saw.
#[derive(Debug, Clone, Default)]
pub struct LineRecord {
    /// Requests that were whole and right, by unit; 0 are broadcasts. Units that do not exist count.
    pub requests: BTreeMap<u8, u64>,
    /// Requests that a device took and answered, or would have but for a fault, by unit.
    pub answered: BTreeMap<u8, u64>,
    /// Frames of the master that no device could read: cut, too long, or with a wrong CRC.
    pub unreadable: u64,
    /// The newest of them, as far as it fits into a frame.
    pub unreadable_last: Option<Spoken>,
    /// Frames of the master that were spoken over by a device that began after it or, by so little
    /// that no master could know, before it.
    pub collisions: u64,
    /// Bytes for the master that it did not read, or that no line could have held.
    pub overrun: u64,
    /// Frames that a converter kept back until the line was silent; a master behind one cannot know.
    pub kept_back: u64,
    /// The shortest silence that the master kept before a frame.
    pub silence_min: Option<Duration>,
    /// How much later than due a byte was handed to the master: what the pace is worth.
    pub late_max: Duration,
    frames: VecDeque<Spoken>,
    breaches: Vec<Breach>,
    breach_count: u64,
}

impl LineRecord {
    /// The newest frames, in the order in which they ended.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Spoken> {
        self.frames.iter()
    }

    /// The first breaches.
    #[must_use]
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// How many breaches there were.
    #[must_use]
    pub fn breach_count(&self) -> u64 {
        self.breach_count
    }

    /// A frame of the master that nobody could read.
    pub(super) fn could_not_read(&mut self, spoken: Spoken) {
        self.unreadable += 1;
        self.unreadable_last = Some(spoken);
    }

    pub(super) fn keep(&mut self, spoken: Spoken) {
        if self.frames.len() == FRAMES_MAX {
            self.frames.pop_front();
        }
        self.frames.push_back(spoken);
    }

    /// Adds to what somebody said, where it goes on without a gap.
    pub(super) fn hear(&mut self, talker: Talker, from: Duration, to: Duration, byte: u8) {
        if let Some(last) = self.frames.back_mut()
            && last.talker == talker
            && from.saturating_sub(last.to) < NO_GAP
            && last.bytes.len() < super::frame::FRAME_MAX
        {
            last.bytes.push(byte);
            last.to = to;
            return;
        }
        self.keep(Spoken {
            talker,
            from,
            to,
            bytes: vec![byte],
        });
    }

    pub(super) fn breach(&mut self, breach: Breach) {
        self.breach_count += 1;
        if self.breaches.len() < BREACHES_MAX {
            self.breaches.push(breach);
        }
    }

    pub(super) fn kept_silence(&mut self, silence: Duration) {
        self.silence_min = Some(self.silence_min.map_or(silence, |least| least.min(silence)));
    }
}
