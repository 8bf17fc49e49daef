//! Rules of a plan as words of a command line: `KIND[=VALUE][@UNIT]:SHARE`, or `#N` for the n-th.

use std::str::FromStr;
use std::time::Duration;

use tokio_modbus::prelude::ExceptionCode;

use super::fault::Fault;
use super::plan::Rule;
use crate::car::DoorStuck;
use crate::live::modbus::Position;

/// A kind of fault in words: what its value means, the value where none is given, and the fault.
struct Word {
    name: &'static str,
    value: u32,
    make: fn(u32) -> Fault,
}

/// Every kind. Values are milliseconds, or numbers of bytes, units, times or floors.
const WORDS: [Word; 27] = [
    word("late", 400, |ms| Fault::Late(millis(ms))),
    word("into_next", 0, |_| Fault::IntoNext),
    word("bad_crc", 0, |_| Fault::BadCrc),
    word("twice", 4, |ms| Fault::Twice(millis(ms))),
    word("truncated", 2, |bytes| Fault::Truncated(count(bytes))),
    word("merged", 0, |_| Fault::Merged),
    word("wrong_unit", 247, |unit| {
        Fault::WrongUnit(u8::try_from(unit).unwrap_or(u8::MAX))
    }),
    word("wrong_function", 0, |_| Fault::WrongFunction),
    word("wrong_length", 0, |_| Fault::WrongLength),
    word("failure", 0, |_| {
        Fault::Refuse(ExceptionCode::ServerDeviceFailure)
    }),
    word("acknowledge", 0, |_| {
        Fault::Refuse(ExceptionCode::Acknowledge)
    }),
    word("busy", 0, |_| {
        Fault::Refuse(ExceptionCode::ServerDeviceBusy)
    }),
    word("echo", 0, |_| Fault::Echo),
    word("no_reply", 0, |_| Fault::NoReply),
    word("no_request", 0, |_| Fault::NoRequest),
    word("stuck_open", 10_000, |ms| {
        Fault::Door(DoorStuck::Open, millis(ms))
    }),
    word("stuck_closed", 10_000, |ms| {
        Fault::Door(DoorStuck::Closed, millis(ms))
    }),
    word("reopens", 3, Fault::Reopens),
    word("restart", 3_000, |ms| Fault::Restart(millis(ms))),
    word("power_loss", 10_000, |ms| Fault::PowerLoss(millis(ms))),
    word("frozen", 10_000, |ms| {
        Fault::Position(Position::Frozen, millis(ms))
    }),
    word("lost", 10_000, |ms| {
        Fault::Position(Position::Lost, millis(ms))
    }),
    word("junk", 60, |bytes| Fault::Junk(count(bytes))),
    word("foreign", 0, |_| Fault::Foreign),
    word("report", 0, |_| Fault::Report { inside: false }),
    word("report_inside", 0, |_| Fault::Report { inside: true }),
    word("babble", 2_000, |ms| Fault::Babble(millis(ms))),
];

/// A rule that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fault {text:?}: {expected}")]
pub struct BadRule {
    text: String,
    expected: String,
}

impl FromStr for Rule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let bad = |expected: &str| BadRule {
            text: text.to_owned(),
            expected: expected.to_owned(),
        };
        let form = "KIND[=VALUE][@UNIT] and :SHARE or #N, such as bad_crc:0.01 or late=400@2#3";
        let at = text.find([':', '#']).ok_or_else(|| bad(form))?;
        let (what, when) = text.split_at(at);
        let (what, unit) = match what.split_once('@') {
            Some((what, unit)) => {
                let unit = unit.parse().ok().filter(|unit| (1..=247).contains(unit));
                (what, Some(unit.ok_or_else(|| bad("a unit from 1 to 247"))?))
            }
            None => (what, None),
        };
        let (name, value) = match what.split_once('=') {
            Some((name, value)) => {
                let value = value.parse().ok();
                (
                    name,
                    Some(value.ok_or_else(|| bad("a whole number as value"))?),
                )
            }
            None => (what, None),
        };
        let Some(word) = WORDS.iter().find(|word| word.name == name) else {
            let names: Vec<_> = WORDS.iter().map(|word| word.name).collect();
            return Err(bad(&format!("one of {}", names.join(", "))));
        };
        let fault = (word.make)(value.unwrap_or(word.value));
        let rule = if let Some(share) = when.strip_prefix(':') {
            let share = share
                .parse()
                .ok()
                .filter(|share| (0.0..=1.0).contains(share));
            Self::rate(share.ok_or_else(|| bad("a share from 0 to 1"))?, fault)
        } else {
            let n = when[1..].parse().ok().filter(|n| *n > 0);
            Self::nth(n.ok_or_else(|| bad("a number from 1"))?, fault)
        };
        Ok(match unit {
            Some(unit) => rule.unit(unit),
            None => rule,
        })
    }
}

const fn word(name: &'static str, value: u32, make: fn(u32) -> Fault) -> Word {
    Word { name, value, make }
}

fn millis(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::rtu::FaultKind;

    #[test]
    fn rules_are_read_from_words() {
        let read = |text: &str| text.parse::<Rule>();
        assert_eq!(read("bad_crc:0.01"), Ok(Rule::rate(0.01, Fault::BadCrc)));
        assert_eq!(
            read("late=700@2#3"),
            Ok(Rule::nth(3, Fault::Late(Duration::from_millis(700))).unit(2))
        );
        assert_eq!(read("junk@1:1"), Ok(Rule::always(Fault::Junk(60)).unit(1)));
        for (text, expected) in [
            ("bad_crc", "SHARE"),
            ("bad_crc:2", "from 0 to 1"),
            ("bad_crc:x", "from 0 to 1"),
            ("bad_crc#0", "from 1"),
            ("late=soon:1", "whole number"),
            ("late@0:1", "1 to 247"),
            ("rain:1", "one of late, into_next"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn every_kind_has_a_word() {
        for kind in FaultKind::ALL {
            let has = |word: &Word| (word.make)(word.value).kind() == kind;
            assert!(WORDS.iter().any(has), "{kind:?}");
        }
    }
}
