//! From bytes on a line to frames in words. What a frame is shows by its content: a program cannot
//! measure the silences that part frames.

use std::fmt::Write as _;

use adapters::rtu::{Exception, FRAME_MAX, crc16};

use super::tell::{hex, joined};

/// Bytes of the head of a Modbus TCP frame, up to the unit.
const HEAD: usize = 6;

/// How frames are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// With a checksum, RTU.
    Checksum,
    /// With a head, Modbus TCP.
    Head,
}

/// A frame, or bytes that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// In hex.
    pub(super) hex: String,
    /// What it says.
    pub(super) says: String,
    /// What is wrong with it.
    pub(super) wrong: Option<String>,
}

/// A request that has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    unit: u8,
    function: u8,
    address: u16,
    count: u16,
}

/// Takes bytes in, and frames out.
#[derive(Debug)]
pub(super) struct Frames {
    packing: Packing,
    heard: Vec<u8>,
    asked: Option<Asked>,
}

impl Frames {
    /// Nothing passed yet.
    pub(super) fn new(packing: Packing) -> Self {
        Self {
            packing,
            heard: Vec::new(),
            asked: None,
        }
    }

    /// A frame of ours.
    pub(super) fn sent(&mut self, bytes: &[u8]) -> Shown {
        let body = self.body(bytes).unwrap_or(bytes).to_vec();
        self.asked = None;
        self.shown(bytes, &body)
    }

    /// Bytes that came in: the frames that are whole with them.
    pub(super) fn heard(&mut self, bytes: &[u8]) -> Vec<Shown> {
        self.heard.extend_from_slice(bytes);
        let mut shown = Vec::new();
        while let Some(length) = self.whole(&self.heard) {
            let frame: Vec<u8> = self.heard.drain(..length).collect();
            shown.push(self.frame(&frame));
        }
        // More than a frame that is none: what stands in it is found.
        if self.heard.len() > FRAME_MAX {
            shown.extend(self.rest());
        }
        shown
    }

    /// Nothing came for long: what is left, with the frames that stand in it.
    pub(super) fn rest(&mut self) -> Vec<Shown> {
        let mut shown = Vec::new();
        while !self.heard.is_empty() {
            let found = (0..self.heard.len())
                .find_map(|at| self.whole(&self.heard[at..]).map(|length| (at, length)));
            let (at, length) = found.unwrap_or((self.heard.len(), 0));
            let junk: Vec<u8> = self.heard.drain(..at).collect();
            if !junk.is_empty() {
                shown.push(self.junk(&junk));
            }
            let frame: Vec<u8> = self.heard.drain(..length).collect();
            if !frame.is_empty() {
                shown.push(self.frame(&frame));
            }
        }
        shown
    }

    /// Whether some bytes wait for the rest of their frame.
    pub(super) fn is_amid(&self) -> bool {
        !self.heard.is_empty()
    }

    /// Bytes of the whole frame that stands in front.
    fn whole(&self, bytes: &[u8]) -> Option<usize> {
        if self.packing == Packing::Head {
            let [_, _, 0, 0, high, low, ..] = *bytes else {
                return None;
            };
            let length = HEAD + usize::from(u16::from_be_bytes([high, low]));
            let fits = length > HEAD + 1 && length <= HEAD + FRAME_MAX;
            return (fits && bytes.len() >= length).then_some(length);
        }
        let function = *bytes.get(1)?;
        let by_count = |at: usize, more: usize| bytes.get(at).map(|n| usize::from(*n) + more);
        let lengths = match function {
            1..=4 => [by_count(2, 5), Some(8)],
            5 | 6 => [Some(8), None],
            15 | 16 => [Some(8), by_count(6, 9)],
            0x80.. => [Some(5), None],
            _ => [None, None],
        };
        let is_sound = |length: &usize| bytes.get(..*length).is_some_and(is_sound);
        let known = lengths.into_iter().flatten().find(is_sound);
        let is_known = (1..=6).contains(&function) || matches!(function, 15 | 16 | 0x80..);
        known.or_else(|| {
            let most = bytes.len().min(FRAME_MAX);
            (!is_known).then(|| (4..=most).find(is_sound)).flatten()
        })
    }

    fn body<'b>(&self, frame: &'b [u8]) -> Option<&'b [u8]> {
        match self.packing {
            Packing::Head => frame.get(HEAD..),
            Packing::Checksum => frame.get(..frame.len().checked_sub(2)?),
        }
    }

    fn frame(&mut self, frame: &[u8]) -> Shown {
        let body = self.body(frame).unwrap_or(frame).to_vec();
        self.shown(frame, &body)
    }

    fn junk(&self, bytes: &[u8]) -> Shown {
        let wrong = match (self.asked, bytes) {
            (Some(asked), [unit, function, ..])
                if (*unit, function & 0x7F) == (asked.unit, asked.function) =>
            {
                "an answer that is cut off or damaged"
            }
            _ => "no whole frame",
        };
        Shown {
            hex: hex(bytes, 2),
            says: format!("{} bytes", bytes.len()),
            wrong: Some(wrong.to_owned()),
        }
    }

    /// A whole frame in words; `body` is its unit and what follows, without packing.
    fn shown(&mut self, frame: &[u8], body: &[u8]) -> Shown {
        let asked = self.asked.take();
        let own = asked.filter(|asked| {
            body.first() == Some(&asked.unit)
                && body.get(1).is_some_and(|got| got & 0x7F == asked.function)
        });
        let (says, wrong) = match (reply(body, own), request(body)) {
            (Some((says, wrong)), _) if own.is_some() => (says, wrong),
            (_, Some((says, asks))) => {
                self.asked = Some(asks);
                (says, None)
            }
            (Some((says, _)), None) => {
                let wrong = match asked {
                    Some(asked) => format!(
                        "unit {} was asked by function {:02}",
                        asked.unit, asked.function
                    ),
                    None => "nobody asked for it".to_owned(),
                };
                self.asked = asked;
                (says, Some(wrong))
            }
            (None, None) => (unknown(body), None),
        };
        Shown {
            hex: hex(frame, 2),
            says,
            wrong,
        }
    }
}

fn is_sound(frame: &[u8]) -> bool {
    let Some(at) = frame.len().checked_sub(2).filter(|at| *at >= 2) else {
        return false;
    };
    let (body, crc) = frame.split_at(at);
    crc == crc16(body).to_le_bytes()
}

/// A request in words, and what it asks.
fn request(body: &[u8]) -> Option<(String, Asked)> {
    let [unit, function, a, b, c, d, ref data @ ..] = *body else {
        return None;
    };
    let (address, second) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let last = address.saturating_add(second.saturating_sub(1));
    let many = if second == 1 {
        address.to_string()
    } else {
        format!("{address} to {last}")
    };
    let table = table(function)?;
    let says = match function {
        1..=4 if data.is_empty() => format!("unit {unit}: read {table} {many}"),
        5 if data.is_empty() => format!("unit {unit}: write {table} {address} = {}", state(second)),
        6 if data.is_empty() => format!("unit {unit}: write {table} {address} = {second}"),
        15 | 16 if data.first().map(|n| usize::from(*n) + 1) == Some(data.len()) => {
            let values = values(function == 15, &data[1..], second);
            format!("unit {unit}: write {table} {many} = {values}")
        }
        _ => return None,
    };
    let count = if matches!(function, 5 | 6) { 1 } else { second };
    let asked = Asked {
        unit,
        function,
        address,
        count,
    };
    Some((says, asked))
}

/// An answer in words, and what is wrong with it; `asked` is the request that it can be of.
fn reply(body: &[u8], asked: Option<Asked>) -> Option<(String, Option<String>)> {
    let [unit, function, data @ ..] = body else {
        return None;
    };
    if function & 0x80 != 0 {
        let [code] = *data else { return None };
        let function = function & 0x7F;
        let says = format!(
            "unit {unit}: function {function:02} refused: {}",
            Exception(code)
        );
        return Some((says, None));
    }
    let table = table(*function)?;
    if matches!(function, 5 | 6 | 15 | 16) {
        let [a, b, _, _] = *data else { return None };
        let address = u16::from_be_bytes([a, b]);
        let is_own = asked.is_none_or(|asked| asked.address == address);
        let wrong = (!is_own).then(|| "another address was asked for".to_owned());
        return Some((format!("unit {unit}: wrote {table} {address}"), wrong));
    }
    let (count, data) = data.split_first()?;
    if usize::from(*count) != data.len() {
        return None;
    }
    let is_bits = *function <= 2;
    let there = if is_bits {
        data.len() * 8
    } else {
        data.len() / 2
    };
    let there = u16::try_from(there).unwrap_or(u16::MAX);
    let Some(asked) = asked else {
        let values = values(is_bits, data, there);
        return Some((format!("unit {unit}: {table} = {values}"), None));
    };
    let expected = if is_bits {
        asked.count.div_ceil(8)
    } else {
        asked.count.saturating_mul(2)
    };
    let wrong = (usize::from(expected) != data.len()).then(|| {
        format!(
            "{} bytes of data where {expected} were asked for",
            data.len()
        )
    });
    let mut says = format!("unit {unit}: {table} {}", asked.address);
    let _ = write!(says, " = {}", values(is_bits, data, asked.count.min(there)));
    Some((says, wrong))
}

fn table(function: u8) -> Option<&'static str> {
    match function {
        1 | 5 | 15 => Some("coil"),
        2 => Some("discrete"),
        3 | 6 | 16 => Some("holding"),
        4 => Some("input"),
        _ => None,
    }
}

fn state(value: u16) -> String {
    match value {
        0xFF00 => "on".to_owned(),
        0 => "off".to_owned(),
        other => format!("0x{other:04X}"),
    }
}

fn values(is_bits: bool, data: &[u8], count: u16) -> String {
    let count = usize::from(count);
    if is_bits {
        let bits = data
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| (byte >> bit) & 1));
        return joined(bits.take(count), " ");
    }
    let words = data.chunks_exact(2);
    joined(
        words
            .take(count)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]])),
        " ",
    )
}

fn unknown(body: &[u8]) -> String {
    match body {
        [unit, function, ..] => format!("unit {unit}: function {function:02}"),
        _ => format!("{} bytes", body.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit 1 reads holding register 5 and is answered 5; the checksums are those of an independent
    /// calculation.
    const READ: [u8; 8] = [0x01, 0x03, 0x00, 0x05, 0x00, 0x01, 0x94, 0x0B];
    const FIVE: [u8; 7] = [0x01, 0x03, 0x02, 0x00, 0x05, 0x78, 0x47];
    /// Unit 17 reads holding registers 107 to 109, from the specification.
    const READ_3: [u8; 8] = [0x11, 0x03, 0x00, 0x6B, 0x00, 0x03, 0x76, 0x87];

    fn says(shown: &[Shown]) -> Vec<(&str, Option<&str>)> {
        shown
            .iter()
            .map(|shown| (shown.says.as_str(), shown.wrong.as_deref()))
            .collect()
    }

    #[test]
    fn an_answer_is_told_with_the_address_that_was_asked_for() {
        let mut frames = Frames::new(Packing::Checksum);
        let sent = frames.sent(&READ);
        assert_eq!(sent.hex, "01 03 00 05 00 01 94 0B");
        assert_eq!(sent.says, "unit 1: read holding 5");
        assert!(frames.heard(&FIVE[..3]).is_empty() && frames.is_amid());
        let heard = frames.heard(&FIVE[3..]);
        assert_eq!(says(&heard), [("unit 1: holding 5 = 5", None)]);
    }

    #[test]
    fn a_conversation_of_others_is_followed() {
        let mut frames = Frames::new(Packing::Checksum);
        let all = [&READ_3[..], &READ, &FIVE, &FIVE].concat();
        let heard = frames.heard(&all);
        assert_eq!(
            says(&heard),
            [
                ("unit 17: read holding 107 to 109", None),
                ("unit 1: read holding 5", None),
                ("unit 1: holding 5 = 5", None),
                ("unit 1: holding = 5", Some("nobody asked for it")),
            ]
        );
    }

    #[test]
    fn noise_before_a_frame_and_a_damaged_answer_are_told() {
        let mut frames = Frames::new(Packing::Checksum);
        frames.sent(&READ);
        let mut damaged = FIVE;
        damaged[4] ^= 1;
        assert!(frames.heard(&damaged).is_empty());
        let rest = frames.rest();
        let wrong = Some("an answer that is cut off or damaged");
        assert_eq!(says(&rest), [("7 bytes", wrong)]);
        frames.heard(&[&[0xFF, 0x00][..], &READ].concat());
        let rest = frames.rest();
        assert_eq!(
            says(&rest),
            [
                ("2 bytes", Some("no whole frame")),
                ("unit 1: read holding 5", None)
            ]
        );
        assert!(!frames.is_amid());
    }

    /// Modbus Messaging on TCP/IP: transaction 1, protocol 0, 6 bytes; exception 02 to function 03.
    #[test]
    fn frames_with_a_head_are_told_and_exceptions_named() {
        let mut frames = Frames::new(Packing::Head);
        let sent = frames.sent(&[0, 1, 0, 0, 0, 6, 9, 5, 0, 3, 0xFF, 0]);
        assert_eq!(sent.says, "unit 9: write coil 3 = on");
        let heard = frames.heard(&[0, 1, 0, 0, 0, 3, 9, 0x85, 2]);
        let told = "unit 9: function 05 refused: Modbus exception 02, ILLEGAL DATA ADDRESS";
        assert_eq!(says(&heard), [(told, None)]);
    }
}
