//! The section `[frame]` of a profile.

use super::answers::byte;
use super::checksum::{Checksum, ChecksumKind};
use super::framing::{Escape, Framing, Length, Slot};
use crate::map::toml_section::{Mistakes, Part, Section};

/// Start and end bytes of a frame.
const MARK_BYTES_MAX: usize = 4;
/// Places of a header.
const HEADER_MAX: usize = 16;
/// What a length may tell beyond the payload: all that is around one.
const LENGTH_ADDS_MAX: i64 = 32;

const SLOTS: [(&str, Slot); 5] = [
    ("code", Slot::Code),
    ("length", Slot::Length),
    ("master", Slot::Master),
    ("sequence", Slot::Sequence),
    ("unit", Slot::Unit),
];

impl Framing {
    /// Reads the section.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let expected = "start, header and checksum: the shape of frames";
        let mut section = root.need_section("frame", expected, m)?;
        if !section.has("start") {
            m.add(section.missing("start", "the bytes that a frame begins with"));
        }
        let start = mark(&mut section, "start", 1, m);
        let end = mark(&mut section, "end", 0, m);
        if !section.has("header") {
            m.add(section.missing(
                "header",
                "the places of a header, such as \"unit\" and \"code\"",
            ));
        }
        let request = header(&mut section, "header", m);
        let answer = header(&mut section, "answer_header", m);
        let has_answer = section.has("answer_header");
        let length = length(&mut section, m);
        let master = byte(&mut section, "master", m);
        let checksum = checksum(&mut section, m);
        let escape = escape(&mut section, m);
        let echo = section.boolean("echo", m).unwrap_or(false);
        let (request, answer) = match (request, answer) {
            (Some(request), Some(answer)) => (request, answer),
            (Some(request), None) if !has_answer => (request.clone(), request),
            (Some(_) | None, Some(_) | None) => {
                section.finish(m);
                return None;
            }
        };
        let uses = |slot| request.contains(&slot) || answer.contains(&slot);
        if uses(Slot::Master) != section.has("master") {
            m.add(section.missing(
                "master",
                "the gateway's own number, where a header has a master",
            ));
        }
        if uses(Slot::Length) != section.has("length_adds") {
            m.add(section.missing(
                "length_adds",
                "what the length tells beyond the payload, where a header has a length",
            ));
        }
        if request.contains(&Slot::Sequence) != answer.contains(&Slot::Sequence) {
            m.add(section.refuse("answer_header", "a sequence in both headers or in none"));
        }
        let framing = Self {
            start: start?,
            request,
            answer,
            length: length?,
            master: master.unwrap_or(0),
            checksum: checksum?,
            end: end.unwrap_or_default(),
            escape: escape.flatten(),
            echo,
        };
        framing.refuse_ambiguous(&section, m);
        section.finish(m);
        Some(framing)
    }

    /// Refuses escapes that escape nothing.
    fn refuse_ambiguous(&self, section: &Section<'_>, m: &mut Mistakes) {
        let Some(escape) = self.escape else { return };
        let mut reserved = (0..=u8::MAX).filter(|byte| self.is_reserved(*byte));
        let is_marked = self.start.contains(&escape.byte) || self.end.contains(&escape.byte);
        if is_marked {
            let expected = "a byte that is none of start and end";
            m.add(section.refuse("escape", expected));
        } else if reserved.any(|byte| self.is_reserved(byte ^ escape.xor)) {
            let expected = "an xor that makes none of start, end and byte of another one of them";
            m.add(section.refuse("escape", expected));
        }
    }
}

fn mark(
    section: &mut Section<'_>,
    name: &'static str,
    least: usize,
    m: &mut Mistakes,
) -> Option<Vec<u8>> {
    let bytes = section.bytes(name, m)?;
    if !(least..=MARK_BYTES_MAX).contains(&bytes.len()) {
        let expected = format!("{least} to {MARK_BYTES_MAX} bytes");
        m.add(section.refuse(name, &expected));
        return None;
    }
    Some(bytes)
}

fn header(section: &mut Section<'_>, name: &'static str, m: &mut Mistakes) -> Option<Vec<Slot>> {
    let words = SLOTS.map(|(word, _)| word);
    let parts = section.layout(name, &words, m)?;
    if parts.len() > HEADER_MAX {
        m.add(section.refuse(name, &format!("{HEADER_MAX} places at most")));
        return None;
    }
    let slot = |part: &Part<'_>| match part {
        Part::Byte(byte) => Some(Slot::Byte(*byte)),
        Part::Word(word) => SLOTS
            .iter()
            .find(|(known, _)| known == word)
            .map(|(_, slot)| *slot),
    };
    let slots: Vec<Slot> = parts.iter().filter_map(slot).collect();
    for (word, slot) in SLOTS {
        let count = slots.iter().filter(|one| **one == slot).count();
        let is_needed = matches!(slot, Slot::Code | Slot::Unit);
        if count > 1 || (is_needed && count == 0) {
            let times = if is_needed { "once" } else { "once at most" };
            m.add(section.refuse(name, &format!("places with \"{word}\" {times}")));
            return None;
        }
    }
    Some(slots)
}

fn length(section: &mut Section<'_>, m: &mut Mistakes) -> Option<Length> {
    let adds = section
        .integer("length_adds", 0..=LENGTH_ADDS_MAX, m)
        .unwrap_or(0);
    let wide = section.word("length_wide", &[("big", true), ("little", false)], m);
    Some(Length {
        adds: u16::try_from(adds).ok()?,
        wide,
    })
}

fn checksum(section: &mut Section<'_>, m: &mut Mistakes) -> Option<Checksum> {
    let expected = "kind = \"sum8\", \"xor8\", \"crc16_modbus\" or \"crc16_ccitt\": without one \
                    a damaged frame would count";
    let mut table = section.need_section("checksum", expected, m)?;
    if !table.has("kind") {
        m.add(table.missing("kind", "sum8, xor8, crc16_modbus, crc16_ccitt"));
    }
    let kinds = [
        ("sum8", ChecksumKind::Sum8),
        ("xor8", ChecksumKind::Xor8),
        ("crc16_modbus", ChecksumKind::Crc16Modbus),
        ("crc16_ccitt", ChecksumKind::Crc16Ccitt(0xFFFF)),
    ];
    let kind = table.word("kind", &kinds, m);
    let init = table.integer("init", 0..=0xFFFF, m);
    let is_big = table.word("order", &[("big", true), ("little", false)], m);
    let has_start = table.word("from", &[("start", true), ("header", false)], m);
    let is_ccitt = matches!(kind, Some(ChecksumKind::Crc16Ccitt(_)));
    let is_word = is_ccitt || kind == Some(ChecksumKind::Crc16Modbus);
    if kind.is_some() && !is_ccitt && table.has("init") {
        m.add(table.refuse("init", "only with kind = \"crc16_ccitt\""));
    }
    if kind.is_some() && is_word != table.has("order") {
        let expected = "big or little, for a checksum of two bytes and for no other";
        m.add(table.missing("order", expected));
    }
    table.finish(m);
    let kind = match (kind?, init) {
        (ChecksumKind::Crc16Ccitt(_), Some(init)) => {
            ChecksumKind::Crc16Ccitt(u16::try_from(init).ok()?)
        }
        (kind, _) => kind,
    };
    Some(Checksum {
        kind,
        is_big: is_big.unwrap_or(true),
        has_start: has_start.unwrap_or(false),
    })
}

/// `None` for a mistaken one.
fn escape(section: &mut Section<'_>, m: &mut Mistakes) -> Option<Option<Escape>> {
    let Some(mut table) = section.section("escape", m) else {
        return Some(None);
    };
    let byte = table.need_integer("byte", 0..=255, m);
    let xor = table.need_integer("xor", 1..=255, m);
    table.finish(m);
    Some(Some(Escape {
        byte: u8::try_from(byte?).ok()?,
        xor: u8::try_from(xor?).ok()?,
    }))
}
