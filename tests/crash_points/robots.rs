//! The robots of the play. Each keeps the rules of wire.md, asks before it crosses a threshold,
//! repeats what is not answered, and does the one thing that its part is there for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sim::live::robot::Way;

use crate::support::{Message, now, request};
use crate::world::{NEVER_COMES, RIDES};

/// How soon something is said again that was not answered.
const REPEAT: Duration = Duration::from_millis(700);
/// Between two words that only say that it is there (its lease is 3 s).
const STATUS: Duration = Duration::from_millis(250);
/// How soon an order that is let lapse expires.
const EXPIRES_MS: u64 = 800;
/// How long a permission lasts from the question on (`valid_s`).
const VALID: Duration = Duration::from_millis(800);

/// What a robot is there for; the name of a robot is that of its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// H: stands in the door and does not go in. HOLD, and out of it.
    Hesitates,
    /// P: rides.
    Rides,
    /// E: lets its order expire.
    Expires,
    /// C: asks to be queued again, then gives up.
    Cancels,
    /// L: dies while it waits.
    Dies,
}

pub(crate) const CAST: [(&str, Part); 5] = [
    ("H", Part::Hesitates),
    ("P", Part::Rides),
    ("E", Part::Expires),
    ("C", Part::Cancels),
    ("L", Part::Dies),
];

/// What a robot does next.
#[derive(Debug)]
pub(crate) enum Deed {
    /// Publishes below its own topics.
    Says { topic: &'static str, body: Value },
    /// Goes over the threshold, where it can.
    Crosses { floor: &'static str, way: Way },
}

#[derive(Debug)]
pub(crate) struct Robot {
    pub(crate) name: &'static str,
    part: Part,
    /// Which targets were hit decides how far it goes.
    pub(crate) state: String,
    instruction: String,
    seq: u64,
    fence: Value,
    said: Option<Said>,
    status_at: Instant,
    messages: usize,
    expires_at: Option<String>,
    /// It is asked for and was told so.
    asked: bool,
    inside: bool,
    /// It crossed, and says so until it is believed.
    tells: Option<&'static str>,
    /// When it asked the question to which the answer was yes.
    permitted: Option<Instant>,
    again: bool,
}

#[derive(Debug)]
struct Said {
    message: String,
    topic: &'static str,
    body: Value,
    at: Instant,
}

impl Robot {
    pub(crate) fn new(name: &'static str, part: Part) -> Self {
        Self {
            name,
            part,
            state: String::new(),
            instruction: String::new(),
            seq: 0,
            fence: Value::Null,
            said: None,
            status_at: Instant::now(),
            messages: 0,
            expires_at: None,
            asked: false,
            inside: false,
            tells: None,
            permitted: None,
            again: false,
        }
    }

    /// Where it goes: from, to, and with which elevator.
    pub(crate) fn way(&self) -> (&'static str, &'static str, &'static str) {
        match self.part {
            Part::Hesitates | Part::Rides | Part::Expires => ("1F", "6F", RIDES),
            Part::Cancels | Part::Dies => ("6F", "1F", NEVER_COMES),
        }
    }

    /// Whether it may be asked for its order again at any time: a word of one that dies is a sign
    /// of life.
    pub(crate) fn may_chat(&self) -> bool {
        self.part != Part::Dies || self.is_over()
    }

    pub(crate) fn is_over(&self) -> bool {
        ["ROBOT_EXITED", "CANCELLED", "EXPIRED", "FAILED"].contains(&self.state.as_str())
    }

    /// The request, with another message each time; the order is the same.
    pub(crate) fn request(&mut self) -> Value {
        let (from, to, elevator) = self.way();
        let mut body = request(&self.message(), self.name, from, to);
        body["elevators"] = json!([elevator]);
        if self.part == Part::Expires {
            let expires_at = self.expires_at.get_or_insert_with(|| soon(EXPIRES_MS));
            body["expires_at"] = json!(expires_at);
        }
        body
    }

    /// A reply or a state of its ride.
    pub(crate) fn hears(&mut self, message: &Message) {
        let body = &message.body;
        if body["order_id"] != self.name {
            return;
        }
        let is_newer = body["seq"].as_u64().is_some_and(|seq| seq >= self.seq);
        if is_newer && !message.retained {
            self.seq = body["seq"].as_u64().unwrap_or_default();
            let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
            (self.state, self.instruction) = (text("state"), text("instruction"));
            self.fence = body["fence"].clone();
        }
        let answered = self
            .said
            .take_if(|said| body["in_reply_to"] == said.message);
        let Some(said) = answered else { return };
        let is_taken = body["result"] != "rejected";
        match said.body["event"].as_str() {
            Some("query") => {
                let may = ["enter", "exit"].contains(&&*self.instruction);
                self.permitted = may.then_some(said.at);
            }
            Some("cancel_enter") => self.again |= is_taken && said.body["again"] == true,
            Some(event) if is_taken => {
                self.tells.take_if(|tells| *tells == event);
            }
            Some(_) => {}
            None if said.topic == "ride/request" => {
                self.asked |= is_taken;
                self.expires_at.take_if(|_| !is_taken);
            }
            None => {}
        }
    }

    /// What it does now; `is_done` tells whether the process ended in a state as it was to.
    pub(crate) fn acts(&mut self, is_done: &dyn Fn(&str, &str) -> bool) -> Option<Deed> {
        // A question is asked anew, all else is said again as it was.
        let is_old = |said: &Said| said.at.elapsed() >= REPEAT;
        self.said
            .take_if(|said| said.body["event"] == "query" && is_old(said));
        if let Some(said) = &mut self.said {
            if !is_old(said) {
                return None;
            }
            said.at = Instant::now();
            let (topic, body) = (said.topic, said.body.clone());
            return Some(Deed::Says { topic, body });
        }
        if self.is_over() {
            return None;
        }
        if !self.asked {
            return self.may_ask(is_done).then(|| {
                let body = self.request();
                self.says("ride/request", body)
            });
        }
        if self
            .permitted
            .take()
            .is_some_and(|asked| asked.elapsed() < VALID)
        {
            return self.crosses();
        }
        self.goes_on(is_done).or_else(|| self.is_there(is_done))
    }

    /// It crossed the threshold, or could not.
    pub(crate) fn crossed(&mut self, did: bool) {
        if did {
            self.tells = Some(if self.inside { "exited" } else { "entered" });
            self.inside = !self.inside;
        }
    }

    fn may_ask(&self, is_done: &dyn Fn(&str, &str) -> bool) -> bool {
        match self.part {
            Part::Hesitates => true,
            Part::Rides => is_done("H", "HOLD"),
            Part::Expires => is_done("P", "QUEUED"),
            Part::Cancels => is_done("P", "ROBOT_EXITED"),
            Part::Dies => is_done("C", "CANCELLED"),
        }
    }

    fn goes_on(&mut self, is_done: &dyn Fn(&str, &str) -> bool) -> Option<Deed> {
        if let Some(event) = self.tells {
            return Some(self.event(event));
        }
        match (self.part, self.state.as_str(), self.instruction.as_str()) {
            (Part::Hesitates, "ELEVATOR_ARRIVED", _) => Some(self.event("cancel_exit")),
            (Part::Hesitates, "HOLD", _) if is_done("E", "EXPIRED") => {
                Some(self.event("cancel_enter"))
            }
            (Part::Rides, "ELEVATOR_ARRIVED", "enter") if is_done("P", "ELEVATOR_ARRIVED") => {
                Some(self.event("query"))
            }
            (Part::Rides, "TARGET_ARRIVED", "exit") if is_done("P", "TARGET_ARRIVED") => {
                Some(self.event("query"))
            }
            (Part::Cancels, "WAITING_HALL_CALL", _)
                if !self.again && is_done("C", "WAITING_HALL_CALL") =>
            {
                let Deed::Says { topic, mut body } = self.event("cancel_enter") else {
                    return None;
                };
                body["again"] = json!(true);
                Some(self.says(topic, body))
            }
            (Part::Cancels, "WAITING_HALL_CALL", _) if is_done("C", "QUEUED") => {
                let body = json!({ "message_id": self.message(), "timestamp": now(),
                    "order_id": self.name, "reason": "a test" });
                Some(self.says("ride/cancel", body))
            }
            _ => None,
        }
    }

    /// Word that it is there; one that dies says none in the end.
    fn is_there(&mut self, is_done: &dyn Fn(&str, &str) -> bool) -> Option<Deed> {
        let is_dead = self.part == Part::Dies
            && is_done("C", "CANCELLED")
            && self.state == "WAITING_HALL_CALL";
        if is_dead || self.status_at.elapsed() < STATUS {
            return None;
        }
        self.status_at = Instant::now();
        let body = json!({ "message_id": self.message(), "timestamp": now() });
        Some(Deed::Says {
            topic: "status",
            body,
        })
    }

    fn crosses(&self) -> Option<Deed> {
        let (from, to, _) = self.way();
        match (self.state.as_str(), self.inside) {
            ("ELEVATOR_ARRIVED", false) => Some(Deed::Crosses {
                floor: from,
                way: Way::In,
            }),
            ("TARGET_ARRIVED", true) => Some(Deed::Crosses {
                floor: to,
                way: Way::Out,
            }),
            _ => None,
        }
    }

    fn event(&mut self, event: &str) -> Deed {
        let body = json!({ "message_id": self.message(), "timestamp": now(),
            "order_id": self.name, "event": event, "fence": self.fence });
        self.says("ride/event", body)
    }

    fn says(&mut self, topic: &'static str, body: Value) -> Deed {
        let message = body["message_id"].as_str().unwrap_or_default().to_owned();
        self.said = Some(Said {
            message,
            topic,
            body: body.clone(),
            at: Instant::now(),
        });
        Deed::Says { topic, body }
    }

    fn message(&mut self) -> String {
        self.messages += 1;
        format!("{}-{}", self.name, self.messages)
    }
}

fn soon(ms: u64) -> String {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    protocol::Timestamp(u64::try_from(since.as_millis()).unwrap() + ms).to_string()
}
