//! What is known of a department's tickets: the fold of its facts.

use std::collections::VecDeque;

use protocol::{Date, DeskId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use super::fact::TurnFact;

/// Called tickets that are at hand for those who look; all others are in the journal.
const CALLED_SHOWN: usize = 64;

/// Where a ticket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TicketStatus {
    /// It waits: 1 in the words of the article.
    Pending,
    /// It was called: 2.
    Called,
}

/// A ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its number, from 1 on each day.
    pub number: u64,
    /// Whose.
    pub user_id: UserId,
    /// Where it stands.
    pub status: TicketStatus,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// To where it was called.
    pub desk_id: Option<DeskId>,
    /// When it was called.
    pub called_at: Option<Timestamp>,
}

/// A department's tickets of a day.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Department {
    /// The day; `None` before the first.
    pub date: Option<Date>,
    /// Numbers that were given on this day: 1 to this one.
    pub issued: u64,
    /// How many of them were called.
    pub called: u64,
    /// How many of the day before were still waiting at its end.
    pub expired: u64,
    /// Those that wait, in order.
    pub waiting: VecDeque<Ticket>,
    /// Those that were called last.
    pub recent: VecDeque<Ticket>,
}

impl Department {
    pub(crate) fn apply(&mut self, fact: &TurnFact) {
        match fact {
            TurnFact::DayBegan { date, .. } => {
                let expired = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
                *self = Self {
                    date: Some(*date),
                    expired,
                    ..Self::default()
                };
            }
            TurnFact::Taken {
                number, user, at, ..
            } => {
                self.issued = *number;
                self.waiting.push_back(Ticket {
                    number: *number,
                    user_id: user.clone(),
                    status: TicketStatus::Pending,
                    taken_at: *at,
                    desk_id: None,
                    called_at: None,
                });
            }
            TurnFact::Called {
                number, desk, at, ..
            } => {
                // Only who waits can be called, so that nobody is called twice.
                let Some(place) = self.waiting.iter().position(|one| one.number == *number) else {
                    return;
                };
                let Some(ticket) = self.waiting.remove(place) else {
                    return;
                };
                self.called = self.called.saturating_add(1);
                if self.recent.len() >= CALLED_SHOWN {
                    self.recent.pop_front();
                }
                self.recent.push_back(Ticket {
                    status: TicketStatus::Called,
                    desk_id: Some(desk.clone()),
                    called_at: Some(*at),
                    ..ticket
                });
            }
        }
    }
}
