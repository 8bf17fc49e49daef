//! What the gateway says.
//!
//! The outbox keeps a message until the broker has acknowledged it; what the client library keeps
//! besides is taken from it at each end of a connection, so that the outbox alone says what is
//! sent again (law 5). The connection's will says that it broke.

mod connection;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::Input;
use dispatch::edge::outbox::{Keep, Next, Outbox};
use protocol::hardware::{Outcome, Report};
use protocol::ops::GatewayConnection;
use protocol::robot::ConnectionState;
use protocol::{Outgoing, Seconds, Topics};
use rumqttc::{AsyncClient, LastWill, QoS};
use tokio::sync::{Notify, watch};

pub use connection::{Connection, Running};

use super::account::{Account, Client};
use crate::clock::Clock;
use crate::inbox::{Arrival, Heard, Inbox};
use crate::instance::Stamps;

/// Messages that wait for the broker: two for each robot of a large site, and more.
const OUTBOX_MAX: usize = 65_536;
/// Messages that the broker may leave unacknowledged; the default of the client library.
const WINDOW: usize = 100;
/// Requests that wait in the client library: the window, and what goes beside it.
const REQUESTS: usize = WINDOW + 16;
/// How long a full outbox keeps a speaker waiting while the link is open.
const FULL: Duration = Duration::from_secs(2);

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
    /// There is room in the outbox again.
    room: Condvar,
    /// The outbox is empty.
    empty: Notify,
    /// The broker has our ONLINE, once in this start.
    online: watch::Sender<bool>,
}

struct State {
    outbox: Outbox<Outgoing>,
    /// The journal is loaded and every subscription is granted.
    ready: bool,
    /// Handed to the client library, which has given them no packet id yet.
    submitted: VecDeque<u64>,
    /// By packet id.
    flight: BTreeMap<u16, u64>,
    /// The last ONLINE that was handed over.
    online: Option<u64>,
    /// A wait for room ran out: nobody waits again before the broker has taken something.
    stuck: bool,
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
            flight: BTreeMap::new(),
            online: None,
            stuck: false,
        };
        let egress = Self(Arc::new(Shared {
            topics,
            stamps,
            clock,
            inbox,
            client,
            state: Mutex::new(state),
            room: Condvar::new(),
            empty: Notify::new(),
            online: watch::Sender::new(false),
        }));
        (egress.clone(), Connection::new(egress, connection))
    }

    /// Says something, in its turn. Waits a little where the outbox is full; if it stays full, the
    /// message is lost, which the log tells: replies are asked for again, states follow.
    pub fn say(&self, message: Outgoing) {
        let now_ms = self.0.clock.mono_ms();
        let keep = Keep::of(&message, now_ms);
        let mut state = self.lock();
        if state.outbox.len() >= OUTBOX_MAX && state.outbox.is_open() && !state.stuck {
            let full = |state: &mut State| state.outbox.len() >= OUTBOX_MAX;
            state = match self.0.room.wait_timeout_while(state, FULL, full) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
            state.stuck = state.outbox.len() >= OUTBOX_MAX;
        }
        if let Err(full) = state.outbox.push(now_ms, keep, message) {
            tracing::error!(topic = %full.item.topic(), "the outbox is full, a message is lost");
        }
        self.pump(&mut state);
    }

    /// Whether the journal is loaded and every subscription is granted. Each time that it becomes
    /// true, and whenever the link opens meanwhile, the gateway says that it is ONLINE.
    pub fn set_ready(&self, ready: bool) {
        self.lock().ready = ready;
        self.say_presence_again();
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
        let online = presence(&self.0.stamps, ConnectionState::Online);
        let now_ms = self.0.clock.mono_ms();
        let keep = Keep::of(&online, now_ms);
        if state.outbox.push(now_ms, keep, online).is_err() {
            tracing::error!("the outbox is full, our presence is not said");
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
                    message,
                }) => {
                    let message = shortened(message, waited_ms);
                    if is_online(&message) {
                        if !state.ready {
                            // It waited through an outage and is not the truth any more.
                            state.outbox.acked(id);
                            continue;
                        }
                        state.online = Some(id);
                    }
                    let envelope = message.encode(&self.0.topics, &self.0.stamps.next());
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
                Some(Next::Dropped(message)) => self.dropped(&message),
                None => break,
            }
        }
        if state.outbox.is_empty() {
            self.0.empty.notify_waiters();
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
        state.stuck = false;
        state.submitted.clear();
        state.flight.clear();
        self.pump(&mut state);
        drop(state);
        self.0.room.notify_all();
        self.0.empty.notify_waiters();
    }

    /// The client library sent the next message, with this packet id.
    fn sent(&self, packet_id: u16) {
        let mut state = self.lock();
        if let Some(id) = state.submitted.pop_front() {
            state.flight.insert(packet_id, id);
        }
    }

    fn acked(&self, packet_id: u16) {
        let mut state = self.lock();
        state.stuck = false;
        if let Some(id) = state.flight.remove(&packet_id) {
            state.outbox.acked(id);
            if state.online == Some(id) {
                self.0.online.send_replace(true);
            }
        }
        self.pump(&mut state);
        drop(state);
        self.0.room.notify_all();
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

fn presence(stamps: &Stamps, connection_state: ConnectionState) -> Outgoing {
    let instance = stamps.instance().clone();
    let connection = GatewayConnection {
        connection_state,
        instance,
    };
    Outgoing::GatewayConnection(stamps.source().clone(), connection)
}

fn is_online(message: &Outgoing) -> bool {
    matches!(
        message,
        Outgoing::GatewayConnection(_, connection)
            if connection.connection_state == ConnectionState::Online
    )
}

/// The message with less of its spans left, after it waited.
fn shortened(message: &Outgoing, waited_ms: u64) -> Outgoing {
    let mut message = message.clone();
    match &mut message {
        Outgoing::ElevatorCommand(sent) => {
            let left = sent.command.expires_in_ms.saturating_sub(waited_ms);
            sent.command.expires_in_ms = left;
        }
        Outgoing::RideState(view) => {
            let shorten = |left: Seconds| Seconds::from_ms(left.ms.saturating_sub(waited_ms));
            view.deadline_s = view.deadline_s.map(shorten);
        }
        Outgoing::RideReply { .. }
        | Outgoing::RideStateCleared { .. }
        | Outgoing::ElevatorState(_)
        | Outgoing::Alarm(_)
        | Outgoing::Alarms(_)
        | Outgoing::Site(_)
        | Outgoing::GatewayConnection(..) => {}
    }
    message
}
