//! One command to an elevator and how far it has come: waiting, sent, *unknown*, taken, refused.
//!
//! One is under way at a time, the door hold goes first (law 5).

use std::collections::{BTreeMap, VecDeque};

use protocol::hardware::{Action, Call, Door, Mode, Motion, Outcome, Reading};
use protocol::{CommandId, Landing, Timestamp};

/// What a command is for. Each elevator pursues at most one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aim {
    /// Robot mode on.
    Claim,
    /// The hall or car call of the ride.
    Call,
    /// Withdraw the hall call.
    Cancel,
    /// Keep the door open.
    Hold,
    /// Open the door again.
    Open,
    /// Close the door.
    Close,
    /// Robot mode off, holds ended.
    Release,
}

/// How far a command has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not sent yet.
    Waiting,
    /// Sent, no answer yet.
    Sent,
    /// No answer in `accept_s`: a reading tells.
    Unknown {
        /// Readings asked from here on count.
        since_ms: u64,
    },
    /// Accepted, or its effect seen.
    Taken {
        /// When.
        at_ms: u64,
    },
    /// Refused.
    Failed {
        /// What the controller said.
        detail: String,
    },
    /// Unanswered twice, or dropped before it was sent.
    Lost,
}

/// One command and how far it has come.
#[derive(Debug, Clone)]
pub(crate) struct Effort {
    /// The command, as sent.
    pub(crate) action: Action,
    /// Its id, once sent.
    pub(crate) id: Option<CommandId>,
    /// How far.
    pub(crate) stage: Stage,
    /// Sent then.
    pub(crate) sent_ms: u64,
    /// Sent a second time with the same id.
    pub(crate) resent: bool,
}

/// The commands of an elevator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Efforts {
    by_aim: BTreeMap<Aim, Effort>,
    waiting: VecDeque<Aim>,
    /// Sent and not answered.
    pub(crate) under_way: Option<Aim>,
    /// Sent, not answered and not wanted any more: nothing else leaves until that is settled.
    given_up: Option<Effort>,
}

/// The query of an elevator: at most one under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryState {
    /// Its id.
    pub(crate) id: Option<CommandId>,
    /// Sent then, and not answered.
    pub(crate) sent_ms: Option<u64>,
    /// Sent last then, answered or not.
    pub(crate) last_ms: Option<u64>,
    /// One is wanted that is asked for at or after this moment.
    pub(crate) wanted_ms: Option<u64>,
}

impl Efforts {
    /// The effort for an aim.
    pub(crate) fn get(&self, aim: Aim) -> Option<&Effort> {
        self.by_aim.get(&aim)
    }

    /// How far the effort for an aim has come.
    pub(crate) fn stage(&self, aim: Aim) -> Option<&Stage> {
        self.by_aim.get(&aim).map(|effort| &effort.stage)
    }

    /// The effort for an aim was accepted or its effect seen.
    pub(crate) fn is_taken(&self, aim: Aim) -> bool {
        matches!(self.stage(aim), Some(Stage::Taken { .. }))
    }

    /// Nothing is sent and not answered: the next command may leave.
    pub(crate) fn is_lane_free(&self) -> bool {
        self.under_way.is_none() && self.given_up.is_none()
    }

    /// Something is sent and not answered, or waits to be sent.
    pub(crate) fn is_busy(&self) -> bool {
        !self.is_lane_free() || !self.waiting.is_empty()
    }

    /// Forgets the effort for an aim. What is already sent is given up, not undone: it keeps the
    /// lane until its answer, or a reading, settles it.
    pub(crate) fn drop_aim(&mut self, aim: Aim) {
        let dropped = self.by_aim.remove(&aim);
        self.waiting.retain(|waiting| *waiting != aim);
        if self.under_way == Some(aim) {
            self.under_way = None;
            self.given_up = mutate!(LaneFreed, dropped, None);
        }
    }

    /// Forgets all but what is already sent.
    pub(crate) fn clear(&mut self) {
        if let Some(aim) = self.under_way {
            self.drop_aim(aim);
        }
        self.by_aim.clear();
        self.waiting.clear();
    }

    /// Forgets what is already sent too: for a `release`, which waits for nothing.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Starts an effort anew: hold_door before all others.
    pub(crate) fn begin(&mut self, aim: Aim, action: Action) {
        self.drop_aim(aim);
        let effort = Effort {
            action,
            id: None,
            stage: Stage::Waiting,
            sent_ms: 0,
            resent: false,
        };
        self.by_aim.insert(aim, effort);
        if aim == Aim::Hold {
            self.waiting.push_front(aim);
        } else {
            // At most one of each aim waits.
            self.waiting.push_back(aim);
        }
    }

    /// The controller's word about a command; `false` when the command is not known.
    pub(crate) fn answer(&mut self, id: &CommandId, outcome: &Outcome, now_ms: u64) -> bool {
        if let Some(effort) = &mut self.given_up
            && effort.id.as_ref() == Some(id)
        {
            match outcome {
                Outcome::Sent => {}
                Outcome::Unknown { .. } => effort.stage = Stage::Unknown { since_ms: now_ms },
                Outcome::Accepted
                | Outcome::Done
                | Outcome::Failed { .. }
                | Outcome::Dropped { .. } => self.given_up = None,
            }
            return true;
        }
        let found = self
            .by_aim
            .iter_mut()
            .find(|(_, effort)| effort.id.as_ref() == Some(id));
        let Some((aim, effort)) = found else {
            return false;
        };
        let aim = *aim;
        match outcome {
            Outcome::Sent => return true,
            Outcome::Accepted | Outcome::Done => {
                if !matches!(effort.stage, Stage::Taken { .. }) {
                    effort.stage = Stage::Taken { at_ms: now_ms };
                }
            }
            Outcome::Failed { detail } => {
                effort.stage = Stage::Failed {
                    detail: detail.clone(),
                };
            }
            Outcome::Unknown { .. } => effort.stage = Stage::Unknown { since_ms: now_ms },
            Outcome::Dropped { .. } => effort.stage = Stage::Lost,
        }
        if self.under_way == Some(aim) && !matches!(self.stage(aim), Some(Stage::Unknown { .. })) {
            self.under_way = None;
        }
        true
    }

    /// Judges unanswered commands: by time they become unknown, by a reading they are taken, sent
    /// once more, or lost. Returns since when a reading must be asked for to tell more.
    pub(crate) fn judge(
        &mut self,
        reading: Option<(&Reading, u64)>,
        now_ms: u64,
        accept_ms: u64,
    ) -> Option<u64> {
        if let Some(since_ms) = self.judge_given_up(reading, now_ms, accept_ms) {
            return Some(since_ms);
        }
        let aim = self.under_way?;
        let Some(effort) = self.by_aim.get_mut(&aim) else {
            self.under_way = None;
            return None;
        };
        effort.doubt(now_ms, accept_ms);
        let Stage::Unknown { since_ms } = effort.stage else {
            return None;
        };
        let Some((reading, _)) =
            reading.filter(|(_, asked_ms)| mutate!(ResendUnread, *asked_ms >= since_ms, true))
        else {
            return Some(since_ms);
        };
        if shows_effect(&effort.action, reading) {
            effort.stage = Stage::Taken { at_ms: now_ms };
            self.under_way = None;
        } else if effort.resent || aim == Aim::Hold {
            effort.stage = Stage::Lost;
            self.under_way = None;
        } else {
            effort.resent = true;
            effort.stage = Stage::Waiting;
            self.under_way = None;
            // A door hold that waits goes first.
            let at = usize::from(self.waiting.front() == Some(&Aim::Hold));
            self.waiting.insert(at, aim);
        }
        None
    }

    /// A command that is not wanted any more is settled by a reading that shows what it did, and
    /// once it is unknown by any.
    fn judge_given_up(
        &mut self,
        reading: Option<(&Reading, u64)>,
        now_ms: u64,
        accept_ms: u64,
    ) -> Option<u64> {
        let effort = self.given_up.as_mut()?;
        effort.doubt(now_ms, accept_ms);
        let unknown_ms = match effort.stage {
            Stage::Unknown { since_ms } => Some(since_ms),
            Stage::Waiting
            | Stage::Sent
            | Stage::Taken { .. }
            | Stage::Failed { .. }
            | Stage::Lost => None,
        };
        let settled = reading.is_some_and(|(reading, asked_ms)| {
            let shown = asked_ms > effort.sent_ms && shows_effect(&effort.action, reading);
            shown || unknown_ms.is_some_and(|since_ms| asked_ms >= since_ms)
        });
        if settled {
            self.given_up = None;
            return None;
        }
        unknown_ms
    }

    /// When what is sent becomes unknown.
    pub(crate) fn next_ms(&self, accept_ms: u64) -> Option<u64> {
        let under_way = self.under_way.and_then(|aim| self.by_aim.get(&aim));
        let sent = [under_way, self.given_up.as_ref()].into_iter().flatten();
        let sent = sent.filter(|effort| effort.stage == Stage::Sent);
        sent.map(|effort| effort.sent_ms.saturating_add(accept_ms))
            .min()
    }
}

impl Effort {
    /// Without an answer in `accept_s` it is unknown.
    fn doubt(&mut self, now_ms: u64, accept_ms: u64) {
        if self.stage == Stage::Sent && now_ms >= self.sent_ms.saturating_add(accept_ms) {
            self.stage = Stage::Unknown { since_ms: now_ms };
        }
    }
}

/// Whether a reading shows what a command was to do.
fn shows_effect(action: &Action, reading: &Reading) -> bool {
    match action {
        Action::Query | Action::HoldDoor { .. } => false,
        Action::Claim => reading.mode == Mode::Robot,
        Action::HallCall { landing, .. } => {
            hall_call_registered(reading, landing) == Some(true) || reading.is_open_at(landing)
        }
        Action::CancelCall { landing, .. } => hall_call_registered(reading, landing) == Some(false),
        Action::CarCall { landing } => {
            car_call_registered(reading, landing) == Some(true)
                || matches!(reading.motion, Motion::Up | Motion::Down)
                || reading.floor.as_ref() == Some(&landing.floor)
        }
        Action::OpenDoor { landing } => {
            matches!(reading.door(landing.side), Door::Open | Door::Opening)
        }
        Action::CloseDoor { landing } => {
            matches!(reading.door(landing.side), Door::Closed | Door::Closing)
        }
        Action::Release => reading.mode == Mode::Normal,
    }
}

/// Whether a hall call at the landing is registered; `None` where calls cannot be read.
pub(crate) fn hall_call_registered(reading: &Reading, landing: &Landing) -> Option<bool> {
    let calls = reading.calls.as_ref()?;
    Some(calls.iter().any(|call| match call {
        Call::Hall { floor, side, .. } => {
            floor == &landing.floor && side.is_none_or(|side| side == landing.side)
        }
        Call::Car { .. } => false,
    }))
}

/// Whether a car call to the landing is registered; `None` where calls cannot be read.
pub(crate) fn car_call_registered(reading: &Reading, landing: &Landing) -> Option<bool> {
    let calls = reading.calls.as_ref()?;
    Some(calls.iter().any(|call| match call {
        Call::Car { floor, side } => {
            floor == &landing.floor && side.is_none_or(|side| side == landing.side)
        }
        Call::Hall { .. } => false,
    }))
}

impl Efforts {
    /// Outside a mode that serves robots nothing but `release` leaves.
    pub(crate) fn keep_only_release(&mut self) {
        self.waiting.retain(|aim| *aim == Aim::Release);
        self.by_aim.retain(|aim, _| *aim == Aim::Release);
    }

    pub(crate) fn take_next(
        &mut self,
        now_ms: u64,
        boot: Timestamp,
        commands: &mut u64,
    ) -> Option<(Aim, Action, CommandId)> {
        let aim = self.waiting.pop_front()?;
        let effort = self.by_aim.get_mut(&aim)?;
        let id = effort
            .id
            .get_or_insert_with(|| command_id(boot, commands))
            .clone();
        effort.stage = Stage::Sent;
        effort.sent_ms = now_ms;
        self.under_way = Some(aim);
        Some((aim, effort.action.clone(), id))
    }
}

/// A command id that no other start of the gateway uses.
pub(crate) fn command_id(boot: Timestamp, commands: &mut u64) -> CommandId {
    *commands += 1;
    let text = format!("{:x}-{}", boot.0, commands);
    // At most 16 hexadecimal and 20 decimal digits and a hyphen: always an identifier.
    CommandId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an identifier"))
}
