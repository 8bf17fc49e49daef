//! What lies behind the building's lock.

use std::collections::{BTreeMap, BTreeSet};

use protocol::hardware::Command;
use protocol::ride::RideState;
use protocol::{ElevatorId, Fence, OrderId, RobotId, ZoneId};

use crate::car::{Car, CarEvent};
use crate::live::pace::Pace;
use crate::record::{Entry, Record};

/// Robots whose newest state is kept for people.
const TOLD_MAX: usize = 1_000;

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) cars: BTreeMap<ElevatorId, Car>,
    pub(super) record: Record,
    pub(super) fire: BTreeSet<ZoneId>,
    /// The newest ride state of each robot, for people.
    pub(super) told: BTreeMap<RobotId, (RideState, Option<ElevatorId>)>,
    /// The newest grant that each car's robots were told of.
    pub(super) grants: BTreeMap<ElevatorId, (Fence, OrderId)>,
    pub(super) now_ms: u64,
}

impl Inner {
    /// Brings every car to this moment and the record up to date; returns the moment.
    pub(super) fn advance(&mut self, pace: &Pace) -> u64 {
        self.now_ms = self.now_ms.max(pace.now_ms());
        let mut happened: Vec<(u64, Entry)> = Vec::new();
        for (elevator, car) in &mut self.cars {
            car.advance(self.now_ms);
            let named = |event| Entry::Car {
                elevator: elevator.clone(),
                event,
            };
            happened.extend(
                car.take_events()
                    .into_iter()
                    .map(|(at, event)| (at, named(event))),
            );
        }
        // The record wants them in the order of time; the sort keeps a car's own order.
        happened.sort_by_key(|(at_ms, _)| *at_ms);
        for (at_ms, entry) in happened {
            self.record.note(at_ms, entry);
        }
        self.now_ms
    }

    /// Keeps the newest state of a robot for people, and the newest grant of a car.
    pub(super) fn keep_told(&mut self, entry: &Entry) {
        let Entry::Told {
            robot,
            order,
            state,
            elevator,
            fence,
            ..
        } = entry
        else {
            return;
        };
        if self.told.len() < TOLD_MAX || self.told.contains_key(robot) {
            self.told.insert(robot.clone(), (*state, elevator.clone()));
        }
        if let (Some(elevator), Some(fence)) = (elevator, fence)
            && self.cars.contains_key(elevator)
            && self
                .grants
                .get(elevator)
                .is_none_or(|(highest, _)| fence > highest)
        {
            self.grants
                .insert(elevator.clone(), (*fence, order.clone()));
        }
    }

    /// A command over Modbus names no order; its fence does, once robots were told of the grant.
    pub(super) fn with_order(&self, mut command: Command) -> Command {
        if command.order_id.is_none()
            && let Some((fence, order)) = self.grants.get(&command.elevator_id)
            && *fence == command.fence
        {
            command.order_id = Some(order.clone());
        }
        command
    }

    pub(super) fn keep(&mut self, elevator: &ElevatorId, happened: Vec<(u64, CarEvent)>) {
        for (at_ms, event) in happened {
            self.record.note(
                at_ms,
                Entry::Car {
                    elevator: elevator.clone(),
                    event,
                },
            );
        }
    }
}
