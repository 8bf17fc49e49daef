//! How the commands say what they found, and how they refuse.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::exit;

/// Says something, as one JSON object on a line or as text.
pub(super) fn say(is_json: bool, value: &Value, text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if is_json {
        writeln!(out, "{value}")?;
    } else {
        writeln!(out, "{text}")?;
    }
    out.flush()?;
    Ok(())
}

/// Why a command does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The command line or the configuration is wrong; nothing was sent.
    Usage(String),
    /// A gateway or another program has the line.
    InUse(String),
    /// It lacks `--yes`.
    Refused(String),
    /// The line or the unit failed.
    Failed(String),
}

impl Stop {
    /// Says it; the exit code.
    pub(super) fn tell(&self, is_json: bool) -> anyhow::Result<ExitCode> {
        let (word, why, code) = match self {
            Self::Usage(why) => ("wrong", why, exit::USAGE),
            Self::InUse(why) => ("in_use", why, exit::IN_USE),
            Self::Refused(why) => ("refused", why, exit::REFUSED),
            Self::Failed(why) => ("failed", why, 1),
        };
        writeln!(io::stderr(), "{}: {why}", word.replace('_', " "))?;
        if is_json {
            writeln!(io::stdout(), "{}", json!({ word: why }))?;
        }
        Ok(ExitCode::from(code))
    }
}

/// Why a unit did not do it, with its number in front.
pub(super) fn of_unit(unit: u8, why: &impl Display) -> String {
    let (number, why) = (format!("unit {unit}: "), why.to_string());
    if why.starts_with(&number) {
        return why;
    }
    number + &why
}

/// Milliseconds, to a tenth.
pub(super) fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

/// Bytes or words in hex, with so many digits each.
pub(super) fn hex<T: std::fmt::UpperHex>(values: &[T], digits: usize) -> String {
    joined(values.iter().map(|value| format!("{value:0digits$X}")), " ")
}

/// One after another.
pub(super) fn joined(parts: impl Iterator<Item = impl Display>, between: &str) -> String {
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    parts.join(between)
}
