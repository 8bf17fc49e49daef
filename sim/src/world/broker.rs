//! A model of an MQTT broker: QoS 1 in order, retained messages, wills, sessions.
//!
//! Every hop takes the same time, so what leaves in order arrives in order, but for bad weather.

mod filter;
mod session;
mod transit;
mod weather;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

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
    sessions: BTreeMap<Arc<str>, Session>,
    /// The clients of each filter, so that a message finds them at once.
    subscribers: BTreeMap<String, BTreeSet<Arc<str>>>,
    /// Those filters that stand for more than one topic; few, however many clients there are.
    wild: BTreeSet<String>,
    /// The clients of each topic, until anybody subscribes anew.
    routes: BTreeMap<String, Vec<Arc<str>>>,
    retained: BTreeMap<String, Arc<Envelope>>,
    /// What is under way, with the moment of its arrival, in that order.
    transit: VecDeque<(u64, Transit)>,
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
            self.route(now_ms, Arc::new(envelope));
        }
    }

    /// A client publishes; `id` comes back once the broker has it. Lost where the client is not
    /// connected.
    pub fn publish(&mut self, now_ms: u64, client: &str, id: u64, envelope: Envelope) {
        let known = self.sessions.get_key_value(client);
        let Some((client, session)) = known.filter(|(_, session)| session.connected) else {
            return;
        };
        let (client, epoch) = (Arc::clone(client), session.epoch);
        let envelope = Arc::new(envelope);
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
        let Some((client, _)) = self.sessions.get_key_value(client) else {
            return;
        };
        let client = Arc::clone(client);
        self.put(
            now_ms,
            Transit::Acknowledged {
                client,
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
        self.retained.get(topic).map(|envelope| &**envelope)
    }

    /// Messages that were dropped because a session was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// When something arrives next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        self.transit.front().map(|(at_ms, _)| *at_ms)
    }

    /// What arrives until `now_ms`: the next thing, if it is a client's.
    pub fn turn(&mut self, now_ms: u64) -> Option<Arrival> {
        while let Some((at_ms, transit)) = self.transit.pop_front_if(|(at_ms, _)| *at_ms <= now_ms)
        {
            match transit {
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
                        self.route(at_ms, Arc::clone(&envelope));
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

    fn route(&mut self, now_ms: u64, envelope: Arc<Envelope>) {
        if envelope.retain {
            if envelope.payload.is_empty() {
                self.retained.remove(&envelope.topic);
            } else {
                let kept = Arc::clone(&envelope);
                match self.retained.get_mut(&envelope.topic) {
                    Some(older) => *older = kept,
                    None => {
                        self.retained.insert(envelope.topic.clone(), kept);
                    }
                }
            }
        }
        let known = self.routes.get_mut(&envelope.topic).map(std::mem::take);
        let is_known = known.is_some();
        let clients = known.unwrap_or_else(|| self.clients_of(&envelope.topic));
        for client in &clients {
            if let Some(session) = self.sessions.get_mut(client) {
                if session.queue.len() >= QUEUE_MAX {
                    self.dropped += 1;
                } else {
                    session.queue.push_back((Arc::clone(&envelope), false));
                }
            }
            self.send(now_ms, client);
        }
        if is_known {
            if let Some(route) = self.routes.get_mut(&envelope.topic) {
                *route = clients;
            }
        } else if self.routes.len() < ROUTES_MAX {
            self.routes.insert(envelope.topic.clone(), clients);
        }
    }

    /// Who subscribed to a topic.
    fn clients_of(&self, topic: &String) -> Vec<Arc<str>> {
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
        while let Some(arrival) = self.next_for(client) {
            self.put(now_ms, Transit::ToClient(arrival));
        }
    }

    /// The next message that may leave for a client.
    fn next_for(&mut self, client: &str) -> Option<Arrival> {
        let session = self.sessions.get_mut(client)?;
        if !session.connected || session.flight.len() >= WINDOW {
            return None;
        }
        let (envelope, retained) = session.queue.pop_front()?;
        session.next_packet += 1;
        let (epoch, packet) = (session.epoch, session.next_packet);
        let kept = Arc::clone(&envelope);
        session.flight.insert(packet, (kept, retained));
        let (client, _) = self.sessions.get_key_value(client)?;
        Some(Arrival::Message {
            client: Arc::clone(client),
            epoch,
            packet,
            envelope,
            retained,
        })
    }

    fn put(&mut self, now_ms: u64, transit: Transit) {
        let at_ms = now_ms + self.latency_ms;
        let at_ms = match &transit {
            Transit::ToClient(Arrival::Message {
                client, envelope, ..
            }) => self.sky.arrival_ms(client, &envelope.topic, at_ms),
            Transit::ToClient(Arrival::Published { client, .. }) => self.sky.read_ms(client, at_ms),
            Transit::ToBroker { .. } | Transit::Acknowledged { .. } => at_ms,
        };
        // Most arrive in the order in which they leave.
        let later = self.transit.iter().rev();
        let later = later.take_while(|(other_ms, _)| *other_ms > at_ms).count();
        let place = self.transit.len() - later;
        self.transit.insert(place, (at_ms, transit));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
