//! `compact` and `backup`.

use std::io::{self, Write};
use std::path::Path;

use dispatch::edge::JournalError;
use serde_json::{Value, json};

use super::look::advice;
use crate::exit;
use crate::journal::backup::{self, BackupError};
use crate::journal::compact::{self, Compacted};
use crate::journal::exit_code;

/// How it went.
pub(super) struct Outcome {
    code: u8,
    words: String,
    report: Value,
}

impl Outcome {
    fn done(words: String, mut report: Value) -> Self {
        report["ok"] = json!(true);
        report["detail"] = Value::Null;
        Self {
            code: 0,
            words,
            report,
        }
    }

    fn refused(code: u8, words: String) -> Self {
        let report = json!({"ok": false, "detail": words});
        Self {
            code,
            words,
            report,
        }
    }

    fn nothing(data_dir: &Path) -> Self {
        let words = format!("there is no journal in {}", data_dir.display());
        Self::refused(exit::USAGE, words)
    }

    fn failed(error: &JournalError) -> Self {
        Self::refused(exit_code(error), format!("{error}{}", advice(error)))
    }

    /// Says it, and returns the exit code.
    pub(super) fn say(&self, json: bool) -> io::Result<u8> {
        if json {
            writeln!(io::stdout(), "{}", self.report)?;
        } else if self.code == 0 {
            writeln!(io::stdout(), "{}", self.words)?;
        } else {
            writeln!(io::stderr(), "{}", self.words)?;
        }
        Ok(self.code)
    }
}

/// Writes the journal anew.
pub(super) fn compact(data_dir: &Path) -> Outcome {
    let Compacted {
        last,
        rows,
        cut,
        bytes_before,
        bytes_after,
    } = match compact::compact(data_dir) {
        Ok(Some(compacted)) => compacted,
        Ok(None) => return Outcome::nothing(data_dir),
        Err(error) => return Outcome::failed(&error),
    };
    let tail = match cut {
        0 => String::new(),
        cut => format!("; an unacknowledged tail of {cut} records was cut off"),
    };
    Outcome::done(
        format!(
            "ok: {bytes_before} bytes before, {bytes_after} after; the last record is {last}, \
             ledger rows: {rows}{tail}"
        ),
        json!({"last": last, "ledger_rows": rows, "tail": cut,
            "bytes_before": bytes_before, "bytes_after": bytes_after}),
    )
}

/// Copies the data directory.
pub(super) fn backup(data_dir: &Path, to: &Path) -> Outcome {
    match backup::backup(data_dir, to) {
        Ok(Some(bytes)) => Outcome::done(
            format!("ok: {} has {bytes} bytes, read and whole", to.display()),
            json!({"to": to, "bytes": bytes}),
        ),
        Ok(None) => Outcome::nothing(data_dir),
        Err(BackupError::Journal(error)) => Outcome::failed(&error),
        Err(error @ BackupError::Marks(_)) => Outcome::refused(exit::CORRUPT, error.to_string()),
        Err(error @ BackupError::NotEmpty(_)) => Outcome::refused(exit::USAGE, error.to_string()),
    }
}
