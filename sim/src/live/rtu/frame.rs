//! RTU frames: a unit, protocol data, and a CRC around them (Modbus over Serial Line 1.02, section
//! 2.5.1).

use adapters::rtu::crc16;

use crate::live::modbus::pdu;

/// Bytes of the longest frame: unit, 253 of protocol data, CRC.
pub(super) const FRAME_MAX: usize = 256;
/// Bytes around the protocol data: unit and CRC.
const AROUND: usize = 3;

/// The unit and the protocol data of a frame; `None` where its CRC is wrong.
pub(super) fn open(frame: &[u8]) -> Option<(u8, &[u8])> {
    if !(AROUND + 1..=FRAME_MAX).contains(&frame.len()) {
        return None;
    }
    let (body, crc) = frame.split_at(frame.len() - 2);
    let (unit, data) = body.split_first()?;
    (crc == crc16(body).to_le_bytes()).then_some((*unit, data))
}

/// A frame around protocol data.
pub(super) fn seal(unit: u8, data: &[u8]) -> Vec<u8> {
    let mut frame = vec![unit];
    frame.extend(data);
    frame.extend(crc16(&frame).to_le_bytes());
    frame
}

/// Whether these bytes are a whole request, by its function and its CRC.
pub(super) fn is_whole_request(frame: &[u8]) -> bool {
    open(frame).is_some_and(|(_, data)| pdu::length(data) == Some(data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_its_crc_low_byte_first() {
        // Known frames: 11 03 00 6B 00 03 -> 76 87; a relay board's FF 05 00 00 FF 00 -> 99 E4.
        assert_eq!(
            seal(0x11, &[0x03, 0x00, 0x6B, 0x00, 0x03]),
            [0x11, 0x03, 0x00, 0x6B, 0x00, 0x03, 0x76, 0x87]
        );
        assert_eq!(
            seal(0xFF, &[0x05, 0x00, 0x00, 0xFF, 0x00])[6..],
            [0x99, 0xE4]
        );
        let whole = [0x11, 0x03, 0x00, 0x6B, 0x00, 0x03, 0x76, 0x87];
        assert_eq!(open(&whole), Some((0x11, &whole[1..6])));
        for at in 0..whole.len() {
            let mut broken = whole;
            broken[at] ^= 0x10;
            assert_eq!(open(&broken), None, "byte {at}");
        }
        assert!(is_whole_request(&whole) && !is_whole_request(&whole[..7]));
    }
}
