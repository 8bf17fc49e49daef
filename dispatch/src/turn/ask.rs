//! `turn.take` and `turn.call`.

use protocol::client::{ReplyBody, TakeTurn, TurnBody};
use protocol::{Code, DepartmentId, DeskId};

use super::fact::TurnFact;
use crate::client::{Answer, Caller, Granted, Refused};
use crate::fact::Fact;
use crate::step::Step;

impl Step<'_> {
    /// A ticket of a department.
    pub(crate) fn take_turn(&mut self, caller: &Caller, ask: &TakeTurn) -> Answer {
        self.open_day(&ask.department)?;
        let known = self.state.turns.get(&ask.department);
        let ahead = known.map_or(0, |known| known.waiting.len());
        if ahead >= usize::try_from(self.config.limits.queue).unwrap_or(usize::MAX) {
            let detail = format!("{ahead} wait in department {} already", ask.department);
            return Err((Code::QueueFull, detail));
        }
        let number = known.map_or(0, |known| known.issued).saturating_add(1);
        let date = known.and_then(|known| known.date);
        let Some(order) = caller.order.clone() else {
            return Err((Code::Malformed, "order_id is missing".to_owned()));
        };
        self.record(Fact::Turn(TurnFact::Taken {
            department: ask.department.clone(),
            number,
            user: ask.user_id.clone(),
            order,
            at: self.now.wall,
        }));
        Ok(Granted::Done(ReplyBody::Turn(TurnBody {
            date,
            number: Some(number),
            ahead: u32::try_from(ahead).ok(),
            user_id: None,
        })))
    }

    /// The department's next ticket, to a desk.
    pub(crate) fn call_turn(&mut self, department: &DepartmentId, desk: &DeskId) -> Answer {
        self.open_day(department)?;
        let known = self.state.turns.get(department);
        let Some((known, ticket)) = known.and_then(|known| Some((known, known.waiting.front()?)))
        else {
            let detail = format!("nobody waits in department {department}");
            return Err((Code::NoTurnWaiting, detail));
        };
        let body = TurnBody {
            date: known.date,
            number: Some(ticket.number),
            ahead: None,
            user_id: Some(ticket.user_id.clone()),
        };
        self.record(Fact::Turn(TurnFact::Called {
            department: department.clone(),
            number: ticket.number,
            desk: desk.clone(),
            at: self.now.wall,
        }));
        Ok(Granted::Done(ReplyBody::Turn(body)))
    }

    /// The department is known, and its day is today.
    fn open_day(&mut self, department: &DepartmentId) -> Result<(), Refused> {
        if !self.config.applications.departments.contains(department) {
            let detail = format!("department {department} is not known");
            return Err((Code::UnknownDepartment, detail));
        }
        self.begin_day(department);
        Ok(())
    }
}
