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
use rumqttc::{Disconnect, LastWill, Publish, QoS, Request};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

pub use connection::{Connection, Running};
use word::{Word, presence, said_of_us, shortened};

use super::account::{Account, Client};
use super::link::{Link, Requests};
use crate::clock::Clock;
use crate::inbox::{Arrival, Heard, Inbox};
use crate::instance::Stamps;

/// Messages that wait for the broker: two for each robot of a large site, and more.
const OUTBOX_MAX: usize = 65_536;
/// So many wait that nothing more is to be heard that would be answered. What is on its way through
/// the core by then needs less than the other half (inbox and committer hold 1,024 steps each).
const CROWDED: usize = OUTBOX_MAX / 2;
/// Messages that the broker may leave unacknowledged: with 20 ms for each, 50,000 leave in a second.
const WINDOW: u16 = 1_000;
/// Requests that wait to be written: the window, and what goes beside it.
const REQUESTS: usize = WINDOW as usize + 16;

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
    requests: Requests,
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
    /// OFFLINE was said: it is the last word, whatever comes.
    over: bool,
    /// Waiting to be written, without a packet id yet.
    submitted: VecDeque<u64>,
    /// What was written and the broker has not acknowledged, the oldest first.
    flight: VecDeque<Sent>,
    /// The last ONLINE that was handed over.
    online: Option<u64>,
}

/// What became of a message.
enum News {
    /// It was written, with this packet id.
    Sent(u16),
    /// The broker has it.
    Acked(u16),
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
            window: WINDOW,
            will: Some(LastWill::new(
                will.topic,
                will.payload,
                QoS::AtLeastOnce,
                will.retain,
            )),
        };
        let (requests, link) = Link::new(&account, options, REQUESTS);
        let state = State {
            outbox: Outbox::new(OUTBOX_MAX, usize::from(WINDOW)),
            ready: false,
            over: false,
            submitted: VecDeque::new(),
            flight: VecDeque::new(),
            online: None,
        };
        let egress = Self(Arc::new(Shared {
            topics,
            stamps,
            clock,
            inbox,
            requests,
            state: Mutex::new(state),
            crowded: watch::Sender::new(false),
            empty: Notify::new(),
            online: watch::Sender::new(false),
        }));
        (egress.clone(), Connection::new(egress, link))
    }

    /// Says something, in its turn. Never waits: the committer's thread holds doors too. Where the
    /// outbox is full the message is lost, which the log tells: replies are asked for again, states
    /// follow. Whoever hears waits for [`Egress::room`] long before that.
    pub fn say(&self, message: Outgoing) {
        self.say_all([message]);
    }

    /// Says several things, as [`Egress::say`] does.
    pub fn say_all(&self, messages: impl IntoIterator<Item = Outgoing>) {
        let mut state = self.lock();
        for message in messages {
            self.push(&mut state, message);
        }
        self.pump(&mut state);
    }

    /// Whether so much waits for the broker that nothing more is to be heard.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        *self.0.crowded.borrow()
    }

    /// Waits while it is crowded. It ends by itself: a broker that acknowledges nothing is left.
    pub async fn room(&self) {
        // The sender lives as long as this.
        let mut crowded = self.0.crowded.subscribe();
        let _ = crowded.wait_for(|crowded| !crowded).await;
    }

    /// Whether the journal is loaded and every subscription is granted. Each time that it becomes
    /// true, and whenever the link opens meanwhile, the gateway says that it is ONLINE.
    pub fn set_ready(&self, ready: bool) {
        let mut state = self.lock();
        state.ready = ready && !state.over;
        drop(state);
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
        self.end();
        self.say(presence(&self.0.stamps, ConnectionState::Offline));
    }

    /// Waits until the broker has our ONLINE for the first time.
    pub async fn online(&self) {
        // The sender lives as long as this.
        let _ = self.0.online.subscribe().wait_for(|online| *online).await;
    }

    fn end(&self) {
        let mut state = self.lock();
        (state.ready, state.over) = (false, true);
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

    /// Hands to the link what may leave.
    fn pump(&self, state: &mut State) {
        let now_ms = self.0.clock.mono_ms();
        let mut leaving = Vec::new();
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
                    crash_point!(saying(id, &message));
                    let envelope = message.encode(&self.0.topics, stamp);
                    let mut publish =
                        Publish::new(envelope.topic, QoS::AtLeastOnce, envelope.payload);
                    publish.retain = envelope.retain;
                    leaving.push(Request::Publish(publish));
                    state.submitted.push_back(id);
                }
                Some(Next::Dropped(word)) => self.dropped(&word.message),
                None => break,
            }
        }
        // There is room for the window.
        self.0.requests.put_all(leaving);
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
    }

    /// What became of messages, in order. Says since when the oldest is not acknowledged.
    fn note(&self, news: impl IntoIterator<Item = News>) -> Option<Instant> {
        let mut state = self.lock();
        let at = Instant::now();
        let mut acked = false;
        for news in news {
            match news {
                News::Sent(packet_id) => {
                    if let Some(id) = state.submitted.pop_front() {
                        crash_point!(sent(id));
                        state.flight.push_back(Sent { packet_id, id, at });
                    }
                }
                News::Acked(packet_id) => {
                    acked = true;
                    self.acked(&mut state, packet_id);
                }
            }
        }
        if acked {
            self.pump(&mut state);
        }
        state.flight.front().map(|sent| sent.at)
    }

    fn acked(&self, state: &mut State, packet_id: u16) {
        // Mostly the first: brokers acknowledge in order.
        let mut flight = state.flight.iter();
        let place = flight.position(|sent| sent.packet_id == packet_id);
        if let Some(sent) = place.and_then(|place| state.flight.remove(place)) {
            crash_point!(acked(sent.id));
            state.outbox.acked(sent.id);
            if state.online == Some(sent.id) {
                self.0.online.send_replace(true);
            }
        }
    }

    /// Waits until the broker has everything.
    async fn drained(&self) {
        loop {
            let emptied = self.0.empty.notified();
            if self.lock().outbox.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// From here on nobody says ONLINE. Takes leave of the broker, behind all that was handed over,
    /// and says whether there is a link to do so.
    fn leave(&self) -> bool {
        self.end();
        let is_open = self.lock().outbox.is_open();
        if is_open {
            self.0.requests.put(Request::Disconnect(Disconnect));
        }
        is_open
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
