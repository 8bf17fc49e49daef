//! A robot that says what a test tells it to, and hears what is said to it.

use serde_json::{Value, json};

use super::{Client, Message, Mosquitto};

/// The topics of the site of [`super::Site`].
const BASE: &str = "hallcall/v1/demo";

pub struct Robot {
    id: String,
    client: Client,
}

impl Robot {
    /// Connects and listens to its replies and states.
    #[track_caller]
    pub fn connect(broker: &Mosquitto, id: &str) -> Self {
        Self::connect_to(broker.port(), id)
    }

    /// The same at a port of loopback.
    #[track_caller]
    pub fn connect_to(port: u16, id: &str) -> Self {
        let client = Client::connect_to(port, id);
        client.subscribe(&format!("{BASE}/robots/{id}/ride/reply"));
        client.subscribe(&format!("{BASE}/robots/{id}/ride/state"));
        Self {
            id: id.to_owned(),
            client,
        }
    }

    /// Asks for a ride between front doors and waits for the reply.
    #[track_caller]
    pub fn request(&self, message: &str, order: &str, from: &str, to: &str) -> Value {
        self.send(
            "ride/request",
            &request(message, order, from, to).to_string(),
        );
        self.reply(message)
    }

    /// Says an event of an order and waits for the reply.
    #[track_caller]
    pub fn event(&self, message: &str, order: &str, event: &str, fence: Option<u64>) -> Value {
        let body = json!({ "message_id": message, "timestamp": now(), "order_id": order,
            "event": event, "fence": fence });
        self.send("ride/event", &body.to_string());
        self.reply(message)
    }

    /// Gives a ride up and waits for the reply.
    #[track_caller]
    pub fn cancel(&self, message: &str, order: &str) -> Value {
        let body = json!({ "message_id": message, "timestamp": now(), "order_id": order,
            "reason": "a test" });
        self.send("ride/cancel", &body.to_string());
        self.reply(message)
    }

    /// Publishes any payload below the robot's own topics, such as `ride/request`.
    #[track_caller]
    pub fn send(&self, topic: &str, payload: &str) {
        let topic = format!("{BASE}/robots/{}/{topic}", self.id);
        self.client.publish(&topic, false, payload);
    }

    /// The first reply to a message.
    #[track_caller]
    pub fn reply(&self, message: &str) -> Value {
        let is = |heard: &Message| {
            heard.topic.ends_with("/ride/reply") && heard.text("in_reply_to") == message
        };
        self.client.hear(&format!("a reply to {message}"), is).body
    }

    /// The first `ride/state` of an order in a state.
    #[track_caller]
    pub fn state(&self, order: &str, state: &str) -> Value {
        let is = |heard: &Message| {
            heard.topic.ends_with("/ride/state")
                && heard.text("order_id") == order
                && heard.text("state") == state
        };
        self.client.hear(&format!("{order} to be {state}"), is).body
    }

    /// Its connection.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// A request for a ride between front doors.
pub fn request(message: &str, order: &str, from: &str, to: &str) -> Value {
    json!({
        "message_id": message, "timestamp": now(), "order_id": order,
        "from": { "floor": from, "side": "front" }, "to": { "floor": to, "side": "front" },
    })
}

/// This moment as the wire writes it.
pub fn now() -> String {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let ms = u64::try_from(since.as_millis()).unwrap();
    protocol::Timestamp(ms).to_string()
}
