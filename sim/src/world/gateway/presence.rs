//! What a gateway of the world says of itself.

use std::sync::Arc;

use dispatch::Effect;
use dispatch::edge::JournalError;
use protocol::ops::GatewayConnection;
use protocol::robot::ConnectionState;
use protocol::{Envelope, Outgoing, Timestamp};

use super::emission::{Moment, Wanted};
use super::{Gateway, Held};

impl Gateway {
    /// Says that it is there, or leaves.
    ///
    /// # Errors
    /// [`JournalError::Store`] when too much waits.
    pub fn present(
        &mut self,
        moment: Moment,
        connection_state: ConnectionState,
    ) -> Result<(), JournalError> {
        let connection = GatewayConnection {
            connection_state,
            instance: self.instance.clone(),
        };
        let message = Outgoing::GatewayConnection(self.site.gateway.clone(), connection);
        let own = Wanted::Own(Arc::new(Effect::Say(message)));
        self.hold(Held::Effect(own, moment.now_ms, self.appended))?;
        self.release(moment);
        Ok(())
    }

    /// Its will.
    #[must_use]
    pub fn will(&self, wall: Timestamp) -> Envelope {
        let connection = GatewayConnection {
            connection_state: ConnectionState::ConnectionBroken,
            instance: self.instance.clone(),
        };
        let message = Outgoing::GatewayConnection(self.site.gateway.clone(), connection);
        message.encode(&self.topics, &self.stamp("will", wall))
    }
}
