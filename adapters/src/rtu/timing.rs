//! How long characters, silences and replies take on a line.

use std::time::Duration;

/// Bits of a character: start, 8 data, parity or a second stop bit, stop (Modbus over Serial Line
/// V1.02, section 2.5.1). A line without parity and with one stop bit is a tenth faster.
const CHARACTER_BITS: u64 = 11;
/// Silence between frames above 19,200 baud (section 2.5.1.1).
const FIXED_GAP: Duration = Duration::from_micros(1_750);
/// The highest rate at which that silence is 3.5 characters.
const CHARACTER_GAP_BAUD_MAX: u32 = 19_200;

/// The rate whose silences are kept on a line behind a TCP connection.
const OVER_TCP_BAUD: u32 = 9_600;

/// The times of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtuTiming {
    /// One character; zero where it is not known.
    pub character: Duration,
    /// The silence before a request.
    pub gap: Duration,
    /// For the reply of a unit that has not replied yet, beside the time of the characters.
    pub first: Duration,
    /// Added to a unit's slowest reply; half of that reply, where it is more.
    pub margin: Duration,
    /// The shortest time-out.
    pub min: Duration,
    /// The longest time-out.
    pub max: Duration,
    /// How long a unit that did not reply may still do so.
    pub owed: Duration,
    /// How long the silence before a request is waited for.
    pub quiet_max: Duration,
}

impl RtuTiming {
    /// A serial line. Makers promise replies within 200 ms at most; a unit that did not reply yet
    /// gets that. The margin covers the 16 ms for which USB adapters collect bytes before they hand
    /// them on, and the shortest time-out a machine that does not run us for some tens of
    /// milliseconds: a dead unit is asked seldom, so a shorter one would win little. The longest
    /// keeps a command of two writes within the 2 s of `accept_s`. Of a reply that is owed for
    /// longer than 10 s nobody has told yet.
    #[must_use]
    pub fn serial(baud: u32) -> Self {
        let character = character(baud);
        let gap = if baud <= CHARACTER_GAP_BAUD_MAX {
            character * 7 / 2
        } else {
            FIXED_GAP
        };
        Self {
            character,
            gap,
            first: Duration::from_millis(200),
            margin: Duration::from_millis(20),
            min: Duration::from_millis(100),
            max: Duration::from_millis(800),
            owed: Duration::from_secs(10),
            quiet_max: Duration::from_secs(1),
        }
    }

    /// A serial line behind a TCP connection. Its rate is not known here, so between two frames lies
    /// the silence of 9,600 baud, the slowest that is usual: not every converter keeps one of its
    /// own. A lost packet is sent again after 200 ms at the soonest, so a time-out has to be longer
    /// than that.
    #[must_use]
    pub fn over_tcp() -> Self {
        Self {
            character: Duration::ZERO,
            gap: character(OVER_TCP_BAUD) * 7 / 2,
            first: Duration::from_millis(500),
            margin: Duration::from_millis(100),
            min: Duration::from_millis(400),
            ..Self::serial(CHARACTER_GAP_BAUD_MAX)
        }
    }

    /// The least time from the last byte handed over to the last byte of the reply: the characters of
    /// both, and the silence by which the unit knows that the request has ended.
    #[must_use]
    pub fn floor(&self, request_len: usize, reply_len: usize) -> Duration {
        let count = u32::try_from(request_len + reply_len).unwrap_or(u32::MAX);
        self.character.saturating_mul(count) + self.gap
    }

    /// The time-out of a request whose floor is `floor`, to a unit whose slowest reply of late took
    /// `slowest` beyond its own floor: the floor, that, and the greater of half of it and the
    /// margin; a unit that did not reply yet has `first` instead. Within `min` and `max`.
    #[must_use]
    pub fn wait(&self, floor: Duration, slowest: Option<Duration>) -> Duration {
        let own = slowest.map_or(self.first, |slowest| slowest + self.margin.max(slowest / 2));
        (floor + own).clamp(self.min, self.max.max(self.min))
    }
}

fn character(baud: u32) -> Duration {
    Duration::from_nanos(CHARACTER_BITS * 1_000_000_000 / u64::from(baud.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of `docs/performance.md`: characters and silences by rate.
    #[test]
    fn silences_are_three_and_a_half_characters_up_to_19200_baud_and_fixed_above() {
        for (baud, character_us, gap_us) in [
            (9_600, 1_145, 4_010),
            (19_200, 572, 2_005),
            (38_400, 286, 1_750),
            (115_200, 95, 1_750),
        ] {
            let timing = RtuTiming::serial(baud);
            assert_eq!(timing.character.as_micros(), character_us, "{baud}");
            assert_eq!(timing.gap.as_micros(), gap_us, "{baud}");
        }
    }

    /// Reading 8 registers at 19,200 baud: 29 characters and a silence are 18.6 ms.
    #[test]
    fn a_time_out_is_the_floor_and_what_the_unit_showed_within_bounds() {
        let timing = RtuTiming::serial(19_200);
        let ms = Duration::from_millis;
        let floor = timing.floor(8, 21);
        assert_eq!(floor.as_micros(), 18_619);
        assert_eq!(timing.wait(floor, None), floor + ms(200));
        assert_eq!(timing.wait(floor, Some(ms(5))), ms(100));
        assert_eq!(timing.wait(floor, Some(ms(70))), floor + ms(105));
        assert_eq!(timing.wait(floor, Some(ms(600))), ms(800));
    }
}
