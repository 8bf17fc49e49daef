//! A model of an MQTT broker: QoS 1 in order, retained messages, wills, sessions.
//!
//! Every hop takes the same time, so what leaves in order arrives in order.

mod filter;
mod transit;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::Envelope;

use self::filter::matches;
pub use self::transit::Arrival;
use self::transit::Transit;

/// Messages that a session keeps for a client; a real broker drops the newest beyond.
const QUEUE_MAX: usize = 100_000;
/// Messages under way to one client without acknowledgement.
const WINDOW: usize = 100;

#[derive(Debug, Default)]
struct Session {
    connected: bool,
    clean: bool,
    epoch: u64,
    filters: BTreeSet<String>,
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
    /// The clients of each filter, so that a message finds them at once.
    subscribers: BTreeMap<String, BTreeSet<String>>,
    /// Those filters that stand for more than one topic; few, however many clients there are.
    wild: BTreeSet<String>,
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
        Self {
            latency_ms,
            ..Self::default()
        }
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
        let before = self.sessions.entry(client.to_owned()).or_default();
        let known = before.epoch > 0 && !before.clean && !clean;
        let epoch = before.epoch + 1;
        if !known {
            self.forget(client);
        }
        let session = self.sessions.entry(client.to_owned()).or_default();
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
        let Some(session) = self.sessions.get_mut(client) else {
            return;
        };
        if !session.connected {
            return;
        }
        session.connected = false;
        while let Some((_, unacknowledged)) = session.flight.pop_last() {
            session.queue.push_front(unacknowledged);
        }
        let (clean, will) = (session.clean, session.will.take());
        if clean {
            session.queue.clear();
            self.unsubscribe_all(client);
        }
        if let Some(will) = will.filter(|_| !good_bye) {
            self.route(now_ms, will);
        }
    }

    /// A client subscribes; retained messages follow.
    pub fn subscribe(&mut self, now_ms: u64, client: &str, filter: &str) {
        let Some(session) = self.sessions.get_mut(client) else {
            return;
        };
        session.filters.insert(filter.to_owned());
        if filter.contains(['+', '#']) {
            self.wild.insert(filter.to_owned());
        }
        self.subscribers
            .entry(filter.to_owned())
            .or_default()
            .insert(client.to_owned());
        let kept = self
            .retained
            .values()
            .filter(|envelope| matches(filter, &envelope.topic));
        session
            .queue
            .extend(kept.map(|envelope| (envelope.clone(), true)));
        self.send(now_ms, client);
    }

    /// A client gives up a subscription.
    pub fn unsubscribe(&mut self, client: &str, filter: &str) {
        if let Some(session) = self.sessions.get_mut(client) {
            session.filters.remove(filter);
        }
        if let Some(clients) = self.subscribers.get_mut(filter) {
            clients.remove(client);
        }
    }

    /// A client publishes; `id` comes back once the broker has it. Lost where the client is not
    /// connected.
    pub fn publish(&mut self, now_ms: u64, client: &str, id: u64, envelope: Envelope) {
        let Some(session) = self
            .sessions
            .get(client)
            .filter(|session| session.connected)
        else {
            return;
        };
        let (client, epoch) = (client.to_owned(), session.epoch);
        self.put(
            now_ms,
            Transit::ToBroker {
                client,
                epoch,
                id,
                envelope,
            },
        );
    }

    /// A client acknowledges a message.
    pub fn acknowledge(&mut self, now_ms: u64, client: &str, epoch: u64, packet: u64) {
        self.put(
            now_ms,
            Transit::Acknowledged {
                client: client.to_owned(),
                epoch,
                packet,
            },
        );
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
            let clients: Vec<_> = self.sessions.keys().cloned().collect();
            for client in clients {
                self.forget(&client);
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
            let at_ms = entry.key().0;
            if at_ms > now_ms {
                return None;
            }
            match entry.remove() {
                Transit::ToClient(arrival) => {
                    if self.is_current(&arrival) {
                        return Some(arrival);
                    }
                }
                Transit::ToBroker {
                    client,
                    epoch,
                    id,
                    envelope,
                } => {
                    self.route(at_ms, envelope);
                    self.put(
                        at_ms,
                        Transit::ToClient(Arrival::Published { client, epoch, id }),
                    );
                }
                Transit::Acknowledged {
                    client,
                    epoch,
                    packet,
                } => {
                    if let Some(session) = self.sessions.get_mut(&client)
                        && session.connected
                        && session.epoch == epoch
                    {
                        session.flight.remove(&packet);
                        self.send(at_ms, &client);
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
                self.retained
                    .insert(envelope.topic.clone(), envelope.clone());
            }
        }
        let wild = self
            .wild
            .iter()
            .filter(|filter| matches(filter, &envelope.topic));
        let clients: BTreeSet<_> = wild
            .chain([&envelope.topic])
            .filter_map(|filter| self.subscribers.get(filter))
            .flatten()
            .cloned()
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

    /// A session is new, but for the number of its connections.
    fn forget(&mut self, client: &str) {
        self.unsubscribe_all(client);
        if let Some(session) = self.sessions.get_mut(client) {
            *session = Session {
                epoch: session.epoch,
                clean: true,
                ..Session::default()
            };
        }
    }

    fn unsubscribe_all(&mut self, client: &str) {
        let Some(session) = self.sessions.get_mut(client) else {
            return;
        };
        for filter in std::mem::take(&mut session.filters) {
            if let Some(clients) = self.subscribers.get_mut(&filter) {
                clients.remove(client);
            }
        }
    }

    fn send(&mut self, now_ms: u64, client: &str) {
        let mut leaving = Vec::new();
        if let Some(session) = self
            .sessions
            .get_mut(client)
            .filter(|session| session.connected)
        {
            while session.flight.len() < WINDOW {
                let Some((envelope, retained)) = session.queue.pop_front() else {
                    break;
                };
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
        self.transit
            .insert((now_ms + self.latency_ms, self.count), transit);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
