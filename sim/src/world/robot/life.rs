//! A robot's life: where it is, whether it has radio, how it ends and begins anew.

use protocol::peer::Said;
use protocol::ride::RideView;
use protocol::robot::RobotEvent;
use protocol::{RobotMessage, Timestamp};

use super::{MISSED_MAX, OUTSIDE_MS, Order, Robot, SAID_MAX, Whereabouts};

impl Robot {
    /// It stops for ever where it is.
    pub fn die(&mut self) {
        self.dead = true;
        self.crossed_ms = None;
        self.crossing = None;
        self.frozen_ms = None;
        self.missed.clear();
        self.pending.clear();
    }

    /// It starts anew where it is, remembers nothing, and takes the ride that it is told.
    pub fn reboot(&mut self) {
        self.die();
        self.dead = false;
        self.order = None;
        self.view = None;
        self.was_inside = matches!(self.place, Whereabouts::Car(_));
        self.asked = None;
        self.arrives_ms = None;
        self.adopts = true;
    }

    /// It does and hears nothing until then, and goes on with what came meanwhile.
    pub fn freeze(&mut self, until_ms: u64) {
        self.frozen_ms = Some(until_ms);
    }

    /// Whether it broke a rule or lied since its last request.
    #[must_use]
    pub fn has_offended(&self) -> bool {
        self.offended
    }

    /// It breaks a rule, or lies.
    pub fn offends(&mut self) {
        self.offended = true;
    }

    /// What it said about rides, the newest first.
    pub fn said(&self) -> impl Iterator<Item = &RobotMessage> {
        self.said.iter().rev()
    }

    /// Whether it is dead.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Its radio is there, or gone. What it is told while it is gone is lost.
    pub fn set_connected(&mut self, connected: bool) {
        self.connected = connected;
        if !connected {
            self.gateway_online = false;
            self.asked = None;
        }
    }

    /// Somebody put it somewhere.
    pub fn put(&mut self, place: Whereabouts) {
        self.place = place;
        self.crossed_ms = None;
        self.crossing = None;
    }

    /// It is on the threshold that it wanted to cross.
    pub fn on_threshold(&mut self, now_ms: u64, place: Whereabouts) {
        self.place = place;
        if self.habits.dies_in_doorway {
            self.die();
        } else {
            self.crossed_ms = Some(now_ms + self.habits.cross_ms);
        }
    }

    /// It is through, and says so.
    pub fn through(&mut self, now_ms: u64, wall: Timestamp, place: Whereabouts) {
        let event = match &place {
            Whereabouts::Car(_) => {
                self.was_inside = true;
                RobotEvent::Entered
            }
            Whereabouts::Floor(_) | Whereabouts::Doorway { .. } => RobotEvent::Exited,
        };
        let (tells, dies) = match &place {
            Whereabouts::Car(_) => (self.habits.tells_entry, self.habits.dies_inside),
            Whereabouts::Floor(_) | Whereabouts::Doorway { .. } => (self.habits.tells_exit, false),
        };
        let in_another = match &place {
            Whereabouts::Car(car) => Some(car.clone()).filter(|_| self.habits.takes_any_car),
            Whereabouts::Floor(_) | Whereabouts::Doorway { .. } => None,
        };
        self.place = place;
        self.outside_ms = now_ms + OUTSIDE_MS;
        if dies {
            self.die();
        } else if !self.habits.by_hand && tells {
            self.event_in(now_ms, wall, event, in_another);
        }
    }

    /// Whether it is awake: at the end of a freeze it first hears what came meanwhile.
    pub(super) fn thaws(&mut self, now_ms: u64, wall: Timestamp) -> bool {
        match self.frozen_ms {
            Some(until_ms) if until_ms > now_ms => return false,
            Some(_) => self.frozen_ms = None,
            None => return true,
        }
        for said in std::mem::take(&mut self.missed) {
            self.hear(now_ms, wall, said);
        }
        true
    }

    /// Whether it is frozen and hears this later.
    pub(super) fn misses(&mut self, said: &Said) -> bool {
        let frozen = self.frozen_ms.is_some();
        if frozen && self.missed.len() < MISSED_MAX {
            self.missed.push_back(said.clone());
        }
        frozen
    }

    /// One that forgot its order takes the live one that it is told.
    pub(super) fn adopt(&mut self, view: &RideView) {
        if !self.adopts || self.order.is_some() || view.state.is_terminal() {
            return;
        }
        self.adopts = false;
        let (from, to) = (view.from.clone(), view.to.clone());
        self.order = Some(Order::new(view.order_id.clone(), from, to));
    }

    pub(super) fn keep_said(&mut self, message: &RobotMessage) {
        if self.said.len() == SAID_MAX {
            self.said.pop_front();
        }
        self.said.push_back(message.clone());
    }
}
