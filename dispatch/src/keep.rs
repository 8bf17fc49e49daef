//! State as bytes and back: snapshots of what lives, and the ledger's rows.

use protocol::OrderId;

use crate::edge::LedgerChange;
use crate::fact::{Fact, RideFact};
use crate::ledger::{ROW_VERSION, Remembered};
use crate::state::State;

/// The tag of the ride workflow in a row's key.
const RIDE_TAG: &[u8] = b"ride/";

/// The rows of the ledger that change by these facts; `state` is the state after them.
#[must_use]
pub fn ledger_changes(state: &State, facts: &[Fact]) -> Vec<LedgerChange> {
    let mut changes = Vec::new();
    for fact in facts {
        let order = match fact {
            Fact::Ride(RideFact::Admitted { order, .. } | RideFact::Forgotten { order }) => order,
            Fact::Ride(RideFact::Moved { order, state, .. }) if state.is_terminal() => order,
            Fact::Ride(_) | Fact::Elevator(_) | Fact::Site(_) => continue,
        };
        let row = state.ledger.find(order).map(encode_row);
        changes.push(LedgerChange {
            key: key_of(order),
            row,
        });
    }
    changes
}

fn key_of(order: &OrderId) -> Vec<u8> {
    [RIDE_TAG, order.as_str().as_bytes()].concat()
}

fn encode_row(row: &Remembered) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    // Writing to a Vec cannot fail, and every field can be written.
    let _ = ciborium::into_writer(row, &mut bytes);
    bytes
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
        ledger: &[(Vec<u8>, Vec<u8>)],
        facts: impl IntoIterator<Item = &'f Fact>,
    ) -> Result<Self, LoadError> {
        let mut state: Self = match snapshot {
            Some(bytes) => ciborium::from_reader(bytes)
                .map_err(|error| LoadError::Snapshot(error.to_string()))?,
            None => Self::default(),
        };
        for (key, bytes) in ledger {
            let (order, row) = decode_row(key, bytes)?;
            state.ledger.insert(order, row);
        }
        for fact in facts {
            state.apply(fact);
        }
        state.ledger.sort_ended();
        Ok(state)
    }
}

fn decode_row(key: &[u8], bytes: &[u8]) -> Result<(OrderId, Remembered), LoadError> {
    let wrong = |detail: String| LoadError::Row {
        key: String::from_utf8_lossy(key).into_owned(),
        detail,
    };
    let name = key
        .strip_prefix(RIDE_TAG)
        .ok_or_else(|| wrong("unknown workflow".to_owned()))?;
    let name = std::str::from_utf8(name).map_err(|error| wrong(error.to_string()))?;
    let order = OrderId::new(name).map_err(|error| wrong(error.to_string()))?;
    let row: Remembered = ciborium::from_reader(bytes).map_err(|error| wrong(error.to_string()))?;
    if row.version != ROW_VERSION {
        return Err(wrong(format!("version {} is not known", row.version)));
    }
    Ok((order, row))
}
