//! A robot in a car that is not its own, or not any more.

use protocol::ride::RideState;
use protocol::{ElevatorId, Fence, OrderId, ReasonCode, RobotId};

use super::Afterwards;
use crate::fact::KeptUntil;
use crate::sight::Occupancy;
use crate::step::{Step, reason};

impl Step<'_> {
    /// A robot says that it is inside after its order ended: where that order was the last on the
    /// elevator and the car is not EMPTY by presence, the elevator is blocked.
    pub(super) fn stranger_after_end(
        &mut self,
        order: &OrderId,
        fence: Option<Fence>,
        robot: &RobotId,
    ) {
        let last_on = |record: &crate::state::Elevator| {
            record.last_left.as_ref().is_some_and(|(last, last_fence)| {
                last == order && fence.is_none_or(|fence| fence == *last_fence)
            })
        };
        let elevator = self
            .state
            .elevators
            .iter()
            .find(|(_, record)| last_on(record))
            .map(|(id, _)| id);
        if let Some(elevator) = elevator.cloned()
            && self.occupancy(&elevator) != Occupancy::Empty
        {
            self.stranger_in(&elevator, order, robot);
        }
    }

    /// A robot may be in the car of an elevator that is not its order's.
    pub(super) fn stranger_in(&mut self, elevator: &ElevatorId, order: &OrderId, robot: &RobotId) {
        if !self.config.elevators.contains_key(elevator) {
            return;
        }
        let detail = format!("{robot} of order {order} says that it is in {elevator}");
        self.block(
            elevator,
            reason(ReasonCode::EntryUnconfirmed, detail.clone()),
            true,
        );
        let Some(record) = self.state.elevators.get(elevator) else {
            return;
        };
        let (Some(owner), None) = (&record.owner, &record.kept) else {
            return;
        };
        if &owner.order == order {
            return;
        }
        let owner = owner.order.clone();
        let Some(ride) = self.ride(&owner).cloned() else {
            return;
        };
        match ride.state {
            RideState::Granted => self.requeue(&owner, Afterwards::Free),
            RideState::WaitingHallCall => {
                let until = self.until_cleared(elevator, &ride);
                self.requeue(&owner, Afterwards::Keep(until));
            }
            RideState::ElevatorArrived if ride.enter_given => {
                self.hold(&owner, ReasonCode::EntryUnconfirmed, &detail);
            }
            RideState::ElevatorArrived => {
                self.release_hold(elevator);
                self.requeue(&owner, Afterwards::Keep(KeptUntil::Shut));
            }
            RideState::Queued
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {}
        }
    }
}
