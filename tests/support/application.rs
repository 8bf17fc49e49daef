//! An application that asks for places, numbers and turns.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, Message, Mosquitto, now};

/// The topics of the site of [`super::Site`].
const BASE: &str = "hallcall/v1/demo";
/// An answer that does not come within this time is asked for again, by the same message.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Application {
    id: String,
    client: Client,
}

impl Application {
    /// Connects and listens to its replies.
    #[track_caller]
    pub fn connect(broker: &Mosquitto, id: &str) -> Self {
        let client = Client::connect(broker, id);
        client.subscribe(&format!("{BASE}/clients/{id}/reply"));
        Self {
            id: id.to_owned(),
            client,
        }
    }

    /// Asks, by a message with the id of its order, and waits for the reply.
    #[track_caller]
    pub fn ask(&self, kind: &str, order: &str, fields: Value) -> Value {
        self.ask_as(&format!("m-{order}"), kind, order, fields)
    }

    /// The same by a message of another id.
    #[track_caller]
    pub fn ask_as(&self, message: &str, kind: &str, order: &str, fields: Value) -> Value {
        self.send(&asked(message, kind, order, fields).to_string());
        self.reply(message)
    }

    /// Asks until there is an answer, whatever happens to the gateway meanwhile.
    #[track_caller]
    pub fn insist(&self, kind: &str, order: &str, fields: Value) -> Value {
        let message = format!("m-{order}");
        let body = asked(&message, kind, order, fields).to_string();
        for _ in 0..60 {
            self.send(&body);
            if let Some(reply) = self.reply_within(&message, AGAIN) {
                return reply;
            }
        }
        panic!("no answer to {message}");
    }

    /// Publishes any payload on its request topic.
    #[track_caller]
    pub fn send(&self, payload: &str) {
        let topic = format!("{BASE}/clients/{}/request", self.id);
        self.client.publish(&topic, false, payload);
    }

    /// The first reply to a message.
    #[track_caller]
    pub fn reply(&self, message: &str) -> Value {
        let is = |heard: &Message| heard.text("in_reply_to") == message;
        self.client.hear(&format!("a reply to {message}"), is).body
    }

    /// The same, if it comes in time.
    pub fn reply_within(&self, message: &str, patience: Duration) -> Option<Value> {
        let is = |heard: &Message| heard.text("in_reply_to") == message;
        Some(self.client.hear_within(patience, is)?.body)
    }

    /// Its connection.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// A request as it stands on the wire.
pub fn asked(message: &str, kind: &str, order: &str, fields: Value) -> Value {
    let mut body = json!({
        "message_id": message, "timestamp": now(), "type": kind, "order_id": order,
    });
    if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
        body.extend(fields);
    }
    body
}

/// Code of a rejection.
pub fn code(reply: &Value) -> &str {
    assert_eq!(reply["result"], "rejected", "{reply}");
    reply["code"].as_str().unwrap_or_default()
}
