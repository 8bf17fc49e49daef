//! Acknowledgements on their way back to the broker.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch::edge::ack::{AckLine, Ticket};
use rumqttc::{Disconnect, PubAck, Request};

use super::link::Requests;

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
    /// The connection is there. While it is not, nothing may wait for it: it would be sent on the
    /// next one, where the packet id is another message's.
    open: bool,
    requests: Requests,
}

impl Acks {
    pub(super) fn new(requests: Requests) -> Self {
        let line = AckLine::new(UNACKNOWLEDGED_MAX);
        Self {
            inner: Mutex::new(Inner {
                line,
                open: false,
                requests,
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

    /// The connection is gone. What waits to be sent is the caller's to drop.
    pub(super) fn close(&self) {
        self.lock().open = false;
    }

    /// A message came. `None` where the broker has more under way than MQTT allows: it is not
    /// acknowledged and comes again.
    pub(super) fn received(&self, packet_id: u16) -> Option<AckToken> {
        self.lock().line.received(packet_id).ok()
    }

    /// All that these messages caused is durable: each is acknowledged once those before it are.
    pub fn done(&self, tokens: impl IntoIterator<Item = AckToken>) {
        let mut inner = self.lock();
        for token in tokens {
            inner.line.due(token);
        }
        let Inner {
            line,
            open,
            requests,
        } = &mut *inner;
        if *open {
            // There is room for all packet ids.
            let leaving = std::iter::from_fn(|| line.leave());
            requests.put_all(leaving.map(|packet_id| Request::PubAck(PubAck::new(packet_id))));
        }
    }

    /// Takes leave of the broker, behind all acknowledgements that are due.
    pub(super) fn leave(&self) {
        let mut inner = self.lock();
        if inner.open {
            inner.open = false;
            inner.requests.put(Request::Disconnect(Disconnect));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
