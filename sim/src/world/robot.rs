//! A robot that keeps the rules of `wire.md`: it acts on the newest state of its live order, asks
//! before it crosses a threshold, repeats itself until it is answered, and says where it is.
//!
//! With [`Habits`] it breaks chosen rules; *by hand* it does only what it is told.

mod habits;
mod life;
mod mind;
mod say;

use std::collections::VecDeque;

use protocol::ops::GatewayConnection;
use protocol::peer::Said;
use protocol::ride::{ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{ConnectionState, RobotEvent};
use protocol::{Code, FloorLabel, MessageId, OrderId, RobotId, RobotMessage, Timestamp};

pub use self::habits::{Habits, RobotAct, Whereabouts};
pub use self::say::Order;

/// A robot repeats what is not answered after this (`wire.md` section 3).
const REPEAT_MS: u64 = 5_000;
/// A robot with a live ride says its status so often (`wire.md` section 5).
const STATUS_MS: u64 = 10_000;
/// After a `stay` it asks again.
const ASK_AGAIN_MS: u64 = 2_000;
/// In HOLD and outside, it says so again after this: the car's signal may be slower than its word.
const OUTSIDE_MS: u64 = 10_000;
/// Messages that wait for an answer; far above what a ride needs.
const PENDING_MAX: usize = 64;
/// What it heard while it was frozen; a real one's buffers end, too.
const MISSED_MAX: usize = 256;
/// Messages about rides that it may say again.
const SAID_MAX: usize = 16;
/// Replies that are kept for reading.
const REPLIES_MAX: usize = 64;

#[derive(Debug, Clone)]
struct Pending {
    message: RobotMessage,
    message_id: MessageId,
    next_ms: u64,
}

/// A robot.
#[derive(Debug)]
pub struct Robot {
    id: RobotId,
    habits: Habits,
    place: Whereabouts,
    dead: bool,
    connected: bool,
    gateway_online: bool,
    order: Option<Order>,
    view: Option<RideView>,
    /// It was inside for this order.
    was_inside: bool,
    /// In HOLD, outside: when it says next that it is outside.
    outside_ms: u64,
    pending: Vec<Pending>,
    /// The question that is open, and when it was sent.
    asked: Option<(MessageId, u64)>,
    ask_ms: u64,
    status_ms: u64,
    /// When it comes to the door.
    arrives_ms: Option<u64>,
    crossed_ms: Option<u64>,
    messages: u64,
    replies: VecDeque<RideReply>,
    acts: Vec<RobotAct>,
    /// It was permitted, and crosses then.
    crossing: Option<(u64, RobotAct)>,
    /// It does and hears nothing until then.
    frozen_ms: Option<u64>,
    /// What came meanwhile.
    missed: VecDeque<Said>,
    /// It forgot its order and takes the one that it is told.
    adopts: bool,
    /// It broke a rule or lied since its last request.
    offended: bool,
    /// What it said last about rides.
    said: VecDeque<RobotMessage>,
}

impl Robot {
    /// A robot on a floor, without radio until [`Robot::set_connected`].
    #[must_use]
    pub fn new(id: RobotId, floor: FloorLabel, habits: Habits) -> Self {
        Self {
            id,
            habits,
            place: Whereabouts::Floor(floor),
            dead: false,
            connected: false,
            gateway_online: false,
            order: None,
            view: None,
            was_inside: false,
            outside_ms: 0,
            pending: Vec::new(),
            asked: None,
            ask_ms: 0,
            status_ms: 0,
            arrives_ms: None,
            crossed_ms: None,
            messages: 0,
            replies: VecDeque::new(),
            acts: Vec::new(),
            crossing: None,
            frozen_ms: None,
            missed: VecDeque::new(),
            adopts: false,
            offended: false,
            said: VecDeque::new(),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &RobotId {
        &self.id
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Whereabouts {
        &self.place
    }

    /// What it does and does not do.
    pub fn habits_mut(&mut self) -> &mut Habits {
        &mut self.habits
    }

    /// What it does and does not do.
    #[must_use]
    pub fn habits(&self) -> &Habits {
        &self.habits
    }

    /// The order that it rides for, until its end was heard.
    #[must_use]
    pub fn order(&self) -> Option<&OrderId> {
        self.order.as_ref().map(|order| &order.id)
    }

    /// The newest state of its order, also after its end.
    #[must_use]
    pub fn view(&self) -> Option<&RideView> {
        self.view.as_ref()
    }

    /// The last replies, oldest first.
    #[must_use]
    pub fn replies(&self) -> &VecDeque<RideReply> {
        &self.replies
    }

    /// Whether it has radio.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// When it does something by itself next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        if self.dead {
            return None;
        }
        if self.frozen_ms.is_some() {
            return self.frozen_ms;
        }
        let live = self.order.is_some() && self.connected;
        let pending = self.pending.iter().map(|pending| pending.next_ms).min();
        let talk = [
            pending,
            live.then_some(self.status_ms),
            self.arrives_ms,
            self.asks_ms(),
            self.tells_outside_ms(),
        ];
        let talk = talk.into_iter().flatten().min().filter(|_| self.connected);
        let crosses = self.crossing.as_ref().map(|(at_ms, _)| *at_ms);
        [talk, self.crossed_ms, crosses].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn turn(&mut self, now_ms: u64, wall: Timestamp) {
        if self.dead || !self.thaws(now_ms, wall) {
            return;
        }
        if let Some((_, act)) = self.crossing.take_if(|(at_ms, _)| *at_ms <= now_ms) {
            self.acts.push(act);
        }
        if self.crossed_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.crossed_ms = None;
            self.acts.push(RobotAct::Crossed);
        }
        if !self.connected {
            return;
        }
        for pending in self
            .pending
            .iter_mut()
            .filter(|pending| pending.next_ms <= now_ms)
        {
            pending.next_ms = now_ms + REPEAT_MS;
            self.acts.push(RobotAct::Say(pending.message.clone()));
        }
        if self.arrives_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.arrives_ms = None;
            if !self.habits.by_hand {
                self.event(now_ms, wall, RobotEvent::AtDoor);
            }
        }
        if self.order.is_some() && self.status_ms <= now_ms {
            self.status_ms = now_ms + STATUS_MS;
            self.status(wall, None);
        }
        self.think(now_ms, wall);
    }

    /// Hears the gateway.
    pub fn hear(&mut self, now_ms: u64, wall: Timestamp, said: Said) {
        if self.dead || self.misses(&said) {
            return;
        }
        match said {
            Said::RideState {
                view: Some(view), ..
            } => self.told(view),
            Said::RideReply { reply, .. } => self.answered(now_ms, wall, reply),
            Said::GatewayConnection(
                _,
                GatewayConnection {
                    connection_state, ..
                },
            ) => {
                self.gateway_online = connection_state == ConnectionState::Online;
            }
            Said::RideState { view: None, .. }
            | Said::ElevatorState(_)
            | Said::ElevatorCommand(_)
            | Said::Alarm(_)
            | Said::Alarms(_)
            | Said::ClientReply { .. }
            | Said::ClaimState { .. }
            | Said::RentalState { .. }
            | Said::DeviceCommand { .. }
            | Said::DeviceState(_)
            | Said::Site(_) => {}
        }
        self.think(now_ms, wall);
    }

    /// Takes what it wants done.
    pub fn take_acts(&mut self) -> Vec<RobotAct> {
        std::mem::take(&mut self.acts)
    }

    fn told(&mut self, view: RideView) {
        self.adopt(&view);
        let is_mine = self
            .order
            .as_ref()
            .is_some_and(|order| order.id == view.order_id);
        let is_old = self
            .view
            .as_ref()
            .is_some_and(|known| known.order_id == view.order_id && known.seq > view.seq);
        if !is_mine || is_old {
            return;
        }
        if view.state.is_terminal() {
            self.order = None;
            self.asked = None;
            self.arrives_ms = None;
        }
        self.view = Some(view);
    }

    fn answered(&mut self, now_ms: u64, wall: Timestamp, reply: RideReply) {
        let again = matches!(
            reply.code,
            Some(Code::Unavailable | Code::QueueFull | Code::RateLimited)
        );
        let id = reply.in_reply_to.clone();
        if again {
            let wait_ms = reply.retry_after_s.map_or(REPEAT_MS, |span| span.ms);
            for pending in &mut self.pending {
                if Some(&pending.message_id) == id.as_ref() {
                    pending.next_ms = now_ms + wait_ms;
                }
            }
        } else {
            self.pending
                .retain(|pending| Some(&pending.message_id) != id.as_ref());
        }
        let is_live = reply.order_id.is_some() && reply.order_id.as_ref() == self.order();
        if is_live && reply.state.is_some_and(RideState::is_terminal) {
            self.order = None;
            self.arrives_ms = None;
        }
        let was_told = self.view.as_ref().map(|view| &view.order_id) == self.order();
        if reply.result == ReplyResult::Rejected && !again && is_live && !was_told {
            self.order = None;
            self.arrives_ms = None;
        }
        if let Some((_, sent_ms)) = self
            .asked
            .take_if(|(asked, _)| Some(&*asked) == id.as_ref())
        {
            self.ask_ms = now_ms + ASK_AGAIN_MS;
            self.permitted(now_ms, wall, sent_ms, &reply);
        }
        if self.replies.len() == REPLIES_MAX {
            self.replies.pop_front();
        }
        self.replies.push_back(reply);
    }
}
