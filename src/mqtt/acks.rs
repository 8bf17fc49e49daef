//! Acknowledgements on their way back to the broker.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch::edge::ack::{AckLine, Ticket};
use rumqttc::{AsyncClient, Publish, QoS};

/// Names a message that is to be acknowledged.
pub type AckToken = Ticket;

/// MQTT has no more packet ids than this, so no connection brings more at a time.
const UNACKNOWLEDGED_MAX: usize = 65_535;

/// The acknowledgements of the ingest connection.
pub struct Acks {
    inner: Mutex<Inner>,
}

struct Inner {
    line: AckLine<u16>,
    /// The connection is there. While it is not, nothing may be queued: the client library would
    /// send it on the next one, where the packet id is another message's.
    open: bool,
    client: AsyncClient,
}

impl Acks {
    pub(super) fn new(client: AsyncClient) -> Self {
        let line = AckLine::new(UNACKNOWLEDGED_MAX);
        Self {
            inner: Mutex::new(Inner {
                line,
                open: false,
                client,
            }),
        }
    }

    /// A new connection, a new epoch.
    pub(super) fn open(&self) {
        let mut inner = self.lock();
        let epoch = inner.line.epoch() + 1;
        let dropped = inner.line.connected(epoch);
        inner.open = true;
        if dropped > 0 {
            tracing::debug!(
                dropped,
                epoch,
                "the broker will bring again what was not acknowledged"
            );
        }
    }

    /// The connection is gone. What is queued in the client library is the caller's to drop.
    pub(super) fn close(&self) {
        self.lock().open = false;
    }

    /// A message came. `None` where the broker has more under way than MQTT allows: it is not
    /// acknowledged and comes again.
    pub(super) fn received(&self, packet_id: u16) -> Option<AckToken> {
        self.lock().line.received(packet_id).ok()
    }

    /// All that the message caused is durable: it is acknowledged once those before it are.
    pub fn done(&self, token: AckToken) {
        let mut inner = self.lock();
        inner.line.due(token);
        while inner.open
            && let Some(packet_id) = inner.line.leave()
        {
            let mut publish = Publish::new("", QoS::AtLeastOnce, Vec::new());
            publish.pkid = packet_id;
            if inner.client.try_ack(&publish).is_err() {
                // The queue has room for all packet ids; it can only be gone, with the connection.
                tracing::debug!(packet_id, "an acknowledgement was not sent");
            }
        }
    }

    /// Takes leave of the broker, behind all acknowledgements that are due.
    pub(super) fn leave(&self) {
        let mut inner = self.lock();
        if inner.open {
            inner.open = false;
            let _ = inner.client.try_disconnect();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
