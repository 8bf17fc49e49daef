//! The embedded broker: rumqttd in a child process, on loopback, for a demo, a test, a trial.
//!
//! It has no persistence and no topic ACL, and there are known ways to kill it for good; a real
//! site runs a real broker. It is a process of its own (`hallcall broker`), so that its end is not
//! the gateway's: a watchdog publishes to itself through it, and where nothing comes back, this
//! one child is ended and started again. The child ends when its standard input closes, so that it
//! never outlives the gateway.

#[cfg(feature = "embedded-broker")]
pub mod child;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use rumqttc::{Event, Packet, QoS};
use tokio::net::TcpStream;
use tokio::process::{Child as Process, ChildStdin, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::mqtt::{Account, Backoff, Client};

/// For the child to listen.
const START: Duration = Duration::from_secs(10);
/// Between two looks whether it listens already.
const START_POLL: Duration = Duration::from_millis(20);
/// For the child to end by itself once its standard input is closed.
const STOP: Duration = Duration::from_secs(2);
/// Between two words of the watchdog to itself.
const WATCH_EVERY: Duration = Duration::from_secs(2);
/// Without a word of its own, until the watchdog takes the broker for dead.
const WATCH_SILENCE: Duration = Duration::from_secs(6);

/// Why there is no embedded broker.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The program could not be started.
    #[error("the embedded broker did not start: {0}")]
    Spawn(io::Error),
    /// Somebody else listens there.
    #[error("mqtt.listen {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// Port 0 would be another port at each start.
    #[error("mqtt.listen {0}: port 0 is no address that robots could be told")]
    AnyPort(SocketAddr),
    /// The child ended or does not listen.
    #[error("the embedded broker does not listen on {0}")]
    Silent(SocketAddr),
}

/// The broker child under its watchdog.
pub struct EmbeddedBroker {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl EmbeddedBroker {
    /// Starts the child and waits until it listens.
    ///
    /// # Errors
    /// Where it does not come to that.
    pub async fn start(
        listen: SocketAddr,
        account: Account,
        name: &str,
        seed: u64,
    ) -> Result<Self, BrokerError> {
        let child = spawn(listen).await?;
        let (stop, stopped) = watch::channel(false);
        let watchdog = Watchdog {
            listen,
            account,
            topic: format!("hallcall-watchdog/{name}"),
            id: format!("{name}-watchdog"),
            backoff: Backoff::new(seed),
            stopped,
        };
        Ok(Self {
            stop,
            task: tokio::spawn(watchdog.run(child)),
        })
    }

    /// Ends the child.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        if timeout(2 * STOP, self.task).await.is_err() {
            tracing::warn!("the embedded broker did not end in time");
        }
    }
}

/// The child process.
struct Child {
    process: Process,
    /// Held here, because waiting for a process closes its standard input, which would end it.
    stdin: Option<ChildStdin>,
}

async fn spawn(listen: SocketAddr) -> Result<Child, BrokerError> {
    if listen.port() == 0 {
        return Err(BrokerError::AnyPort(listen));
    }
    free(listen).await?;
    let program = std::env::current_exe().map_err(BrokerError::Spawn)?;
    let mut process = Command::new(program)
        .arg("broker")
        .arg("--listen")
        .arg(listen.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(BrokerError::Spawn)?;
    let stdin = process.stdin.take();
    let mut child = Child { process, stdin };
    let deadline = Instant::now() + START;
    while Instant::now() < deadline && matches!(child.process.try_wait(), Ok(None)) {
        if let Ok(Ok(_)) = timeout_at(deadline, TcpStream::connect(reachable(listen))).await {
            tracing::info!(%listen, "the embedded broker listens");
            return Ok(child);
        }
        sleep(START_POLL).await;
    }
    end(child).await;
    Err(BrokerError::Silent(listen))
}

/// rumqttd only logs that an address is taken, and we would talk to whoever has it. The child of a
/// gateway that was killed a moment ago is given the time to end.
async fn free(listen: SocketAddr) -> Result<(), BrokerError> {
    let deadline = Instant::now() + STOP;
    loop {
        match TcpListener::bind(listen) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= deadline => {
                return Err(BrokerError::Listen(listen, error));
            }
            Err(_) => sleep(START_POLL).await,
        }
    }
}

/// How this machine reaches what listens at `address` on it.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => {
            SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, v4.port()))
        }
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, v6.port()))
        }
        SocketAddr::V4(_) | SocketAddr::V6(_) => address,
    }
}

async fn end(mut child: Child) {
    drop(child.stdin.take());
    if timeout(STOP, child.process.wait()).await.is_err() {
        let _ = child.process.kill().await;
    }
}

/// Keeps one child alive.
struct Watchdog {
    listen: SocketAddr,
    account: Account,
    topic: String,
    id: String,
    backoff: Backoff,
    stopped: watch::Receiver<bool>,
}

impl Watchdog {
    async fn run(mut self, mut child: Child) {
        loop {
            let mut stopped = self.stopped.clone();
            let why = tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => None,
                status = child.process.wait() => Some(format!("it ended: {status:?}")),
                why = self.watch() => Some(why),
            };
            end(child).await;
            let Some(why) = why else { return };
            tracing::error!(why, "the embedded broker is gone, starting it again");
            let Some(again) = self.restart().await else {
                return;
            };
            child = again;
        }
    }

    async fn restart(&mut self) -> Option<Child> {
        loop {
            let wait = self.backoff.wait();
            let stop = self.stopped.wait_for(|stopped| *stopped);
            if timeout(wait, stop).await.is_ok() {
                return None;
            }
            match spawn(self.listen).await {
                Ok(child) => return Some(child),
                Err(why) => tracing::error!(%why, "the embedded broker did not come back"),
            }
        }
    }

    /// Publishes to itself until nothing comes back; says how it failed. It may be dropped at any
    /// moment, its connection is its own.
    async fn watch(&mut self) -> String {
        let options = Client {
            id: self.id.clone(),
            clean: true,
            manual_acks: false,
            window: 16,
            will: None,
        };
        let (client, mut connection) = self.account.connection(options, 16);
        let mut heard = Instant::now();
        let mut said = heard;
        loop {
            let silent_at = heard + WATCH_SILENCE;
            if Instant::now() >= silent_at {
                return format!("nothing came back for {} s", WATCH_SILENCE.as_secs());
            }
            let next = (said + WATCH_EVERY).min(silent_at);
            match timeout_at(next, connection.poll()).await {
                Ok(Ok(Event::Incoming(Packet::ConnAck(_)))) => {
                    let _ = client.try_subscribe(&*self.topic, QoS::AtLeastOnce);
                }
                Ok(Ok(Event::Incoming(Packet::Publish(_)))) => {
                    heard = Instant::now();
                    self.backoff.reset();
                }
                Ok(Ok(_)) => {}
                Ok(Err(why)) => {
                    tracing::debug!(%why, "the watchdog's connection failed");
                    sleep(START_POLL).await;
                }
                Err(_) => {
                    said = Instant::now();
                    // Where the queue is full, nothing comes back either.
                    let _ = client.try_publish(&*self.topic, QoS::AtLeastOnce, false, Vec::new());
                }
            }
        }
    }
}
