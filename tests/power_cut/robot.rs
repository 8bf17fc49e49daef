//! One robot of the crowd, and what it says.

use serde_json::{Value, json};

use crate::support::{now, request};

/// What a robot does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Asks,
    Cancels,
    /// For the door to open where it starts.
    Waits,
    Enters,
    /// For the door to open where it goes.
    Rides,
    Exits,
}

pub(crate) struct Robot {
    /// Its elevator.
    pub(crate) elevator: &'static str,
    pub(crate) rides: bool,
    pub(crate) step: Step,
    pub(crate) order: String,
    /// What it repeats until it is answered.
    pub(crate) said: Option<Said>,
    /// The state of its order that was shown last.
    pub(crate) shown: String,
    /// Rides, or cancelled orders, that came to their end.
    pub(crate) done: usize,
}

#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) message: String,
    /// Below its own topics.
    pub(crate) topic: &'static str,
    pub(crate) body: Value,
}

impl Robot {
    /// One that rides EL001, or one that gives up its rides of EL002.
    pub(crate) fn new(rides: bool) -> Self {
        Self {
            elevator: if rides { "EL001" } else { "EL002" },
            rides,
            step: Step::Asks,
            order: String::new(),
            said: None,
            shown: String::new(),
            done: 0,
        }
    }
}

impl Said {
    pub(crate) fn request(message: &str, order: &str, elevator: &str) -> Self {
        let mut body = request(message, order, "1F", "6F");
        body["elevators"] = json!([elevator]);
        Self::new("ride/request", message, body)
    }

    pub(crate) fn cancel(message: &str, order: &str) -> Self {
        let body = json!({ "message_id": message, "timestamp": now(), "order_id": order,
            "reason": "a test" });
        Self::new("ride/cancel", message, body)
    }

    pub(crate) fn event(message: &str, order: &str, event: &str, fence: &Value) -> Self {
        let body = json!({ "message_id": message, "timestamp": now(), "order_id": order,
            "event": event, "fence": fence });
        Self::new("ride/event", message, body)
    }

    pub(crate) fn new(topic: &'static str, message: &str, body: Value) -> Self {
        let message = message.to_owned();
        Self {
            message,
            topic,
            body,
        }
    }
}
