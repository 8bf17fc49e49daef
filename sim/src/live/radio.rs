//! A client's way to the broker: MQTT 3.1.1 over TCP, with a clean session, as `wire.md` wants it
//! of robots and controllers.
//!
//! A radio that is dropped goes silent without a word: the socket closes, no DISCONNECT is sent,
//! and the broker publishes the will. That is how a robot loses the radio in a car.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use protocol::Envelope;
use protocol::limits::PACKET_BYTES_MAX;
use rumqttc::{
    AsyncClient, Event, EventLoop, LastWill, MqttOptions, Packet, QoS, SubscribeFilter,
    SubscribeReasonCode,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Messages heard and not yet taken; more stay in the socket.
const HEARD_MAX: usize = 256;
/// Messages said and not yet sent; more are refused.
const SAID_MAX: usize = 256;
/// Between two attempts to connect: the first wait, doubled up to the last.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where the broker is, and how its clients name themselves.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// How a client proves its name; its user name is its client id (`wire.md` section 1).
    pub password: Password,
}

/// A client's password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// No user name and no password.
    Anonymous,
    /// One for all clients.
    Shared(String),
    /// The client's own name.
    Name,
}

impl Endpoint {
    /// An anonymous endpoint from `host:port` or `mqtt://host:port`.
    ///
    /// # Errors
    /// A sentence, where the text names no host or no port.
    pub fn parse(text: &str) -> Result<Self, String> {
        let address = text.strip_prefix("mqtt://").unwrap_or(text);
        let wrong = || format!("broker {text:?} is not mqtt://HOST:PORT");
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        if host.is_empty() || host.contains('/') {
            return Err(wrong());
        }
        let host = host.trim_matches(['[', ']']).to_owned();
        Ok(Self {
            host,
            port,
            password: Password::Anonymous,
        })
    }
}

/// What a radio hears.
#[derive(Debug)]
pub enum Heard {
    /// Connected, and every subscription is granted.
    Up,
    /// The connection broke; what was said and not acknowledged is lost.
    Down(String),
    /// A message.
    Message {
        /// Its topic.
        topic: String,
        /// Its payload.
        payload: Vec<u8>,
        /// The retain flag of its delivery.
        retained: bool,
    },
}

/// A connection that is made again until it is dropped.
#[derive(Debug)]
pub struct Radio {
    client: AsyncClient,
    heard: mpsc::Receiver<Heard>,
    up: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Radio {
    /// Switches a radio on. It connects by itself; [`Heard::Up`] tells when it did.
    #[must_use]
    pub fn on(
        endpoint: &Endpoint,
        name: &str,
        will: Option<Envelope>,
        filters: Vec<String>,
    ) -> Self {
        let mut options = MqttOptions::new(name, &endpoint.host, endpoint.port);
        options.set_keep_alive(Duration::from_secs(15));
        options.set_clean_session(true);
        options.set_max_packet_size(PACKET_BYTES_MAX, PACKET_BYTES_MAX);
        match &endpoint.password {
            Password::Anonymous => {}
            Password::Shared(password) => {
                options.set_credentials(name, password);
            }
            Password::Name => {
                options.set_credentials(name, name);
            }
        }
        if let Some(Envelope {
            topic,
            payload,
            retain,
            qos: _,
        }) = will
        {
            options.set_last_will(LastWill::new(topic, payload, QoS::AtLeastOnce, retain));
        }
        let (client, mut events) = AsyncClient::new(options, SAID_MAX);
        events.network_options.set_tcp_nodelay(true);
        let (tell, heard) = mpsc::channel(HEARD_MAX);
        let up = Arc::new(AtomicBool::new(false));
        let line = Line {
            client: client.clone(),
            filters,
            tell,
            up: Arc::clone(&up),
        };
        let task = tokio::spawn(line.run(events));
        Self {
            client,
            heard,
            up,
            task,
        }
    }

    /// Says something with QoS 1 (`wire.md` section 1); false where it cannot leave: not connected,
    /// or too much is waiting already. Nothing is kept for later: it would be late.
    pub fn say(
        &self,
        Envelope {
            topic,
            payload,
            retain,
            qos: _,
        }: Envelope,
    ) -> bool {
        self.is_up()
            && self
                .client
                .try_publish(topic, QoS::AtLeastOnce, retain, payload)
                .is_ok()
    }

    /// Whether it is connected, with every subscription granted.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::Acquire)
    }

    /// The next thing heard. Waits as long as nothing is; cancel safe.
    pub async fn hear(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => heard,
            // The task ends only with its radio; a closed channel has nothing more to say.
            None => std::future::pending().await,
        }
    }

    /// Leaves in good order: what was said goes out first, then DISCONNECT, so that no will is
    /// published. Gives up after 2 s.
    pub async fn farewell(mut self) {
        if !self.is_up() || self.client.try_disconnect().is_err() {
            return;
        }
        let drained = async { while self.heard.recv().await.is_some() {} };
        // An elapsed deadline leaves what the drop leaves: silence.
        let _ = tokio::time::timeout(FAREWELL, drained).await;
    }
}

impl Drop for Radio {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The side of a radio that owns the connection.
struct Line {
    client: AsyncClient,
    filters: Vec<String>,
    tell: mpsc::Sender<Heard>,
    up: Arc<AtomicBool>,
}

impl Line {
    async fn run(self, mut events: EventLoop) {
        let mut wait = RETRY_MIN;
        loop {
            let told = match events.poll().await {
                Ok(Event::Incoming(packet)) => self.incoming(packet, &mut wait),
                Ok(Event::Outgoing(rumqttc::Outgoing::Disconnect)) => return,
                Ok(Event::Outgoing(_)) => None,
                Err(error) => {
                    self.up.store(false, Ordering::Release);
                    if self
                        .tell
                        .send(Heard::Down(error.to_string()))
                        .await
                        .is_err()
                    {
                        return;
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(RETRY_MAX);
                    None
                }
            };
            if let Some(heard) = told
                && self.tell.send(heard).await.is_err()
            {
                return;
            }
        }
    }

    fn incoming(&self, packet: Packet, wait: &mut Duration) -> Option<Heard> {
        if let Packet::ConnAck(_) = packet {
            let filter = |path: &String| SubscribeFilter::new(path.clone(), QoS::AtLeastOnce);
            let asked = self
                .client
                .try_subscribe_many(self.filters.iter().map(filter));
            return asked.err().map(|error| Heard::Down(error.to_string()));
        }
        if let Packet::SubAck(granted) = packet {
            let good = |code: &SubscribeReasonCode| *code != SubscribeReasonCode::Failure;
            if !granted.return_codes.iter().all(good) {
                return Some(Heard::Down("the broker refuses a subscription".to_owned()));
            }
            *wait = RETRY_MIN;
            self.up.store(true, Ordering::Release);
            return Some(Heard::Up);
        }
        if let Packet::Publish(message) = packet {
            return Some(Heard::Message {
                topic: message.topic,
                payload: message.payload.to_vec(),
                retained: message.retain,
            });
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn broker_addresses() {
        let good = Endpoint::parse("mqtt://127.0.0.1:1883").unwrap();
        assert_eq!((good.host.as_str(), good.port), ("127.0.0.1", 1883));
        assert_eq!(Endpoint::parse("[::1]:1884").unwrap().host, "::1");
        for bad in ["mqtt://127.0.0.1", "mqtts://h:1", ":1883", "h:x", "h:70000"] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }
}
