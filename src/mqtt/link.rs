//! A connection whose requests leave many at a time.
//!
//! The client library takes a request from its queue, writes it and flushes: a system call, a
//! segment and a wake of the broker for each message and each acknowledgement. Here all that waits
//! is written before one flush, by the library's own state and network.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rumqttc::{ConnectionError, Event, EventLoop, Request};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::account::{Account, Client};

/// Requests that are written before a flush, so that what comes in meanwhile waits no longer.
const BATCH: usize = 64;

/// Where requests wait until they are written. Clones lead to the same link.
#[derive(Clone)]
pub(super) struct Requests(Arc<Waiting>);

struct Waiting {
    queue: Mutex<VecDeque<Request>>,
    max: usize,
    came: Notify,
}

/// A link, open or not.
pub(super) struct Link {
    pub(super) connection: EventLoop,
    requests: Requests,
}

impl Requests {
    fn new(max: usize) -> Self {
        Self(Arc::new(Waiting {
            queue: Mutex::default(),
            max,
            came: Notify::new(),
        }))
    }

    /// Has a request wait to be written.
    pub(super) fn put(&self, request: Request) {
        self.put_all([request]);
    }

    /// Has requests wait to be written, as many as there is room for. Never waits itself.
    pub(super) fn put_all(&self, requests: impl IntoIterator<Item = Request>) {
        let mut queue = self.lock();
        let room = self.0.max.saturating_sub(queue.len());
        queue.extend(requests.into_iter().take(room));
        drop(queue);
        self.0.came.notify_one();
    }

    fn take(&self) -> Option<Request> {
        self.lock().pop_front()
    }

    fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Request>> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// A link that opens when it is polled, with room for `max` requests.
    pub(super) fn new(account: &Account, options: Client, max: usize) -> (Requests, Self) {
        // Nobody speaks through the library's own queue.
        let (_, connection) = account.connection(options, 1);
        let requests = Requests::new(max);
        let link = Self {
            connection,
            requests: requests.clone(),
        };
        (requests, link)
    }

    /// What happened already and was not told yet.
    pub(super) fn ready(&mut self) -> Option<Event> {
        self.connection.state.events.pop_front()
    }

    /// What happens next. Connects where there is no connection. Given up before it is done, the
    /// link is to be ended.
    ///
    /// # Errors
    /// Why the connection ended, or none came about.
    pub(super) async fn poll(&mut self) -> Result<Event, ConnectionError> {
        loop {
            if let Some(event) = self.ready() {
                return Ok(event);
            }
            if self.connection.network.is_none() {
                return self.connection.poll().await;
            }
            self.write_waiting().await?;
            if let Some(event) = self.ready() {
                return Ok(event);
            }
            // The library's poll may be given up here: it reads whole packets, answers none of them
            // by itself, and what of a ping is not written yet is, with the next flush.
            tokio::select! {
                biased;
                event = self.connection.poll() => return event,
                () = self.requests.0.came.notified() => {}
            }
        }
    }

    async fn write_waiting(&mut self) -> Result<(), ConnectionError> {
        let wait = Duration::from_secs(self.connection.network_options.connection_timeout());
        let EventLoop {
            mqtt_options,
            state,
            network: Some(network),
            ..
        } = &mut self.connection
        else {
            return Ok(());
        };
        let requests = &self.requests;
        let write = async {
            let mut written = 0;
            while written < BATCH
                && state.inflight() < mqtt_options.inflight()
                && state.collision.is_none()
                && let Some(request) = requests.take()
            {
                if let Some(packet) = state.handle_outgoing_packet(request)? {
                    network.write(packet).await?;
                    written += 1;
                }
            }
            if written > 0 {
                network.flush().await?;
            }
            Ok(())
        };
        let written = timeout(wait, write).await;
        written.unwrap_or(Err(ConnectionError::FlushTimeout))
    }

    /// Ends the connection, if there is one, and forgets all requests. What the library would keep
    /// for the next connection is thrown away: publishes that an outbox has too, acknowledgements
    /// and subscriptions of a session that may be forgotten, and packets that were read and not
    /// told, which would pass for those of the next connection.
    pub(super) fn end(&mut self) {
        self.connection.clean();
        self.connection.pending.clear();
        self.connection.state.collision = None;
        self.connection.state.events.clear();
        self.requests.clear();
    }
}
