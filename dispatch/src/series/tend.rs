//! What stops a series, what resumes it, and who is told.

use protocol::SeriesId;
use protocol::ops::Severity;

use super::ask::Next;
use super::fact::SeriesFact;
use crate::alarm::{Subject, Wanted};
use crate::effect::OperatorAnswer;
use crate::fact::Fact;
use crate::step::{Step, cut};

impl Step<'_> {
    /// The first input of a process. Numbers that were given after a backup was made are not in it,
    /// so that nobody here can say which is next.
    pub(crate) fn start_series(&mut self, restored: bool) {
        if restored {
            let known: Vec<SeriesId> = self
                .config
                .applications
                .series
                .iter()
                .map(|series| series.id.clone())
                .collect();
            for series in known {
                let reason =
                    "the data were restored from a backup: look which number was given last";
                self.stop_series(&series, reason.to_owned());
            }
        }
        self.tend_series_alarms();
    }

    pub(super) fn stop_series(&mut self, series: &SeriesId, reason: String) {
        let known = self.state.series.get(series);
        if known.is_some_and(|known| known.stopped.is_some()) {
            return;
        }
        self.record(Fact::Series(SeriesFact::Stopped {
            series: series.clone(),
            reason: cut(reason),
            at: self.now.wall,
        }));
        self.tend_series_alarms();
    }

    /// An operator looked which number was given last.
    pub(crate) fn resume_series(
        &mut self,
        series: &SeriesId,
        last: Option<u64>,
    ) -> Result<OperatorAnswer, String> {
        let config = self.config.applications.series.iter();
        let config = config.clone().find(|config| &config.id == series);
        let Some(config) = config else {
            return Err(format!("series {series} is not known"));
        };
        let known = self.state.series.get(series).cloned().unwrap_or_default();
        if known.stopped.is_none() {
            return Err(format!("series {series} is not stopped"));
        }
        let highest = known.last.max(self.state.ledger.highest_row(series));
        if let (Some(last), Some(highest)) = (last, highest)
            && last < highest
        {
            return Err(format!("number {highest} of series {series} was given"));
        }
        if let Some(last) = last {
            let is_of_it =
                last >= config.start && (last - config.start).is_multiple_of(config.step);
            if !is_of_it || last > config.max {
                return Err(format!("{last} is no number of series {series}"));
            }
        }
        let last = last.max(highest);
        self.record(Fact::Series(SeriesFact::Resumed {
            series: series.clone(),
            last,
        }));
        self.tend_series_alarms();
        let said = last.map_or_else(|| "none".to_owned(), |last| last.to_string());
        Ok(OperatorAnswer::Done(format!(
            "series {series} goes on, its last number is {said}"
        )))
    }

    /// Tells of series that have nothing to give.
    pub(crate) fn tend_series_alarms(&mut self) {
        let mut wanted = Wanted::new();
        let all = &self.config.applications.series;
        for (at, series) in all.iter().enumerate() {
            let (severity, detail) = match self.next_of(series) {
                Next::Number(_) => continue,
                Next::Stopped(reason) => {
                    let detail = format!("series {} is stopped: {reason}", series.id);
                    (Severity::Critical, detail)
                }
                // One that goes on with another is told of by that one.
                Next::Full if series.switch && at + 1 < all.len() => continue,
                Next::Full => {
                    let detail = format!("series {} has given its last number", series.id);
                    (Severity::Warning, detail)
                }
            };
            let subject = Subject {
                code: protocol::AlarmCode::SeriesExhausted,
                elevator: None,
                order: None,
                place: Some(series.id.to_string()),
            };
            wanted.insert(subject, (severity, detail));
        }
        self.tend_alarms_of_code(protocol::AlarmCode::SeriesExhausted, wanted);
    }
}
