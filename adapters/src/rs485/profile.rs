//! Frame profiles: what a maker's frames look like and mean. A profile is a file of the site's
//! configuration.

mod impossible;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::Side;
use protocol::hardware::{Change, Command, Reading};

use super::answers::{Acknowledge, Message, PAYLOAD_MAX, Refuse, Status, Verdict, judge};
use super::commands::{Layouts, Words};
use super::framing::{Frame, Framing, Head, Way};
use crate::map::toml_section::{self, MapError, Mistakes, Section, whole};
use crate::map::{FloorTable, Image, MappedFloor, Needs, RegisterMap, Table};

/// How long a unit takes to answer where the profile does not say, in milliseconds.
const REPLY_MS: i64 = 200;
/// The longest: with the silence before it, two fit into the 2 s of `accept_s` (`wire.md` section 7).
const REPLY_MS_MAX: i64 = 700;
/// How late an answer may still come where the profile does not say, in milliseconds, and the
/// longest: a command that waits for it has to be sent within `accept_s`.
const LATE_MS: i64 = 1_000;
const LATE_MS_MAX: i64 = 1_500;

/// A frame profile without a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameProfile {
    framing: Arc<Framing>,
    reply: Duration,
    late: Duration,
    status: Status,
    acknowledge: Acknowledge,
    refuse: Option<Refuse>,
    words: Words,
    commands: Layouts,
    /// What a status says: its bytes are the registers of a map.
    sight: RegisterMap,
}

impl FrameProfile {
    /// Reads a profile from TOML.
    ///
    /// # Errors
    /// Every mistake, with its key, value and line, and what would be right.
    pub fn parse(text: &str) -> Result<Self, Vec<MapError>> {
        let tree = toml_section::parse(text)?;
        let mut m = Mistakes::default();
        let profile = Self::from_root(Section::root(text, tree.get_ref()), &mut m);
        let mistakes = m.into_errors();
        match profile {
            Some(profile) if mistakes.is_empty() => Ok(profile),
            Some(_) | None => Err(mistakes),
        }
    }

    /// How often an elevator is read, in milliseconds.
    #[must_use]
    pub fn poll_ms(&self) -> u64 {
        self.sight.poll_ms()
    }

    /// The shape of its frames.
    #[must_use]
    pub fn framing(&self) -> &Arc<Framing> {
        &self.framing
    }

    /// How long a unit takes to answer, at most.
    #[must_use]
    pub fn reply(&self) -> Duration {
        self.reply
    }

    /// How long after a request its answer may still come.
    #[must_use]
    pub fn late(&self) -> Duration {
        self.late
    }

    /// The codes that units send, each with the bytes of its payload.
    #[must_use]
    pub fn payloads(&self) -> BTreeMap<u8, usize> {
        let commands = self.commands.all();
        let acknowledge = &self.acknowledge;
        let acks =
            commands.map(|(_, layout)| (acknowledge.code_of(layout.code), acknowledge.bytes));
        let status = [Some(self.status.answer), self.status.report];
        let status = status
            .into_iter()
            .flatten()
            .map(|code| (code, self.status.bytes));
        let refuse = self.refuse.iter().map(|refuse| (refuse.code, refuse.bytes));
        let all = acks.chain(status).chain(refuse);
        all.map(|(code, bytes)| (code, usize::from(bytes)))
            .collect()
    }

    /// What reads a car.
    #[must_use]
    pub fn status(&self) -> Message {
        Message {
            code: self.status.request,
            payload: self.status.payload.clone(),
            is_status: true,
        }
    }

    /// Bytes of the payload of a status.
    #[must_use]
    pub fn status_bytes(&self) -> u16 {
        self.status.bytes
    }

    /// The bytes of a request.
    #[must_use]
    pub fn request(&self, unit: u8, sequence: u8, message: &Message) -> Vec<u8> {
        let head = Head {
            unit,
            sequence,
            code: message.code,
        };
        self.framing.encode(Way::Request, head, &message.payload)
    }

    /// What a frame of the unit that was asked `message` says to it.
    #[must_use]
    pub fn judge(&self, message: &Message, frame: &Frame) -> Verdict {
        let answers = (&self.status, &self.acknowledge, self.refuse.as_ref());
        judge(message, frame, answers)
    }

    /// Whether a frame reports what nobody asked for.
    #[must_use]
    pub fn is_report(&self, frame: &Frame) -> bool {
        self.status.report == Some(frame.code)
    }

    /// Bytes of the longest answer to a message.
    #[must_use]
    pub fn answer_len(&self, message: &Message) -> usize {
        let bytes = if message.is_status {
            self.status.bytes
        } else {
            self.acknowledge.bytes
        };
        self.framing.len_max(Way::Answer, bytes.into())
    }

    /// Thousandths of the time of a line at `baud` that reading one elevator takes, with quick
    /// units and nothing lost.
    #[must_use]
    pub fn load_permille(&self, baud: u32) -> u64 {
        let request = self
            .framing
            .len_max(Way::Request, self.status.payload.len());
        let bytes = request + self.answer_len(&self.status());
        let timing = crate::rtu::RtuTiming::serial(baud);
        let took = timing.gap + timing.floor(bytes, 0);
        let share = took.as_micros() / u128::from(self.poll_ms().max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Whether the profile fits an elevator with these floors, from the lowest.
    ///
    /// # Errors
    /// Every mistake: a floor without a number, a side or a command that is missing.
    pub fn check_floors(&self, floors: &[MappedFloor]) -> Result<(), Vec<MapError>> {
        let mut m = Mistakes::default();
        self.sight.check_numbers(floors, &mut m);
        for side in Side::ALL {
            let opens = floors.iter().any(|floor| floor.sides.contains(&side));
            if opens && !self.sight.has_side(side) {
                m.add(whole(
                    side.as_str(),
                    "",
                    &format!("the door of the {side} side"),
                ));
            }
        }
        let mistakes = m.into_errors();
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    /// Whether the profile has what the elevator's configuration wants.
    ///
    /// # Errors
    /// Every signal or command that is missing.
    pub fn check_needs(&self, needs: Needs) -> Result<(), Vec<MapError>> {
        let signals = Needs {
            claim: false,
            ..needs
        };
        let mut mistakes = self.sight.check_needs(signals).err().unwrap_or_default();
        if needs.claim && self.commands.claim.is_none() {
            let expected = "the robot mode to be claimed, or claim = false";
            mistakes.push(whole("commands.claim", "", expected));
        }
        let hold_s = needs.hold_max_ms.div_ceil(1_000);
        let has_hold = self
            .commands
            .hold_door
            .as_ref()
            .is_some_and(|hold| hold.has_hold());
        if has_hold && hold_s > u64::from(u8::MAX) {
            let expected =
                format!("one that takes {hold_s} s, the elevator's hold_max_s; one byte has 255");
            mistakes.push(whole("commands.hold_door.payload", "", &expected));
        }
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    /// All that a status tells, as what is read together.
    pub(crate) fn sight(&self) -> &RegisterMap {
        &self.sight
    }

    /// What a command is on the line; `None` for one that needs no frame.
    pub(crate) fn message(
        &self,
        command: &Command,
        floors: &FloorTable,
    ) -> Result<Option<Message>, String> {
        self.commands
            .message(command, (&self.sight, floors, self.words))
    }

    /// What a report says: all that a status does, but nobody knows how old it is.
    pub(crate) fn change(&self, payload: &[u8], floors: &FloorTable) -> Change {
        let bytes = (0..=u16::MAX).zip(payload);
        let image: Image = bytes
            .map(|(at, byte)| ((Table::Holding, at), u16::from(*byte)))
            .collect();
        let Reading {
            floor,
            front,
            rear,
            motion,
            mode,
            occupied,
            fault,
            load_pct: _,
            calls: _,
        } = self.sight.reading(&image, floors);
        Change {
            floor,
            front: Some(front),
            rear,
            motion: Some(motion),
            mode: Some(mode),
            occupied,
            fault,
        }
    }

    fn from_root(mut root: Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let reply_ms = root
            .integer("reply_ms", 10..=REPLY_MS_MAX, m)
            .unwrap_or(REPLY_MS);
        let late_ms = root
            .integer("late_ms", 0..=LATE_MS_MAX, m)
            .unwrap_or(LATE_MS);
        if late_ms < reply_ms {
            m.add(root.refuse("late_ms", &format!("at least {reply_ms}, the reply_ms")));
        }
        let framing = Framing::parse(&mut root, m);
        let status = Status::parse(&mut root, m);
        let acknowledge = Acknowledge::parse(&mut root, m);
        let refuse = Refuse::parse(&mut root, m);
        let words = Words::parse(&mut root, m);
        let commands = Layouts::parse(&mut root, m);
        // Where the number of bytes is mistaken, the places in them are read as if all were there.
        let bytes = status.as_ref().map(|status| status.bytes);
        let all = u16::try_from(PAYLOAD_MAX).ok()?;
        root.set_bytes(bytes.unwrap_or(all));
        let sight = RegisterMap::sight(&mut root, m);
        root.finish(m);
        let profile = Self {
            framing: Arc::new(framing?),
            reply: Duration::from_millis(reply_ms.unsigned_abs()),
            late: Duration::from_millis(late_ms.unsigned_abs()),
            status: status?,
            acknowledge: acknowledge?,
            refuse,
            words,
            commands,
            sight: sight?,
        };
        profile.refuse_impossible(m);
        Some(profile)
    }
}
