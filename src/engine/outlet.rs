//! Where effects go once the facts behind them are durable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch::edge::JournalError;
use dispatch::{Effect, Input};
use protocol::device::{DeviceCommand, DeviceKey};
use protocol::hardware::{Command, Outcome, Report};
use protocol::{DeviceId, ElevatorId, Outgoing};

use super::MqttLine;
use super::held::HeldDoors;
use super::notes;
use crate::bus::BusLine;
use crate::clock::Clock;
use crate::ending::{End, Ending};
use crate::inbox::{Arrival, Heard, Inbox, Owed};
use crate::journal::Sink;
use crate::mqtt::{AckToken, Acks, Egress};
use crate::operator::Operators;

/// What one step wants seen.
#[derive(Debug)]
pub struct Release {
    /// When the step was, on the monotonic clock: the age of its commands counts from here.
    pub at_ms: u64,
    /// What to do, in order.
    pub effects: Vec<Effect>,
    /// What is owed to whoever brought what the step is about; an acknowledgement comes last.
    pub ack: Option<Owed>,
}

/// The ways to the controllers.
pub struct Lines {
    /// The way to the bus task of each elevator that has a bus.
    buses: BTreeMap<ElevatorId, BusLine>,
    /// All others.
    mqtt: Arc<MqttLine>,
    egress: Egress,
    clock: Clock,
    inbox: Inbox,
    held: Mutex<HeldDoors>,
}

impl Lines {
    /// The lines of a site.
    #[must_use]
    pub fn new(
        buses: BTreeMap<ElevatorId, BusLine>,
        mqtt: Arc<MqttLine>,
        egress: Egress,
        clock: Clock,
        inbox: Inbox,
    ) -> Self {
        Self {
            buses,
            mqtt,
            egress,
            clock,
            inbox,
            held: Mutex::default(),
        }
    }

    /// Sends a command that was released at `at_ms`, or tells the core why not.
    pub fn send(&self, command: Command, at_ms: u64) {
        let now_ms = self.clock.mono_ms();
        self.lock().released(&command, now_ms);
        let refused = match self.buses.get(&command.elevator_id) {
            Some(bus) => bus.send(command, at_ms),
            None => match self.mqtt.command(&command, at_ms, self.clock.now()) {
                Ok(outgoing) => {
                    self.egress.say(outgoing);
                    Ok(())
                }
                Err(detail) => Err((command, detail)),
            },
        };
        if let Err((command, detail)) = refused {
            tracing::warn!(elevator = %command.elevator_id, command = command.action.word(),
                detail, "a command was not sent");
            let Command {
                elevator_id: elevator,
                command_id,
                ..
            } = command;
            let report = Report::Outcome {
                command_id,
                outcome: Outcome::Dropped { detail },
            };
            let heard = Heard::Input(Input::Report { elevator, report });
            // This thread must not wait for the engine, which may wait for it. If there is no
            // room, the core's own time-out tells the same.
            let _ = self.inbox.try_send(Arrival { heard, ack: None });
        }
    }

    /// The elevators whose door is held at our word.
    pub(super) fn held(&self, now_ms: u64) -> Vec<ElevatorId> {
        self.lock().elevators(now_ms).cloned().collect()
    }

    /// Renews the holds of these elevators where it is time.
    pub(super) fn renew_holds(&self, elevators: &[ElevatorId], now_ms: u64) {
        let renewals = self.lock().renew(elevators, now_ms);
        for command in renewals {
            self.send(command, now_ms);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HeldDoors> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where things go that are released.
pub struct Ways {
    /// What is said.
    pub egress: Egress,
    /// What is commanded.
    pub lines: Arc<Lines>,
    /// What signs commands to devices.
    pub device_keys: BTreeMap<DeviceId, DeviceKey>,
    /// What operators are answered.
    pub operators: Operators,
    /// What is acknowledged.
    pub acks: Arc<Acks>,
    /// Where the engine hears that the journal failed.
    pub inbox: Inbox,
    /// Where the end of the process is called for then.
    pub ending: Ending,
}

/// The committer's way out.
pub struct Outlet {
    ways: Ways,
    /// Released, to be said.
    said: Vec<Outgoing>,
    /// Released, to be acknowledged.
    acknowledged: Vec<AckToken>,
}

impl Outlet {
    /// A way out, along these.
    #[must_use]
    pub fn new(ways: Ways) -> Self {
        Self {
            ways,
            said: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    /// A command to a device as it is sent, with what is left of its span; `None` for a device that
    /// the configuration does not name any more.
    fn sign(&self, mut command: Box<DeviceCommand>, at_ms: u64) -> Option<Outgoing> {
        let Some(key) = self.ways.device_keys.get(&command.device_id) else {
            tracing::warn!(device = %command.device_id, command = %command.command,
                "a command was not sent: the device has no key");
            return None;
        };
        let age_ms = self.ways.lines.clock.mono_ms().saturating_sub(at_ms);
        command.expires_in_ms = command.expires_in_ms.saturating_sub(age_ms);
        let signature = key.sign(&command);
        Some(Outgoing::DeviceCommand { command, signature })
    }

    fn say(&mut self) {
        if !self.said.is_empty() {
            self.ways.egress.say_all(self.said.drain(..));
        }
    }
}

impl Sink<Release> for Outlet {
    fn release(
        &mut self,
        Release {
            at_ms,
            effects,
            ack,
        }: Release,
    ) {
        crash_point!(released(&effects));
        let (ack, mut asker) = match ack {
            Some(Owed::Ack(ack)) => (Some(ack), None),
            Some(Owed::Reply(asker)) => (None, Some(asker)),
            None => (None, None),
        };
        for effect in effects {
            match effect {
                Effect::Say(Outgoing::ClientReply { reply, .. }) if asker.is_some() => {
                    // A step says one reply. Nobody may wait for it any more.
                    let _ = asker.take().map(|asker| asker.send(reply));
                }
                Effect::Say(message) => self.said.push(message),
                Effect::Command(command) => {
                    // Some go by the same way as what is said, and in their order.
                    self.say();
                    self.ways.lines.send(command, at_ms);
                }
                Effect::Device(command) => self.said.extend(self.sign(command, at_ms)),
                Effect::Note(note) => notes::write(&note),
                Effect::Answer { ticket, answer } => self.ways.operators.answer(ticket, answer),
            }
        }
        self.acknowledged.extend(ack);
    }

    fn settle(&mut self) {
        self.say();
        self.ways.acks.done(self.acknowledged.drain(..));
    }

    fn failed(&mut self, error: JournalError) {
        tracing::error!(%error, "the journal failed");
        self.ways.ending.call(End::JournalFailed);
        // Where the inbox is full, the engine's next step tells it the same.
        let _ = self.ways.inbox.try_send(Arrival {
            heard: Heard::JournalFailed,
            ack: None,
        });
    }
}
