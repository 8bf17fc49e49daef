//! What a robot says: section 1 of `ride.md`, a function per row, an arm per cell.

use protocol::ride::{ReplyResult, RideState};
use protocol::robot::{RideCancel, RideEvent, RobotEvent, RobotStatus};
use protocol::{Code, OrderId, ReasonCode, RobotId};

use crate::render::Asked;
use crate::state::Ride;
use crate::turn::Turn;

use super::cells::Cell::{self, Accept, Duplicate, Refuse};

impl Turn<'_> {
    /// `ride/event`.
    pub(crate) fn event(&mut self, asked: &Asked, event: &RideEvent) {
        let word = event.event.word();
        let Some(ride) = self.find(asked, &event.order_id) else {
            return;
        };
        if self.stale_fence(asked, event, &ride) || self.wrong_elevator(asked, event, &ride) {
            return;
        }
        let cell = match &event.event {
            RobotEvent::Query => self.query(&ride),
            RobotEvent::AtDoor => self.at_door(&ride),
            RobotEvent::Entered => self.entered(&ride),
            RobotEvent::Exited => self.exited(&ride),
            RobotEvent::CancelEnter { again } => self.cancel_enter(&ride, *again),
            RobotEvent::CancelExit => self.cancel_exit(&ride),
            RobotEvent::HoldDoor { hold_s } => self.hold_door(&ride, *hold_s),
        };
        self.answer(asked, cell, word, ride.state);
    }

    /// `ride/cancel`.
    pub(crate) fn cancel(&mut self, asked: &Asked, cancel: &RideCancel) {
        let Some(ride) = self.find(asked, &cancel.order_id) else {
            return;
        };
        let cell = match ride.state {
            RideState::Cancelled => Duplicate,
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::ElevatorArrived => {
                if self.give_up(&ride, ReasonCode::CancelledByRobot, &cancel.reason) {
                    Accept
                } else {
                    Refuse(Code::WrongState)
                }
            }
            RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Expired
            | RideState::Failed => Refuse(Code::WrongState),
        };
        self.answer(asked, cell, "cancel", ride.state);
    }

    fn answer(&mut self, asked: &Asked, cell: Cell, word: &str, before: RideState) {
        match cell {
            Accept => self.reply(asked, ReplyResult::Accepted),
            Duplicate => self.reply(asked, ReplyResult::Duplicate),
            Refuse(code) => {
                let detail = format!("event {word} has no place in state {before}");
                self.refuse(asked, code, detail);
            }
        }
    }

    /// The ride that a message names, or the refusal that says why there is none.
    fn find(&mut self, asked: &Asked, order: &OrderId) -> Option<Ride> {
        let owner = self.state.ledger.find(order).map(|row| row.robot.clone());
        match owner {
            None => {
                let detail = format!("order_id {order} is not known");
                self.refuse(asked, Code::UnknownOrder, detail);
                None
            }
            Some(owner) if owner != asked.robot => {
                let detail = format!("order_id {order} belongs to another robot");
                self.refuse(asked, Code::NotOwner, detail);
                None
            }
            Some(_) => {
                let ride = self.state.rides.get(order).cloned();
                if ride.is_none() {
                    self.event_after_archive(asked, order);
                }
                ride
            }
        }
    }

    /// The order ended long ago, or its robot has another one since: nothing of it can move.
    fn event_after_archive(&mut self, asked: &Asked, order: &OrderId) {
        let detail = format!("order_id {order} came to its end");
        self.refuse(asked, Code::WrongState, detail);
    }

    /// STALE_FENCE, and what an old `entered` or `cancel_exit` proves. Returns whether refused.
    fn stale_fence(&mut self, asked: &Asked, event: &RideEvent, ride: &Ride) -> bool {
        let required = match event.event {
            RobotEvent::Query | RobotEvent::AtDoor => false,
            RobotEvent::Entered
            | RobotEvent::Exited
            | RobotEvent::CancelEnter { .. }
            | RobotEvent::CancelExit
            | RobotEvent::HoldDoor { .. } => true,
        };
        let claims_inside = matches!(event.event, RobotEvent::Entered | RobotEvent::CancelExit);
        match (event.fence, ride.fence) {
            (None, Some(fence)) if required => {
                let detail = format!("fence is missing, the ride has {fence}");
                self.refuse(asked, Code::Malformed, detail);
                true
            }
            (Some(given), Some(fence)) if required && given != fence => {
                if claims_inside && given < fence {
                    self.stranger_after_end(&ride.order, Some(given), &ride.robot);
                }
                let detail = format!("fence {given} is not the ride's, which is {fence}");
                self.refuse(asked, Code::StaleFence, detail);
                true
            }
            (Some(given), None) if required && claims_inside => {
                // Queued again: the fence is of an earlier grant of the same order.
                self.stranger_after_end(&ride.order, Some(given), &ride.robot);
                false
            }
            (None | Some(_), None | Some(_)) => false,
        }
    }

    /// An event that names another elevator than the ride's: a robot in the wrong car.
    fn wrong_elevator(&mut self, asked: &Asked, event: &RideEvent, ride: &Ride) -> bool {
        if matches!(event.event, RobotEvent::Query | RobotEvent::AtDoor) {
            return false;
        }
        let Some(named) = &event.elevator_id else {
            return false;
        };
        if ride.elevator.as_ref() == Some(named) {
            return false;
        }
        self.stranger_in(named, &ride.order, &ride.robot);
        if !ride.state.is_terminal() && ride.state != RideState::Queued {
            let detail = format!("{} says that it is at {named}", ride.robot);
            self.hold(&ride.order, ReasonCode::EntryUnconfirmed, &detail);
        }
        let detail = format!("elevator_id {named} is not the ride's");
        self.refuse(asked, Code::WrongState, detail);
        true
    }

    /// `status`.
    pub(crate) fn status(&mut self, robot: &RobotId, status: &RobotStatus) {
        if let (Some(in_car), Some(known)) = (status.in_car, self.live.robots.get_mut(robot)) {
            known.in_car = in_car;
        }
        let Some(order) = self.state.robots.get(robot).cloned() else {
            return;
        };
        self.note_door(&order, status.at_door, status.eta_s);
        if status.in_car == Some(true)
            && let Some(ride) = self.ride(&order).cloned()
        {
            self.status_in_car(&ride);
        }
    }

    fn status_in_car(&mut self, ride: &Ride) {
        match ride.state {
            RideState::Granted | RideState::WaitingHallCall => self.believe_inside(ride),
            RideState::ElevatorArrived => self.note_inside(ride),
            RideState::Cancelled | RideState::Expired | RideState::Failed => {
                self.stranger_after_end(&ride.order, ride.fence, &ride.robot);
            }
            RideState::Queued
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold => {}
        }
    }
}
