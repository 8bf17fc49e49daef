//! The connection that an egress speaks through.

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use rumqttc::{Event, Packet};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Egress, News};
use crate::ending::{End, Ending};
use crate::mqtt::link::Link;
use crate::mqtt::{Backoff, Gate};

/// For the acknowledgement of a message. A broker that takes messages and acknowledges none is as
/// good as gone, though it may answer pings; and behind one that it forgot to acknowledge, nothing
/// leaves once the packet ids have come round. Another connection is tried.
const ACK: Duration = Duration::from_secs(10);

/// The connection of an egress, not yet polled.
pub struct Connection {
    egress: Egress,
    pub(super) link: Link,
}

/// The running connection.
pub struct Running {
    egress: Egress,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Connection {
    pub(super) fn new(egress: Egress, link: Link) -> Self {
        Self { egress, link }
    }

    /// Starts to connect, each time through `gate`. Needs a tokio runtime.
    #[must_use]
    pub fn run(self, gate: Arc<Gate>, ending: Ending, seed: u64) -> Running {
        let Self { egress, link } = self;
        let (stop, stopped) = watch::channel(false);
        let task = Task {
            egress: egress.clone(),
            link,
            gate,
            ending,
            backoff: Backoff::new(seed),
            stopped,
        };
        Running {
            egress,
            stop,
            task: tokio::spawn(task.run()),
        }
    }
}

impl Running {
    /// Waits until the broker has everything, also one that is being connected to, and takes leave
    /// of it without the will; at most for `wait` each.
    pub async fn stop(self, wait: Duration) {
        let Self {
            egress,
            stop,
            mut task,
        } = self;
        if timeout(wait, egress.drained()).await.is_err() {
            tracing::warn!("the broker did not take all messages in time");
        }
        stop.send_replace(true);
        if !egress.leave() {
            task.abort();
        }
        if timeout(wait, &mut task).await.is_err() {
            tracing::warn!("the egress connection did not close in time");
        }
    }
}

struct Task {
    egress: Egress,
    link: Link,
    gate: Arc<Gate>,
    ending: Ending,
    backoff: Backoff,
    stopped: watch::Receiver<bool>,
}

impl Task {
    async fn run(mut self) {
        while !*self.stopped.borrow() {
            let why = match self.gate.pass(false).await {
                Ok(seen) => match seen.other {
                    Some(instance) => {
                        self.ending.call(End::DuplicateGateway(instance));
                        return;
                    }
                    None => self.connected().await,
                },
                Err(why) => why.to_string(),
            };
            self.backoff.ended("-out");
            self.egress.closed();
            self.link.end();
            if *self.stopped.borrow() {
                return;
            }
            let wait = self.backoff.wait();
            tracing::warn!(why, ?wait, "egress is not connected");
            let _ = timeout(wait, self.stopped.wait_for(|stopped| *stopped)).await;
        }
    }

    /// Connects and speaks until it breaks; says why.
    async fn connected(&mut self) -> String {
        let mut owed: Option<Instant> = None;
        loop {
            let event = match owed {
                // A poll that is given up is fatal for the connection, which ends here anyway.
                Some(since) => match timeout_at(since + ACK, self.link.poll()).await {
                    Ok(event) => event,
                    Err(_) => return "no PUBACK in time".to_owned(),
                },
                None => self.link.poll().await,
            };
            match event {
                Ok(Event::Incoming(Packet::ConnAck(_))) => {
                    tracing::info!("egress is connected");
                    self.backoff.began();
                    self.egress.opened();
                }
                Ok(event) => {
                    let link = &mut self.link;
                    let events = iter::once(event).chain(iter::from_fn(|| link.ready()));
                    owed = self.egress.note(events.filter_map(news));
                }
                Err(why) => return why.to_string(),
            }
        }
    }
}

/// What an event says about a message.
fn news(event: Event) -> Option<News> {
    match event {
        Event::Outgoing(rumqttc::Outgoing::Publish(packet_id)) => Some(News::Sent(packet_id)),
        Event::Incoming(Packet::PubAck(ack)) => Some(News::Acked(ack.pkid)),
        Event::Incoming(_) | Event::Outgoing(_) => None,
    }
}
