//! What a robot does and says at a moment, from what it knows.

use std::time::Duration;

use protocol::ride::RideState;
use protocol::robot::{RideEvent, RobotEvent, RobotStatus};
use protocol::{ElevatorId, Fence, MessageId, RobotMessage};

use super::{Body, Brain, Deed, RideResult, Way, Word};
use crate::live::speaker::wall;

/// Words without an answer; a robot has one question at a time and few events.
const UNANSWERED_MAX: usize = 16;

impl Brain {
    /// Drives: a permitted crossing begins, goes on and ends.
    pub(super) fn move_body(&mut self, now: Duration, deeds: &mut Vec<Deed>) {
        let Body::Crossing { threshold, until } = &mut self.body else {
            return;
        };
        let Some(end) = *until else {
            *until = Some(now + self.habits.cross);
            deeds.push(Deed::CrossingBegins(threshold.clone()));
            return;
        };
        if end > now {
            return;
        }
        let threshold = threshold.clone();
        deeds.push(Deed::CrossingEnds(threshold.clone()));
        let event = match threshold.way {
            Way::In => {
                self.body = Body::Inside(threshold.elevator.clone());
                RobotEvent::Entered
            }
            Way::Out => {
                self.body = Body::Outside;
                RobotEvent::Exited
            }
        };
        if let Some(ride) = self.ride.as_mut() {
            ride.was_inside = true;
        }
        self.say_event(event, threshold.fence, Some(&threshold.elevator), now);
        self.status_due = now;
    }

    /// Does what the newest word says. `wait`, `ride`, `stay`, `clear`: it crosses nothing.
    pub(super) fn follow(&mut self, now: Duration) {
        let online = self.gateway_is_online();
        let Some(ride) = self.ride.as_mut() else {
            return;
        };
        let Some(view) = ride.view.clone() else {
            return;
        };
        let outside = self.body == Body::Outside;
        if view.state.is_terminal() {
            return;
        }
        if view.state == RideState::Hold && outside && ride.hold_answered != view.seq {
            // Somebody waits to know that this robot stands outside.
            ride.hold_answered = view.seq;
            let event = if ride.was_inside {
                RobotEvent::Exited
            } else {
                RobotEvent::CancelEnter { again: false }
            };
            self.say_event(event, view.fence, None, now);
            return;
        }
        let there = now >= ride.at_door_from;
        if outside && !ride.was_inside && there && ride.is_news_at_door(&view) {
            ride.at_door_said = Some(view.elevator.clone());
            self.status_due = now;
            self.say_event(RobotEvent::AtDoor, view.fence, None, now);
            return;
        }
        let may_ask = online && self.radio_up && ride.query.is_none() && now >= ride.ask_from;
        if may_ask && (there || !outside) && ride.wants_to_cross(&self.body) {
            let asked = self.say_event(RobotEvent::Query, view.fence, None, now);
            if let Some(ride) = self.ride.as_mut() {
                ride.query = asked;
            }
        }
    }

    /// Sends what is due: the unanswered again, and the heartbeat.
    pub(super) fn speak(&mut self, now: Duration, deeds: &mut Vec<Deed>) {
        if !self.radio_up {
            return;
        }
        for word in self.unanswered.iter_mut().filter(|word| word.due <= now) {
            word.first_sent.get_or_insert(now);
            word.due = now + self.habits.repeat;
            deeds.push(Deed::Say(word.message.clone()));
            if let Some(ride) = self.ride.as_mut()
                && ride.request_id == word.message_id
            {
                ride.request_sent.get_or_insert(now);
            }
        }
        if self.status_due <= now {
            self.status_due = now + self.habits.heartbeat;
            let status = self.status();
            deeds.push(Deed::Say(RobotMessage::Status(status)));
        }
    }

    pub(super) fn status(&mut self) -> RobotStatus {
        let waiting = self.ride.as_ref().filter(|ride| !ride.was_inside);
        RobotStatus {
            message_id: self.speaker.message_id(),
            timestamp: wall(),
            floor: waiting.map(|ride| ride.errand.from.floor.clone()),
            at_door: waiting.map(|ride| ride.at_door_said.is_some()),
            eta_s: None,
            battery_pct: None,
            position: None,
            in_car: Some(matches!(self.body, Body::Inside(_))),
        }
    }

    /// The ride is at its end, and the robot is outside.
    pub(super) fn end(&mut self, now: Duration) -> Option<RideResult> {
        let ride = self.ride.as_ref()?;
        if self.body != Body::Outside {
            return None;
        }
        let state = ride.view.as_ref().map(|view| view.state);
        let done = state.is_some_and(RideState::is_terminal) || ride.refused.is_some();
        if !done {
            return None;
        }
        let ride = self.ride.take()?;
        self.unanswered.clear();
        if state == Some(RideState::RobotExited) {
            return Some(ride.result.completed(now, ride.request_sent));
        }
        let why = ride.refused.or_else(|| ride.view.and_then(|view| view.why));
        let state = state.map_or("refused", RideState::as_str);
        Some(
            ride.result
                .failed(format!("{state} {}", why.unwrap_or_default())),
        )
    }

    /// Puts an event of the ride among the unanswered; returns its message id.
    pub(super) fn say_event(
        &mut self,
        event: RobotEvent,
        fence: Option<Fence>,
        elevator: Option<&ElevatorId>,
        now: Duration,
    ) -> Option<MessageId> {
        let order_id = self.ride.as_ref()?.errand.order.clone();
        let message_id = self.speaker.message_id();
        let event = RideEvent {
            message_id: message_id.clone(),
            timestamp: wall(),
            order_id,
            event,
            fence,
            elevator_id: elevator.cloned(),
        };
        self.put(message_id.clone(), RobotMessage::Event(event), now);
        Some(message_id)
    }

    /// Puts a word among the unanswered; it is sent until an answer comes.
    pub(super) fn put(&mut self, message_id: MessageId, message: RobotMessage, now: Duration) {
        if self.unanswered.len() >= UNANSWERED_MAX {
            self.unanswered.remove(0);
        }
        self.unanswered.push(Word {
            message_id,
            message,
            due: now,
            first_sent: None,
        });
    }
}
