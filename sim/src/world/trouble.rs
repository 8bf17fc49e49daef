//! What may go wrong around a gateway: its connections, its process, its disk, its clocks.

use std::sync::Arc;

use dispatch::Input;
use protocol::peer::Spoken;
use protocol::robot::ConnectionState;
use protocol::{Envelope, RobotId, RobotMessage, Topics};

use super::broker::{Mishaps, Weather};
use super::dice::Dice;
use super::disk::Cut;
use super::gateway::Gateway;
use super::schedule::Part;
use super::tale::Tale;
use super::{EGRESS, INGEST, World};
use crate::check::Seen;

/// Something for a process that does not run at the moment.
#[derive(Debug)]
pub(super) enum Waiting {
    Input(Box<Input>),
    Message {
        epoch: u64,
        packet: u64,
        envelope: Arc<Envelope>,
        retained: bool,
    },
    Published(u64),
    /// The connections as they are by then.
    Egress(bool),
}

/// One of the gateway's connections to the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What it subscribes to.
    Ingest,
    /// What it publishes.
    Egress,
}

impl World {
    /// One connection of the gateway breaks, or is taken over by another client that leaves at once.
    pub fn cut_link(&mut self, side: Side) {
        match side {
            Side::Ingest => {
                self.broker.disconnect(self.now_ms, INGEST, false);
                self.granted_ms = None;
                self.input(Input::Broker { up: false });
            }
            Side::Egress => {
                self.broker.disconnect(self.now_ms, EGRESS, false);
                self.egress(false);
            }
        }
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    /// That connection is there again, if the broker and the gateway are.
    pub fn restore_link(&mut self, side: Side) {
        let stands = self.gateway.is_none() || self.stalled_ms.is_some();
        if stands || self.broker.is_down() {
            return;
        }
        match side {
            Side::Ingest => self.connect_ingest(),
            Side::Egress => self.connect_egress(),
        }
        self.flush_gateway();
    }

    pub(super) fn connect_ingest(&mut self) {
        let Some((ingest, _)) = self.broker.connect(INGEST, false, None) else {
            return;
        };
        self.ingest_epoch = ingest;
        if let Some(gateway) = &mut self.gateway {
            gateway.ingest_opened(ingest);
        }
        self.broker.resume(self.now_ms, INGEST);
        let mut filters = self.topics.ingest_filters(&self.site.gateway);
        filters.extend(self.topics.start_filters());
        for filter in filters {
            self.broker.subscribe(self.now_ms, INGEST, &filter);
        }
        self.granted_ms = Some(self.now_ms + 2 * self.config.latency_ms + 1);
    }

    pub(super) fn connect_egress(&mut self) {
        let will = self.gateway.as_ref().map(|it| it.will(self.wall()));
        let Some((egress, _)) = self.broker.connect(EGRESS, true, will) else {
            return;
        };
        self.egress_epoch = egress;
        self.egress(true);
        if self.ready && self.granted_ms.is_none() {
            self.announce();
        }
    }

    pub(super) fn announce(&mut self) {
        self.with_gateway(|gateway, moment, _| gateway.present(moment, ConnectionState::Online));
    }

    pub(super) fn egress(&mut self, open: bool) {
        if self.stalled_ms.is_some() {
            self.waiting.push_back(Waiting::Egress(open));
            return;
        }
        let moment = self.moment();
        if let Some(gateway) = &mut self.gateway {
            gateway.egress(moment, open);
        }
        self.flush_gateway();
    }

    /// The process does nothing for `span_ms`; with `clock_stops` its monotonic clock stands still
    /// meanwhile, as that of a machine that is suspended.
    pub fn stall_gateway(&mut self, span_ms: u64, clock_stops: bool) {
        if self.gateway.is_none() || self.stalled_ms.is_some() {
            return;
        }
        let until_ms = self.now_ms + span_ms;
        self.stalled_ms = Some((until_ms, if clock_stops { span_ms } else { 0 }));
        self.schedule.set(Part::Gateway, Some(until_ms));
    }

    /// Whether the broker is down.
    #[must_use]
    pub fn broker_is_down(&self) -> bool {
        self.broker.is_down()
    }

    /// Each connection that is away is there again, if the broker and the gateway are.
    pub fn reconnect_gateway(&mut self) {
        for (side, client) in [(Side::Ingest, INGEST), (Side::Egress, EGRESS)] {
            if !self.broker.is_connected(client) {
                self.restore_link(side);
            }
        }
    }

    /// What the broker keeps for a topic.
    #[must_use]
    pub fn retained(&self, topic: &str) -> Option<&Envelope> {
        self.broker.retained(topic)
    }

    /// The topics of the site.
    #[must_use]
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// Whether the process stands still.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled_ms.is_some()
    }

    /// It goes on with all that came meanwhile, in order.
    pub(super) fn wake_gateway(&mut self) {
        let Some((_, lost_ms)) = self.stalled_ms.take() else {
            return;
        };
        if let Some(gateway) = &mut self.gateway {
            gateway.lose_time(lost_ms);
        }
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::Input(input) => self.input(*input),
                Waiting::Message {
                    epoch,
                    packet,
                    envelope,
                    retained,
                } => self.deliver((epoch, packet), &envelope, retained),
                Waiting::Published(id) => self.tell_published(id),
                Waiting::Egress(open) => self.egress(open),
            }
        }
        self.reconnect_gateway();
    }

    pub(super) fn deliver(
        &mut self,
        (epoch, packet): (u64, u64),
        envelope: &Envelope,
        retained: bool,
    ) {
        let (topic, payload) = (envelope.topic.as_str(), envelope.payload.as_slice());
        let delivered = Seen::Delivered {
            epoch,
            packet,
            topic,
            payload,
            retained,
        };
        self.checker.saw(self.now_ms, delivered);
        self.with_gateway(|gateway, moment, disk| {
            gateway.message(moment, packet, (topic, payload, retained), disk)
        });
    }

    pub(super) fn tell_published(&mut self, id: u64) {
        let moment = self.moment();
        if let Some(gateway) = &mut self.gateway {
            gateway.published(moment, id);
        }
        self.flush_gateway();
    }

    /// The process is killed; what it appended is there when it starts again.
    pub fn kill_gateway(&mut self) {
        self.crash_gateway(usize::MAX);
    }

    /// The power of gateway and disk goes: any subset of what was not synced is there later.
    pub fn power_cut(&mut self, dice: &mut Dice) -> Cut {
        let cut = self.disk.power_cut_anyhow(dice);
        self.tell(|| Tale::Crashed {
            lost: usize::try_from(cut.lost).unwrap_or(usize::MAX),
        });
        self.lose_gateway();
        cut
    }

    /// The disk, to do something to it.
    pub fn disk_mut(&mut self) -> &mut super::ModelDisk {
        &mut self.disk
    }

    /// A sync takes this long from here on.
    pub fn set_sync_ms(&mut self, sync_ms: u64) {
        self.config.sync_ms = sync_ms;
        if let Some(gateway) = &mut self.gateway {
            gateway.set_sync_ms(sync_ms);
        }
    }

    /// Space for the journal is low, or is there again.
    pub fn disk_low(&mut self, low: bool) {
        self.input(Input::Disk { low });
    }

    /// The gateway's wall clock is so far from the truth, in milliseconds.
    pub fn set_wall_offset(&mut self, offset_ms: i64) {
        self.wall_offset_ms = offset_ms;
    }

    /// How messages fare at the broker, by the chance of a seed.
    pub fn set_weather(&mut self, weather: Weather, seed: u64) {
        self.broker.set_weather(weather, seed);
    }

    /// A client of the gateway reads nothing for `span_ms`.
    pub fn stall_link(&mut self, side: Side, span_ms: u64) {
        let client = match side {
            Side::Ingest => INGEST,
            Side::Egress => EGRESS,
        };
        self.broker.stall(client, self.now_ms + span_ms);
    }

    /// Good weather, and every client reads.
    pub fn clear_sky(&mut self) {
        self.broker.clear_sky();
    }

    /// What happened to messages so far.
    #[must_use]
    pub fn mishaps(&self) -> Mishaps {
        self.broker.mishaps()
    }

    /// Somebody publishes something through the broker.
    pub fn publish_anyhow(&mut self, envelope: Envelope) {
        self.broker.inject(self.now_ms, envelope);
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    /// Somebody publishes something in the name of a robot.
    pub fn publish_for(&mut self, robot: &RobotId, message: RobotMessage) {
        let robot = robot.clone();
        let spoken = Spoken::Robot { robot, message };
        self.publish_anyhow(spoken.encode(&self.topics));
    }

    /// The gateway's will comes though it lives.
    pub fn early_will(&mut self) {
        if let Some(will) = self
            .gateway
            .as_ref()
            .map(|it: &Gateway| it.will(self.wall()))
        {
            self.publish_anyhow(will);
        }
    }
}
