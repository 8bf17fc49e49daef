//! What the gateway hears.
//!
//! One task polls the connection and does nothing else; a full inbox stops it, or a crowded outbox,
//! and with it the socket, so that nothing is ever dropped here. Each message carries the epoch of
//! its connection, numbered at CONNACK, and is acknowledged only while that epoch lives: the client
//! library would send an acknowledgement of an older one to whatever message has its packet id by
//! then. What is not acknowledged, the broker brings again.

use std::sync::Arc;
use std::time::Duration;

use dispatch::Input;
use protocol::ops::GatewayConnection;
use protocol::robot::ConnectionState;
use protocol::{Decoded, GatewayId, Inbound, InstanceId, Topics, decode};
use rumqttc::{
    ConnAck, ConnectionError, Event, Packet, Publish, QoS, Request, StateError, Subscribe,
    SubscribeFilter,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::account::{Account, Client};
use super::acks::Acks;
use super::backoff::Backoff;
use super::egress::Egress;
use super::link::{Link, Requests};
use super::look::{Gate, check};
use super::oddities::Oddities;
use crate::ending::{End, Ending};
use crate::inbox::{Arrival, Heard, Inbox, Owed};

/// For the SUBACK after a CONNACK.
const SUBACK: Duration = Duration::from_secs(10);
/// Acknowledgements that may wait to be sent: more than MQTT has packet ids, so that none ever
/// finds the queue full.
const REQUESTS: usize = 66_000;

/// What the ingest needs.
pub struct Setup {
    /// The topics of the site.
    pub topics: Topics,
    /// Our gateway id.
    pub gateway: GatewayId,
    /// This start.
    pub instance: InstanceId,
    /// To be passed before each connection.
    pub gate: Arc<Gate>,
    /// Where messages go.
    pub inbox: Inbox,
    /// Where our presence is said.
    pub egress: Egress,
    /// Where the end of the process is called for.
    pub ending: Ending,
    /// For the jitter of the backoff.
    pub seed: u64,
}

/// The connection of an ingest, not yet polled.
pub struct Connection {
    requests: Requests,
    link: Link,
    acks: Arc<Acks>,
}

/// The running ingest.
pub struct Running {
    acks: Arc<Acks>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Connection {
    /// The ingest connection of a gateway.
    #[must_use]
    pub fn new(account: &Account, gateway: &GatewayId) -> Self {
        let options = Client {
            id: format!("{gateway}-in"),
            clean: false,
            manual_acks: true,
            window: 1,
            will: None,
        };
        let (requests, link) = Link::new(account, options, REQUESTS);
        let acks = Arc::new(Acks::new(requests.clone()));
        Self {
            requests,
            link,
            acks,
        }
    }

    /// Where acknowledgements go.
    #[must_use]
    pub fn acks(&self) -> Arc<Acks> {
        Arc::clone(&self.acks)
    }

    /// Starts to connect. Needs a tokio runtime.
    #[must_use]
    pub fn run(self, setup: Setup) -> Running {
        let Self {
            requests,
            link,
            acks,
        } = self;
        let (stop, stopped) = watch::channel(false);
        let task = Task {
            backoff: Backoff::new(setup.seed),
            setup,
            requests,
            link,
            acks: Arc::clone(&acks),
            stopped,
            subscribed: false,
            suback: None,
            up: false,
            own_echo: false,
            poisoned: false,
            oddities: Oddities::default(),
        };
        Running {
            acks,
            stop,
            task: tokio::spawn(task.run()),
        }
    }
}

impl Running {
    /// Sends the acknowledgements that are due, takes leave of the broker, and waits for both, at
    /// most for `wait`.
    pub async fn stop(self, wait: Duration) {
        self.stop.send_replace(true);
        self.acks.leave();
        if tokio::time::timeout(wait, self.task).await.is_err() {
            tracing::warn!("the ingest connection did not close in time");
        }
    }
}

/// The task that polls.
struct Task {
    setup: Setup,
    requests: Requests,
    link: Link,
    acks: Arc<Acks>,
    stopped: watch::Receiver<bool>,
    backoff: Backoff,
    /// A SUBACK granted everything in this process.
    subscribed: bool,
    /// A SUBACK is awaited until then.
    suback: Option<Instant>,
    /// The core was told that the broker is there.
    up: bool,
    /// Our own presence came back on this connection; what another instance said before it may
    /// have waited in the session since before this start.
    own_echo: bool,
    /// The broker brought a packet that the client library cannot take.
    poisoned: bool,
    oddities: Oddities,
}

/// A packet too large, or none of MQTT's: the connection ends by it, each time that it comes.
fn is_poison(error: &ConnectionError) -> bool {
    let ConnectionError::MqttState(StateError::Deserialization(error)) = error else {
        return false;
    };
    !matches!(error, rumqttc::mqttbytes::Error::Io(_))
}

impl Task {
    async fn run(mut self) {
        while !self.is_stopped() {
            if !self.pass().await || self.is_stopped() {
                break;
            }
            let why = self.connected().await;
            self.backoff.ended("-in");
            self.down().await;
            if self.is_stopped() {
                break;
            }
            let wait = self.backoff.wait();
            tracing::warn!(%why, ?wait, "ingest is not connected");
            self.pause(wait).await;
        }
    }

    /// Looks until the way is free. `false`: the process ends.
    async fn pass(&mut self) -> bool {
        loop {
            match self.setup.gate.pass(true).await {
                Ok(seen) => {
                    for own in seen.own {
                        let Some(input) = Input::from_wire(own) else {
                            continue;
                        };
                        self.deliver(Heard::Input(input), None).await;
                    }
                    let Some(instance) = seen.other else {
                        return true;
                    };
                    self.setup.ending.call(End::DuplicateGateway(instance));
                    return false;
                }
                Err(why) => {
                    let wait = self.backoff.wait();
                    tracing::warn!(%why, ?wait, "the broker cannot be used");
                    self.pause(wait).await;
                }
            }
            if self.is_stopped() {
                return false;
            }
        }
    }

    /// Connects and hears until it breaks; says why.
    async fn connected(&mut self) -> String {
        loop {
            let event = match self.suback {
                // A poll that is given up is fatal for the connection, which ends here anyway.
                Some(until) => match timeout_at(until, self.link.poll()).await {
                    Ok(event) => event,
                    Err(_) => return "no SUBACK in time".to_owned(),
                },
                None => self.link.poll().await,
            };
            crash_point!(polled(&event));
            let result = match event {
                Ok(Event::Incoming(Packet::ConnAck(ack))) => self.open(&ack),
                Ok(Event::Incoming(Packet::SubAck(ack))) => {
                    let filters = self.setup.topics.ingest_filters(&self.setup.gateway);
                    match check(&ack.return_codes, &filters) {
                        Ok(()) => {
                            self.subscribed = true;
                            self.ready().await;
                            Ok(())
                        }
                        Err(why) => Err(why.to_string()),
                    }
                }
                Ok(Event::Incoming(Packet::Publish(publish))) => {
                    self.hear(publish).await;
                    Ok(())
                }
                Ok(Event::Incoming(_) | Event::Outgoing(_)) => Ok(()),
                Err(why) => {
                    self.poisoned |= is_poison(&why);
                    Err(why.to_string())
                }
            };
            if let Err(why) = result {
                return why;
            }
            if !self.up && self.suback.is_none() {
                self.ready().await;
            }
        }
    }

    /// A new connection. Subscribes where the broker has no subscriptions of ours, and always once
    /// in a process: who knows what the session of an earlier one holds.
    fn open(&mut self, ack: &ConnAck) -> Result<(), String> {
        self.own_echo = false;
        self.backoff.began();
        self.acks.open();
        let options = &mut self.link.connection.mqtt_options;
        if options.clean_session() {
            options.set_clean_session(false);
            return Err("the session was thrown away, the next one begins".to_owned());
        }
        if ack.session_present && self.subscribed {
            return Ok(());
        }
        self.suback = Some(Instant::now() + SUBACK);
        let filters = self.setup.topics.ingest_filters(&self.setup.gateway);
        let filters = filters
            .into_iter()
            .map(|filter| SubscribeFilter::new(filter, QoS::AtLeastOnce));
        let subscribe = Request::Subscribe(Subscribe::new_many(filters));
        // Nothing waits yet on a new connection.
        self.requests.put(subscribe);
        Ok(())
    }

    /// Every subscription is granted on this connection.
    async fn ready(&mut self) {
        self.suback = None;
        self.up = true;
        tracing::info!("ingest is subscribed");
        self.deliver(Heard::Input(Input::Broker { up: true }), None)
            .await;
        self.setup.egress.set_ready(true);
    }

    /// The connection is gone.
    async fn down(&mut self) {
        self.acks.close();
        self.link.end();
        self.suback = None;
        if std::mem::take(&mut self.poisoned) {
            // The broker would bring it again for ever. What else waited in the session is lost
            // with it; robots repeat until they are answered.
            tracing::error!("a packet cannot be taken, throwing the session away");
            let options = &mut self.link.connection.mqtt_options;
            options.set_clean_session(true);
        }
        if self.up {
            self.up = false;
            if self.is_stopped() {
                self.setup.egress.set_ready(false);
            } else {
                self.setup.egress.say_deaf();
            }
            self.deliver(Heard::Input(Input::Broker { up: false }), None)
                .await;
        }
    }

    async fn hear(&mut self, publish: Publish) {
        if self.setup.egress.is_crowded() {
            tokio::select! {
                () = self.setup.egress.room() => {}
                _ = self.stopped.wait_for(|stopped| *stopped) => {}
            }
        }
        let ack = match publish.qos {
            QoS::AtMostOnce => None,
            QoS::AtLeastOnce | QoS::ExactlyOnce => self.acks.received(publish.pkid),
        };
        let topics = &self.setup.topics;
        let decoded = decode(topics, &publish.topic, &publish.payload, publish.retain);
        crash_point!(heard(publish.pkid, &decoded));
        let heard = match decoded {
            Decoded::Message(Inbound::Controller { elevator, event }) => {
                Some(Heard::Controller { elevator, event })
            }
            Decoded::Message(Inbound::Gateway {
                gateway,
                connection,
            }) => {
                if gateway == self.setup.gateway {
                    self.presence(&connection, publish.retain);
                }
                None
            }
            Decoded::Message(inbound) => Input::from_wire(inbound).map(Heard::Input),
            Decoded::Refused(refusal) if refusal.robot.is_some() || refusal.client.is_some() => {
                Some(Heard::Input(Input::Unreadable(refusal)))
            }
            Decoded::Refused(refusal) => {
                self.oddities.note(&publish.topic, &refusal.to_string());
                None
            }
            Decoded::Ignored(why) => {
                self.oddities.note(&publish.topic, &format!("{why:?}"));
                None
            }
        };
        match (heard, ack) {
            (Some(heard), ack) => self.deliver(heard, ack.map(Owed::Ack)).await,
            (None, ack) => self.acks.done(ack),
        }
    }

    /// A word about our own presence. A retained one is old.
    fn presence(&mut self, connection: &GatewayConnection, retained: bool) {
        if retained {
            return;
        }
        let is_ours = connection.instance == self.setup.instance;
        let is_online = connection.connection_state == ConnectionState::Online;
        match (is_ours, is_online) {
            (true, true) => self.own_echo = true,
            (false, true) if self.own_echo => {
                let other = connection.instance.clone();
                self.setup.ending.call(End::DuplicateGateway(other));
            }
            // A late will, of this or an earlier start, or somebody who asks whether we live.
            (false, true) | (true | false, false) => self.setup.egress.say_presence_again(),
        }
    }

    /// Waits while the inbox is full.
    async fn deliver(&mut self, heard: Heard, ack: Option<Owed>) {
        // Fails only when the engine is gone, which is the end of the process.
        let _ = self.setup.inbox.send(Arrival { heard, ack }).await;
    }

    async fn pause(&mut self, wait: Duration) {
        let _ = tokio::time::timeout(wait, self.stopped.wait_for(|stopped| *stopped)).await;
    }

    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }
}
