//! What units answer, and what of it answers what.

use super::framing::Frame;
use crate::map::toml_section::{Mistakes, Section};

/// Bytes of the longest payload.
pub(super) const PAYLOAD_MAX: i64 = 240;

/// What is asked of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub(super) code: u8,
    pub(super) payload: Vec<u8>,
    pub(super) is_status: bool,
}

impl Message {
    /// Whether it asks for a status, and is no command.
    #[must_use]
    pub fn is_status(&self) -> bool {
        self.is_status
    }
}

/// What a frame says to somebody who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is no answer to that.
    None,
    /// It reports what nobody asked for.
    Unasked,
    /// The status that was asked for.
    Status,
    /// The unit took the command.
    Taken,
    /// It did not.
    Refused {
        /// The number that it gives for that.
        reason: Option<u8>,
        /// It may do it yet, or another time.
        is_busy: bool,
    },
}

/// The section `[status]`: how a car is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) request: u8,
    pub(super) payload: Vec<u8>,
    pub(super) answer: u8,
    pub(super) bytes: u16,
    pub(super) report: Option<u8>,
}

/// The section `[acknowledge]`: what a unit answers to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Acknowledge {
    code: AckCode,
    pub(super) bytes: u16,
    command_at: Option<usize>,
    result: Option<Outcomes>,
}

/// The code of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AckCode {
    /// Always this.
    One(u8),
    /// That of the command with these bits turned.
    Turned(u8),
}

/// A byte that tells how a command went.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcomes {
    at: usize,
    done: Vec<u8>,
    busy: Vec<u8>,
}

/// The section `[refuse]`: what a unit answers to a command that it does not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refuse {
    pub(super) code: u8,
    pub(super) bytes: u16,
    command_at: Option<usize>,
    reason_at: Option<usize>,
    busy: Vec<u8>,
}

impl Status {
    /// Reads the section.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let expected = "request, answer and bytes: how a car is read";
        let mut section = root.need_section("status", expected, m)?;
        let request = need_byte(&mut section, "request", m);
        let payload = section.bytes("payload", m).unwrap_or_default();
        let answer = need_byte(&mut section, "answer", m);
        let bytes = section.need_integer("bytes", 1..=PAYLOAD_MAX, m);
        let report = byte(&mut section, "report", m);
        section.finish(m);
        Some(Self {
            request: request?,
            payload,
            answer: answer?,
            bytes: u16::try_from(bytes?).ok()?,
            report,
        })
    }
}

impl Acknowledge {
    /// Reads the section.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let expected = "code or code_xor, and bytes: what answers a command";
        let mut section = root.need_section("acknowledge", expected, m)?;
        if section.has("code") == section.has("code_xor") {
            m.add(section.missing(
                "code",
                "either code, or code_xor: the bits that differ from the command's",
            ));
        }
        let code = byte(&mut section, "code", m).map(AckCode::One);
        let turned = byte(&mut section, "code_xor", m).map(AckCode::Turned);
        let bytes = section.need_integer("bytes", 0..=PAYLOAD_MAX, m);
        let command_at = place(&mut section, "command_at", bytes, m);
        let result = place(&mut section, "result_at", bytes, m);
        let done = section.bytes("done", m);
        let busy = section.bytes("busy", m).unwrap_or_default();
        if result.is_some() && done.as_ref().is_none_or(Vec::is_empty) {
            m.add(section.missing("done", "the results that mean that the command was taken"));
        }
        if result.is_none() && (section.has("done") || section.has("busy")) {
            m.add(section.missing("result_at", "the byte that done and busy explain"));
        }
        section.finish(m);
        Some(Self {
            code: code.or(turned)?,
            bytes: u16::try_from(bytes?).ok()?,
            command_at,
            result: result
                .zip(done)
                .map(|(at, done)| Outcomes { at, done, busy }),
        })
    }

    /// The code that acknowledges a command.
    pub(super) fn code_of(&self, command: u8) -> u8 {
        match self.code {
            AckCode::One(code) => code,
            AckCode::Turned(bits) => command ^ bits,
        }
    }

    fn judge(&self, command: u8, payload: &[u8]) -> Verdict {
        if !names(self.command_at, command, payload) {
            return Verdict::None;
        }
        let Some(Outcomes { at, done, busy }) = &self.result else {
            return Verdict::Taken;
        };
        match payload.get(*at) {
            Some(result) if done.contains(result) => Verdict::Taken,
            Some(result) => Verdict::Refused {
                reason: Some(*result),
                is_busy: busy.contains(result),
            },
            None => Verdict::None,
        }
    }
}

impl Refuse {
    /// Reads the section, where there is one.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let mut section = root.section("refuse", m)?;
        let code = need_byte(&mut section, "code", m);
        let bytes = section.need_integer("bytes", 0..=PAYLOAD_MAX, m);
        let command_at = place(&mut section, "command_at", bytes, m);
        let reason_at = place(&mut section, "reason_at", bytes, m);
        let busy = section.bytes("busy", m).unwrap_or_default();
        if section.has("busy") && reason_at.is_none() {
            m.add(section.missing("reason_at", "the byte that busy explains"));
        }
        section.finish(m);
        Some(Self {
            code: code?,
            bytes: u16::try_from(bytes?).ok()?,
            command_at,
            reason_at,
            busy,
        })
    }

    fn judge(&self, command: u8, payload: &[u8]) -> Verdict {
        if !names(self.command_at, command, payload) {
            return Verdict::None;
        }
        let reason = self.reason_at.and_then(|at| payload.get(at).copied());
        Verdict::Refused {
            reason,
            is_busy: reason.is_some_and(|reason| self.busy.contains(&reason)),
        }
    }
}

/// What a frame of the unit that was asked `message` says to it.
pub(super) fn judge(
    message: &Message,
    frame: &Frame,
    (status, acknowledge, refuse): (&Status, &Acknowledge, Option<&Refuse>),
) -> Verdict {
    if status.report == Some(frame.code) {
        return Verdict::Unasked;
    }
    if let Some(refuse) = refuse.filter(|refuse| refuse.code == frame.code) {
        return refuse.judge(message.code, &frame.payload);
    }
    if message.is_status {
        return if frame.code == status.answer {
            Verdict::Status
        } else {
            Verdict::None
        };
    }
    if frame.code == acknowledge.code_of(message.code) {
        acknowledge.judge(message.code, &frame.payload)
    } else {
        Verdict::None
    }
}

/// Whether the byte at this place names the command; where there is none, any is meant.
fn names(at: Option<usize>, command: u8, payload: &[u8]) -> bool {
    at.is_none_or(|at| payload.get(at) == Some(&command))
}

/// A byte.
pub(super) fn byte(section: &mut Section<'_>, name: &'static str, m: &mut Mistakes) -> Option<u8> {
    u8::try_from(section.integer(name, 0..=255, m)?).ok()
}

/// A byte that must be there.
pub(super) fn need_byte(
    section: &mut Section<'_>,
    name: &'static str,
    m: &mut Mistakes,
) -> Option<u8> {
    u8::try_from(section.need_integer(name, 0..=255, m)?).ok()
}

/// A place in a payload of so many bytes.
fn place(
    section: &mut Section<'_>,
    name: &'static str,
    bytes: Option<i64>,
    m: &mut Mistakes,
) -> Option<usize> {
    let last = bytes.unwrap_or(PAYLOAD_MAX) - 1;
    if last < 0 && section.has(name) {
        m.add(section.refuse(name, "no place: bytes = 0 leaves none"));
        return None;
    }
    usize::try_from(section.integer(name, 0..=last.max(0), m)?).ok()
}
