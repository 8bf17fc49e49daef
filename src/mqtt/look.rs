//! A look at the broker on a connection of its own, before the gateway's two client ids are taken.
//!
//! Whoever takes a client id throws out who had it. Two gateways with one id would do that to each
//! other for ever, and each would see the other's words only in the moments when its own connection
//! is gone. So a gateway asks first, under a client id that nobody else has:
//!
//! * The retained word on `gateways/{id}/connection` is ours, is no ONLINE, or is not there: go on.
//! * It is ONLINE of another instance, which may live, or may have died without its will: we say
//!   `OFFLINE` there with our own instance, unretained, which is the truth about us. A gateway that
//!   lives answers to it with its ONLINE (see [`super::ingest`]). A dead one does not, so that a
//!   restart after a crash goes on after `ANSWER` at the latest.
//!
//! At the start of the process the look also brings what the broker still shows of our own states.

use std::time::Duration;

use protocol::code::AlarmCode;
use protocol::limits::ROBOTS_MAX;
use protocol::ops::{Alarm, GatewayConnection, Severity};
use protocol::robot::ConnectionState;
use protocol::{Decoded, Inbound, InstanceId, Outgoing, Topic, Topics, decode};
use rumqttc::{
    AsyncClient, ConnectionError, Event, EventLoop, Packet, QoS, SubscribeFilter,
    SubscribeReasonCode,
};
use tokio::time::{Instant, timeout_at};

use super::account::{Account, Client};
use crate::instance::Stamps;

/// For the connection and the SUBACK.
const OPEN: Duration = Duration::from_secs(6);
/// Without a message after the SUBACK, until all retained words are taken to be here.
const QUIET: Duration = Duration::from_millis(250);
/// For all retained words.
const RETAINED: Duration = Duration::from_secs(10);
/// Own states that one look takes: a ride for each robot, and as many again.
const OWN_MAX: usize = 2 * ROBOTS_MAX;
/// For the answer of a gateway that lives.
const ANSWER: Duration = Duration::from_millis(1_500);
/// For what is said at the end of a look.
const CLOSE: Duration = Duration::from_secs(2);
/// A passed look holds for this long, so that both connections need only one.
const HOLDS: Duration = Duration::from_secs(1);

/// Why a look saw nothing.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The connection failed.
    #[error("{0}")]
    Connection(Box<ConnectionError>),
    /// The broker refused the subscription to this topic.
    #[error("the broker does not let us read {0}")]
    Refused(String),
    /// Something took too long.
    #[error("no {0} from the broker in time")]
    Late(&'static str),
}

impl From<ConnectionError> for LookError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(Box::new(error))
    }
}

/// What a look saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// Another instance that lives under our gateway id.
    pub other: Option<InstanceId>,
    /// What the broker still shows of our own states; only in the first look.
    pub own: Vec<Inbound>,
}

/// The retained words behind some filters.
#[derive(Debug, Default)]
struct Retained {
    own: Vec<Inbound>,
    /// Whose ONLINE is among them, if not ours.
    claimed: Option<InstanceId>,
    /// There are more than a look takes: [`OWN_MAX`], or for longer than [`RETAINED`].
    more: bool,
}

/// Lets connections pass one at a time, each after a look.
pub struct Gate {
    account: Account,
    topics: Topics,
    stamps: Stamps,
    /// The broker is ours alone: nobody else can be there, and it remembers nothing.
    embedded: bool,
    last: tokio::sync::Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    passed: Option<Instant>,
    /// The own states were asked for.
    collected: bool,
}

impl Gate {
    /// A gate before the broker of `account`.
    #[must_use]
    pub fn new(account: Account, topics: Topics, stamps: Stamps, embedded: bool) -> Self {
        Self {
            account,
            topics,
            stamps,
            embedded,
            last: tokio::sync::Mutex::default(),
        }
    }

    /// Looks, unless somebody just did. `own_states`: bring our own retained states too, once in
    /// the life of the gate.
    ///
    /// # Errors
    /// Where nothing could be seen; then the broker cannot be used at the moment.
    pub async fn pass(&self, own_states: bool) -> Result<Seen, LookError> {
        if self.embedded {
            return Ok(Seen::default());
        }
        let mut last = self.last.lock().await;
        let collect = own_states && !last.collected;
        if !collect && last.passed.is_some_and(|at| at.elapsed() < HOLDS) {
            return Ok(Seen::default());
        }
        let mut look = Look::open(self).await?;
        let (seen, more) = look.see(collect).await?;
        look.close(seen.other.as_ref()).await;
        if more {
            // Those that are put right by then do not come again.
            tracing::warn!(
                taken = seen.own.len(),
                "the broker keeps more states of ours than one look takes, the next one goes on"
            );
        }
        if seen.other.is_none() {
            last.passed = Some(Instant::now());
            last.collected |= collect && !more;
        }
        Ok(seen)
    }
}

/// One look.
struct Look<'a> {
    gate: &'a Gate,
    client: AsyncClient,
    connection: EventLoop,
}

/// What the connection brought.
enum News {
    /// A word on our own connection topic.
    Presence {
        connection: GatewayConnection,
        retained: bool,
    },
    /// A retained state of ours.
    Own(Inbound),
    /// Nothing that matters here.
    Other(Event),
}

impl<'a> Look<'a> {
    async fn open(gate: &'a Gate) -> Result<Self, LookError> {
        let options = Client {
            id: format!("{}-look-{}", gate.stamps.source(), gate.stamps.instance()),
            clean: true,
            manual_acks: false,
            window: 16,
            will: None,
        };
        let (client, mut connection) = gate.account.connection(options, 16);
        let deadline = Instant::now() + OPEN;
        loop {
            let event = timeout_at(deadline, connection.poll())
                .await
                .map_err(|_| LookError::Late("connection"))??;
            if matches!(event, Event::Incoming(Packet::ConnAck(_))) {
                return Ok(Self {
                    gate,
                    client,
                    connection,
                });
            }
        }
    }

    /// What there is, and whether there is more of our own states than that.
    async fn see(&mut self, collect: bool) -> Result<(Seen, bool), LookError> {
        let mut filters = vec![self.presence_topic()];
        if collect {
            filters.extend(self.gate.topics.start_filters());
        }
        let Retained { own, claimed, more } = self.retained(&filters).await?;
        let other = match claimed {
            Some(instance) if self.lives(&instance).await? => Some(instance),
            Some(_) | None => None,
        };
        Ok((Seen { other, own }, more))
    }

    /// The retained words behind `filters`.
    async fn retained(&mut self, filters: &[String]) -> Result<Retained, LookError> {
        let wanted = filters
            .iter()
            .map(|filter| SubscribeFilter::new(filter.clone(), QoS::AtLeastOnce));
        // The channel is empty, the request fits.
        let _ = self.client.try_subscribe_many(wanted);
        let opened = Instant::now() + OPEN;
        let until = Instant::now() + RETAINED;
        let mut granted = false;
        let mut quiet = opened;
        let mut retained = Retained::default();
        let mut told = false;
        // With one filter there is one word to wait for.
        while !(retained.more || granted && told && filters.len() == 1) {
            let Ok(event) = timeout_at(quiet.min(until), self.connection.poll()).await else {
                retained.more = granted && until < quiet;
                break;
            };
            match self.news(event?) {
                News::Presence { connection, .. } => {
                    retained.claimed = self.claim(&connection);
                    told = true;
                }
                News::Own(inbound) => {
                    retained.own.push(inbound);
                    retained.more = retained.own.len() >= OWN_MAX;
                    quiet = Instant::now() + QUIET;
                }
                News::Other(Event::Incoming(Packet::SubAck(ack))) => {
                    check(&ack.return_codes, filters)?;
                    granted = true;
                    quiet = Instant::now() + QUIET;
                }
                News::Other(_) => {}
            }
        }
        if granted {
            Ok(retained)
        } else {
            Err(LookError::Late("SUBACK"))
        }
    }

    /// Asks whether the instance lives.
    async fn lives(&mut self, instance: &InstanceId) -> Result<bool, LookError> {
        tracing::info!(%instance, "the broker shows another instance as ONLINE, asking whether it lives");
        let connection = GatewayConnection {
            connection_state: ConnectionState::Offline,
            instance: self.gate.stamps.instance().clone(),
        };
        let gateway = self.gate.stamps.source().clone();
        self.say(&Outgoing::GatewayConnection(gateway, connection), false);
        let deadline = Instant::now() + ANSWER;
        while let Ok(event) = timeout_at(deadline, self.connection.poll()).await {
            if let News::Presence {
                connection,
                retained: false,
            } = self.news(event?)
                && connection.instance == *instance
            {
                return Ok(connection.connection_state == ConnectionState::Online);
            }
        }
        Ok(false)
    }

    /// Goes, and says before why, where another instance lives.
    async fn close(&mut self, other: Option<&InstanceId>) {
        if let Some(instance) = other {
            self.say(
                &Outgoing::Alarm(duplicate_alarm(&self.gate.stamps, instance)),
                false,
            );
        }
        let _ = self.client.try_disconnect();
        let deadline = Instant::now() + CLOSE;
        // The broker closes the connection after all that was said; that is an error here.
        while let Ok(Ok(_)) = timeout_at(deadline, self.connection.poll()).await {}
    }

    fn say(&self, message: &Outgoing, retain: bool) {
        let envelope = message.encode(&self.gate.topics, &self.gate.stamps.next());
        let qos = QoS::AtLeastOnce;
        // At most three requests wait in a channel for sixteen.
        let _ = self
            .client
            .try_publish(envelope.topic, qos, retain, envelope.payload);
    }

    fn news(&self, event: Event) -> News {
        let Event::Incoming(Packet::Publish(publish)) = &event else {
            return News::Other(event);
        };
        match decode(
            &self.gate.topics,
            &publish.topic,
            &publish.payload,
            publish.retain,
        ) {
            Decoded::Message(Inbound::Gateway { connection, .. }) => News::Presence {
                connection,
                retained: publish.retain,
            },
            Decoded::Message(inbound @ (Inbound::OwnRide { .. } | Inbound::OwnElevator { .. })) => {
                News::Own(inbound)
            }
            Decoded::Message(
                Inbound::Robot { .. }
                | Inbound::Client { .. }
                | Inbound::Device { .. }
                | Inbound::Controller { .. },
            )
            | Decoded::Refused(_)
            | Decoded::Ignored(_) => News::Other(event),
        }
    }

    /// Who says to be online, if not ourselves.
    fn claim(&self, connection: &GatewayConnection) -> Option<InstanceId> {
        let other = connection.connection_state == ConnectionState::Online
            && connection.instance != *self.gate.stamps.instance();
        other.then(|| connection.instance.clone())
    }

    fn presence_topic(&self) -> String {
        self.gate
            .topics
            .name(&Topic::GatewayConnection(self.gate.stamps.source().clone()))
    }
}

/// The alarm about a second gateway.
#[must_use]
pub fn duplicate_alarm(stamps: &Stamps, other: &InstanceId) -> Alarm {
    let stamp = stamps.next();
    Alarm {
        alarm_id: format!("{}-duplicate", stamps.instance()),
        severity: Severity::Critical,
        code: AlarmCode::DuplicateGateway,
        elevator_id: None,
        order_id: None,
        raised_at: stamp.timestamp,
        cleared_at: None,
        detail: format!(
            "gateway {} runs twice: instance {other} lives, instance {} ends",
            stamps.source(),
            stamps.instance()
        ),
    }
}

/// Every subscription must be granted.
///
/// # Errors
/// The first filter that was not.
pub(super) fn check(codes: &[SubscribeReasonCode], filters: &[String]) -> Result<(), LookError> {
    let refused = filters
        .iter()
        .enumerate()
        .find(|(at, _)| !matches!(codes.get(*at), Some(SubscribeReasonCode::Success(_))));
    match refused {
        Some((_, filter)) => Err(LookError::Refused(filter.clone())),
        None => Ok(()),
    }
}
