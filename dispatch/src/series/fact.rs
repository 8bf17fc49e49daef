//! What happened to a series, for ever.

use protocol::{ClientId, OrderId, SeriesId, Timestamp};
use serde::{Deserialize, Serialize};

/// About a series of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesFact {
    /// A number was given, and the row that bears it made.
    Given {
        /// The series.
        series: SeriesId,
        /// The number.
        number: u64,
        /// The order that it was given to.
        order: OrderId,
        /// Whose order.
        client: ClientId,
        /// The attributes of the row, as compact JSON.
        device: String,
        /// When.
        at: Timestamp,
    },
    /// A number is not used; it stays given.
    Voided {
        /// The series.
        series: SeriesId,
        /// The number.
        number: u64,
        /// Who says so.
        client: ClientId,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// The series gives no numbers until an operator resumes it.
    Stopped {
        /// The series.
        series: SeriesId,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// It gives numbers again.
    Resumed {
        /// The series.
        series: SeriesId,
        /// The last number that was given, as the operator says; 0 = none.
        last: Option<u64>,
    },
}

impl SeriesFact {
    /// The series that the fact is about.
    #[must_use]
    pub fn series(&self) -> &SeriesId {
        match self {
            Self::Given { series, .. }
            | Self::Voided { series, .. }
            | Self::Stopped { series, .. }
            | Self::Resumed { series, .. } => series,
        }
    }

    /// The row that the fact makes, under its key: that of a number, or that it is void. Neither is
    /// ever changed or removed.
    pub(crate) fn row(&self) -> Option<(String, Vec<u8>)> {
        let key = match self {
            Self::Given { series, number, .. } => format!("{series}/{number}"),
            Self::Voided { series, number, .. } => format!("{series}/{number}/void"),
            Self::Stopped { .. } | Self::Resumed { .. } => return None,
        };
        let mut row = Vec::new();
        // Writing to a Vec cannot fail, and every field can be written.
        let _ = ciborium::into_writer(self, &mut row);
        Some((key, row))
    }
}

/// Reads the key of a row: the series, and the number.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read_key(key: &[u8]) -> Result<(SeriesId, u64), String> {
    let text = std::str::from_utf8(key).map_err(|error| error.to_string())?;
    let mut levels = text.split('/');
    let series = levels.next().unwrap_or_default();
    let series = SeriesId::new(series).map_err(|error| format!("series {series:?} {error}"))?;
    let number = levels.next().unwrap_or_default();
    let number = number
        .parse()
        .map_err(|_| format!("{number:?} is no number"))?;
    match (levels.next(), levels.next()) {
        (None | Some("void"), None) => Ok((series, number)),
        _ => Err("it has too many levels".to_owned()),
    }
}
