//! What is spoken on a line: Modbus RTU, or the frames of the invented maker "Kestrel", which
//! `configs/frames/kestrel.toml` describes. Of it nothing is taken from there but by reading.

use super::frame;
use crate::live::modbus::kestrel_code;

/// What a line speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speech {
    /// Modbus RTU.
    #[default]
    Rtu,
    /// The frames of Kestrel.
    Kestrel,
}

/// What a frame of Kestrel begins with.
const START: [u8; 2] = [0xAA, 0x55];
/// What it ends with.
const END: u8 = 0x0D;

impl Speech {
    /// The unit of a frame and what is said to it; `None` where it is none.
    ///
    /// Of Kestrel that is the number of the frame, the code and the payload.
    pub(super) fn open(self, bytes: &[u8]) -> Option<(u8, &[u8])> {
        if self == Self::Rtu {
            return frame::open(bytes);
        }
        let inner = bytes.strip_prefix(&START)?.strip_suffix(&[END])?;
        let (body, checksum) = inner.split_at_checked(inner.len().checked_sub(2)?)?;
        let (length, rest) = body.split_first()?;
        let (unit, data) = rest.split_first()?;
        let is_whole = usize::from(*length) == rest.len() && data.len() >= 2;
        (is_whole && checksum == crc(body)).then_some((*unit, data))
    }

    /// The frame of what a unit says.
    pub(super) fn seal(self, unit: u8, data: &[u8]) -> Vec<u8> {
        if self == Self::Rtu {
            return frame::seal(unit, data);
        }
        // No payload of Kestrel is longer than its length can tell.
        let length = u8::try_from(data.len() + 1).unwrap_or(u8::MAX);
        let mut body = vec![length, unit];
        body.extend(data);
        let mut frame = START.to_vec();
        frame.extend(&body);
        frame.extend(crc(&body));
        frame.push(END);
        frame
    }

    /// Whether these bytes are a whole request.
    pub(super) fn is_whole_request(self, bytes: &[u8]) -> bool {
        match self {
            Self::Rtu => frame::is_whole_request(bytes),
            Self::Kestrel => self.open(bytes).is_some(),
        }
    }

    /// What tells requests apart: the function, or the code.
    pub(super) fn function(self, data: &[u8]) -> u8 {
        let at = match self {
            Self::Rtu => 0,
            Self::Kestrel => 1,
        };
        data.get(at).copied().unwrap_or_default()
    }
}

/// The report that a unit of Kestrel makes of this status; its number is 0.
pub(super) fn report(status: &[u8]) -> Vec<u8> {
    let mut data = vec![0, kestrel_code::REPORT];
    data.extend(status);
    data
}

/// The same answer with another code, which Kestrel has for something else.
pub(super) fn with_other_code(mut data: Vec<u8>) -> Vec<u8> {
    if let Some(code) = data.get_mut(1) {
        *code ^= 0x40;
    }
    data
}

/// CRC-16 of CCITT from 0xFFFF, the higher byte first.
fn crc(bytes: &[u8]) -> [u8; 2] {
    let mut crc: u16 = 0xFFFF;
    for byte in bytes {
        for bit in (0..8).rev() {
            let is_odd = (crc >> 15 == 1) != (byte >> bit & 1 == 1);
            crc = (crc << 1) ^ if is_odd { 0x1021 } else { 0 };
        }
    }
    crc.to_be_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The request and the answer at the head of `configs/frames/kestrel.toml`.
    #[test]
    fn frames_of_kestrel_are_those_of_its_description() {
        let speech = Speech::Kestrel;
        let request = [0xAA, 0x55, 0x03, 0x01, 0x07, 0x01, 0xA1, 0x9A, 0x0D];
        assert_eq!(speech.seal(1, &[7, 1]), request);
        assert_eq!(speech.open(&request), Some((1, &[7, 1][..])));
        let status = [2, 2, 0, 0, 0, 5, 0, 0, 0, 0, 4, 0];
        let answer = speech.seal(1, &[&[7, 0x81], &status[..]].concat());
        assert_eq!(answer[..6], [0xAA, 0x55, 0x0F, 0x01, 0x07, 0x81]);
        assert_eq!(answer[18..], [0x2E, 0x13, 0x0D]);
        assert_eq!(answer[6..18], status);
        for at in 0..answer.len() {
            let mut broken = answer.clone();
            broken[at] ^= 0x10;
            assert_eq!(speech.open(&broken), None, "byte {at}");
        }
    }
}
