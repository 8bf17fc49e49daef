//! A series as operators see it.

use protocol::{SeriesId, Timestamp};
use serde::{Deserialize, Serialize};

use super::ask::Next;
use super::kept::Row;
use crate::config::SeriesConfig;
use crate::effect::OperatorAnswer;
use crate::step::Step;

/// A series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesView {
    /// The series.
    pub series: SeriesId,
    /// How many numbers were given.
    pub given: u64,
    /// The one given last.
    pub last: Option<u64>,
    /// The one that is given next; null where there is none.
    pub next: Option<u64>,
    /// The highest that it may give.
    pub max: u64,
    /// Why it gives none, where it was stopped.
    pub stopped: Option<String>,
    /// The numbers that are void, and since when.
    #[serde(rename = "void")]
    pub voided: Vec<(u64, Timestamp)>,
    /// The newest rows.
    pub rows: Vec<Row>,
}

impl Step<'_> {
    /// All series, without their rows and void numbers.
    pub(crate) fn series_views(&self) -> Vec<SeriesView> {
        let all = self.config.applications.series.iter();
        all.map(|config| SeriesView {
            voided: Vec::new(),
            rows: Vec::new(),
            ..self.view_series(config)
        })
        .collect()
    }

    /// One series, whole.
    pub(crate) fn series_view(&self, id: &SeriesId) -> Result<OperatorAnswer, String> {
        let all = self.config.applications.series.iter();
        let config = all.clone().find(|config| &config.id == id);
        let config = config.ok_or_else(|| format!("series {id} is not known"))?;
        Ok(OperatorAnswer::Series(vec![self.view_series(config)]))
    }

    fn view_series(&self, config: &SeriesConfig) -> SeriesView {
        let known = self.state.series.get(&config.id);
        let known = known.cloned().unwrap_or_default();
        let next = match self.next_of(config) {
            Next::Number(number) => Some(number),
            Next::Full | Next::Stopped(_) => None,
        };
        SeriesView {
            series: config.id.clone(),
            given: known.given,
            last: known.last,
            next,
            max: config.max,
            stopped: known.stopped,
            voided: known.voided.into_iter().collect(),
            rows: known.rows.into(),
        }
    }
}
