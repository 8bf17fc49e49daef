//! Commands to one elevator: one under way at a time, the door hold first, an unanswered one
//! *unknown* until a reading tells (law 5).

use std::collections::BTreeMap;

use protocol::hardware::{Action, Call, Command, Door, Mode, Motion, Outcome, Reading};
use protocol::{CommandId, ElevatorId};

use crate::effect::Effect;
use crate::live::{COMMANDS_MAX, Car, Waiting, fence_of};
use crate::turn::Turn;

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
#[derive(Debug, Default)]
pub(crate) struct Efforts {
    by_aim: BTreeMap<Aim, Effort>,
    waiting: Waiting<Aim>,
    under_way: Option<Aim>,
}

/// The query of an elevator: at most one under way.
#[derive(Debug, Default)]
pub(crate) struct QueryState {
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

    /// Something is sent and not answered, or waits to be sent.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.is_some() || !self.waiting.is_empty()
    }

    /// Forgets the effort for an aim; what is already sent is foreign from here on.
    pub(crate) fn drop_aim(&mut self, aim: Aim) {
        self.by_aim.remove(&aim);
        self.waiting.retain(|waiting| *waiting != aim);
        if self.under_way == Some(aim) {
            self.under_way = None;
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
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
        } else if self.waiting.len() < COMMANDS_MAX {
            self.waiting.push_back(aim);
        }
    }

    /// The controller's word about a command; `false` when the command is not known.
    pub(crate) fn answer(&mut self, id: &CommandId, outcome: &Outcome, now_ms: u64) -> bool {
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
    /// once more, or lost. Returns whether a query is needed.
    fn judge(&mut self, reading: Option<(&Reading, u64)>, now_ms: u64, accept_ms: u64) -> bool {
        let Some(aim) = self.under_way else {
            return false;
        };
        let Some(effort) = self.by_aim.get_mut(&aim) else {
            self.under_way = None;
            return false;
        };
        if effort.stage == Stage::Sent && now_ms >= effort.sent_ms.saturating_add(accept_ms) {
            effort.stage = Stage::Unknown { since_ms: now_ms };
        }
        let Stage::Unknown { since_ms } = effort.stage else {
            return false;
        };
        let Some((reading, _)) = reading.filter(|(_, asked_ms)| *asked_ms >= since_ms) else {
            return true;
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
            self.waiting.push_front(aim);
        }
        false
    }

    fn next_ms(&self, accept_ms: u64) -> Option<u64> {
        let effort = self.by_aim.get(&self.under_way?)?;
        (effort.stage == Stage::Sent).then(|| effort.sent_ms.saturating_add(accept_ms))
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
pub(crate) fn hall_call_registered(reading: &Reading, landing: &protocol::Landing) -> Option<bool> {
    let calls = reading.calls.as_ref()?;
    Some(calls.iter().any(|call| match call {
        Call::Hall { floor, side, .. } => {
            floor == &landing.floor && side.is_none_or(|side| side == landing.side)
        }
        Call::Car { .. } => false,
    }))
}

/// Whether a car call to the landing is registered; `None` where calls cannot be read.
pub(crate) fn car_call_registered(reading: &Reading, landing: &protocol::Landing) -> Option<bool> {
    let calls = reading.calls.as_ref()?;
    Some(calls.iter().any(|call| match call {
        Call::Car { floor, side } => {
            floor == &landing.floor && side.is_none_or(|side| side == landing.side)
        }
        Call::Hall { .. } => false,
    }))
}

impl Turn<'_> {
    /// Wants a command done. Outside a mode that serves robots only `release` is (law 7).
    pub(crate) fn order(&mut self, elevator: &ElevatorId, aim: Aim, action: Action) {
        if !action.is_allowed_in_any_mode() && !self.mode(elevator).serves_robots() {
            return;
        }
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.efforts.begin(aim, action);
            self.live.touched.insert(elevator.clone());
        }
    }

    /// Wants a reading that is asked for from here on.
    pub(crate) fn ask(&mut self, elevator: &ElevatorId) {
        self.ask_since(elevator, self.now.mono_ms);
    }

    /// Wants a reading that is asked for at or after `since_ms`; nothing where one is under way.
    pub(crate) fn ask_since(&mut self, elevator: &ElevatorId, since_ms: u64) {
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let asked = car.query.last_ms.is_some_and(|last| last >= since_ms);
        if !asked {
            car.query.wanted_ms = Some(since_ms);
            self.live.touched.insert(elevator.clone());
        }
    }

    /// Wants a reading because of a stale or foreign message: at most one every `requery_s`.
    pub(crate) fn ask_seldom(&mut self, elevator: &ElevatorId) {
        let pause_ms = self.config.timing.requery_ms;
        let now_ms = self.now.mono_ms;
        let due = self.live.cars.get(elevator).is_some_and(|car| {
            car.query
                .last_ms
                .is_none_or(|last| now_ms >= last.saturating_add(pause_ms))
        });
        if due {
            self.ask(elevator);
        }
    }

    /// Judges what is under way, and sends what may be sent.
    pub(crate) fn pump(&mut self, elevator: &ElevatorId) {
        let accept_ms = self.config.timing.accept_ms;
        let now_ms = self.now.mono_ms;
        let serves = self.mode(elevator).serves_robots();
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let reading = car.reading.as_ref().zip(car.asked_ms);
        if car.efforts.judge(reading, now_ms, accept_ms) {
            let since = match car.efforts.under_way.and_then(|aim| car.efforts.stage(aim)) {
                Some(Stage::Unknown { since_ms }) => *since_ms,
                _ => now_ms,
            };
            if car.query.last_ms.is_none_or(|last| last < since) {
                car.query.wanted_ms = Some(since);
            }
        }
        self.poll(elevator);
        let mut sent: Option<(Aim, Action, CommandId)> = None;
        if let Some(car) = self.live.cars.get_mut(elevator)
            && car.efforts.under_way.is_none()
        {
            if !serves {
                car.efforts.keep_only_release();
            }
            sent = car
                .efforts
                .take_next(now_ms, self.live.boot, &mut self.live.commands);
        }
        if let Some((aim, action, id)) = sent {
            self.note_sent(elevator, aim, &action);
            self.send(elevator, id, action);
        }
    }

    /// Asks when a reading is wanted, or when none came for `poll_s`.
    fn poll(&mut self, elevator: &ElevatorId) {
        let timing = &self.config.timing;
        let (poll_ms, accept_ms) = (timing.poll_ms, timing.accept_ms);
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let read_ms = car.read_ms.unwrap_or(0).max(car.asked_ms.unwrap_or(0));
        let quiet = car.read_ms.is_none() || now_ms >= read_ms.saturating_add(poll_ms);
        let open = car
            .query
            .sent_ms
            .is_some_and(|sent| now_ms < sent.saturating_add(accept_ms.max(poll_ms)));
        let polled = car
            .query
            .last_ms
            .is_some_and(|last| now_ms < last.saturating_add(poll_ms));
        let wanted = car
            .query
            .wanted_ms
            .is_some_and(|since| car.query.last_ms.is_none_or(|last| last < since));
        if wanted || (quiet && !open && !polled) {
            car.query.wanted_ms = None;
            car.query.sent_ms = Some(now_ms);
            car.query.last_ms = Some(now_ms);
            let id = self.next_command_id();
            self.send(elevator, id, Action::Query);
        }
    }

    fn next_command_id(&mut self) -> CommandId {
        command_id(self.live.boot, &mut self.live.commands)
    }

    fn note_sent(&mut self, elevator: &ElevatorId, aim: Aim, action: &Action) {
        let timing = &self.config.timing;
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        match aim {
            Aim::Hold => {
                if let Action::HoldDoor { hold_ms, .. } = action {
                    let spare = timing.valid_ms.saturating_add(timing.accept_ms);
                    let pause = hold_ms.saturating_sub(spare).max(hold_ms / 5).max(1);
                    car.hold_next_ms = now_ms.saturating_add(pause);
                    car.release_due = true;
                }
            }
            Aim::Claim => car.release_due = true,
            Aim::Release => car.release_due = false,
            Aim::Call | Aim::Cancel | Aim::Open | Aim::Close => {}
        }
    }

    fn send(&mut self, elevator: &ElevatorId, command_id: CommandId, action: Action) {
        let record = self.state.elevators.get(elevator);
        let owner = record.and_then(|record| record.owner.as_ref());
        let highest = record.map(|record| record.fence).unwrap_or_default();
        let command = Command {
            elevator_id: elevator.clone(),
            command_id,
            fence: fence_of(owner.map(|owner| owner.fence), highest),
            order_id: owner.map(|owner| owner.order.clone()),
            action,
            expires_in_ms: self.config.timing.valid_ms,
        };
        self.out.effects.push(Effect::Command(command));
    }

    /// When the elevator must be looked at for its commands and polls.
    pub(crate) fn command_timer(&self, elevator: &ElevatorId) -> Option<u64> {
        let timing = &self.config.timing;
        let car = self.live.cars.get(elevator)?;
        let base = car.query.last_ms.unwrap_or(0).max(car.read_ms.unwrap_or(0));
        let poll = base.saturating_add(timing.poll_ms);
        let silent = car
            .read_ms
            .unwrap_or(car.link_ms)
            .saturating_add(timing.silent_ms);
        let silent = (silent > self.now.mono_ms).then_some(silent);
        [Some(poll), silent, car.efforts.next_ms(timing.accept_ms)]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Efforts {
    /// Outside a mode that serves robots nothing but `release` leaves.
    fn keep_only_release(&mut self) {
        self.waiting.retain(|aim| *aim == Aim::Release);
        self.by_aim.retain(|aim, _| *aim == Aim::Release);
    }

    fn take_next(
        &mut self,
        now_ms: u64,
        boot: protocol::Timestamp,
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
fn command_id(boot: protocol::Timestamp, commands: &mut u64) -> CommandId {
    *commands += 1;
    let text = format!("{:x}-{}", boot.0, commands);
    // At most 16 hexadecimal and 20 decimal digits and a hyphen: always an identifier.
    CommandId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an identifier"))
}

impl Car {
    /// The hold lasts at least that long from here.
    pub(crate) fn hold_lasts_ms(&self, now_ms: u64) -> u64 {
        self.hold_until_ms.saturating_sub(now_ms)
    }
}
