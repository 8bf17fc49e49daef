//! A robot's mind: every rule that `wire.md` gives a robot, without a socket and without a clock.
//!
//! The caller tells what was heard and seen and when, and does what [`Brain::act`] returns.

mod conduct;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::limits::{ETA_S_MAX, PRIORITY_DEFAULT};
use protocol::ride::{Instruction, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{ConnectionState, Place, RideRequest};
use protocol::{Code, ElevatorId, GatewayId, Landing, OrderId, RobotId, RobotMessage};

use super::errand::{Deed, Errand, Habits, RideResult, Threshold, Way, Word};
use super::ride::{Body, Ride, View};
use crate::live::speaker::{Speaker, wall};

/// Gateways whose presence is kept.
const GATEWAYS_MAX: usize = 16;

/// One robot.
#[derive(Debug)]
pub struct Brain {
    robot: RobotId,
    habits: Habits,
    speaker: Speaker,
    radio_up: bool,
    gateways: BTreeMap<GatewayId, bool>,
    body: Body,
    ride: Option<Ride>,
    unanswered: Vec<Word>,
    status_due: Duration,
}

impl Brain {
    /// A robot outside every car, without a ride. `speaker` makes its message ids.
    #[must_use]
    pub fn new(robot: RobotId, habits: Habits, speaker: Speaker) -> Self {
        Self {
            robot,
            habits,
            speaker,
            radio_up: false,
            gateways: BTreeMap::new(),
            body: Body::Outside,
            ride: None,
            unanswered: Vec::new(),
            status_due: Duration::ZERO,
        }
    }

    /// Gives it an order. It must have none.
    pub fn start(&mut self, errand: Errand, now: Duration) {
        self.unanswered.clear();
        let result = RideResult::new(self.robot.clone(), &errand);
        let request_id = self.speaker.message_id();
        let request = RideRequest {
            message_id: request_id.clone(),
            timestamp: wall(),
            order_id: errand.order.clone(),
            from: named(&errand.from),
            to: named(&errand.to),
            elevators: BTreeSet::new(),
            priority: PRIORITY_DEFAULT,
            at_door: Some(errand.drive.is_zero()),
            eta_s: (!errand.drive.is_zero()).then(|| whole_s(errand.drive)),
            expires_at: None,
            dry_run: false,
        };
        self.put(request_id.clone(), RobotMessage::Request(request), now);
        let at_door_from = now + errand.drive;
        self.ride = Some(Ride {
            errand,
            view: None,
            at_door_from,
            at_door_said: None,
            query: None,
            ask_from: now,
            was_inside: false,
            hold_answered: 0,
            result,
            request_id,
            request_sent: None,
            refused: None,
        });
    }

    /// The radio connected or broke.
    pub fn radio(&mut self, up: bool, now: Duration) {
        self.radio_up = up;
        self.gateways.clear();
        if up {
            self.status_due = now;
            for word in &mut self.unanswered {
                word.due = word.due.min(now);
            }
        }
    }

    /// A gateway's presence, kept or fresh.
    pub fn hear_gateway(&mut self, gateway: GatewayId, state: ConnectionState) {
        if self.gateways.len() < GATEWAYS_MAX || self.gateways.contains_key(&gateway) {
            self.gateways
                .insert(gateway, state == ConnectionState::Online);
        }
    }

    /// A state, kept or fresh: it tells where the ride stands and permits nothing.
    pub fn hear_state(&mut self, state: &RideView, now: Duration) {
        let view = View::of_state(state);
        self.take(&state.order_id, view, now);
    }

    /// A reply. One to its own newest question is permission, while it is fresh.
    pub fn hear_reply(&mut self, reply: &RideReply, now: Duration) {
        let Some(asked) = reply.in_reply_to.as_ref() else {
            return;
        };
        let known = |word: &Word| word.message_id == *asked;
        let Some(at) = self.unanswered.iter().position(known) else {
            return;
        };
        let word = self.unanswered.remove(at);
        if let (Some(order), Some(view)) = (&reply.order_id, View::of_reply(reply)) {
            self.take(order, view, now);
        }
        let Some(ride) = self.ride.as_mut() else {
            return;
        };
        let retry = reply
            .retry_after_s
            .map_or(self.habits.repeat, |s| Duration::from_millis(s.ms));
        let again = reply.code.is_some_and(is_passing);
        if ride.request_id == *asked {
            ride.decided(now);
            if reply.result == ReplyResult::Rejected && !again {
                ride.refused = Some(refusal(reply));
            }
        }
        if ride.query.as_ref() == Some(asked) {
            ride.query = None;
            ride.ask_from = now + self.habits.ask_again;
            if again {
                ride.ask_from = now + retry;
            }
            self.permit(reply, &word, now);
        } else if reply.result == ReplyResult::Rejected && again {
            self.unanswered.push(Word {
                due: now + retry,
                first_sent: None,
                ..word
            });
        }
    }

    /// Everything to be done at `now`. Call it after each thing heard and at [`Brain::next`].
    pub fn act(&mut self, now: Duration) -> Vec<Deed> {
        let mut deeds = Vec::new();
        self.move_body(now, &mut deeds);
        self.follow(now);
        self.speak(now, &mut deeds);
        if let Some(result) = self.end(now) {
            deeds.push(Deed::Finished(result));
        }
        deeds
    }

    /// When [`Brain::act`] has something to do next, where nothing is heard before.
    #[must_use]
    pub fn next(&self) -> Duration {
        let mut next = if self.radio_up {
            self.status_due
        } else {
            Duration::MAX
        };
        if let Body::Crossing { until, .. } = self.body {
            next = next.min(until.unwrap_or_default());
        }
        if self.radio_up {
            next = self
                .unanswered
                .iter()
                .map(|word| word.due)
                .fold(next, Duration::min);
        }
        if let Some(ride) = &self.ride {
            if ride.at_door_said.is_none() {
                next = next.min(ride.at_door_from);
            }
            if self.radio_up && ride.query.is_none() && ride.wants_to_cross(&self.body) {
                next = next.min(ride.ask_from.max(ride.at_door_from));
            }
        }
        next
    }

    /// The car that it is in, or half in.
    #[must_use]
    pub fn car(&self) -> Option<&ElevatorId> {
        match &self.body {
            Body::Outside => None,
            Body::Crossing { threshold, .. } => Some(&threshold.elevator),
            Body::Inside(elevator) => Some(elevator),
        }
    }

    /// The door that it was about to cross is not open: it stays where it is and asks again.
    pub fn blocked(&mut self, now: Duration) {
        if let Body::Crossing { threshold, .. } = &self.body {
            self.body = match threshold.way {
                Way::In => Body::Outside,
                Way::Out => Body::Inside(threshold.elevator.clone()),
            };
        }
        if let Some(ride) = self.ride.as_mut() {
            ride.ask_from = now + self.habits.ask_again;
        }
    }

    /// What is known of the ride, for people.
    #[must_use]
    pub fn shown(&self) -> Option<(&OrderId, RideState, Option<&ElevatorId>)> {
        let ride = self.ride.as_ref()?;
        let view = ride.view.as_ref()?;
        Some((&ride.errand.order, view.state, view.elevator.as_ref()))
    }

    /// Gives the ride up, as one that was not completed.
    pub fn abandon(&mut self, why: &str) -> Option<RideResult> {
        self.unanswered.clear();
        self.ride
            .take()
            .map(|ride| ride.result.failed(why.to_owned()))
    }

    /// The only live order, and only what is not older than the newest word about it.
    fn take(&mut self, order: &OrderId, view: View, now: Duration) {
        let Some(ride) = self
            .ride
            .as_mut()
            .filter(|ride| ride.errand.order == *order)
        else {
            return;
        };
        if ride.view.as_ref().is_some_and(|known| view.seq < known.seq) {
            return;
        }
        ride.decided(now);
        if view.state == RideState::ElevatorArrived {
            ride.result.arrived(now, ride.request_sent);
            ride.result.elevator.clone_from(&view.elevator);
        }
        let why = ride.view.take().and_then(|known| known.why);
        ride.view = Some(View {
            why: view.why.clone().or(why),
            ..view
        });
    }

    /// The one place where the robot gets leave to cross: a fresh answer to its own question.
    fn permit(&mut self, reply: &RideReply, word: &Word, now: Duration) {
        let online = self.gateway_is_online();
        let Some(ride) = self.ride.as_ref() else {
            return;
        };
        let Some(view) = ride.view.as_ref() else {
            return;
        };
        let (way, wanted) = match &self.body {
            Body::Outside => (Way::In, Instruction::Enter),
            Body::Inside(_) => (Way::Out, Instruction::Exit),
            Body::Crossing { .. } => return,
        };
        let newest = reply.order_id.as_ref() == Some(&ride.errand.order)
            && reply.seq.is_some_and(|seq| seq >= view.seq);
        let valid = reply
            .valid_s
            .map_or(Duration::ZERO, |s| Duration::from_millis(s.ms));
        let fresh = word
            .first_sent
            .is_some_and(|sent| now.saturating_sub(sent) < valid);
        if !(newest && fresh && online && reply.instruction == Some(wanted)) {
            return;
        }
        let (Some(elevator), Some(floor)) = (&reply.elevator_id, &reply.floor) else {
            return;
        };
        if matches!(&self.body, Body::Inside(car) if car != elevator) {
            return;
        }
        let side = reply.side.unwrap_or(match way {
            Way::In => ride.errand.from.side,
            Way::Out => ride.errand.to.side,
        });
        let landing = Landing {
            floor: floor.clone(),
            side,
        };
        if way == Way::In && landing != ride.errand.from {
            return;
        }
        let threshold = Threshold {
            elevator: elevator.clone(),
            landing,
            way,
            fence: reply.fence,
        };
        self.body = Body::Crossing {
            threshold,
            until: None,
        };
    }

    fn gateway_is_online(&self) -> bool {
        self.gateways.values().any(|online| *online)
    }
}

fn named(landing: &Landing) -> Place {
    Place {
        floor: landing.floor.clone(),
        side: Some(landing.side),
    }
}

/// Whole seconds, rounded up.
fn whole_s(span: Duration) -> u32 {
    u32::try_from(span.as_millis().div_ceil(1000))
        .unwrap_or(ETA_S_MAX)
        .min(ETA_S_MAX)
}

/// Whether the same thing may be taken later (`wire.md` section 3).
fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::Unavailable | Code::QueueFull | Code::RateLimited
    )
}

fn refusal(reply: &RideReply) -> String {
    let code = reply.code.map_or("", Code::as_str);
    format!("{code}: {}", reply.detail.as_deref().unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
