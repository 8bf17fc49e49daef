//! `series.next` and `series.void`.

use protocol::client::{NextNumber, ReplyBody, SeriesBody, VoidNumber};
use protocol::{Code, SeriesId};

use super::fact::SeriesFact;
use crate::client::{Answer, Caller, Granted, Refused};
use crate::config::SeriesConfig;
use crate::fact::Fact;
use crate::step::Step;

/// Void numbers of one series at most.
const VOIDED_MAX: usize = 100_000;

/// What a series can give next.
pub(super) enum Next {
    /// This number.
    Number(u64),
    /// None: its last one is given.
    Full,
    /// None, until an operator resumes it.
    Stopped(String),
}

impl Step<'_> {
    /// The next number of a series, or of those that it goes on with.
    pub(crate) fn next_number(&mut self, caller: &Caller, ask: &NextNumber) -> Answer {
        let (series, number) = self.choose_number(&ask.series)?;
        let Some(order) = caller.order.clone() else {
            return Err((Code::Malformed, "order_id is missing".to_owned()));
        };
        self.record(Fact::Series(SeriesFact::Given {
            series: series.clone(),
            number,
            order,
            client: caller.client.clone(),
            device: ask.device.clone(),
            at: self.now.wall,
        }));
        self.note_end_of(&series);
        let body = SeriesBody::of(&series, number);
        Ok(Granted::Done(ReplyBody::Series(body)))
    }

    fn note_end_of(&mut self, series: &SeriesId) {
        let all = self.config.applications.series.iter();
        let config = all.clone().find(|config| &config.id == series);
        if config.is_some_and(|config| !matches!(self.next_of(config), Next::Number(_))) {
            self.tend_series_alarms();
        }
    }

    fn choose_number(&mut self, wanted: &SeriesId) -> Result<(SeriesId, u64), Refused> {
        let all = &self.config.applications.series;
        let Some(first) = all.iter().position(|series| &series.id == wanted) else {
            return Err((Code::UnknownSeries, format!("series {wanted} is not known")));
        };
        for series in &all[first..] {
            match self.next_of(series) {
                Next::Number(number) => return Ok((series.id.clone(), number)),
                Next::Stopped(reason) => {
                    let detail = format!("series {} is stopped: {reason}", series.id);
                    self.stop_series(&series.id, reason);
                    return Err((Code::Unavailable, detail));
                }
                Next::Full if !series.switch => {
                    let detail = format!("series {} has given its last number", series.id);
                    return Err((Code::SeriesExhausted, detail));
                }
                Next::Full => {}
            }
        }
        let detail = format!("series {wanted} and all after it have given their last number");
        Err((Code::SeriesExhausted, detail))
    }

    /// What the series can give next. A row that is there already is never written over.
    pub(super) fn next_of(&self, series: &SeriesConfig) -> Next {
        let known = self.state.series.get(&series.id);
        if let Some(reason) = known.and_then(|known| known.stopped.clone()) {
            return Next::Stopped(reason);
        }
        let next = match known.and_then(|known| known.last) {
            Some(last) => last.checked_add(series.step).map(|n| n.max(series.start)),
            None => Some(series.start),
        };
        let Some(next) = next.filter(|next| *next <= series.max) else {
            return Next::Full;
        };
        match self.state.ledger.highest_row(&series.id) {
            Some(row) if row >= next => Next::Stopped(format!(
                "the row {}|{row} exists, the next number would be {next}",
                series.id
            )),
            Some(_) | None => Next::Number(next),
        }
    }

    /// A number is not used. It stays where it is, and is never given again.
    pub(crate) fn void_number(&mut self, caller: &Caller, ask: &VoidNumber) -> Answer {
        let (series, number) = (&ask.series, ask.number);
        let config = self.config.applications.series.iter();
        let Some(config) = config.clone().find(|config| &config.id == series) else {
            return Err((Code::UnknownSeries, format!("series {series} is not known")));
        };
        let known = self.state.series.get(series);
        let Some(known) = known.filter(|known| known.has_given(number, config.start, config.step))
        else {
            let detail = format!("number {number} of series {series} was never given");
            return Err((Code::UnknownNumber, detail));
        };
        let body = ReplyBody::Series(SeriesBody::of(series, number));
        if known.voided.contains_key(&number) {
            return Ok(Granted::Before(body));
        }
        if known.voided.len() >= VOIDED_MAX {
            let detail = format!("{VOIDED_MAX} numbers of series {series} are void already");
            return Err((Code::Unavailable, detail));
        }
        self.record(Fact::Series(SeriesFact::Voided {
            series: series.clone(),
            number,
            client: caller.client.clone(),
            reason: ask.reason.clone(),
            at: self.now.wall,
        }));
        Ok(Granted::Done(body))
    }
}
