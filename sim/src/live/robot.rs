//! Robots as real MQTT clients that keep the rules of `wire.md` and lose the radio in the car.

mod brain;
mod errand;
mod ground;
mod ride;

use std::time::Duration;

use protocol::peer::{Heard as Told, Said, Spoken};
use protocol::robot::{ConnectionState, RobotConnection};
use protocol::{ElevatorId, Envelope, RobotId, RobotMessage, Topics};
use tokio::sync::mpsc;

pub use self::brain::Brain;
pub use self::errand::{Deed, Errand, Habits, RideResult, Threshold, Way};
use self::ground::Sight;
pub use self::ground::{Ground, GroundError};
use super::radio::{Endpoint, Heard, Radio};
use super::speaker::{Speaker, wall};

/// A robot and its way to the broker.
#[derive(Debug)]
pub struct Robot {
    id: RobotId,
    brain: Brain,
    speaker: Speaker,
    topics: Topics,
    endpoint: Endpoint,
    ground: Ground,
    radio: Option<Radio>,
    /// The car that it is in, or half in, as it sees it.
    sight: Option<(ElevatorId, Option<Sight>)>,
    blocked: bool,
}

impl Robot {
    /// A robot that stands outside, with its radio off. `speaker` makes the ids of what the radio
    /// itself says.
    #[must_use]
    pub fn new(
        brain: Brain,
        id: RobotId,
        speaker: Speaker,
        topics: Topics,
        endpoint: Endpoint,
        ground: Ground,
    ) -> Self {
        Self {
            id,
            brain,
            speaker,
            topics,
            endpoint,
            ground,
            radio: None,
            sight: None,
            blocked: false,
        }
    }

    /// Rides one errand after the other and reports each; leaves in good order after the last.
    ///
    /// # Errors
    /// [`GroundError`] where it is sent into a car that the building does not have.
    pub async fn run(
        mut self,
        mut errands: mpsc::Receiver<Errand>,
        results: mpsc::Sender<RideResult>,
    ) -> Result<(), GroundError> {
        self.switch_on();
        while let Some(errand) = errands.recv().await {
            self.ground.starts(&self.id, &errand).await?;
            self.brain.start(errand, self.now());
            let result = self.ride().await?;
            if results.send(result).await.is_err() {
                break;
            }
        }
        if let Some(radio) = self.radio.take() {
            let offline = self.connection(ConnectionState::Offline);
            radio.say(offline);
            radio.farewell().await;
        }
        Ok(())
    }

    async fn ride(&mut self) -> Result<RideResult, GroundError> {
        loop {
            for deed in self.brain.act(self.now()) {
                if let Some(result) = self.perform(deed).await? {
                    return Ok(result);
                }
            }
            if std::mem::take(&mut self.blocked) {
                self.brain.blocked(self.now());
            }
            self.keep_radio().await?;
            self.wait().await;
        }
    }

    async fn perform(&mut self, deed: Deed) -> Result<Option<RideResult>, GroundError> {
        match deed {
            Deed::Say(message) => {
                let envelope = self.envelope(message);
                if let Some(radio) = &self.radio {
                    radio.say(envelope);
                }
            }
            Deed::CrossingBegins(threshold) => {
                self.blocked = !self.ground.begin(&self.id, &threshold).await?;
            }
            Deed::CrossingEnds(threshold) => {
                self.ground.end(&self.id, &threshold).await?;
            }
            Deed::Finished(result) => return Ok(Some(result)),
        }
        Ok(None)
    }

    /// Waits until something is heard, seen or due, and takes it in.
    async fn wait(&mut self) {
        let due = self.brain.next().saturating_sub(self.now());
        let due = tokio::time::sleep(due.min(Duration::from_secs(3_600)));
        let Self { radio, sight, .. } = self;
        let changed = async {
            match sight {
                Some((_, Some(sight))) => sight.changed().await,
                Some((_, None)) | None => std::future::pending().await,
            }
        };
        let heard = async {
            match radio {
                Some(radio) => radio.hear().await,
                None => std::future::pending().await,
            }
        };
        let heard = tokio::select! {
            heard = heard => Some(heard),
            () = changed => None,
            () = due => None,
        };
        if let Some(heard) = heard {
            self.take_in(heard);
        }
    }

    fn take_in(&mut self, heard: Heard) {
        let now = self.now();
        match heard {
            Heard::Up => {
                let online = self.connection(ConnectionState::Online);
                if let Some(radio) = &self.radio {
                    radio.say(online);
                }
                self.brain.radio(true, now);
            }
            Heard::Down(why) => {
                tracing::debug!(robot = %self.id, why, "the radio is down");
                self.brain.radio(false, now);
            }
            Heard::Message { topic, payload, .. } => {
                match Told::read(&self.topics, &topic, &payload).map(|told| told.said) {
                    Ok(Said::RideReply { reply, .. }) => self.brain.hear_reply(&reply, now),
                    Ok(Said::RideState {
                        view: Some(view), ..
                    }) => {
                        self.brain.hear_state(&view, now);
                    }
                    Ok(Said::GatewayConnection(gateway, connection)) => {
                        self.brain
                            .hear_gateway(gateway, connection.connection_state);
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(robot = %self.id, %error, "not understood"),
                }
            }
        }
    }

    /// Behind closed doors there is no radio; it comes back when a door opens.
    async fn keep_radio(&mut self) -> Result<(), GroundError> {
        let car = self.brain.car();
        if self.sight.as_ref().map(|(seen, _)| seen) != car {
            self.sight = match car {
                Some(car) => Some((car.clone(), self.ground.sight(car)?)),
                None => None,
            };
        }
        let is_shut_in = match &mut self.sight {
            Some((_, Some(sight))) => sight.is_shut().await?,
            Some((_, None)) | None => false,
        };
        if is_shut_in {
            if self.radio.take().is_some() {
                self.brain.radio(false, self.now());
            }
        } else if self.radio.is_none() {
            self.switch_on();
        }
        Ok(())
    }

    fn switch_on(&mut self) {
        let will = self.connection(ConnectionState::ConnectionBroken);
        let filters = self.topics.robot_filters(&self.id);
        self.radio = Some(Radio::on(
            &self.endpoint,
            self.id.as_str(),
            Some(will),
            filters,
        ));
    }

    fn connection(&mut self, connection_state: ConnectionState) -> Envelope {
        let message_id = self.speaker.message_id();
        let connection = RobotConnection {
            message_id,
            timestamp: wall(),
            connection_state,
        };
        self.envelope(RobotMessage::Connection(connection))
    }

    fn envelope(&self, message: RobotMessage) -> Envelope {
        Spoken::Robot {
            robot: self.id.clone(),
            message,
        }
        .encode(&self.topics)
    }

    fn now(&self) -> Duration {
        self.ground.pace().elapsed()
    }
}
