//! A car as a controller that speaks MQTT, with every duty that `wire.md` section 6 gives one: a
//! clean session, retained commands ignored, expired and fenced-out ones refused, answers repeated
//! for a command that it knows, `accepted` before `done`, one `state` for a `query`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::elevator::{ControllerEvent, Doors, ElevatorEvent};
use protocol::hardware::{Action, Command, Reading};
use protocol::peer::{Heard as Told, Said, Spoken};
use protocol::{CommandId, ElevatorId, Fence, InstanceId, Topics};

use super::building::{Building, UnknownCar};
use super::radio::{Endpoint, Heard, Radio};
use super::speaker::{Speaker, run_id, wall};

/// Answers remembered; the oldest are dropped.
const ANSWERS_MAX: usize = 1_000;
/// Commands whose effect is awaited.
const PENDING_MAX: usize = 64;
/// Between two unasked snapshots, in the building's milliseconds (`wire.md` section 6: 5 s).
const STATE_EVERY_MS: u64 = 5_000;

/// Why a controller cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The building has no such car.
    #[error(transparent)]
    Unknown(#[from] UnknownCar),
    /// The elevator's name leaves no room for message ids.
    #[error("elevator {0}: a simulated MQTT controller has a name of at most 24 bytes")]
    Name(ElevatorId),
}

/// One controller.
#[derive(Debug)]
pub struct MqttController {
    building: Arc<Building>,
    topics: Topics,
    radio: Radio,
    elevator: ElevatorId,
    boot_id: InstanceId,
    speaker: Speaker,
    seq: u64,
    highest: Fence,
    answers: BTreeMap<CommandId, (ControllerEvent, Option<String>)>,
    answered: VecDeque<CommandId>,
    pending: Vec<Command>,
}

impl MqttController {
    /// A controller that connects by itself, under its elevator's name.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn new(
        building: Arc<Building>,
        topics: Topics,
        endpoint: &Endpoint,
        elevator: ElevatorId,
    ) -> Result<Self, ControllerError> {
        building.snapshot(&elevator)?;
        let name = || ControllerError::Name(elevator.clone());
        let boot = format!("boot-{}", run_id());
        let speaker = Speaker::new(&format!("{elevator}-{}", run_id())).map_err(|_| name())?;
        let boot_id = InstanceId::new(&boot).map_err(|_| name())?;
        let filters = topics.controller_filters(&elevator);
        let radio = Radio::on(endpoint, elevator.as_str(), None, filters);
        Ok(Self {
            building,
            topics,
            radio,
            elevator,
            boot_id,
            speaker,
            seq: 0,
            highest: Fence(0),
            answers: BTreeMap::new(),
            answered: VecDeque::new(),
            pending: Vec::new(),
        })
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// [`UnknownCar`] where the building loses its car, which it does not.
    pub async fn run(mut self) -> Result<(), UnknownCar> {
        let mut sight = self.building.sight(&self.elevator)?;
        let every = self.building.pace().ours(STATE_EVERY_MS);
        let mut state_due = Instant::now();
        loop {
            tokio::select! {
                heard = self.radio.hear() => match heard {
                    Heard::Up => state_due = Instant::now(),
                    Heard::Down(_) => {}
                    Heard::Message { topic, payload, retained } => {
                        self.receive(&topic, &payload, retained)?;
                    }
                },
                changed = sight.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                    sight.mark_unchanged();
                    self.settle()?;
                    state_due = Instant::now();
                }
                () = tokio::time::sleep_until(state_due.into()) => {
                    self.state(None)?;
                    state_due = Instant::now() + every;
                }
            }
        }
    }

    /// One message on the command topic.
    fn receive(&mut self, topic: &str, payload: &[u8], retained: bool) -> Result<(), UnknownCar> {
        if retained {
            return Ok(());
        }
        let command = match Told::read(&self.topics, topic, payload).map(|told| told.said) {
            Ok(Said::ElevatorCommand(told)) => self.in_building_time(told.command),
            Ok(_) => return Ok(()),
            Err(error) => {
                tracing::warn!(elevator = %self.elevator, %error, "a command cannot be read");
                return Ok(());
            }
        };
        let id = command.command_id.clone();
        if let Some((event, detail)) = self.answers.get(&id).cloned() {
            self.noted(&command);
            self.say(event, Some(id), |event| event.detail = detail);
        } else if command.expires_in_ms == 0 {
            self.noted(&command);
            self.answer(id, ControllerEvent::Failed, Some("expired"));
        } else if command.action == Action::Query {
            self.noted(&command);
            self.highest = self.highest.max(command.fence);
            self.state(Some(id))?;
        } else if command.fence < self.highest {
            self.noted(&command);
            self.answer(id, ControllerEvent::Failed, Some("stale_fence"));
        } else {
            self.highest = command.fence;
            self.carry_out(command)?;
        }
        Ok(())
    }

    /// The gateway's milliseconds of a hold are ours; the car counts the building's.
    fn in_building_time(&self, mut command: Command) -> Command {
        if let Action::HoldDoor { hold_ms, .. } = &mut command.action {
            *hold_ms = self
                .building
                .pace()
                .theirs_ms(Duration::from_millis(*hold_ms));
        }
        command
    }

    fn noted(&self, command: &Command) {
        // Nothing is done, so nothing can be refused.
        let _ = self.building.command(command, true);
    }

    fn carry_out(&mut self, command: Command) -> Result<(), UnknownCar> {
        let id = command.command_id.clone();
        if let Err(why) = self.building.command(&command, false) {
            self.answer(id, ControllerEvent::Failed, Some(&why));
            return Ok(());
        }
        self.answer(id, ControllerEvent::Accepted, None);
        if self.pending.len() >= PENDING_MAX {
            self.pending.remove(0);
        }
        self.pending.push(command);
        self.settle()
    }

    /// Says `done` for every command whose effect is there.
    fn settle(&mut self) -> Result<(), UnknownCar> {
        for command in std::mem::take(&mut self.pending) {
            if self.building.is_done(&command)? {
                self.answer(command.command_id, ControllerEvent::Done, None);
            } else {
                self.pending.push(command);
            }
        }
        Ok(())
    }

    fn answer(&mut self, id: CommandId, event: ControllerEvent, detail: Option<&str>) {
        let detail = detail.map(protocol::text::detail);
        if self
            .answers
            .insert(id.clone(), (event, detail.clone()))
            .is_none()
        {
            self.answered.push_back(id.clone());
        }
        if self.answered.len() > ANSWERS_MAX
            && let Some(oldest) = self.answered.pop_front()
        {
            self.answers.remove(&oldest);
        }
        self.say(event, Some(id), |said| said.detail = detail);
    }

    fn state(&mut self, id: Option<CommandId>) -> Result<(), UnknownCar> {
        let reading = self.building.snapshot(&self.elevator)?;
        self.say(ControllerEvent::State, id, |event| show(reading, event));
        Ok(())
    }

    /// Sends an event; what cannot leave is not kept, it would be late.
    fn say(
        &mut self,
        event: ControllerEvent,
        command_id: Option<CommandId>,
        fill: impl FnOnce(&mut ElevatorEvent),
    ) {
        let mut event = ElevatorEvent {
            message_id: self.speaker.message_id(),
            timestamp: wall(),
            event,
            boot_id: Some(self.boot_id.clone()),
            seq: Some(self.seq + 1),
            command_id,
            floor: None,
            side: None,
            door: None,
            doors: None,
            motion: None,
            mode: None,
            occupied: None,
            load_pct: None,
            calls: None,
            detail: None,
        };
        fill(&mut event);
        let spoken = Spoken::Controller {
            elevator: self.elevator.clone(),
            event,
        };
        if self.radio.say(spoken.encode(&self.topics)) {
            self.seq += 1;
        }
    }
}

/// Puts a whole snapshot into an event.
fn show(reading: Reading, event: &mut ElevatorEvent) {
    event.floor = reading.floor;
    event.motion = Some(reading.motion);
    event.mode = Some(reading.mode);
    event.occupied = reading.occupied;
    event.load_pct = reading.load_pct;
    event.calls = reading.calls;
    event.detail = reading.fault;
    match reading.rear {
        Some(rear) => {
            event.doors = Some(Doors {
                front: reading.front,
                rear: Some(rear),
            })
        }
        None => event.door = Some(reading.front),
    }
}
