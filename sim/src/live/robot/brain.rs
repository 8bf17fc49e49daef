//! A robot's mind: every rule that `wire.md` gives a robot, without a socket and without a clock.
//!
//! The caller tells what was heard and seen and when, and does what [`Brain::act`] returns.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::limits::{ETA_S_MAX, PRIORITY_DEFAULT};
use protocol::ride::{Instruction, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{ConnectionState, Place, RideEvent, RideRequest, RobotEvent, RobotStatus};
use protocol::{
    Code, ElevatorId, Fence, GatewayId, Landing, MessageId, OrderId, RobotId, RobotMessage,
};

use super::errand::{Deed, Errand, Habits, RideResult, Threshold, Way, Word};
use crate::live::speaker::{Speaker, wall};

/// Words without an answer; a robot has one question at a time and few events.
const UNANSWERED_MAX: usize = 16;
/// Gateways whose presence is kept.
const GATEWAYS_MAX: usize = 16;

/// What the robot knows of its ride: the newest word about it.
#[derive(Debug, Clone)]
struct View {
    seq: u64,
    state: RideState,
    instruction: Instruction,
    elevator: Option<ElevatorId>,
    fence: Option<Fence>,
    why: Option<String>,
}

/// Where the robot's body is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Outside,
    Crossing { threshold: Threshold, until: Option<Duration> },
    Inside(ElevatorId),
}

/// The ride that it is on.
#[derive(Debug)]
struct Ride {
    errand: Errand,
    view: Option<View>,
    at_door_from: Duration,
    /// The elevator, null included, for which it said last that it stands at the door.
    at_door_said: Option<Option<ElevatorId>>,
    /// The message id of the question that is open.
    query: Option<MessageId>,
    ask_from: Duration,
    was_inside: bool,
    /// The `seq` of the HOLD that it answered last.
    hold_answered: u64,
    result: RideResult,
    request_id: MessageId,
    request_sent: Option<Duration>,
    /// Why the request was refused for good.
    refused: Option<String>,
}

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
            self.gateways.insert(gateway, state == ConnectionState::Online);
        }
    }

    /// A state, kept or fresh: it tells where the ride stands and permits nothing.
    pub fn hear_state(&mut self, state: &RideView, now: Duration) {
        let view = View {
            seq: state.seq,
            state: state.state,
            instruction: state.instruction,
            elevator: state.elevator_id.clone(),
            fence: state.fence,
            why: state.reason.as_ref().map(|reason| format!("{}: {}", reason.code, reason.detail)),
        };
        self.take(&state.order_id, view, now);
    }

    /// A reply. One to its own newest question is permission, while it is fresh.
    pub fn hear_reply(&mut self, reply: &RideReply, now: Duration) {
        let Some(asked) = reply.in_reply_to.as_ref() else { return };
        let known = |word: &Word| word.message_id == *asked;
        let Some(at) = self.unanswered.iter().position(known) else { return };
        let word = self.unanswered.remove(at);
        if let (Some(order), Some(view)) = (&reply.order_id, view_of(reply)) {
            self.take(order, view, now);
        }
        let Some(ride) = self.ride.as_mut() else { return };
        let retry = reply.retry_after_s.map_or(self.habits.repeat, |s| Duration::from_millis(s.ms));
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
            self.unanswered.push(Word { due: now + retry, first_sent: None, ..word });
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
        let mut next = if self.radio_up { self.status_due } else { Duration::MAX };
        if let Body::Crossing { until, .. } = self.body {
            next = next.min(until.unwrap_or_default());
        }
        if self.radio_up {
            next = self.unanswered.iter().map(|word| word.due).fold(next, Duration::min);
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
        self.ride.take().map(|ride| ride.result.failed(why.to_owned()))
    }

    /// The only live order, and only what is not older than the newest word about it.
    fn take(&mut self, order: &OrderId, view: View, now: Duration) {
        let Some(ride) = self.ride.as_mut().filter(|ride| ride.errand.order == *order) else {
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
        ride.view = Some(View { why: view.why.clone().or(why), ..view });
    }

    /// The one place where the robot gets leave to cross: a fresh answer to its own question.
    fn permit(&mut self, reply: &RideReply, word: &Word, now: Duration) {
        let online = self.gateway_is_online();
        let Some(ride) = self.ride.as_ref() else { return };
        let Some(view) = ride.view.as_ref() else { return };
        let (way, wanted) = match &self.body {
            Body::Outside => (Way::In, Instruction::Enter),
            Body::Inside(_) => (Way::Out, Instruction::Exit),
            Body::Crossing { .. } => return,
        };
        let newest = reply.order_id.as_ref() == Some(&ride.errand.order)
            && reply.seq.is_some_and(|seq| seq >= view.seq);
        let valid = reply.valid_s.map_or(Duration::ZERO, |s| Duration::from_millis(s.ms));
        let fresh = word.first_sent.is_some_and(|sent| now.saturating_sub(sent) < valid);
        if !(newest && fresh && online && reply.instruction == Some(wanted)) {
            return;
        }
        let (Some(elevator), Some(floor)) = (&reply.elevator_id, &reply.floor) else { return };
        if matches!(&self.body, Body::Inside(car) if car != elevator) {
            return;
        }
        let side = reply.side.unwrap_or(match way {
            Way::In => ride.errand.from.side,
            Way::Out => ride.errand.to.side,
        });
        let landing = Landing { floor: floor.clone(), side };
        if way == Way::In && landing != ride.errand.from {
            return;
        }
        let threshold = Threshold {
            elevator: elevator.clone(),
            landing,
            way,
            fence: reply.fence,
        };
        self.body = Body::Crossing { threshold, until: None };
    }

    /// Drives: a permitted crossing begins, goes on and ends.
    fn move_body(&mut self, now: Duration, deeds: &mut Vec<Deed>) {
        let Body::Crossing { threshold, until } = &mut self.body else { return };
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
    fn follow(&mut self, now: Duration) {
        let online = self.gateway_is_online();
        let Some(ride) = self.ride.as_mut() else { return };
        let Some(view) = ride.view.clone() else { return };
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
    fn speak(&mut self, now: Duration, deeds: &mut Vec<Deed>) {
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

    fn status(&mut self) -> RobotStatus {
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
    fn end(&mut self, now: Duration) -> Option<RideResult> {
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
        Some(ride.result.failed(format!("{state} {}", why.unwrap_or_default())))
    }

    /// Puts an event of the ride among the unanswered; returns its message id.
    fn say_event(
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
    fn put(&mut self, message_id: MessageId, message: RobotMessage, now: Duration) {
        if self.unanswered.len() >= UNANSWERED_MAX {
            self.unanswered.remove(0);
        }
        self.unanswered.push(Word { message_id, message, due: now, first_sent: None });
    }

    fn gateway_is_online(&self) -> bool {
        self.gateways.values().any(|online| *online)
    }
}

impl Ride {
    /// The first decision about the request has come.
    fn decided(&mut self, now: Duration) {
        if let Some(sent) = self.request_sent {
            self.result.decision.get_or_insert(now.saturating_sub(sent));
        }
    }

    /// Whether it should say that it stands at the door: not said yet, or for another car, or the
    /// gateway still thinks that it is away.
    fn is_news_at_door(&self, view: &View) -> bool {
        let approaching = matches!(view.instruction, Instruction::Approach | Instruction::Enter);
        match &self.at_door_said {
            None => true,
            Some(said) => approaching && *said != view.elevator,
        }
    }

    /// Whether the newest word would let it cross, if it asked.
    fn wants_to_cross(&self, body: &Body) -> bool {
        let Some(view) = &self.view else { return false };
        match body {
            Body::Outside => view.instruction == Instruction::Enter && !self.was_inside,
            Body::Inside(_) => view.instruction == Instruction::Exit,
            Body::Crossing { .. } => false,
        }
    }
}

fn view_of(reply: &RideReply) -> Option<View> {
    Some(View {
        seq: reply.seq?,
        state: reply.state?,
        instruction: reply.instruction?,
        elevator: reply.elevator_id.clone(),
        fence: reply.fence,
        why: None,
    })
}

fn named(landing: &Landing) -> Place {
    Place { floor: landing.floor.clone(), side: Some(landing.side) }
}

/// Whole seconds, rounded up.
fn whole_s(span: Duration) -> u32 {
    u32::try_from(span.as_millis().div_ceil(1000)).unwrap_or(ETA_S_MAX).min(ETA_S_MAX)
}

/// Whether the same thing may be taken later (`wire.md` section 3).
fn is_passing(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::QueueFull | Code::RateLimited)
}

fn refusal(reply: &RideReply) -> String {
    let code = reply.code.map_or("", Code::as_str);
    format!("{code}: {}", reply.detail.as_deref().unwrap_or_default())
}
