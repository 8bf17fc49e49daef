//! An MQTT client that remembers all that it heard.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rumqttc::{Event, MqttOptions, Packet, QoS};
use serde_json::Value;

use super::{Mosquitto, SOON};

/// A message that was heard.
#[derive(Debug, Clone)]
pub struct Message {
    pub topic: String,
    /// `Null` where the payload is no JSON.
    pub body: Value,
    pub payload: Vec<u8>,
    pub retained: bool,
    pub at: Instant,
}

impl Message {
    pub fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_default()
    }
}

#[derive(Default)]
struct Heard {
    messages: Vec<Message>,
    subscribed: usize,
    published: usize,
    connected: bool,
}

type Shared = Arc<(Mutex<Heard>, Condvar)>;

pub struct Client {
    client: rumqttc::Client,
    heard: Shared,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    /// Connects with a clean session.
    #[track_caller]
    pub fn connect(broker: &Mosquitto, id: &str) -> Self {
        Self::connect_to(broker.port(), id)
    }

    /// Connects to a port of loopback, and again whenever the connection breaks.
    #[track_caller]
    pub fn connect_to(port: u16, id: &str) -> Self {
        let mut options = MqttOptions::new(id, "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(30));
        options.set_max_packet_size(8 << 20, 8 << 20);
        let (client, mut connection) = rumqttc::Client::new(options, 1_000);
        let heard = Shared::default();
        let shared = Arc::clone(&heard);
        let thread = std::thread::spawn(move || {
            for event in connection.iter() {
                match event {
                    Ok(event) => {
                        let left = event == Event::Outgoing(rumqttc::Outgoing::Disconnect);
                        note(&shared, event);
                        if left {
                            break;
                        }
                    }
                    Err(rumqttc::ConnectionError::RequestsDone) => break,
                    Err(_) => {
                        shared.0.lock().unwrap().connected = false;
                        std::thread::sleep(Duration::from_millis(50));
                    }
                }
            }
        });
        let client = Self {
            client,
            heard,
            thread: Some(thread),
        };
        client.wait("the connection", |heard| heard.connected.then_some(()));
        client
    }

    /// Subscribes, and waits for the broker to grant it.
    #[track_caller]
    pub fn subscribe(&self, filter: &str) {
        let before = self.heard.0.lock().unwrap().subscribed;
        self.client.subscribe(filter, QoS::AtLeastOnce).unwrap();
        self.wait("a SUBACK", |heard| {
            (heard.subscribed > before).then_some(())
        });
    }

    /// Publishes, and waits for the broker's PUBACK.
    #[track_caller]
    pub fn publish(&self, topic: &str, retain: bool, payload: impl Into<Vec<u8>>) {
        let before = self.heard.0.lock().unwrap().published;
        self.client
            .publish(topic, QoS::AtLeastOnce, retain, payload)
            .unwrap();
        self.wait("a PUBACK", |heard| (heard.published > before).then_some(()));
    }

    /// The first message, heard already or not, that `is` wanted.
    #[track_caller]
    pub fn hear(&self, what: &str, is: impl Fn(&Message) -> bool) -> Message {
        self.wait(what, |heard| {
            heard.messages.iter().find(|message| is(message)).cloned()
        })
    }

    /// The same, if it is heard within this time.
    pub fn hear_within(
        &self,
        patience: Duration,
        is: impl Fn(&Message) -> bool,
    ) -> Option<Message> {
        let (heard, changed) = &*self.heard;
        let found = |heard: &Heard| heard.messages.iter().find(|message| is(message)).cloned();
        let heard = heard.lock().unwrap();
        let waiting = |heard: &mut Heard| found(heard).is_none();
        let (heard, _) = changed
            .wait_timeout_while(heard, patience, waiting)
            .unwrap();
        found(&heard)
    }

    /// All that was heard so far.
    pub fn heard(&self) -> Vec<Message> {
        self.heard.0.lock().unwrap().messages.clone()
    }

    /// All from the message of this number on, from 0.
    pub fn heard_from(&self, first: usize) -> Vec<Message> {
        let heard = self.heard.0.lock().unwrap();
        heard.messages.get(first..).unwrap_or_default().to_vec()
    }

    /// Forgets what was heard.
    pub fn forget(&self) {
        self.heard.0.lock().unwrap().messages.clear();
    }

    #[track_caller]
    fn wait<T>(&self, what: &str, look: impl Fn(&Heard) -> Option<T>) -> T {
        let deadline = Instant::now() + SOON;
        let (heard, changed) = &*self.heard;
        let mut heard = heard.lock().unwrap();
        loop {
            if let Some(seen) = look(&heard) {
                return seen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let all: Vec<String> = heard
                    .messages
                    .iter()
                    .map(|message| format!("{} {}", message.topic, message.body))
                    .collect();
                panic!(
                    "waited {SOON:?} in vain for {what}; heard:\n{}",
                    all.join("\n")
                );
            }
            heard = changed.wait_timeout(heard, left).unwrap().0;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.client.try_disconnect();
        if let Some(thread) = self.thread.take()
            && self.heard.0.lock().is_ok_and(|heard| heard.connected)
        {
            let _ = thread.join();
        }
    }
}

fn note(shared: &Shared, event: Event) {
    let (heard, changed) = &**shared;
    let mut heard = heard.lock().unwrap();
    match event {
        Event::Incoming(Packet::Publish(publish)) => heard.messages.push(Message {
            topic: publish.topic.clone(),
            body: serde_json::from_slice(&publish.payload).unwrap_or(Value::Null),
            payload: publish.payload.to_vec(),
            retained: publish.retain,
            at: Instant::now(),
        }),
        Event::Incoming(Packet::SubAck(_)) => heard.subscribed += 1,
        Event::Incoming(Packet::PubAck(_)) => heard.published += 1,
        Event::Incoming(Packet::ConnAck(_)) => heard.connected = true,
        Event::Incoming(_) | Event::Outgoing(_) => {}
    }
    drop(heard);
    changed.notify_all();
}
