//! The two wires: when which byte is on them, who speaks over whom, and how long they are silent.
//!
//! Nothing here has a clock; times count from the line's start. What a master hands over at once
//! goes out character by character, as its own port would send it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::frame::FRAME_MAX;
use super::record::{Breach, LineRecord, NO_GAP, Spoken, Talker};
use super::speech::Speech;
use super::speed::Speed;

/// Characters that wait for their time; what is more is lost.
const SLOTS_MAX: usize = 65_536;
/// What the master may hand over ahead of the line's pace.
const AHEAD_MAX: Duration = Duration::from_secs(1);
/// Bytes are handed to the master in portions of this long, as a port with a buffer does.
const PORTION: Duration = Duration::from_millis(1);
/// For so long after the first byte of somebody's speech a master cannot have reacted to it.
const REACTION: Duration = Duration::from_millis(3);
/// Spans of the master's speech that are remembered.
const SPANS_MAX: usize = 64;
/// What two who speak at once turn a byte into.
const GARBLED: u8 = 0x55;

/// The wires and what was on them.
#[derive(Debug)]
pub(super) struct Wire {
    speed: Speed,
    echo: bool,
    speech: Speech,
    /// A converter sends for the master, and waits until the line has been silent.
    is_converted: bool,
    incoming: Option<Incoming>,
    slots: BTreeMap<(Duration, u64), Slot>,
    slot_count: u64,
    /// When the master spoke, newest last.
    spans: VecDeque<(Duration, Duration)>,
    /// When a device, or junk, was last on the line.
    spoken_until: Option<Duration>,
    record: LineRecord,
}

/// A frame of the master, not ended by silence yet.
#[derive(Debug)]
struct Incoming {
    bytes: Vec<u8>,
    from: Duration,
    to: Duration,
    is_too_long: bool,
    is_garbled: bool,
}

/// A character that waits for its time.
#[derive(Debug)]
struct Slot {
    byte: u8,
    talker: Talker,
    /// When its speech began.
    since: Duration,
}

impl Wire {
    pub(super) fn new(speed: Speed, echo: bool) -> Self {
        Self {
            speed,
            echo,
            speech: Speech::Rtu,
            is_converted: false,
            incoming: None,
            slots: BTreeMap::new(),
            slot_count: 0,
            spans: VecDeque::new(),
            spoken_until: None,
            record: LineRecord::default(),
        }
    }

    /// From now on this is spoken.
    pub(super) fn set_speech(&mut self, speech: Speech) {
        self.speech = speech;
    }

    pub(super) fn speech(&self) -> Speech {
        self.speech
    }

    /// Whether nobody speaks, nor has for as long as a frame waits.
    pub(super) fn is_silent(&self, now: Duration) -> bool {
        let quiet_since = self.quiet_since().unwrap_or_default();
        let silence = self.speed.silence();
        self.incoming.is_none() && self.slots.is_empty() && quiet_since + silence <= now
    }

    /// From now on a converter sends for the master.
    pub(super) fn convert(&mut self) {
        self.is_converted = true;
    }

    pub(super) fn speed(&self) -> Speed {
        self.speed
    }

    pub(super) fn record(&self) -> &LineRecord {
        &self.record
    }

    pub(super) fn record_mut(&mut self) -> &mut LineRecord {
        &mut self.record
    }

    /// Whether the master's port would take more at this moment.
    pub(super) fn takes_more(&self, now: Duration) -> bool {
        let ahead = self.incoming.as_ref().map(|incoming| incoming.to);
        ahead.is_none_or(|to| to < now + AHEAD_MAX)
    }

    /// The master hands over bytes. All that was due until now must have been done.
    pub(super) fn receive(&mut self, now: Duration, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut begins = now;
        match &self.incoming {
            None if self.is_converted => {
                begins = self.free_from(now);
                self.record.kept_back += u64::from(begins > now);
            }
            None => self.begin(now),
            Some(incoming)
                if now > incoming.to && self.speech.is_whole_request(&incoming.bytes) =>
            {
                let silence = now - incoming.to;
                self.record.kept_silence(silence);
                self.record.breach(Breach::TooSoon { at: now, silence });
            }
            Some(_) => {}
        }
        if let Some(incoming) = &self.incoming {
            begins = begins.max(incoming.to);
        }
        let incoming = self.incoming.get_or_insert_with(|| Incoming {
            bytes: Vec::new(),
            from: begins,
            to: begins,
            is_too_long: false,
            is_garbled: false,
        });
        let room = FRAME_MAX.saturating_sub(incoming.bytes.len());
        incoming.is_too_long |= bytes.len() > room;
        incoming.bytes.extend(&bytes[..bytes.len().min(room)]);
        incoming.to = begins + self.speed.chars(bytes.len());
        if self.spans.len() == SPANS_MAX {
            self.spans.pop_front();
        }
        self.spans.push_back((begins, incoming.to));
        if self.echo {
            self.speak(Talker::Echo, begins, bytes);
        }
    }

    /// When the master's frame is ended by silence; `None` while there is none.
    pub(super) fn frame_due(&self) -> Option<Duration> {
        let incoming = self.incoming.as_ref()?;
        Some(incoming.to + self.speed.silence())
    }

    /// Takes the frame that has ended; `None` where nobody could read it.
    pub(super) fn take_frame(&mut self) -> Option<Vec<u8>> {
        let incoming = self.incoming.take()?;
        let spoken = Spoken {
            talker: Talker::Master,
            from: incoming.from,
            to: incoming.to,
            bytes: incoming.bytes,
        };
        let frame = spoken.bytes.clone();
        self.record.keep(spoken.clone());
        if incoming.is_garbled {
            self.record.collisions += 1;
        } else if incoming.is_too_long || self.speech.open(&frame).is_none() {
            self.record.could_not_read(spoken);
        } else {
            return Some(frame);
        }
        None
    }

    /// Somebody speaks from `from` on, at the line's pace; says until when.
    pub(super) fn speak(&mut self, talker: Talker, from: Duration, bytes: &[u8]) -> Duration {
        for (at, byte) in bytes.iter().enumerate() {
            if self.slots.len() >= SLOTS_MAX {
                self.record.overrun += 1;
                continue;
            }
            let slot = Slot {
                byte: *byte,
                talker,
                since: from,
            };
            self.slot_count += 1;
            let key = (from + self.speed.chars(at), self.slot_count);
            self.slots.insert(key, slot);
        }
        from + self.speed.chars(bytes.len())
    }

    /// The bytes whose last bit reaches the master until `until`; `now` is the moment at which it
    /// is handed them.
    pub(super) fn deliver(&mut self, until: Duration, now: Duration) -> Vec<u8> {
        let one = self.speed.chars(1);
        let mut out = Vec::new();
        while let Some(entry) = self.slots.first_entry() {
            let (from, _) = *entry.key();
            let to = from + one;
            if to > until {
                break;
            }
            let Slot { byte, talker, .. } = entry.remove();
            let is_alone = talker == Talker::Echo || !self.is_spoken_over(from, to);
            let byte = if is_alone { byte } else { byte ^ GARBLED };
            if talker != Talker::Echo {
                self.spoken_until = Some(to);
            }
            self.record.hear(talker, from, to, byte);
            let late = now.saturating_sub(to + PORTION);
            self.record.late_max = self.record.late_max.max(late);
            out.push(byte);
        }
        out
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Duration> {
        [self.frame_due(), self.portion_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When the next portion of bytes is on the line.
    fn portion_due(&self) -> Option<Duration> {
        let one = self.speed.chars(1);
        let mut ends = self.slots.keys().map(|(from, _)| *from + one);
        let first = ends.next()?;
        let mut due = first;
        for end in ends {
            if end > first + PORTION || end > due + one + NO_GAP {
                break;
            }
            due = end;
        }
        Some(due)
    }

    /// The master begins to speak.
    fn begin(&mut self, now: Duration) {
        let speaks = |(key, slot): (&(Duration, u64), &Slot)| {
            (key.0 <= now && slot.talker != Talker::Echo).then_some((slot.since, slot.talker))
        };
        if let Some((since, talker)) = self.slots.iter().find_map(speaks) {
            if now > since + self.speed.chars(1) + REACTION {
                self.record.breach(Breach::SpokeOver { at: now, talker });
            }
            return;
        }
        let Some(quiet_since) = self.quiet_since() else {
            return;
        };
        let silence = now.saturating_sub(quiet_since);
        self.record.kept_silence(silence);
        if silence < self.speed.silence() {
            self.record.breach(Breach::TooSoon { at: now, silence });
        }
    }

    /// From when on the line has been silent for long enough, as far as can be heard now.
    fn free_from(&self, now: Duration) -> Duration {
        let one = self.speed.chars(1);
        let mut until = self.quiet_since();
        for (from, _) in self.slots.keys() {
            // What is being said goes on without a gap.
            let goes_on = until.is_some_and(|until| *from < until + NO_GAP);
            if *from > now && !goes_on {
                break;
            }
            until = Some(*from + one);
        }
        until.map_or(now, |until| now.max(until + self.speed.silence()))
    }

    /// Since when nobody has spoken.
    fn quiet_since(&self) -> Option<Duration> {
        let master_until = self.spans.back().map(|(_, to)| *to);
        master_until.max(self.spoken_until)
    }

    /// Whether somebody else speaks in this span; whoever does is garbled too.
    fn is_spoken_over(&mut self, from: Duration, to: Duration) -> bool {
        let meets = |(begin, end): (Duration, Duration)| begin < to && from < end;
        let mut others = false;
        while let Some(entry) = self.slots.first_entry() {
            let begin = entry.key().0;
            if begin >= to || entry.get().talker == Talker::Echo {
                break;
            }
            entry.remove();
            others = true;
        }
        if let Some(incoming) = &mut self.incoming
            && meets((incoming.from, incoming.to))
        {
            incoming.is_garbled = true;
        }
        others || self.spans.iter().any(|span| meets(*span))
    }
}
