//! Looking at a journal: `verify` and `dump`. Both look at a copy; the data directory stays as it is.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use dispatch::edge::record::{decode, read_value};
use dispatch::edge::{JournalError, Seq};
use protocol::{ElevatorId, Fence};
use serde_json::{Value, json};

use crate::exit;
use crate::journal::sled::{Inspection, StoredRow};
use crate::journal::{FenceMarks, SledJournal, exit_code};

/// What was found below a data directory.
pub(super) enum Found {
    Nothing {
        data_dir: PathBuf,
    },
    Whole {
        inspection: Box<Inspection>,
        marks: Option<BTreeMap<ElevatorId, Fence>>,
    },
    Bad {
        error: JournalError,
    },
    BadMarks {
        detail: String,
    },
}

/// Looks, and prints the records and rows on the way where `dump` is given.
pub(super) fn look_at(data_dir: &Path, dump: Option<&mut impl Write>) -> anyhow::Result<Found> {
    let journal = match SledJournal::open_copy(data_dir) {
        Ok(Some(journal)) => journal,
        Ok(None) => {
            return Ok(Found::Nothing {
                data_dir: data_dir.to_owned(),
            });
        }
        Err(error) => return Ok(Found::Bad { error }),
    };
    let inspection = journal.inspect(&mut |_, _| ());
    if let Some(out) = dump {
        let covers = inspection
            .as_ref()
            .ok()
            .and_then(|found| found.loaded.snapshot.as_ref());
        print_all(&journal, covers.map_or(0, |(covers, _)| *covers), out)?;
    }
    let inspection = match inspection {
        Ok(inspection) => Box::new(inspection),
        Err(error) => return Ok(Found::Bad { error }),
    };
    Ok(match FenceMarks::look(data_dir) {
        Ok(marks) => Found::Whole { inspection, marks },
        Err(error) => Found::BadMarks {
            detail: error.to_string(),
        },
    })
}

fn print_all(journal: &SledJournal, covers: Seq, out: &mut impl Write) -> anyhow::Result<()> {
    journal.records::<anyhow::Error>(|seq, record| {
        let line = match decode(record) {
            Ok((header, fact)) => {
                json!({"seq": seq, "last": header.last, "covered": seq <= covers, "fact": fact})
            }
            Err(error) => json!({"seq": seq, "error": error.to_string()}),
        };
        Ok(writeln!(out, "{line}")?)
    })?;
    journal.rows::<anyhow::Error>(|row| {
        let line = match row {
            Ok(StoredRow { key, changed, row }) => {
                let key = key.escape_ascii().to_string();
                json!({"ledger": key, "changed": changed, "row": row_value(row)})
            }
            Err(error) => json!({"ledger": null, "error": error.to_string()}),
        };
        Ok(writeln!(out, "{line}")?)
    })
}

/// A row as JSON; in hexadecimal digits where it is none of ours.
fn row_value(row: &[u8]) -> Value {
    let hex = || Value::String(row.iter().map(|byte| format!("{byte:02x}")).collect());
    let known = dispatch::read_row(row).and_then(|row| serde_json::to_value(row).ok());
    known.or_else(|| read_value(row)).unwrap_or_else(hex)
}

impl Found {
    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Nothing { .. } => exit::USAGE,
            Self::Whole { .. } => 0,
            Self::Bad { error } => exit_code(error),
            Self::BadMarks { .. } => exit::CORRUPT,
        }
    }

    /// For people.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Nothing { data_dir } => format!("there is no journal in {}", data_dir.display()),
            Self::Whole { inspection, marks } => whole(inspection, marks.as_ref()),
            Self::Bad { error } => {
                let advice = advice(error);
                format!("{error}{advice}")
            }
            Self::BadMarks { detail } => detail.clone(),
        }
    }

    /// For machines.
    pub(super) fn report(&self) -> Value {
        match self {
            Self::Whole { inspection, marks } => {
                let loaded = &inspection.loaded;
                let snapshot = loaded
                    .snapshot
                    .as_ref()
                    .map(|(covers, state)| json!({"covers": covers, "bytes": state.len()}));
                json!({
                    "ok": true,
                    "last": loaded.last(),
                    "facts": loaded.facts.len(),
                    "snapshot": snapshot,
                    "ledger_rows": loaded.rows,
                    "tail": loaded.cut,
                    "fences": marks,
                    "record": null,
                    "detail": null,
                })
            }
            Self::Nothing { .. } | Self::Bad { .. } | Self::BadMarks { .. } => {
                json!({"ok": false, "record": self.record(), "detail": self.words()})
            }
        }
    }

    /// The first corrupt record, where it can be told.
    fn record(&self) -> Option<Seq> {
        match self {
            Self::Bad {
                error: JournalError::Corrupt { seq, .. },
            } => (*seq > 0).then_some(*seq),
            Self::Nothing { .. }
            | Self::Whole { .. }
            | Self::Bad {
                error: JournalError::InUse | JournalError::TooLarge(_) | JournalError::Store(_),
            }
            | Self::BadMarks { .. } => None,
        }
    }
}

fn whole(inspection: &Inspection, marks: Option<&BTreeMap<ElevatorId, Fence>>) -> String {
    let loaded = &inspection.loaded;
    let snapshot = match &loaded.snapshot {
        Some((covers, state)) => format!("a snapshot up to {covers} ({} bytes)", state.len()),
        None => "no snapshot".to_owned(),
    };
    let tail = match loaded.cut {
        0 => String::new(),
        cut => format!("; an unacknowledged tail of {cut} records, which the next start cuts off"),
    };
    format!(
        "ok: the last record is {}, {snapshot}, facts after it: {}, ledger rows: {}, fence marks: \
         {}{tail}",
        loaded.last(),
        loaded.facts.len(),
        loaded.rows,
        marks.map_or(0, BTreeMap::len),
    )
}

/// What to do about it.
pub(super) fn advice(error: &JournalError) -> &'static str {
    match error {
        JournalError::Corrupt { .. } => {
            ". Keep a copy of the data directory. Then restore it from a backup and start with \
             --restored; where there is none, `run --restored` goes on from the records before the \
             damage, if those are whole. Moving `journal` away forgets every order: look at every \
             elevator first"
        }
        JournalError::InUse => ": stop the gateway first",
        JournalError::TooLarge(_) | JournalError::Store(_) => "",
    }
}
