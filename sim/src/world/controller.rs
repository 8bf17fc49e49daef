//! A controller with its car: it takes commands, answers after a while, and tells what it sees.
//!
//! It keeps what `wire.md` section 6 asks of controllers: it answers `query` by one snapshot,
//! drops what has a lower fence, and repeats its answer for a command that it knows.

mod trouble;

use std::collections::{BTreeMap, VecDeque};

use protocol::hardware::{Action, Change, Command, Door, Motion, Outcome, Reading, Report};
use protocol::{CommandId, ElevatorId, Fence, Side};

use super::dice::Dice;
use crate::car::{Car, CarEvent};

/// Answers that are remembered for repetition; the oldest go first.
const KNOWN_MAX: usize = 64;
/// Commands under way to it or being done; a real controller refuses more.
const COMMANDS_MAX: usize = 256;

/// How a controller behaves. Times in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerConfig {
    /// From the gateway to the controller.
    pub command_ms: u64,
    /// From the controller to the gateway.
    pub answer_ms: u64,
    /// How late the signal of a door is, from and to.
    pub door_lag_ms: (u64, u64),
    /// Whether it tells changes unasked.
    pub tells: bool,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            command_ms: 20,
            answer_ms: 30,
            door_lag_ms: (0, 0),
            tells: true,
        }
    }
}

/// Something that happened at a controller.
#[derive(Debug, Clone, PartialEq)]
pub enum ControllerEvent {
    /// A command arrived.
    Received(Command),
    /// Something happened to the car.
    Car(CarEvent),
    /// A report reached the gateway.
    Report(Report),
}

/// A controller with its car.
#[derive(Debug)]
pub struct Controller {
    id: ElevatorId,
    config: ControllerConfig,
    car: Car,
    dice: Dice,
    /// Commands under way, with the moment at which they left on the gateway's clock.
    incoming: VecDeque<(u64, Command, u64)>,
    /// Reports under way, by arrival.
    outgoing: VecDeque<(u64, Report)>,
    known: VecDeque<(CommandId, Outcome)>,
    highest: Fence,
    /// Accepted, and the effect is not there yet.
    working: Vec<(CommandId, Action)>,
    hears: bool,
    speaks: bool,
    /// How many more commands of a kind are refused, by their word.
    refusals: BTreeMap<String, u32>,
    /// What the door signals show, where they are late.
    shown: [Door; 2],
    /// Door signals under way.
    late: Vec<(u64, Side, Door)>,
    /// How much later than usual it answers at most.
    slow_max_ms: u64,
    /// When its last word arrives; none overtakes another.
    last_ms: u64,
    /// It says everything twice.
    stutters: bool,
    /// It shows this, whatever is.
    stale: Option<Reading>,
}

impl Controller {
    /// A controller of a car.
    #[must_use]
    pub fn new(id: ElevatorId, config: ControllerConfig, car: Car, seed: u64) -> Self {
        Self {
            id,
            config,
            car,
            dice: Dice::new(seed),
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            known: VecDeque::new(),
            highest: Fence(0),
            working: Vec::new(),
            hears: true,
            speaks: true,
            refusals: BTreeMap::new(),
            shown: [Door::Closed; 2],
            late: Vec::new(),
            slow_max_ms: 0,
            last_ms: 0,
            stutters: false,
            stale: None,
        }
    }

    /// Its elevator.
    #[must_use]
    pub fn id(&self) -> &ElevatorId {
        &self.id
    }

    /// Its car.
    #[must_use]
    pub fn car(&self) -> &Car {
        &self.car
    }

    /// Its car, to do something to it; what happens comes out of the next [`Controller::turn`].
    pub fn car_mut(&mut self) -> &mut Car {
        &mut self.car
    }

    /// Takes a command under way. `asked_ms` is when it left, on the gateway's clock.
    pub fn send(&mut self, now_ms: u64, command: Command, asked_ms: u64) {
        if self.incoming.len() < COMMANDS_MAX {
            self.incoming
                .push_back((now_ms + self.config.command_ms, command, asked_ms));
        }
    }

    /// When something happens next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        let incoming = self.incoming.front().map(|(at_ms, ..)| *at_ms);
        let outgoing = self.outgoing.front().map(|(at_ms, _)| *at_ms);
        let late = self.late.iter().map(|(at_ms, ..)| *at_ms).min();
        [self.car.next_change_ms(), incoming, outgoing, late]
            .into_iter()
            .flatten()
            .min()
    }

    /// Does what is due, and says what happened.
    pub fn turn(&mut self, now_ms: u64) -> Vec<(u64, ControllerEvent)> {
        let mut happened = Vec::new();
        self.car.advance(now_ms);
        self.watch(&mut happened);
        while let Some((_, command, asked_ms)) =
            self.incoming.pop_front_if(|(at_ms, ..)| *at_ms <= now_ms)
        {
            if self.hears {
                happened.push((now_ms, ControllerEvent::Received(command.clone())));
                self.receive(now_ms, &command, asked_ms);
                self.watch(&mut happened);
            }
        }
        self.see_late(now_ms);
        while let Some((_, report)) = self.outgoing.pop_front_if(|(at_ms, _)| *at_ms <= now_ms) {
            happened.push((now_ms, ControllerEvent::Report(report)));
        }
        happened
    }

    fn receive(&mut self, now_ms: u64, command: &Command, asked_ms: u64) {
        if command.action == Action::Query {
            let reading = self.reading(now_ms);
            self.say(
                now_ms,
                Report::Reading {
                    reading,
                    asked_ms: Some(asked_ms),
                },
            );
            return;
        }
        let id = &command.command_id;
        let outcome = match self.known.iter().rev().find(|(known, _)| known == id) {
            Some((_, outcome)) => outcome.clone(),
            None => self.obey(now_ms, command),
        };
        self.answer(now_ms, id, outcome);
        self.finish(now_ms);
    }

    fn obey(&mut self, now_ms: u64, command: &Command) -> Outcome {
        if command.fence < self.highest {
            return Outcome::Failed {
                detail: "stale_fence".to_owned(),
            };
        }
        self.highest = command.fence;
        let word = command.action.word();
        if let Some(left) = self.refusals.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            return Outcome::Failed {
                detail: "refused".to_owned(),
            };
        }
        match self.car.execute(now_ms, &command.action) {
            Ok(()) => {
                if self.working.len() < COMMANDS_MAX {
                    self.working
                        .push((command.command_id.clone(), command.action.clone()));
                }
                Outcome::Accepted
            }
            Err(detail) => Outcome::Failed { detail },
        }
    }

    /// Says `done` where an effect is there.
    fn finish(&mut self, now_ms: u64) {
        let (done, working) = std::mem::take(&mut self.working)
            .into_iter()
            .partition::<Vec<_>, _>(|(_, action)| self.car.is_done(action));
        self.working = working;
        for (id, _) in done {
            self.answer(now_ms, &id, Outcome::Done);
        }
    }

    fn answer(&mut self, now_ms: u64, id: &CommandId, outcome: Outcome) {
        if let Some(at) = self.known.iter().rposition(|(known, _)| known == id) {
            self.known.remove(at);
        }
        if self.known.len() == KNOWN_MAX {
            self.known.pop_front();
        }
        self.known.push_back((id.clone(), outcome.clone()));
        self.say(
            now_ms,
            Report::Outcome {
                command_id: id.clone(),
                outcome,
            },
        );
    }

    /// Looks at what happened to the car, and tells it.
    fn watch(&mut self, happened: &mut Vec<(u64, ControllerEvent)>) {
        for (at_ms, event) in self.car.take_events() {
            self.tell(at_ms, &event);
            happened.push((at_ms, ControllerEvent::Car(event)));
            self.finish(at_ms);
        }
    }

    fn tell(&mut self, at_ms: u64, event: &CarEvent) {
        let floor = Some(self.car.floor());
        let change = match event {
            CarEvent::Door { side, door } => {
                let (from_ms, to_ms) = self.config.door_lag_ms;
                let seen_ms = at_ms + self.dice.between(from_ms, to_ms);
                let before = self.late.iter().filter(|(_, other, _)| other == side);
                // A signal does not overtake the one before it.
                let seen_ms = before.map(|(seen_ms, ..)| *seen_ms).fold(seen_ms, u64::max);
                if seen_ms > at_ms {
                    self.late.push((seen_ms, *side, *door));
                    return;
                }
                self.shown[index(*side)] = *door;
                door_change(*side, *door, floor)
            }
            CarEvent::Departed { up, .. } => {
                let motion = Some(if *up { Motion::Up } else { Motion::Down });
                Change {
                    motion,
                    ..Change::default()
                }
            }
            CarEvent::Passed { floor } => Change {
                floor: Some(floor.clone()),
                ..Change::default()
            },
            CarEvent::Arrived { floor } => {
                let (floor, motion) = (Some(floor.clone()), Some(Motion::Stopped));
                Change {
                    floor,
                    motion,
                    ..Change::default()
                }
            }
            CarEvent::Mode(mode) => Change {
                mode: Some(*mode),
                ..Change::default()
            },
            CarEvent::Called { .. }
            | CarEvent::CallCleared { .. }
            | CarEvent::InDoorway { .. }
            | CarEvent::OffDoorway { .. }
            | CarEvent::Entered { .. }
            | CarEvent::Left { .. }
            | CarEvent::CrossedUnopened { .. }
            | CarEvent::MovedFromDoorway { .. } => return,
        };
        if self.config.tells {
            self.say(at_ms, Report::Change(change));
        }
    }

    /// Late door signals become visible, each side in order.
    fn see_late(&mut self, now_ms: u64) {
        let (due, late) = std::mem::take(&mut self.late)
            .into_iter()
            .partition::<Vec<_>, _>(|(at, ..)| *at <= now_ms);
        self.late = late;
        for (at_ms, side, door) in due {
            self.shown[index(side)] = door;
            if self.config.tells {
                let floor = Some(self.car.floor());
                self.say(at_ms, Report::Change(door_change(side, door, floor)));
            }
        }
    }

    fn reading(&mut self, now_ms: u64) -> Reading {
        let mut reading = self.car.snapshot(now_ms);
        if let Some(stale) = &self.stale {
            return stale.clone();
        }
        if self.config.door_lag_ms.1 > 0 || !self.late.is_empty() {
            reading.front = self.shown[index(Side::Front)];
            reading.rear = reading.rear.map(|_| self.shown[index(Side::Rear)]);
        }
        reading
    }

    fn say(&mut self, now_ms: u64, report: Report) {
        if !self.speaks {
            return;
        }
        let slow_ms = if self.slow_max_ms > 0 {
            self.dice.between(0, self.slow_max_ms)
        } else {
            0
        };
        let at_ms = (now_ms + self.config.answer_ms + slow_ms).max(self.last_ms);
        self.last_ms = at_ms;
        if self.stutters {
            self.outgoing.push_back((at_ms, report.clone()));
        }
        self.outgoing.push_back((at_ms, report));
    }
}

fn door_change(side: Side, door: Door, floor: Option<protocol::FloorLabel>) -> Change {
    match side {
        Side::Front => Change {
            floor,
            front: Some(door),
            ..Change::default()
        },
        Side::Rear => Change {
            floor,
            rear: Some(door),
            ..Change::default()
        },
    }
}

fn index(side: Side) -> usize {
    match side {
        Side::Front => 0,
        Side::Rear => 1,
    }
}
