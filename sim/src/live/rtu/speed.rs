//! How long characters and silences last on a serial line.

use std::str::FromStr;
use std::time::Duration;

/// Bits of a character: start, eight of data, parity or a second stop bit, stop (Modbus over Serial
/// Line 1.02, section 2.5.1).
const CHAR_BITS: u64 = 11;
/// Up to here a silence is 3.5 characters, above it has a fixed length (the same, section 2.5.1.1).
const BAUD_BY_CHARS_MAX: u32 = 19_200;
const SILENCE_FAST: Duration = Duration::from_micros(1_750);
/// The rates that a line can have.
const BAUD_MIN: u32 = 1_200;
const BAUD_MAX: u32 = 1_000_000;

/// How fast a serial line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    baud: u32,
}

/// A baud rate that no line has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("baud {0:?} is not {BAUD_MIN} to {BAUD_MAX}")]
pub struct BadBaud(String);

impl Speed {
    /// A line of `baud` bits per second, 1,200 to 1,000,000.
    ///
    /// # Errors
    /// [`BadBaud`].
    pub fn new(baud: u32) -> Result<Self, BadBaud> {
        if (BAUD_MIN..=BAUD_MAX).contains(&baud) {
            Ok(Self { baud })
        } else {
            Err(BadBaud(baud.to_string()))
        }
    }

    /// Bits per second.
    #[must_use]
    pub fn baud(self) -> u32 {
        self.baud
    }

    /// How long so many characters take.
    #[must_use]
    pub fn chars(self, count: usize) -> Duration {
        let bits = CHAR_BITS * u64::try_from(count).unwrap_or(u64::MAX / CHAR_BITS);
        Duration::from_nanos(bits.saturating_mul(1_000_000_000) / u64::from(self.baud))
    }

    /// The silence between two frames, "t3.5".
    #[must_use]
    pub fn silence(self) -> Duration {
        if self.baud <= BAUD_BY_CHARS_MAX {
            self.chars(7) / 2
        } else {
            SILENCE_FAST
        }
    }
}

impl Default for Speed {
    /// 19,200, which every device has to know (the same, section 2.5.1).
    fn default() -> Self {
        Self { baud: 19_200 }
    }
}

impl FromStr for Speed {
    type Err = BadBaud;

    fn from_str(text: &str) -> Result<Self, BadBaud> {
        let baud = text.parse().map_err(|_| BadBaud(text.to_owned()))?;
        Self::new(baud)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn micros(baud: u32) -> (u128, u128) {
        let speed = Speed::new(baud).unwrap();
        (speed.chars(1).as_micros(), speed.silence().as_micros())
    }

    #[test]
    fn characters_have_eleven_bits_and_silences_three_and_a_half_characters() {
        // 11 / 9600 = 1.1458 ms, x 3.5 = 4.0104 ms; above 19,200 baud a silence is 1.75 ms.
        assert_eq!(micros(9_600), (1_145, 4_010));
        assert_eq!(micros(19_200), (572, 2_005));
        assert_eq!(micros(38_400), (286, 1_750));
        assert_eq!(micros(115_200), (95, 1_750));
        let bad = "0".parse::<Speed>().unwrap_err();
        assert_eq!(bad.to_string(), "baud \"0\" is not 1200 to 1000000");
    }
}
