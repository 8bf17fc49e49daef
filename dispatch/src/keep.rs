//! State as bytes and back: snapshots of what lives, and the ledger's rows.

use protocol::OrderId;
use protocol::text::{cut, detail};

use crate::edge::LedgerChange;
use crate::fact::{AnswerFact, Fact, RideFact};
use crate::ledger::{self, Known, Ledger};
use crate::series;
use crate::state::State;

/// The tag of the ride workflow in a row's key.
const RIDE_TAG: &[u8] = b"ride/";
/// The tag of an application's order.
const ANSWER_TAG: &[u8] = b"answer/";
/// The tag of a row that bears a number of a series.
const SERIES_TAG: &[u8] = b"series/";
/// Bytes of a key that an error shows; good ones are shorter.
const KEY_BYTES_SHOWN: usize = 80;

/// The rows of the ledger that change by these facts; `state` is the state after them.
#[must_use]
pub fn ledger_changes(state: &State, facts: &[Fact]) -> Vec<LedgerChange> {
    facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Ride(RideFact::Admitted { order, .. } | RideFact::Forgotten { order }) => {
                Some(ride_change(state, order))
            }
            Fact::Ride(RideFact::Moved {
                order, state: to, ..
            }) if to.is_terminal() => Some(ride_change(state, order)),
            Fact::Answer(AnswerFact::Given { order, .. }) => {
                let row = state.ledger.answer_row(order);
                Some(settled(
                    [ANSWER_TAG, order.as_str().as_bytes()].concat(),
                    row,
                ))
            }
            Fact::Answer(AnswerFact::Forgotten { order }) => Some(settled(
                [ANSWER_TAG, order.as_str().as_bytes()].concat(),
                None,
            )),
            Fact::Series(fact) => {
                let (key, row) = fact.row()?;
                Some(settled([SERIES_TAG, key.as_bytes()].concat(), Some(row)))
            }
            Fact::Ride(_)
            | Fact::Elevator(_)
            | Fact::Site(_)
            | Fact::Turn(_)
            | Fact::Claim(_)
            | Fact::Rental(_) => None,
        })
        .collect()
}

fn ride_change(state: &State, order: &OrderId) -> LedgerChange {
    let row = state.ledger.find(order);
    LedgerChange {
        key: [RIDE_TAG, order.as_str().as_bytes()].concat(),
        settled: row.as_ref().is_some_and(|row| row.ended.is_some()),
        row: mutate!(LedgerUnwritten, row.as_ref().map(ledger::encode), None),
    }
}

/// A row that stays as it is until it is removed.
fn settled(key: Vec<u8>, row: Option<Vec<u8>>) -> LedgerChange {
    LedgerChange {
        key,
        row,
        settled: true,
    }
}

/// A ledger row as the journal holds it, for those who only show it.
#[must_use]
pub fn read_row(bytes: &[u8]) -> Option<Known> {
    ledger::decode(bytes).ok()
}

/// Why what a journal holds is no state of ours.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The snapshot cannot be read.
    #[error("the snapshot cannot be read: {0}")]
    Snapshot(String),
    /// A row of the ledger cannot be read.
    #[error("the ledger row of {key:?} cannot be read: {detail}")]
    Row {
        /// Its key.
        key: String,
        /// What is wrong.
        detail: String,
    },
}

impl State {
    /// The live state as bytes, without the ledger.
    #[must_use]
    pub fn encode_snapshot(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to a Vec cannot fail, and every field can be written.
        let _ = ciborium::into_writer(self, &mut bytes);
        bytes
    }

    /// The state that a journal holds: the newest snapshot, the ledger, and the facts since.
    ///
    /// # Errors
    /// [`LoadError`] names what cannot be read; a part is never taken for nothing.
    pub fn load<'f>(
        snapshot: Option<&[u8]>,
        ledger: Ledger,
        facts: impl IntoIterator<Item = &'f Fact>,
    ) -> Result<Self, LoadError> {
        let mut state: Self = match snapshot {
            Some(bytes) => read_snapshot(bytes).map_err(LoadError::Snapshot)?,
            None => Self::default(),
        };
        state.ledger = ledger;
        for fact in facts {
            state.apply(fact);
        }
        Ok(state)
    }
}

fn read_snapshot(bytes: &[u8]) -> Result<State, String> {
    let mut rest = bytes;
    let state = ciborium::from_reader(&mut rest).map_err(|error| detail(&error.to_string()))?;
    if !rest.is_empty() {
        return Err(format!("{} bytes follow it", rest.len()));
    }
    Ok(state)
}

impl Ledger {
    /// Takes in a row that the journal holds.
    ///
    /// # Errors
    /// [`LoadError::Row`] where it cannot be read.
    pub fn load_row(&mut self, key: &[u8], row: &[u8]) -> Result<(), LoadError> {
        let wrong = |why: String| LoadError::Row {
            key: cut(&String::from_utf8_lossy(key), KEY_BYTES_SHOWN).to_owned(),
            detail: detail(&why),
        };
        if let Some(name) = key.strip_prefix(SERIES_TAG) {
            let (series, number) = series::read_key(name).map_err(wrong)?;
            self.note_row(series, number);
            return Ok(());
        }
        let name = key
            .strip_prefix(RIDE_TAG)
            .or_else(|| key.strip_prefix(ANSWER_TAG))
            .ok_or_else(|| wrong("unknown workflow".to_owned()))?;
        let name = std::str::from_utf8(name).map_err(|error| wrong(error.to_string()))?;
        let order = OrderId::new(name).map_err(|error| wrong(error.to_string()))?;
        self.read_row(order, row).map_err(wrong)
    }
}
