//! The checksum of a frame (Modbus over Serial Line V1.02, section 6.2.2).

/// CRC-16 of Modbus: polynomial 0xA001, start 0xFFFF. It goes over the wire low byte first.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        let at = usize::from((crc ^ u16::from(*byte)) & 0xFF);
        (crc >> 8) ^ TABLE[at]
    })
}

/// The bytes with their checksum behind them.
pub(super) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc16(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

/// Whether a frame ends with its own checksum.
pub(super) fn is_sound(frame: &[u8]) -> bool {
    // Over its own checksum, low byte first, the register comes out as 0.
    frame.len() >= 4 && crc16(frame) == 0
}

const TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    let mut byte: u16 = 0;
    while at < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xA001
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of section 6.2.2, and frames of the examples of the application protocol with
    /// the checksums that other implementations print.
    #[test]
    fn checksums_of_the_specification() {
        assert_eq!(crc16(&[0x02, 0x07]), 0x1241);
        assert_eq!(crc16(&[0x01, 0x03, 0, 0, 0, 0x0A]), 0xCDC5);
        assert_eq!(crc16(&[0x11, 0x06, 0x00, 0x01, 0x00, 0x03]), 0x9B9A);
        assert_eq!(crc16(&[]), 0xFFFF);
    }

    #[test]
    fn a_sealed_frame_is_sound_and_with_any_bit_turned_it_is_not() {
        let frame = seal(vec![0x01, 0x03, 0, 0, 0, 0x0A]);
        assert_eq!(frame[6..], [0xC5, 0xCD]);
        assert!(is_sound(&frame));
        for bit in 0..frame.len() * 8 {
            let mut turned = frame.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sound(&turned), "bit {bit}");
        }
        assert!(!is_sound(&[]));
    }
}
