//! What is under way between the broker and its clients.

use std::sync::Arc;

use protocol::Envelope;

/// Something that arrives at a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message {
        /// To whom.
        client: Arc<str>,
        /// On which connection.
        epoch: u64,
        /// To be acknowledged with this.
        packet: u64,
        /// What it is.
        envelope: Arc<Envelope>,
        /// It is an old word, sent because of a subscription.
        retained: bool,
    },
    /// The broker has a message of the client.
    Published {
        /// Whose.
        client: Arc<str>,
        /// On which connection.
        epoch: u64,
        /// What `ModelBroker::publish` was told.
        id: u64,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Transit {
    ToBroker {
        client: Arc<str>,
        epoch: u64,
        id: u64,
        envelope: Arc<Envelope>,
    },
    ToClient(Arrival),
    Acknowledged {
        client: Arc<str>,
        epoch: u64,
        packet: u64,
    },
}
