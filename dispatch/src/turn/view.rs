//! A department's tickets as operators see them.

use protocol::{Date, DepartmentId};
use serde::{Deserialize, Serialize};

use super::kept::Ticket;
use crate::effect::OperatorAnswer;
use crate::step::Step;

/// A department.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnView {
    /// The department.
    pub department: DepartmentId,
    /// The day; null before the first ticket.
    pub date: Option<Date>,
    /// Numbers that were given on this day.
    pub issued: u64,
    /// How many of them were called.
    pub called: u64,
    /// How many wait.
    pub waiting: u64,
    /// How many of the day before were still waiting at its end.
    pub expired: u64,
    /// Those called last, and those that wait.
    pub tickets: Vec<Ticket>,
}

impl Step<'_> {
    /// All departments, without their tickets.
    pub(crate) fn turn_views(&self) -> Vec<TurnView> {
        let all = self.config.applications.departments.iter();
        all.map(|department| TurnView {
            tickets: Vec::new(),
            ..self.view_turns(department)
        })
        .collect()
    }

    /// One department, whole.
    pub(crate) fn turn_view(&self, department: &DepartmentId) -> Result<OperatorAnswer, String> {
        if !self.config.applications.departments.contains(department) {
            return Err(format!("department {department} is not known"));
        }
        Ok(OperatorAnswer::Turns(vec![self.view_turns(department)]))
    }

    fn view_turns(&self, department: &DepartmentId) -> TurnView {
        let known = self.state.turns.get(department);
        let known = known.cloned().unwrap_or_default();
        TurnView {
            department: department.clone(),
            date: known.date,
            issued: known.issued,
            called: known.called,
            waiting: u64::try_from(known.waiting.len()).unwrap_or(u64::MAX),
            expired: known.expired,
            tickets: known.recent.into_iter().chain(known.waiting).collect(),
        }
    }
}
