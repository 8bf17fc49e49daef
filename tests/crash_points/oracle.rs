//! What must be true after every crash. Asked are robots and the building's own record; of the
//! gateway only what arrived there.

use std::collections::{BTreeMap, BTreeSet};

use protocol::hardware::{Action, Direction};
use protocol::{ElevatorId, Fence, Landing};
use serde_json::Value;
use sim::car::CarEvent;
use sim::record::{Entry, Record};

use crate::bus::BusTap;
use crate::support::Message;
use crate::world::World;

/// A promise that was broken, in words.
pub(crate) type Broken = String;

/// An order, as its robot knows it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The broker has its request.
    pub(crate) taken: bool,
    accepted: bool,
    /// The newest that was shown of it: its number, and what it said.
    seq: u64,
    shown: [Value; 4],
    ended: bool,
    /// A state that was durable when the process ended.
    durable: Option<String>,
}

/// What the gateway said, to whom it promised what.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    pub(crate) orders: BTreeMap<String, Known>,
    fences: BTreeMap<String, BTreeMap<u64, String>>,
    /// Requests by their message, and whether their order must be known by then.
    requests: BTreeMap<String, (String, bool)>,
    /// Those that are not answered.
    owed: BTreeSet<String>,
    /// Elevators with the processes of the gateway that have a reading of them.
    read: BTreeSet<(String, String)>,
}

impl Oracle {
    /// A robot asks, for the first time, or again after the broker took its request.
    pub(crate) fn asks(&mut self, order: &str, message: &str) {
        let known = self.orders.entry(order.to_owned()).or_default();
        let asked = (order.to_owned(), known.taken);
        self.requests.insert(message.to_owned(), asked);
        self.owed.insert(message.to_owned());
    }

    /// The broker has the request.
    pub(crate) fn taken(&mut self, order: &str) {
        self.orders.entry(order.to_owned()).or_default().taken = true;
    }

    /// The process ended when this state was durable: nothing before it is shown any more.
    pub(crate) fn was_durable(&mut self, order: &str, state: &str) {
        let known = self.orders.entry(order.to_owned()).or_default();
        known.durable = Some(state.to_owned());
    }

    /// Its robot wants it queued again.
    pub(crate) fn may_go_back(&mut self, order: &str) {
        self.orders.entry(order.to_owned()).or_default().durable = None;
    }

    /// Requests that are not answered.
    pub(crate) fn is_owed(&self) -> bool {
        !self.owed.is_empty()
    }

    /// What was asked and not answered is asked anew.
    pub(crate) fn forget_requests(&mut self) {
        self.owed.clear();
    }

    /// A reply or a state of a ride.
    pub(crate) fn hears(&mut self, message: &Message) -> Result<(), Broken> {
        let body = &message.body;
        if message.topic.ends_with("/ride/reply") {
            self.replied(body)?;
        }
        let Some(order) = body["order_id"].as_str() else {
            return Ok(());
        };
        self.fence_seen(order, body)?;
        let known = self.orders.entry(order.to_owned()).or_default();
        known
            .shows(body)
            .map_err(|what| format!("{order}: {what}; now: {body}; before: {:?}", known.shown))
    }

    /// A command on its way to a controller that speaks MQTT: nothing is written to a car before
    /// this process has a reading of it. A command's id begins with what tells its process.
    pub(crate) fn commanded(&mut self, elevator: &str, body: &Value) -> Result<(), Broken> {
        let by = (elevator.to_owned(), process(body).to_owned());
        if body["command"] == "query" || self.read.contains(&by) {
            return Ok(());
        }
        Err(format!("before the car was read: {body}"))
    }

    /// A controller's word; the broker brings words in the order in which it got them.
    pub(crate) fn answered(&mut self, elevator: &str, body: &Value) {
        if body["event"] == "state" {
            let by = process(body).to_owned();
            self.read.insert((elevator.to_owned(), by));
        }
    }

    fn replied(&mut self, body: &Value) -> Result<(), Broken> {
        let message = body["in_reply_to"].as_str().unwrap_or_default();
        let Some((order, must_be_known)) = self.requests.get(message).cloned() else {
            return Ok(());
        };
        self.owed.remove(message);
        let known = self.orders.entry(order.clone()).or_default();
        match body["result"].as_str() {
            Some("accepted") if known.accepted => {
                Err(format!("{order}: it was accepted before; now: {body}"))
            }
            Some("accepted") if must_be_known => Err(format!(
                "{order}: the broker had the request, the gateway has it no more; now: {body}"
            )),
            Some("accepted" | "duplicate") => {
                known.accepted = true;
                Ok(())
            }
            // It came too late to be let lapse: the order was never known, and is free.
            _ if body["code"] == "STALE_REQUEST" && !known.accepted => {
                known.taken = false;
                Ok(())
            }
            _ => Err(format!("{order}: it is refused; now: {body}")),
        }
    }

    /// No fence is two orders', and none comes after a higher one (law 3).
    fn fence_seen(&mut self, order: &str, body: &Value) -> Result<(), Broken> {
        let (Some(elevator), Some(fence)) = (body["elevator_id"].as_str(), body["fence"].as_u64())
        else {
            return Ok(());
        };
        let fences = self.fences.entry(elevator.to_owned()).or_default();
        let highest = fences.last_key_value().map_or(0, |(highest, _)| *highest);
        match fences.get(&fence) {
            Some(owner) if owner == order => Ok(()),
            Some(owner) => Err(format!("the fence is {owner}'s; now: {body}")),
            None if fence < highest => Err(format!("the fence {highest} was given; now: {body}")),
            None => {
                fences.insert(fence, order.to_owned());
                Ok(())
            }
        }
    }
}

impl Known {
    /// What is shown of it never goes back, and never says something else under the same number.
    fn shows(&mut self, body: &Value) -> Result<(), String> {
        let Some(seq) = body["seq"].as_u64() else {
            return Ok(());
        };
        let state = body["state"].as_str().unwrap_or_default();
        let shown = ["state", "instruction", "elevator_id", "fence"].map(|key| body[key].clone());
        if seq < self.seq {
            return Err(format!("number {} was shown", self.seq));
        }
        if seq == self.seq && shown != self.shown {
            return Err("the same number, and it said something else".to_owned());
        }
        if self.ended && shown[0] != self.shown[0] {
            return Err("it had ended".to_owned());
        }
        if let Some(durable) = &self.durable
            && rank(state) < rank(durable)
        {
            return Err(format!("it was {durable}, durably"));
        }
        self.ended = ["ROBOT_EXITED", "CANCELLED", "EXPIRED", "FAILED"].contains(&state);
        (self.seq, self.shown) = (seq, shown);
        Ok(())
    }
}

fn process(body: &Value) -> &str {
    let id = body["command_id"].as_str().unwrap_or_default();
    id.split('-').next().unwrap_or_default()
}

/// How far a ride has come.
pub(crate) fn rank(state: &str) -> usize {
    let order = [
        "QUEUED",
        "GRANTED",
        "WAITING_HALL_CALL",
        "ELEVATOR_ARRIVED",
        "ROBOT_ENTERED",
        "RUNNING",
        "TARGET_ARRIVED",
        "HOLD",
    ];
    let place = order.iter().position(|known| *known == state);
    place.unwrap_or(order.len())
}

/// What the cars, the controllers and the robots' feet say: the laws that the simulator judges; a
/// call that the car has is not made again; a bus is read before it is written to.
pub(crate) fn record_is_clean(world: &World) -> Result<(), Broken> {
    world.building.record(|record| {
        if let Some((at_ms, violation)) = record.judge().first() {
            return Err(format!("at {at_ms} ms: {violation}"));
        }
        calls_once(record, world.tap.is_none())?;
        let entries = |robot: &str| {
            let entered = record.entries().filter(|(_, entry)| {
                matches!(entry, Entry::Car { event: CarEvent::Entered { robot: who, .. }, .. }
                    if who.as_str() == robot)
            });
            entered.count()
        };
        match (entries("P"), record.counts().entries) {
            (0 | 1, 0 | 1) => Ok(()),
            (_, all) => Err(format!("{all} times a robot went in, for one ride")),
        }
    })?;
    match &world.tap {
        Some(tap) => reads_first_on_bus(tap),
        None => Ok(()),
    }
}

/// On a line one request is answered before the next: before a connection writes to a unit, it has
/// read the tables that the car's points lie in, discrete inputs and input registers.
fn reads_first_on_bus(tap: &BusTap) -> Result<(), Broken> {
    let mut read = BTreeSet::new();
    for asked in tap.asked() {
        let has_read = |function| read.contains(&(asked.connection, asked.unit, function));
        if asked.writes() && !(has_read(2) && has_read(4)) {
            return Err(format!("{asked:?} before the car was read"));
        }
        read.insert((asked.connection, asked.unit, asked.function));
    }
    Ok(())
}

/// A hall call or a car call that stands is not made again by the same grant, and none is without a
/// reading since the last: what a crash left unanswered is looked for before it is sent again.
fn calls_once(record: &Record, notes_queries: bool) -> Result<(), Broken> {
    let mut calls: BTreeMap<(&ElevatorId, Fence), Vec<Call<'_>>> = BTreeMap::new();
    for (at_ms, entry) in record.entries() {
        match entry {
            Entry::Command(command) => {
                let of_grant = calls
                    .entry((&command.elevator_id, command.fence))
                    .or_default();
                if command.action == Action::Query {
                    of_grant.iter_mut().for_each(|call| call.is_read = true);
                } else if let Some((landing, hall)) = call_of(&command.action) {
                    let is_same = |call: &&Call<'_>| (call.landing, call.hall) == (landing, hall);
                    let before = of_grant.iter().rfind(is_same);
                    if let Some(call) = before
                        && (call.stands || (notes_queries && !call.is_read))
                    {
                        return Err(format!("at {at_ms} ms {command:?} repeats {call:?}"));
                    }
                    of_grant.push(Call {
                        landing,
                        hall,
                        stands: true,
                        is_read: false,
                    });
                }
            }
            Entry::Car {
                elevator,
                event: CarEvent::CallCleared { landing, hall },
            } => {
                let of_car = calls.iter_mut().filter(|((of, _), _)| *of == elevator);
                let cleared = of_car.flat_map(|(_, calls)| calls);
                let these = cleared.filter(|call| (call.landing, call.hall) == (landing, *hall));
                these.for_each(|call| call.stands = false);
            }
            Entry::Car { .. } | Entry::Asked { .. } | Entry::Told { .. } => {}
        }
    }
    Ok(())
}

/// A call that a controller got.
#[derive(Debug)]
struct Call<'a> {
    landing: &'a Landing,
    hall: Option<Direction>,
    /// The car has it.
    stands: bool,
    /// The car was asked since.
    is_read: bool,
}

fn call_of(action: &Action) -> Option<(&Landing, Option<Direction>)> {
    match action {
        Action::HallCall { landing, direction } => Some((landing, Some(*direction))),
        Action::CarCall { landing } => Some((landing, None)),
        Action::Query
        | Action::Claim
        | Action::CancelCall { .. }
        | Action::OpenDoor { .. }
        | Action::HoldDoor { .. }
        | Action::CloseDoor { .. }
        | Action::Release => None,
    }
}
