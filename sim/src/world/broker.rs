//! A model of an MQTT broker: QoS 1 in order, retained messages, wills, sessions.
//!
//! Every hop takes the same time, so what leaves in order arrives in order.

use std::collections::{BTreeMap, VecDeque};

use protocol::Envelope;

/// Messages that a session keeps for a client; a real broker drops the newest beyond.
const QUEUE_MAX: usize = 100_000;
/// Messages under way to one client without acknowledgement.
const WINDOW: usize = 100;

/// Something that arrives at a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message {
        /// To whom.
        client: String,
        /// On which connection.
        epoch: u64,
        /// To be acknowledged with this.
        packet: u64,
        /// The topic.
        topic: String,
        /// The payload.
        payload: Vec<u8>,
        /// It is an old word, sent because of a subscription.
        retained: bool,
    },
    /// The broker has a message of the client.
    Published {
        /// Whose.
        client: String,
        /// On which connection.
        epoch: u64,
        /// What [`ModelBroker::publish`] was told.
        id: u64,
    },
}

#[derive(Debug, Clone)]
enum Transit {
    ToBroker { client: String, epoch: u64, id: u64, envelope: Envelope },
    ToClient(Arrival),
    Acknowledged { client: String, epoch: u64, packet: u64 },
}

#[derive(Debug, Default)]
struct Session {
    connected: bool,
    clean: bool,
    epoch: u64,
    filters: Vec<String>,
    queue: VecDeque<(Envelope, bool)>,
    /// Sent on this connection and not acknowledged.
    flight: BTreeMap<u64, (Envelope, bool)>,
    next_packet: u64,
    will: Option<Envelope>,
}

/// The broker.
#[derive(Debug, Default)]
pub struct ModelBroker {
    latency_ms: u64,
    sessions: BTreeMap<String, Session>,
    retained: BTreeMap<String, Envelope>,
    transit: BTreeMap<(u64, u64), Transit>,
    /// Numbers what is in transit.
    count: u64,
    down: bool,
    dropped: u64,
}

impl ModelBroker {
    /// A broker that is reached in `latency_ms`.
    #[must_use]
    pub fn new(latency_ms: u64) -> Self {
        Self { latency_ms, ..Self::default() }
    }

    /// A client connects; one with the same id is thrown out. Returns the number of the connection
    /// and whether the broker knew the session; `None` while the broker is down.
    pub fn connect(
        &mut self,
        client: &str,
        clean: bool,
        will: Option<Envelope>,
    ) -> Option<(u64, bool)> {
        if self.down {
            return None;
        }
        let session = self.sessions.entry(client.to_owned()).or_default();
        let known = session.epoch > 0 && !session.clean && !clean;
        let epoch = session.epoch + 1;
        if !known {
            *session = Session::default();
        }
        session.connected = true;
        session.clean = clean;
        session.epoch = epoch;
        session.will = will;
        Some((epoch, known))
    }

    /// What the broker kept for a client that connected again is sent from here on.
    pub fn resume(&mut self, now_ms: u64, client: &str) {
        self.send(now_ms, client);
    }

    /// A connection ends; without good bye the broker says the will.
    pub fn disconnect(&mut self, now_ms: u64, client: &str, good_bye: bool) {
        let Some(session) = self.sessions.get_mut(client) else { return };
        if !session.connected {
            return;
        }
        session.connected = false;
        while let Some((_, unacknowledged)) = session.flight.pop_last() {
            session.queue.push_front(unacknowledged);
        }
        if session.clean {
            session.queue.clear();
            session.filters.clear();
        }
        let will = session.will.take();
        if let Some(will) = will.filter(|_| !good_bye) {
            self.route(now_ms, will);
        }
    }

    /// A client subscribes; retained messages follow.
    pub fn subscribe(&mut self, now_ms: u64, client: &str, filter: &str) {
        let Some(session) = self.sessions.get_mut(client) else { return };
        if !session.filters.iter().any(|known| known == filter) {
            session.filters.push(filter.to_owned());
        }
        let kept = self.retained.values().filter(|envelope| matches(filter, &envelope.topic));
        session.queue.extend(kept.map(|envelope| (envelope.clone(), true)));
        self.send(now_ms, client);
    }

    /// A client gives up a subscription.
    pub fn unsubscribe(&mut self, client: &str, filter: &str) {
        if let Some(session) = self.sessions.get_mut(client) {
            session.filters.retain(|known| known != filter);
        }
    }

    /// A client publishes; `id` comes back once the broker has it. Lost where the client is not
    /// connected.
    pub fn publish(&mut self, now_ms: u64, client: &str, id: u64, envelope: Envelope) {
        let Some(session) = self.sessions.get(client).filter(|session| session.connected) else {
            return;
        };
        let (client, epoch) = (client.to_owned(), session.epoch);
        self.put(now_ms, Transit::ToBroker { client, epoch, id, envelope });
    }

    /// A client acknowledges a message.
    pub fn acknowledge(&mut self, now_ms: u64, client: &str, epoch: u64, packet: u64) {
        self.put(now_ms, Transit::Acknowledged { client: client.to_owned(), epoch, packet });
    }

    /// The broker goes down: every connection breaks, without wills; with `forgetting` its memory
    /// is lost too.
    pub fn go_down(&mut self, forgetting: bool) {
        self.down = true;
        self.transit.clear();
        let clients: Vec<_> = self.sessions.keys().cloned().collect();
        for client in clients {
            if let Some(session) = self.sessions.get_mut(&client) {
                session.will = None;
            }
            self.disconnect(0, &client, true);
        }
        if forgetting {
            self.retained.clear();
            for session in self.sessions.values_mut() {
                *session = Session { epoch: session.epoch, clean: true, ..Session::default() };
            }
        }
    }

    /// The broker is there again.
    pub fn come_up(&mut self) {
        self.down = false;
    }

    /// Whether it is down.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.down
    }

    /// The retained message of a topic.
    #[must_use]
    pub fn retained(&self, topic: &str) -> Option<&Envelope> {
        self.retained.get(topic)
    }

    /// Messages that were dropped because a session was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// When something arrives next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        self.transit.first_key_value().map(|((at_ms, _), _)| *at_ms)
    }

    /// What arrives until `now_ms`: the next thing, if it is a client's.
    pub fn turn(&mut self, now_ms: u64) -> Option<Arrival> {
        while let Some(entry) = self.transit.first_entry() {
            if entry.key().0 > now_ms {
                return None;
            }
            match entry.remove() {
                Transit::ToClient(arrival) => {
                    if self.is_current(&arrival) {
                        return Some(arrival);
                    }
                }
                Transit::ToBroker { client, epoch, id, envelope } => {
                    self.route(now_ms, envelope);
                    self.put(now_ms, Transit::ToClient(Arrival::Published { client, epoch, id }));
                }
                Transit::Acknowledged { client, epoch, packet } => {
                    if let Some(session) = self.sessions.get_mut(&client)
                        && session.connected
                        && session.epoch == epoch
                    {
                        session.flight.remove(&packet);
                        self.send(now_ms, &client);
                    }
                }
            }
        }
        None
    }

    fn is_current(&self, arrival: &Arrival) -> bool {
        let (Arrival::Message { client, epoch, .. } | Arrival::Published { client, epoch, .. }) =
            arrival;
        self.sessions
            .get(client)
            .is_some_and(|session| session.connected && session.epoch == *epoch)
    }

    fn route(&mut self, now_ms: u64, envelope: Envelope) {
        if envelope.retain {
            if envelope.payload.is_empty() {
                self.retained.remove(&envelope.topic);
            } else {
                self.retained.insert(envelope.topic.clone(), envelope.clone());
            }
        }
        let wants = |session: &Session| {
            (session.connected || !session.clean)
                && session.filters.iter().any(|filter| matches(filter, &envelope.topic))
        };
        let clients: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, session)| wants(session))
            .map(|(client, _)| client.clone())
            .collect();
        for client in clients {
            if let Some(session) = self.sessions.get_mut(&client) {
                if session.queue.len() >= QUEUE_MAX {
                    self.dropped += 1;
                } else {
                    session.queue.push_back((envelope.clone(), false));
                }
            }
            self.send(now_ms, &client);
        }
    }

    fn send(&mut self, now_ms: u64, client: &str) {
        let mut leaving = Vec::new();
        if let Some(session) = self.sessions.get_mut(client).filter(|session| session.connected) {
            while session.flight.len() < WINDOW {
                let Some((envelope, retained)) = session.queue.pop_front() else { break };
                session.next_packet += 1;
                let packet = session.next_packet;
                leaving.push(Arrival::Message {
                    client: client.to_owned(),
                    epoch: session.epoch,
                    packet,
                    topic: envelope.topic.clone(),
                    payload: envelope.payload.clone(),
                    retained,
                });
                session.flight.insert(packet, (envelope, retained));
            }
        }
        for arrival in leaving {
            self.put(now_ms, Transit::ToClient(arrival));
        }
    }

    fn put(&mut self, now_ms: u64, transit: Transit) {
        self.count += 1;
        self.transit.insert((now_ms + self.latency_ms, self.count), transit);
    }
}

/// Whether an MQTT topic filter takes a topic.
fn matches(filter: &str, topic: &str) -> bool {
    let mut levels = topic.split('/');
    for wanted in filter.split('/') {
        if wanted == "#" {
            return true;
        }
        match levels.next() {
            Some(level) if wanted == "+" || wanted == level => {}
            Some(_) | None => return false,
        }
    }
    levels.next().is_none()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use protocol::Envelope;

    use super::{Arrival, ModelBroker, matches};

    fn envelope(topic: &str, payload: &str, retain: bool) -> Envelope {
        Envelope { topic: topic.into(), payload: payload.into(), retain, qos: 1 }
    }

    /// (client, payload, packet, retained) of the messages that arrive.
    fn arriving(broker: &mut ModelBroker) -> Vec<(String, String, u64, bool)> {
        let mut all = Vec::new();
        while let Some(arrival) = broker.turn(1_000_000) {
            if let Arrival::Message { client, payload, packet, retained, .. } = arrival {
                all.push((client, String::from_utf8(payload).unwrap(), packet, retained));
            }
        }
        all
    }

    fn got(client: &str, payload: &str, packet: u64, retained: bool) -> (String, String, u64, bool) {
        (client.to_owned(), payload.to_owned(), packet, retained)
    }

    #[test]
    fn filters_take_what_mqtt_says() {
        assert!(matches("a/+/c", "a/b/c") && matches("a/#", "a/b/c") && matches("a/b", "a/b"));
        assert!(!matches("a/+", "a/b/c") && !matches("a/b/c", "a/b") && !matches("a/+/d", "a/b/c"));
    }

    #[test]
    fn a_message_takes_two_hops_and_its_publisher_learns_of_it() {
        let mut broker = ModelBroker::new(5);
        broker.connect("robot", true, None);
        broker.connect("gateway", false, None);
        broker.subscribe(0, "gateway", "t/#");
        broker.publish(0, "robot", 7, envelope("t/x", "hello", false));
        assert_eq!(broker.turn(9), None);
        let mut seen = Vec::new();
        while let Some(arrival) = broker.turn(10) {
            seen.push(arrival);
        }
        assert!(seen.contains(&Arrival::Published { client: "robot".into(), epoch: 1, id: 7 }));
        assert_eq!(seen.len(), 2);
    }

    #[test]
    fn what_was_not_acknowledged_comes_again_to_a_persistent_session() {
        let mut broker = ModelBroker::new(1);
        broker.connect("robot", true, None);
        broker.connect("gateway", false, None);
        broker.subscribe(0, "gateway", "t");
        for payload in ["a", "b", "c"] {
            broker.publish(0, "robot", 0, envelope("t", payload, false));
        }
        assert_eq!(arriving(&mut broker).len(), 3);
        broker.acknowledge(10, "gateway", 1, 1);
        assert_eq!(arriving(&mut broker), []);
        broker.disconnect(20, "gateway", false);
        assert_eq!(broker.connect("gateway", false, None), Some((2, true)));
        broker.resume(30, "gateway");
        let again = [got("gateway", "b", 4, false), got("gateway", "c", 5, false)];
        assert_eq!(arriving(&mut broker), again);
    }

    #[test]
    fn retained_words_and_wills_reach_who_comes_later() {
        let mut broker = ModelBroker::new(1);
        broker.connect("robot", true, Some(envelope("c", "broken", true)));
        broker.publish(0, "robot", 0, envelope("c", "online", true));
        arriving(&mut broker);
        broker.disconnect(5, "robot", false);
        broker.connect("late", true, None);
        broker.subscribe(6, "late", "+");
        assert_eq!(arriving(&mut broker), [got("late", "broken", 1, true)]);
    }

    #[test]
    fn a_broker_that_forgets_knows_no_session_and_no_retained_word() {
        let mut broker = ModelBroker::new(1);
        broker.connect("gateway", false, None);
        broker.publish(0, "gateway", 0, envelope("c", "online", true));
        arriving(&mut broker);
        broker.go_down(true);
        assert_eq!(broker.connect("gateway", false, None), None);
        broker.come_up();
        assert_eq!(broker.connect("gateway", false, None), Some((2, false)));
        assert_eq!(broker.retained("c"), None);
    }
}
