//! Controllers that speak MQTT themselves: commands and events, translated (`wire.md` section 6).
//!
//! No MQTT client, no clock, no waiting: the gateway publishes what [`MqttDriver::command`] yields
//! and hands over what it hears. Messages delivered with the retain flag never come here; the
//! front door drops them.

use std::collections::{BTreeSet, VecDeque};

use protocol::elevator::{ControllerEvent, ElevatorCommand, ElevatorEvent};
use protocol::hardware::{Action, Change, Command, Door, Mode, Motion, Outcome, Reading, Report};
use protocol::{CommandId, InstanceId, Side, Timestamp};

/// Commands whose answers are awaited; the oldest is forgotten.
const AWAITED_MAX: usize = 64;
/// Boots that are remembered, so that a late message of an old one is not taken for a new boot.
const BOOTS_MAX: usize = 8;
/// How far a controller's clock may be off, in milliseconds (`protocol::hardware::Report::Clock`).
const CLOCK_OFF_MS: u64 = 60_000;
/// How often a clock that is off is told, in milliseconds.
const CLOCK_PAUSE_MS: u64 = 60_000;

/// One controller.
#[derive(Debug)]
pub struct MqttDriver {
    /// The sides of the car that have a door.
    sides: BTreeSet<Side>,
    /// Sent and not finished, the oldest first, at most [`AWAITED_MAX`].
    awaited: VecDeque<Awaited>,
    /// Boots seen before the present one, the oldest first, at most [`BOOTS_MAX`].
    old_boots: VecDeque<InstanceId>,
    boot: Option<InstanceId>,
    /// The newest event of this boot.
    seq: Option<u64>,
    /// When a clock that is off was told last.
    clock_told_ms: Option<u64>,
}

#[derive(Debug)]
struct Awaited {
    command_id: CommandId,
    is_query: bool,
    sent_ms: u64,
}

impl MqttDriver {
    /// The controller of a car with doors on these sides.
    #[must_use]
    pub fn new(sides: BTreeSet<Side>) -> Self {
        Self {
            sides,
            awaited: VecDeque::new(),
            old_boots: VecDeque::new(),
            boot: None,
            seq: None,
            clock_told_ms: None,
        }
    }

    /// The message that a command is, sent at `now_ms` of the monotonic and `wall` of the wall
    /// clock. Its `expires_in_ms` counts from here.
    pub fn command(&mut self, now_ms: u64, wall: Timestamp, command: &Command) -> ElevatorCommand {
        self.awaited
            .retain(|awaited| awaited.command_id != command.command_id);
        if self.awaited.len() >= AWAITED_MAX {
            self.awaited.pop_front();
        }
        self.awaited.push_back(Awaited {
            command_id: command.command_id.clone(),
            is_query: command.action == Action::Query,
            sent_ms: now_ms,
        });
        let expires_at = Timestamp(wall.0.saturating_add(command.expires_in_ms));
        ElevatorCommand {
            command: command.clone(),
            expires_at,
        }
    }

    /// What an event says. Nothing in it is trusted beyond what it names: an event that is not
    /// newer, or answers what nobody sent, moves nothing.
    pub fn event(&mut self, now_ms: u64, wall: Timestamp, event: &ElevatorEvent) -> Vec<Report> {
        let mut reports = Vec::new();
        match self.order(event) {
            Order::Stale(detail) => return vec![Report::Stale { detail }],
            Order::NewBoot => {
                self.awaited.clear();
                reports.push(Report::Link { up: true });
            }
            Order::Newer => {}
        }
        let awaited = event.command_id.as_ref().and_then(|id| self.find(id));
        // Only an answer is known to be fresh; other events may have waited in the broker.
        if awaited.is_some() {
            reports.extend(self.judge_clock(now_ms, wall, event.timestamp));
        }
        match event.event {
            ControllerEvent::Accepted => reports.extend(self.answer(event, Outcome::Accepted)),
            ControllerEvent::Done => reports.extend(self.answer(event, Outcome::Done)),
            ControllerEvent::Failed => {
                let detail = event.detail.clone();
                let detail = detail.unwrap_or_else(|| "the controller says no more".to_owned());
                reports.extend(self.answer(event, Outcome::Failed { detail }));
            }
            ControllerEvent::State => {
                let query = awaited.filter(|at| self.awaited.get(*at).is_some_and(|a| a.is_query));
                let query = query.and_then(|at| self.awaited.remove(at));
                let asked_ms = query.map(|query| query.sent_ms);
                reports.push(Report::Reading {
                    reading: self.reading(event),
                    asked_ms,
                });
            }
            ControllerEvent::Arrived
            | ControllerEvent::DoorOpen
            | ControllerEvent::DoorClosed
            | ControllerEvent::Moving
            | ControllerEvent::Fault => reports.push(Report::Change(self.change(event))),
        }
        reports
    }

    /// The connection to the broker was lost: what was sent over it is not answered any more, and
    /// answers that come later are old ones.
    pub fn disconnected(&mut self) -> Vec<Report> {
        self.awaited.clear();
        vec![Report::Link { up: false }]
    }

    /// The connection to the broker is open.
    pub fn connected(&mut self) -> Vec<Report> {
        self.awaited.clear();
        vec![Report::Link { up: true }]
    }

    /// Where an event stands in the order of its controller.
    fn order(&mut self, event: &ElevatorEvent) -> Order {
        if let Some(boot) = event
            .boot_id
            .as_ref()
            .filter(|boot| self.boot.as_ref() != Some(boot))
        {
            if self.old_boots.contains(boot) {
                return Order::Stale(format!("boot {boot} is over"));
            }
            let old = self.boot.replace(boot.clone());
            self.seq = event.seq;
            // The first boot that is seen is no new one: all is unknown before it anyway.
            let Some(old) = old else { return Order::Newer };
            if self.old_boots.len() >= BOOTS_MAX {
                self.old_boots.pop_front();
            }
            self.old_boots.push_back(old);
            return Order::NewBoot;
        }
        match (event.seq, self.seq) {
            (Some(seq), Some(last)) if seq <= last => {
                Order::Stale(format!("seq {seq} is not newer than {last}"))
            }
            (Some(seq), _) => {
                self.seq = Some(seq);
                Order::Newer
            }
            (None, _) => Order::Newer,
        }
    }

    fn find(&self, id: &CommandId) -> Option<usize> {
        self.awaited
            .iter()
            .position(|awaited| &awaited.command_id == id)
    }

    /// The outcome of a command. A `query` is answered by its `state` alone; its refusal counts.
    fn answer(&mut self, event: &ElevatorEvent, outcome: Outcome) -> Option<Report> {
        let Some(command_id) = event.command_id.clone() else {
            return Some(Report::Stale {
                detail: "an answer without a command_id".to_owned(),
            });
        };
        let Some(at) = self.find(&command_id) else {
            return Some(Report::Stale {
                detail: format!("nobody awaits {command_id}"),
            });
        };
        let is_last = matches!(outcome, Outcome::Done | Outcome::Failed { .. });
        let is_query = self.awaited.get(at).is_some_and(|awaited| awaited.is_query);
        if is_query && !matches!(outcome, Outcome::Failed { .. }) {
            return None;
        }
        if is_last {
            self.awaited.remove(at);
        }
        Some(Report::Outcome {
            command_id,
            outcome,
        })
    }

    fn judge_clock(&mut self, now_ms: u64, wall: Timestamp, theirs: Timestamp) -> Option<Report> {
        let is_told = self
            .clock_told_ms
            .is_some_and(|told_ms| now_ms < told_ms.saturating_add(CLOCK_PAUSE_MS));
        if theirs.0.abs_diff(wall.0) <= CLOCK_OFF_MS || is_told {
            return None;
        }
        self.clock_told_ms = Some(now_ms);
        let off_ms = i64::try_from(theirs.0.abs_diff(wall.0)).unwrap_or(i64::MAX);
        let ahead_ms = if theirs > wall { off_ms } else { -off_ms };
        Some(Report::Clock { ahead_ms })
    }

    /// A whole snapshot. A door that it does not tell is unknown; one that the car lacks is closed,
    /// or left out at the rear.
    fn reading(&self, event: &ElevatorEvent) -> Reading {
        let told = |side| match event.doors {
            Some(doors) if side == Side::Front => Some(doors.front),
            Some(doors) => doors.rear,
            None => event.door.filter(|_| self.side_of(event) == Some(side)),
        };
        let door = |side| {
            self.sides
                .contains(&side)
                .then(|| told(side).unwrap_or(Door::Unknown))
        };
        Reading {
            floor: event.floor.clone(),
            front: door(Side::Front).unwrap_or(Door::Closed),
            rear: door(Side::Rear),
            motion: event.motion.unwrap_or(Motion::Unknown),
            mode: event.mode.unwrap_or(Mode::Unknown),
            occupied: event.occupied,
            load_pct: event.load_pct,
            calls: event.calls.clone(),
            fault: None,
        }
    }

    /// Only the fields that the event carries. Its name tells the door where the field is missing.
    fn change(&self, event: &ElevatorEvent) -> Change {
        let named = match event.event {
            ControllerEvent::DoorOpen => Some(Door::Open),
            ControllerEvent::DoorClosed => Some(Door::Closed),
            ControllerEvent::Accepted
            | ControllerEvent::Done
            | ControllerEvent::Failed
            | ControllerEvent::Arrived
            | ControllerEvent::Moving
            | ControllerEvent::Fault
            | ControllerEvent::State => None,
        };
        let door = event.door.or(named);
        let side = self.side_of(event);
        let at = |wanted| door.filter(|_| side == Some(wanted));
        let fault = || {
            event
                .detail
                .clone()
                .unwrap_or_else(|| "the controller is faulty".to_owned())
        };
        let doors = event.doors;
        Change {
            floor: event.floor.clone(),
            front: at(Side::Front).or_else(|| doors.map(|doors| doors.front)),
            rear: at(Side::Rear).or_else(|| doors.and_then(|doors| doors.rear)),
            motion: event.motion,
            mode: event.mode,
            occupied: event.occupied,
            fault: (event.event == ControllerEvent::Fault).then(fault),
        }
    }

    /// The side that `door` is about: the one named, or the one that there is. A side that the car
    /// lacks is none.
    fn side_of(&self, event: &ElevatorEvent) -> Option<Side> {
        match event.side {
            Some(side) => self.sides.get(&side).copied(),
            None if self.sides.len() == 1 => self.sides.first().copied(),
            None => None,
        }
    }
}

/// Where an event stands in the order of its controller.
enum Order {
    Newer,
    NewBoot,
    Stale(String),
}

#[cfg(test)]
mod tests;
