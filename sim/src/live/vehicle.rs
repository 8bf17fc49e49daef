//! A rented device as an MQTT client: it hears commands, keeps what it executed before it answers,
//! and says how it stands whenever it connects.

use std::io;

use protocol::device::{DeviceCommand, DeviceEvent, DeviceEventKind, DeviceKey, Signature};
use protocol::peer::{Heard as Told, Said, Spoken};
use protocol::{CommandId, DeviceId, InstanceId, OrderId, Topics};

use super::device::{Memory, Shelf, Verdict};
use super::radio::{Endpoint, Heard, Radio};
use super::speaker::{Speaker, run_id, wall};

/// Why a device cannot start.
#[derive(Debug, thiserror::Error)]
pub enum VehicleError {
    /// What it keeps cannot be read or written.
    #[error("device {device}: {path}: {source}")]
    Memory {
        /// The device.
        device: DeviceId,
        /// The file.
        path: String,
        /// What is wrong.
        source: io::Error,
    },
    /// The device's name leaves no room for message ids.
    #[error("device {0}: a simulated device has a name of at most 24 bytes")]
    Name(DeviceId),
}

/// What a device did, for those who watch it.
#[derive(Debug, Clone)]
pub struct Deed {
    /// The device.
    pub device: DeviceId,
    /// What it was told.
    pub command: DeviceCommand,
    /// What became of it.
    pub verdict: Verdict,
    /// How often it was unlocked in its life.
    pub unlocks: u64,
}

/// One device.
#[derive(Debug)]
pub struct Vehicle {
    topics: Topics,
    radio: Radio,
    device: DeviceId,
    key: DeviceKey,
    shelf: Shelf,
    memory: Memory,
    boot_id: InstanceId,
    speaker: Speaker,
    seq: u64,
}

impl Vehicle {
    /// A device that connects by itself, under its id.
    ///
    /// # Errors
    /// [`VehicleError`].
    pub fn new(
        topics: Topics,
        endpoint: &Endpoint,
        device: DeviceId,
        key: DeviceKey,
        shelf: Shelf,
    ) -> Result<Self, VehicleError> {
        let broken = |source| VehicleError::Memory {
            device: device.clone(),
            path: shelf.path().display().to_string(),
            source,
        };
        let mut memory = shelf.load().map_err(broken)?;
        memory.boots += 1;
        shelf.keep(&memory).map_err(broken)?;
        let name = || VehicleError::Name(device.clone());
        // A number of its own memory would do; with the clock it is new where the memory was lost.
        let boot = format!("boot-{}-{}", memory.boots, run_id());
        let boot_id = InstanceId::new(&boot).map_err(|_| name())?;
        let speaker = Speaker::new(&format!("{device}-{}", run_id())).map_err(|_| name())?;
        let filters = topics.device_filters(&device);
        let radio = Radio::on(endpoint, device.as_str(), None, filters);
        Ok(Self {
            topics,
            radio,
            device,
            key,
            shelf,
            memory,
            boot_id,
            speaker,
            seq: 0,
        })
    }

    /// Serves until the future is dropped; `watch` sees each command.
    ///
    /// # Errors
    /// [`VehicleError::Memory`]: what cannot be kept is not executed.
    pub async fn run(mut self, mut watch: impl FnMut(Deed)) -> Result<(), VehicleError> {
        loop {
            match self.radio.hear().await {
                Heard::Up => self.say(DeviceEventKind::State, None, None),
                Heard::Down(_) => {}
                Heard::Message { retained: true, .. } => {}
                Heard::Message { topic, payload, .. } => {
                    let said = Told::read(&self.topics, &topic, &payload).map(|told| told.said);
                    match said {
                        Ok(Said::DeviceCommand { command, signature }) => {
                            watch(self.obey(*command, &signature)?);
                        }
                        Ok(_) => {}
                        Err(error) => {
                            tracing::warn!(device = %self.device, %error, "a command cannot be read");
                        }
                    }
                }
            }
        }
    }

    fn obey(
        &mut self,
        command: DeviceCommand,
        signature: &Signature,
    ) -> Result<Deed, VehicleError> {
        let verdict = self.memory.obey(&self.key, &command, signature, wall());
        if let Verdict::Acted | Verdict::Refused(_) = verdict {
            self.shelf
                .keep(&self.memory)
                .map_err(|source| VehicleError::Memory {
                    device: self.device.clone(),
                    path: self.shelf.path().display().to_string(),
                    source,
                })?;
        }
        let event = match verdict {
            Verdict::Acted | Verdict::Known => DeviceEventKind::Done,
            Verdict::Asked => DeviceEventKind::State,
            Verdict::Refused(_) => DeviceEventKind::Failed,
        };
        let (id, order) = (command.command_id.clone(), command.order_id.clone());
        self.say(event, Some(id), order);
        Ok(Deed {
            device: self.device.clone(),
            command,
            verdict,
            unlocks: self.memory.unlocks,
        })
    }

    /// Says how it stands; what cannot leave is not kept, it would be late.
    fn say(
        &mut self,
        event: DeviceEventKind,
        command_id: Option<CommandId>,
        order_id: Option<OrderId>,
    ) {
        self.seq += 1;
        let spoken = Spoken::Device {
            device: self.device.clone(),
            event: DeviceEvent {
                message_id: self.speaker.message_id(),
                timestamp: wall(),
                event,
                boot_id: self.boot_id.clone(),
                seq: self.seq,
                command_id,
                order_id,
                device_state: Some(self.memory.word()),
            },
        };
        // A connection that is gone is made again, and then it says how it stands.
        let _ = self.radio.say(spoken.encode(&self.topics));
    }
}
