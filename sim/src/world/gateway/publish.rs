//! What a gateway of the world hands to the broker.

use dispatch::edge::outbox;
use protocol::{MessageId, Stamp, Timestamp};

use super::Gateway;
use super::emission::{Emission, Moment};

impl Gateway {
    /// Hands over to the broker what it takes.
    pub(super) fn pump(&mut self, moment: Moment) {
        loop {
            let (id, message) = match self.outbox.next(moment.now_ms) {
                Some(outbox::Next::Send { id, message, .. }) => (id, message.clone()),
                Some(outbox::Next::Dropped(_)) => continue,
                None => return,
            };
            let Some(said) = message.message() else {
                continue;
            };
            self.messages += 1;
            let stamp = self.stamp(&self.messages.to_string(), moment.wall);
            let envelope = said.encode(&self.topics, &stamp);
            self.emissions.push(Emission::Publish {
                id,
                message,
                envelope,
            });
        }
    }

    pub(super) fn stamp(&self, name: &str, timestamp: Timestamp) -> Stamp {
        let text = format!("{}.{name}", self.instance);
        // Instance ids of the world are short, so the text is an id.
        let message_id = MessageId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an id"));
        Stamp {
            message_id,
            timestamp,
            source: self.site.gateway.clone(),
        }
    }
}
