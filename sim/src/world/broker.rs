//! A model of an MQTT broker: QoS 1 in order, retained messages, wills, sessions.
//!
//! Every hop takes the same time, so what leaves in order arrives in order, but for bad weather.

mod filter;
mod session;
mod transit;
mod weather;

use std::collections::{BTreeMap, BTreeSet};

use protocol::Envelope;

use self::filter::matches;
use self::session::Session;
pub use self::transit::Arrival;
use self::transit::Transit;
use self::weather::Sky;
pub use self::weather::{Mishaps, Weather};

/// Messages that a session keeps for a client; a real broker drops the newest beyond.
const QUEUE_MAX: usize = 100_000;
/// Topics whose clients are remembered.
const ROUTES_MAX: usize = 10_000;
/// Messages under way to one client without acknowledgement.
const WINDOW: usize = 100;

/// The broker.
#[derive(Debug, Default)]
pub struct ModelBroker {
    latency_ms: u64,
    sessions: BTreeMap<String, Session>,
    /// The clients of each filter, so that a message finds them at once.
    subscribers: BTreeMap<String, BTreeSet<String>>,
    /// Those filters that stand for more than one topic; few, however many clients there are.
    wild: BTreeSet<String>,
    /// The clients of each topic, until anybody subscribes anew.
    routes: BTreeMap<String, Vec<String>>,
    retained: BTreeMap<String, Envelope>,
    transit: BTreeMap<(u64, u64), Transit>,
    /// Numbers what is in transit.
    count: u64,
    down: bool,
    dropped: u64,
    sky: Sky,
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

    /// From here on messages fare like this, by the chance of a seed.
    pub fn set_weather(&mut self, weather: Weather, seed: u64) {
        self.sky.set(weather, seed);
    }

    /// A client reads nothing until then: what comes for it waits.
    pub fn stall(&mut self, client: &str, until_ms: u64) {
        self.sky.stall(client, until_ms);
    }

    /// Good weather, and every client reads.
    pub fn clear_sky(&mut self) {
        self.sky.clear();
    }

    /// What happened to messages so far.
    #[must_use]
    pub fn mishaps(&self) -> Mishaps {
        self.sky.mishaps
    }

    /// Somebody else publishes, at this moment.
    pub fn inject(&mut self, now_ms: u64, envelope: Envelope) {
        if !self.down {
            self.route(now_ms, envelope);
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
                    if !self.is_live(&client, epoch) && self.sky.loses() {
                        continue;
                    }
                    if self.sky.twice() {
                        self.route(at_ms, envelope.clone());
                    }
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
                    } else {
                        self.sky.mishaps.acks_lost += 1;
                    }
                }
            }
        }
        None
    }

    fn is_current(&self, arrival: &Arrival) -> bool {
        let (Arrival::Message { client, epoch, .. } | Arrival::Published { client, epoch, .. }) =
            arrival;
        self.is_live(client, *epoch)
    }

    fn is_live(&self, client: &str, epoch: u64) -> bool {
        self.sessions
            .get(client)
            .is_some_and(|session| session.connected && session.epoch == epoch)
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
        let clients = self.routes.remove(&envelope.topic);
        let clients = clients.unwrap_or_else(|| self.clients_of(&envelope.topic));
        for client in &clients {
            if let Some(session) = self.sessions.get_mut(client) {
                if session.queue.len() >= QUEUE_MAX {
                    self.dropped += 1;
                } else {
                    session.queue.push_back((envelope.clone(), false));
                }
            }
            self.send(now_ms, client);
        }
        if self.routes.len() < ROUTES_MAX {
            self.routes.insert(envelope.topic, clients);
        }
    }

    /// Who subscribed to a topic.
    fn clients_of(&self, topic: &String) -> Vec<String> {
        let wild = self.wild.iter().filter(|filter| matches(filter, topic));
        let clients: BTreeSet<_> = wild
            .chain([topic])
            .filter_map(|filter| self.subscribers.get(filter))
            .flatten()
            .cloned()
            .collect();
        clients.into_iter().collect()
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
        let at_ms = now_ms + self.latency_ms;
        let at_ms = match &transit {
            Transit::ToClient(Arrival::Message { client, topic, .. }) => {
                self.sky.arrival_ms(client, topic, at_ms)
            }
            Transit::ToClient(Arrival::Published { client, .. }) => self.sky.read_ms(client, at_ms),
            Transit::ToBroker { .. } | Transit::Acknowledged { .. } => at_ms,
        };
        self.transit.insert((at_ms, self.count), transit);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
