//! What the gateway says.
//!
//! The outbox keeps a message until the broker has acknowledged it; what the client library keeps
//! besides is taken from it at each end of a connection, so that the outbox alone says what is
//! sent again (law 5). The connection's will says that it broke.

mod connection;
mod word;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch::Input;
use dispatch::edge::outbox::{Keep, Next, Outbox};
use protocol::hardware::{Outcome, Report};
use protocol::robot::ConnectionState;
use protocol::{Outgoing, Topics};
use rumqttc::{AsyncClient, LastWill, QoS};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

pub use connection::{Connection, Running};
use word::{Word, presence, said_of_us, shortened};

use super::account::{Account, Client};
use crate::clock::Clock;
use crate::inbox::{Arrival, Heard, Inbox};
use crate::instance::Stamps;

/// Messages that wait for the broker: two for each robot of a large site, and more.
const OUTBOX_MAX: usize = 65_536;
/// So many wait that nothing more is to be heard that would be answered. What is on its way through
/// the core by then needs less than the other half (inbox and committer hold 1,024 steps each).
const CROWDED: usize = OUTBOX_MAX / 2;
/// Messages that the broker may leave unacknowledged; the default of the client library.
const WINDOW: usize = 100;
/// Requests that wait in the client library: the window, and what goes beside it.
const REQUESTS: usize = WINDOW + 16;

/// What the egress needs.
pub struct Setup {
    /// Which broker.
    pub account: Account,
    /// The topics of the site.
    pub topics: Topics,
    /// Whose stamps its messages bear.
    pub stamps: Stamps,
    /// The clock.
    pub clock: Clock,
    /// Where it tells of commands that were dropped.
    pub inbox: Inbox,
}

/// Says things. Clones speak through the same connection.
#[derive(Clone)]
pub struct Egress(Arc<Shared>);

struct Shared {
    topics: Topics,
    stamps: Stamps,
    clock: Clock,
    inbox: Inbox,
    client: AsyncClient,
    state: Mutex<State>,
    /// The link is open, and the outbox half full or more.
    crowded: watch::Sender<bool>,
    /// The outbox is empty.
    empty: Notify,
    /// The broker has our ONLINE, once in this start.
    online: watch::Sender<bool>,
}

struct State {
    outbox: Outbox<Word>,
    /// The journal is loaded and every subscription is granted.
    ready: bool,
    /// Handed to the client library, which has given them no packet id yet.
    submitted: VecDeque<u64>,
    /// What the client library sent and the broker has not acknowledged, the oldest first.
    flight: VecDeque<Sent>,
    /// The last ONLINE that was handed over.
    online: Option<u64>,
}

struct Sent {
    packet_id: u16,
    id: u64,
    at: Instant,
}

impl Egress {
    /// An egress whose link is closed until its connection runs.
    #[must_use]
    pub fn new(setup: Setup) -> (Self, Connection) {
        let Setup {
            account,
            topics,
            stamps,
            clock,
            inbox,
        } = setup;
        let broken = presence(&stamps, ConnectionState::ConnectionBroken);
        let will = broken.encode(&topics, &stamps.next());
        let options = Client {
            id: format!("{}-out", stamps.source()),
            clean: true,
            manual_acks: false,
            will: Some(LastWill::new(
                will.topic,
                will.payload,
                QoS::AtLeastOnce,
                will.retain,
            )),
        };
        let (client, connection) = account.connection(options, REQUESTS);
        let state = State {
            outbox: Outbox::new(OUTBOX_MAX, WINDOW),
            ready: false,
            submitted: VecDeque::new(),
            flight: VecDeque::new(),
            online: None,
        };
        let egress = Self(Arc::new(Shared {
            topics,
            stamps,
            clock,
            inbox,
            client,
            state: Mutex::new(state),
            crowded: watch::Sender::new(false),
            empty: Notify::new(),
            online: watch::Sender::new(false),
        }));
        (egress.clone(), Connection::new(egress, connection))
    }

    /// Says something, in its turn. Never waits: the committer's thread holds doors too. Where the
    /// outbox is full the message is lost, which the log tells: replies are asked for again, states
    /// follow. Whoever hears waits for [`Egress::room`] long before that.
    pub fn say(&self, message: Outgoing) {
        let mut state = self.lock();
        self.push(&mut state, message);
        self.pump(&mut state);
    }

    /// Waits while so much waits for the broker that nothing more is to be heard. It ends by
    /// itself: a broker that acknowledges nothing is left.
    pub async fn room(&self) {
        if *self.0.crowded.borrow() {
            // The sender lives as long as this.
            let _ = self
                .0
                .crowded
                .subscribe()
                .wait_for(|crowded| !crowded)
                .await;
        }
    }

    /// Whether the journal is loaded and every subscription is granted. Each time that it becomes
    /// true, and whenever the link opens meanwhile, the gateway says that it is ONLINE.
    pub fn set_ready(&self, ready: bool) {
        self.lock().ready = ready;
        self.say_presence_again();
    }

    /// It hears nothing any more. Where it still speaks, no will says so.
    pub fn say_deaf(&self) {
        let was_ready = std::mem::replace(&mut self.lock().ready, false);
        if was_ready {
            self.say(presence(&self.0.stamps, ConnectionState::ConnectionBroken));
        }
    }

    /// Says ONLINE again, if that is the truth: somebody said otherwise about us.
    pub fn say_presence_again(&self) {
        let mut state = self.lock();
        self.announce(&mut state);
        self.pump(&mut state);
    }

    /// Says OFFLINE, and ONLINE no more.
    pub fn say_offline(&self) {
        self.lock().ready = false;
        self.say(presence(&self.0.stamps, ConnectionState::Offline));
    }

    /// Waits until the broker has our ONLINE for the first time.
    pub async fn online(&self) {
        // The sender lives as long as this.
        let _ = self.0.online.subscribe().wait_for(|online| *online).await;
    }

    fn announce(&self, state: &mut State) {
        if !(state.ready && state.outbox.is_open()) {
            return;
        }
        self.push(state, presence(&self.0.stamps, ConnectionState::Online));
    }

    fn push(&self, state: &mut State, message: Outgoing) {
        let now_ms = self.0.clock.mono_ms();
        let keep = Keep::of(&message, now_ms);
        let stamp = self.0.stamps.next();
        if let Err(full) = state.outbox.push(now_ms, keep, Word { stamp, message }) {
            let topic = full.item.message.topic();
            tracing::error!(%topic, "the outbox is full, a message is lost");
        }
    }

    /// Hands to the client library what may leave.
    fn pump(&self, state: &mut State) {
        let now_ms = self.0.clock.mono_ms();
        loop {
            match state.outbox.next(now_ms) {
                Some(Next::Send {
                    id,
                    waited_ms,
                    message: Word { stamp, message },
                }) => {
                    let message = shortened(message, waited_ms);
                    match said_of_us(&message) {
                        Some(ConnectionState::Online) if state.ready => state.online = Some(id),
                        Some(ConnectionState::ConnectionBroken) if !state.ready => {}
                        Some(ConnectionState::Offline) | None => {}
                        Some(ConnectionState::Online | ConnectionState::ConnectionBroken) => {
                            // It waited through an outage and is not the truth any more.
                            state.outbox.acked(id);
                            continue;
                        }
                    }
                    let envelope = message.encode(&self.0.topics, stamp);
                    let sent = self.0.client.try_publish(
                        envelope.topic,
                        QoS::AtLeastOnce,
                        envelope.retain,
                        envelope.payload,
                    );
                    match sent {
                        Ok(()) => state.submitted.push_back(id),
                        // The queue has room for the window; it can only be gone, at the end.
                        Err(error) => tracing::debug!(%error, "a message was not sent"),
                    }
                }
                Some(Next::Dropped(word)) => self.dropped(&word.message),
                None => break,
            }
        }
        if state.outbox.is_empty() {
            self.0.empty.notify_waiters();
        }
        let crowded = state.outbox.is_open() && state.outbox.len() >= CROWDED;
        if crowded != *self.0.crowded.borrow() {
            self.0.crowded.send_replace(crowded);
        }
    }

    /// A command that does not leave any more is told to the core; other messages are just old.
    fn dropped(&self, message: &Outgoing) {
        tracing::debug!(topic = %message.topic(), "a message was not worth sending any more");
        let Outgoing::ElevatorCommand(sent) = message else {
            return;
        };
        let report = Report::Outcome {
            command_id: sent.command.command_id.clone(),
            outcome: Outcome::Dropped {
                detail: "the broker could not be reached".to_owned(),
            },
        };
        let elevator = sent.command.elevator_id.clone();
        let heard = Heard::Input(Input::Report { elevator, report });
        // This thread must not wait for the engine, which may wait for it. If there is no room,
        // the core's own time-out tells the same.
        let _ = self.0.inbox.try_send(Arrival { heard, ack: None });
    }

    fn opened(&self) {
        let mut state = self.lock();
        state.outbox.opened();
        self.announce(&mut state);
        self.pump(&mut state);
    }

    fn closed(&self) {
        let mut state = self.lock();
        state.outbox.closed();
        state.submitted.clear();
        state.flight.clear();
        self.pump(&mut state);
        drop(state);
        self.0.empty.notify_waiters();
    }

    /// The client library sent the next message, with this packet id. Says since when the oldest
    /// is not acknowledged.
    fn sent(&self, packet_id: u16) -> Option<Instant> {
        let mut state = self.lock();
        if let Some(id) = state.submitted.pop_front() {
            let at = Instant::now();
            state.flight.push_back(Sent { packet_id, id, at });
        }
        state.flight.front().map(|sent| sent.at)
    }

    /// Says as much of what is left.
    fn acked(&self, packet_id: u16) -> Option<Instant> {
        let mut state = self.lock();
        // Mostly the first: brokers acknowledge in order.
        let mut flight = state.flight.iter();
        let place = flight.position(|sent| sent.packet_id == packet_id);
        if let Some(sent) = place.and_then(|place| state.flight.remove(place)) {
            state.outbox.acked(sent.id);
            if state.online == Some(sent.id) {
                self.0.online.send_replace(true);
            }
        }
        self.pump(&mut state);
        state.flight.front().map(|sent| sent.at)
    }

    /// Waits until the broker has everything, or cannot be reached.
    async fn drained(&self) {
        loop {
            let emptied = self.0.empty.notified();
            let is_drained = {
                let state = self.lock();
                state.outbox.is_empty() || !state.outbox.is_open()
            };
            if is_drained {
                return;
            }
            emptied.await;
        }
    }

    /// Takes leave of the broker, behind all that was handed over. From here on nobody says ONLINE.
    fn leave(&self) {
        self.lock().ready = false;
        let _ = self.0.client.try_disconnect();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
