//! Checksums that makers put behind their frames.

use crate::rtu::crc16;

/// How a checksum is reckoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumKind {
    /// The sum of the bytes, the lower eight bits of it.
    Sum8,
    /// The exclusive or of the bytes.
    Xor8,
    /// CRC-16 of Modbus: polynomial 0xA001, start 0xFFFF.
    Crc16Modbus,
    /// CRC-16 of CCITT: polynomial 0x1021, the highest bit first, with this start: 0xFFFF or, as
    /// XMODEM has it, 0.
    Crc16Ccitt(u16),
}

/// A checksum and how it stands in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum {
    /// How it is reckoned.
    pub kind: ChecksumKind,
    /// The higher byte of two goes first.
    pub is_big: bool,
    /// It is over the start bytes, too.
    pub has_start: bool,
}

impl Checksum {
    /// How many bytes it has.
    #[must_use]
    pub fn width(self) -> usize {
        match self.kind {
            ChecksumKind::Sum8 | ChecksumKind::Xor8 => 1,
            ChecksumKind::Crc16Modbus | ChecksumKind::Crc16Ccitt(_) => 2,
        }
    }

    /// The bytes of the checksum over a frame with these start bytes and this body.
    #[must_use]
    pub fn of(self, start: &[u8], body: &[u8]) -> Vec<u8> {
        let start = if self.has_start { start } else { &[] };
        let bytes = || start.iter().chain(body).copied();
        let word = match self.kind {
            ChecksumKind::Sum8 => return vec![bytes().fold(0, u8::wrapping_add)],
            ChecksumKind::Xor8 => return vec![bytes().fold(0, |sum, byte| sum ^ byte)],
            ChecksumKind::Crc16Modbus => crc16(&bytes().collect::<Vec<_>>()),
            ChecksumKind::Crc16Ccitt(start) => bytes().fold(start, ccitt),
        };
        if self.is_big {
            word.to_be_bytes().to_vec()
        } else {
            word.to_le_bytes().to_vec()
        }
    }
}

fn ccitt(crc: u16, byte: u8) -> u16 {
    (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
        (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(kind: ChecksumKind, has_start: bool, is_big: bool) -> Vec<u8> {
        let checksum = Checksum {
            kind,
            is_big,
            has_start,
        };
        checksum.of(b"12", b"3456789")
    }

    /// The check values over "123456789" that catalogues of checksums list: CRC-16/MODBUS 0x4B37,
    /// CRC-16/IBM-3740 (CCITT from 0xFFFF) 0x29B1, CRC-16/XMODEM 0x31C3. The sum of the nine
    /// figures is 0x1DD, their exclusive or 0x31.
    #[test]
    fn checksums_of_the_catalogues() {
        assert_eq!(over(ChecksumKind::Sum8, true, true), [0xDD]);
        assert_eq!(over(ChecksumKind::Xor8, true, true), [0x31]);
        assert_eq!(over(ChecksumKind::Crc16Modbus, true, false), [0x37, 0x4B]);
        assert_eq!(
            over(ChecksumKind::Crc16Ccitt(0xFFFF), true, true),
            [0x29, 0xB1]
        );
        assert_eq!(over(ChecksumKind::Crc16Ccitt(0), true, true), [0x31, 0xC3]);
    }

    /// Without '1' and '2': the sum is less by 0x63, the exclusive or another by 3.
    #[test]
    fn the_start_bytes_count_only_where_that_is_said() {
        assert_eq!(over(ChecksumKind::Sum8, false, true), [0x7A]);
        assert_eq!(over(ChecksumKind::Xor8, false, true), [0x32]);
    }
}
