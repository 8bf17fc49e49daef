//! What the end of a day does.

use protocol::DepartmentId;

use super::fact::TurnFact;
use crate::fact::Fact;
use crate::step::Step;
use crate::timer::TimerKey;

/// The longest time without a look at the calendar: the clock may be set, and offsets change.
const LOOK_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;

impl Step<'_> {
    /// Ends yesterday in every department that has one, and looks again at midnight.
    pub(crate) fn tend_days(&mut self) {
        let departments = &self.config.applications.departments;
        if departments.is_empty() {
            return;
        }
        for department in departments {
            if self.state.turns.contains_key(department) {
                self.begin_day(department);
            }
        }
        let offset_s = self.config.applications.zone.offset_s(self.now.wall);
        let local_ms = i128::from(self.now.wall.0) + i128::from(offset_s) * 1000;
        let of_day_ms = u64::try_from(local_ms.rem_euclid(i128::from(DAY_MS))).unwrap_or(0);
        let next_ms = LOOK_MS.min(DAY_MS - of_day_ms);
        let at = self.now.mono_ms.saturating_add(next_ms);
        self.live.timers.set(TimerKey::Day, Some(at));
    }

    /// The department's day is today; a clock that goes back changes nothing.
    pub(super) fn begin_day(&mut self, department: &DepartmentId) {
        let offset_s = self.config.applications.zone.offset_s(self.now.wall);
        let today = self.now.wall.date_at(offset_s);
        let known = self.state.turns.get(department);
        if known
            .and_then(|known| known.date)
            .is_none_or(|date| date < today)
        {
            self.record(Fact::Turn(TurnFact::DayBegan {
                department: department.clone(),
                date: today,
                at: self.now.wall,
            }));
        }
    }
}
