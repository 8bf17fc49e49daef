//! Who is connected, and what the broker keeps for whom.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use protocol::Envelope;

use super::ModelBroker;
use super::filter::matches;

#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) connected: bool,
    pub(super) clean: bool,
    pub(super) epoch: u64,
    pub(super) filters: BTreeSet<String>,
    pub(super) queue: VecDeque<(Arc<Envelope>, bool)>,
    /// Sent on this connection and not acknowledged.
    pub(super) flight: BTreeMap<u64, (Arc<Envelope>, bool)>,
    pub(super) next_packet: u64,
    pub(super) will: Option<Envelope>,
}

impl ModelBroker {
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
        let before = self.sessions.entry(client.into()).or_default();
        let known = before.epoch > 0 && !before.clean && !clean;
        let epoch = before.epoch + 1;
        if !known {
            self.forget(client);
        }
        let session = self.sessions.entry(client.into()).or_default();
        session.connected = true;
        session.clean = clean;
        session.epoch = epoch;
        session.will = will;
        Some((epoch, known))
    }

    /// Whether a client is connected.
    #[must_use]
    pub fn is_connected(&self, client: &str) -> bool {
        self.sessions
            .get(client)
            .is_some_and(|session| session.connected)
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
        let unacknowledged = session.flight.len() as u64;
        while let Some((_, unacknowledged)) = session.flight.pop_last() {
            session.queue.push_front(unacknowledged);
        }
        if !session.clean {
            self.sky.mishaps.redelivered += unacknowledged;
        }
        let (clean, will) = (session.clean, session.will.take());
        if clean {
            session.queue.clear();
            self.unsubscribe_all(client);
        }
        if let Some(will) = will.filter(|_| !good_bye) {
            self.route(now_ms, Arc::new(will));
        }
    }

    /// A client subscribes; retained messages follow.
    pub fn subscribe(&mut self, now_ms: u64, client: &str, filter: &str) {
        if !self.sessions.contains_key(client) {
            return;
        }
        self.reroute(filter);
        if filter.contains(['+', '#']) {
            self.wild.insert(filter.to_owned());
        }
        self.subscribers
            .entry(filter.to_owned())
            .or_default()
            .insert(client.into());
        let Some(session) = self.sessions.get_mut(client) else {
            return;
        };
        session.filters.insert(filter.to_owned());
        let kept = self
            .retained
            .values()
            .filter(|envelope| matches(filter, &envelope.topic));
        session
            .queue
            .extend(kept.map(|envelope| (Arc::clone(envelope), true)));
        self.send(now_ms, client);
    }

    /// A client gives up a subscription.
    pub fn unsubscribe(&mut self, client: &str, filter: &str) {
        self.reroute(filter);
        if let Some(session) = self.sessions.get_mut(client) {
            session.filters.remove(filter);
        }
        if let Some(clients) = self.subscribers.get_mut(filter) {
            clients.remove(client);
        }
    }

    /// A session is new, but for the number of its connections.
    pub(super) fn forget(&mut self, client: &str) {
        self.unsubscribe_all(client);
        if let Some(session) = self.sessions.get_mut(client) {
            *session = Session {
                epoch: session.epoch,
                clean: true,
                ..Session::default()
            };
        }
    }

    /// Who takes the topics of a filter is found anew.
    fn reroute(&mut self, filter: &str) {
        if self.wild.contains(filter) || filter.contains(['+', '#']) {
            self.routes.clear();
        } else {
            self.routes.remove(filter);
        }
    }

    fn unsubscribe_all(&mut self, client: &str) {
        let Some(session) = self.sessions.get_mut(client) else {
            return;
        };
        for filter in std::mem::take(&mut session.filters) {
            self.reroute(&filter);
            if let Some(clients) = self.subscribers.get_mut(&filter) {
                clients.remove(client);
            }
        }
    }
}
