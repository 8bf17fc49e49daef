//! Time as it is written: RFC 3339 time stamps and seconds.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment of the wall clock: milliseconds since 1970-01-01T00:00:00Z.
///
/// Read with any offset and 0 to 9 fraction digits, written as `...sssZ` (`wire.md` section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub u64);

/// 9999-12-31T23:59:59.999Z: an offset leads beyond it, where nothing can be written.
const LAST_MS: u64 = 253_402_300_799_999;

/// Why a text is no time stamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no RFC 3339 time stamp of the years 1970 to 9999")]
pub struct TimestampError;

impl Timestamp {
    /// Reads an RFC 3339 time stamp; digits below the millisecond are cut off.
    ///
    /// # Errors
    /// [`TimestampError`] for any other text, more than 9 fraction digits, or a year outside 1970
    /// to 9999.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let fraction = text.split_once('.').map_or(0, |(_, rest)| {
            rest.bytes().take_while(u8::is_ascii_digit).count()
        });
        if fraction > 9 {
            return Err(TimestampError);
        }
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampError)?;
        let ms = moment.unix_timestamp_nanos().div_euclid(1_000_000);
        let ms = u64::try_from(ms).map_err(|_| TimestampError)?;
        (ms <= LAST_MS).then_some(Self(ms)).ok_or(TimestampError)
    }

    /// Milliseconds from `earlier` to this, 0 when it lies later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Written::of(*self).as_str())
    }
}

/// A time stamp as it is written, made without the machinery of format strings: every message has
/// one.
struct Written([u8; 24]);

impl Written {
    fn of(moment: Timestamp) -> Self {
        let seconds = i64::try_from(moment.0 / 1000).unwrap_or(i64::MAX);
        let moment_s =
            OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = moment_s.to_calendar_date();
        let (hour, minute, second) = moment_s.to_hms();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |at: std::ops::Range<usize>, mut number: u64| {
            for digit in text[at].iter_mut().rev() {
                *digit += u8::try_from(number % 10).unwrap_or(0);
                number /= 10;
            }
        };
        put(0..4, u64::try_from(year).unwrap_or(0));
        put(5..7, u64::from(u8::from(month)));
        put(8..10, u64::from(day));
        put(11..13, u64::from(hour));
        put(14..16, u64::from(minute));
        put(17..19, u64::from(second));
        put(20..23, moment.0 % 1000);
        Self(text)
    }

    fn as_str(&self) -> &str {
        // Digits and the separators of the pattern are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Written::of(*self).as_str())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A day of the calendar: days since 1970-01-01. Written as `2026-11-30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(pub u32);

impl Timestamp {
    /// The day that it is where clocks are `offset_s` seconds ahead of UTC.
    #[must_use]
    pub fn date_at(self, offset_s: i32) -> Date {
        let seconds = i64::try_from(self.0 / 1000).unwrap_or(i64::MAX);
        let days = seconds
            .saturating_add(i64::from(offset_s))
            .div_euclid(86_400);
        Date(u32::try_from(days.max(0)).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let midnight = OffsetDateTime::from_unix_timestamp(i64::from(self.0) * 86_400)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let month = u8::from(midnight.month());
        write!(f, "{:04}-{month:02}-{:02}", midnight.year(), midnight.day())
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&format!("{text}T00:00:00Z"))
            .map(|midnight| midnight.date_at(0))
            .map_err(serde::de::Error::custom)
    }
}

/// A span as the wire writes it: milliseconds here, seconds there, an integer where they are whole
/// and a fraction where the configured time has one (`wire.md` section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds {
    /// The span in milliseconds.
    pub ms: u64,
}

impl Seconds {
    /// A span of `ms` milliseconds.
    #[must_use]
    pub fn from_ms(ms: u64) -> Self {
        Self { ms }
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.ms.is_multiple_of(1000) {
            serializer.serialize_u64(self.ms / 1000)
        } else {
            // A span of less than 2^53 ms is exact in an f64; longer ones do not occur.
            #[allow(clippy::cast_precision_loss)]
            serializer.serialize_f64(self.ms as f64 / 1000.0)
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNumber)
    }
}

/// Reads seconds from an integer or a float: not every format makes one of the other.
struct AnyNumber;

impl Visitor<'_> for AnyNumber {
    type Value = Seconds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds from 0 to 1e12")
    }

    fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<Seconds, E> {
        let is_in_range = seconds <= 1_000_000_000_000;
        let ms = seconds.checked_mul(1000).filter(|_| is_in_range);
        let ms = ms.ok_or_else(|| E::custom("seconds are out of range"))?;
        Ok(Seconds { ms })
    }

    fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<Seconds, E> {
        let seconds = u64::try_from(seconds).map_err(|_| E::custom("seconds are out of range"))?;
        self.visit_u64(seconds)
    }

    fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<Seconds, E> {
        if !(0.0..=1e12).contains(&seconds) {
            return Err(E::custom("seconds are out of range"));
        }
        // The range was checked above.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(Seconds {
            ms: (seconds * 1000.0).round() as u64,
        })
    }
}
