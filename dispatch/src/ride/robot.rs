//! What a robot says: section 1 of `ride.md`, a function per row, an arm per cell.

use protocol::ride::{ReplyResult, RideState};
use protocol::robot::{RideCancel, RideEvent, RobotEvent, RobotStatus};
use protocol::{Code, ElevatorId, Fence, OrderId, ReasonCode, RobotId};

use super::cells::Cell::{self, Accept, Duplicate, Refuse};
use super::cells::WRONG_STATE;
use crate::fact::{Fact, RideFact};
use crate::ledger::Ended;
use crate::render::Asked;
use crate::state::Ride;
use crate::step::Step;

/// What a message of a robot is about.
enum Found {
    /// A live ride, or the last one of its robot.
    Ride(Box<Ride>),
    /// An order that ended, and is shown no more.
    Ended(Ended),
    /// Nothing of this robot; that is answered.
    Nothing,
}

impl Step<'_> {
    /// `ride/event`.
    pub(crate) fn event(&mut self, asked: &Asked, event: &RideEvent) {
        let word = event.event.word();
        let ride = match self.find(asked, &event.order_id) {
            Found::Ride(ride) => ride,
            Found::Ended(ended) => return self.event_after_end(asked, event, &ended),
            Found::Nothing => return,
        };
        if self.stale_fence(asked, event, ride.fence)
            || self.wrong_elevator(asked, event, ride.elevator.as_ref(), ride.state)
        {
            return;
        }
        let leaves = matches!(
            event.event,
            RobotEvent::Exited | RobotEvent::CancelEnter { .. }
        );
        let cell = match &event.event {
            RobotEvent::Query => self.query(&ride),
            RobotEvent::AtDoor => self.at_door(&ride),
            RobotEvent::Entered => self.entered(&ride),
            RobotEvent::Exited => self.exited(&ride),
            RobotEvent::CancelEnter { again } => self.cancel_enter(&ride, *again),
            RobotEvent::CancelExit => self.cancel_exit(&ride),
            RobotEvent::HoldDoor { hold_s } => self.hold_door(&ride, *hold_s),
        };
        if leaves && matches!(cell, Accept) {
            // It stands outside: its word of before that it is in a car is over.
            self.note_in_car(&asked.robot, false);
        }
        self.answer(asked, cell, word, ride.state);
    }

    /// `ride/cancel`.
    pub(crate) fn cancel(&mut self, asked: &Asked, cancel: &RideCancel) {
        let ride = match self.find(asked, &cancel.order_id) {
            Found::Ride(ride) => ride,
            Found::Ended(ended) if ended.state == RideState::Cancelled => {
                return self.answer(asked, Duplicate, "cancel", ended.state);
            }
            Found::Ended(ended) => return self.answer(asked, WRONG_STATE, "cancel", ended.state),
            Found::Nothing => return,
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
                    WRONG_STATE
                }
            }
            RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Expired
            | RideState::Failed => WRONG_STATE,
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

    /// What a message names: a ride that is shown, an order that ended, or nothing of the robot's.
    fn find(&mut self, asked: &Asked, order: &OrderId) -> Found {
        let row = self.state.ledger.find(order);
        let Some(row) = row else {
            let detail = format!("order_id {order} is not known");
            self.refuse(asked, Code::UnknownOrder, detail);
            return Found::Nothing;
        };
        if mutate!(AnyOwner, row.robot != asked.robot, false) {
            let detail = format!("order_id {order} belongs to another robot");
            self.refuse(asked, Code::NotOwner, detail);
            return Found::Nothing;
        }
        match (self.state.rides.get(order), row.ended) {
            (Some(ride), _) => Found::Ride(Box::new(ride.clone())),
            (None, Some(ended)) => Found::Ended(ended),
            // Only what lives is shown, and what lives is always shown: this is never reached.
            (None, None) => {
                let detail = format!("order_id {order} is not known");
                self.refuse(asked, Code::UnknownOrder, detail);
                Found::Nothing
            }
        }
    }

    /// The order ended long ago, or its robot has another one since: the last column of the table.
    fn event_after_end(&mut self, asked: &Asked, event: &RideEvent, ended: &Ended) {
        if self.stale_fence(asked, event, ended.fence)
            || self.wrong_elevator(asked, event, ended.elevator.as_ref(), ended.state)
        {
            return;
        }
        let order = &event.order_id;
        let out = ended.state == RideState::RobotExited;
        let cell = match &event.event {
            RobotEvent::Query => Accept,
            RobotEvent::Exited if out => Duplicate,
            RobotEvent::CancelEnter { .. } if ended.state == RideState::Cancelled => Duplicate,
            RobotEvent::Entered if out => WRONG_STATE,
            RobotEvent::Entered | RobotEvent::CancelExit => {
                self.stranger_after_end(order, ended.fence, &asked.robot);
                WRONG_STATE
            }
            RobotEvent::AtDoor
            | RobotEvent::Exited
            | RobotEvent::CancelEnter { .. }
            | RobotEvent::HoldDoor { .. } => WRONG_STATE,
        };
        self.answer(asked, cell, event.event.word(), ended.state);
    }

    /// STALE_FENCE, and what an old `entered` or `cancel_exit` proves. Returns whether refused.
    fn stale_fence(&mut self, asked: &Asked, event: &RideEvent, fence: Option<Fence>) -> bool {
        let order = &event.order_id;
        let required = match event.event {
            RobotEvent::Query | RobotEvent::AtDoor => false,
            RobotEvent::Entered
            | RobotEvent::Exited
            | RobotEvent::CancelEnter { .. }
            | RobotEvent::CancelExit
            | RobotEvent::HoldDoor { .. } => true,
        };
        let claims_inside = matches!(event.event, RobotEvent::Entered | RobotEvent::CancelExit);
        match (event.fence, fence) {
            (None, Some(fence)) if required => {
                let detail = format!("fence is missing, the ride has {fence}");
                self.refuse(asked, Code::Malformed, detail);
                true
            }
            (Some(given), Some(fence)) if required && mutate!(AnyFence, given != fence, false) => {
                if claims_inside && given < fence {
                    self.stranger_after_end(order, Some(given), &asked.robot);
                }
                let detail = format!("fence {given} is not the ride's, which is {fence}");
                self.refuse(asked, Code::StaleFence, detail);
                true
            }
            (Some(given), None) if required && claims_inside => {
                // Queued again: the fence is of an earlier grant of the same order.
                self.stranger_after_end(order, Some(given), &asked.robot);
                false
            }
            (None | Some(_), None | Some(_)) => false,
        }
    }

    /// An event that names another elevator than the ride's: a robot in the wrong car.
    fn wrong_elevator(
        &mut self,
        asked: &Asked,
        event: &RideEvent,
        elevator: Option<&ElevatorId>,
        state: RideState,
    ) -> bool {
        if matches!(event.event, RobotEvent::Query | RobotEvent::AtDoor) {
            return false;
        }
        let Some(named) = &event.elevator_id else {
            return false;
        };
        if mutate!(AnyElevator, elevator == Some(named), true) {
            return false;
        }
        self.stranger_in(named, &event.order_id, &asked.robot);
        if !state.is_terminal() && state != RideState::Queued {
            let detail = format!("{} says that it is at {named}", asked.robot);
            self.hold(&event.order_id, ReasonCode::EntryUnconfirmed, &detail);
        }
        let detail = format!("elevator_id {named} is not the ride's");
        self.refuse(asked, Code::WrongState, detail);
        true
    }

    /// `status`.
    pub(crate) fn status(&mut self, robot: &RobotId, status: &RobotStatus) {
        if let Some(in_car) = status.in_car {
            self.note_in_car(robot, in_car);
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

    /// The robot's word about being in a car outlives the gateway.
    pub(crate) fn note_in_car(&mut self, robot: &RobotId, in_car: bool) {
        if let Some(known) = self.live.robots.get_mut(robot) {
            known.in_car = in_car;
        }
        let Some(order) = self.state.robots.get(robot).cloned() else {
            return;
        };
        if self.ride(&order).is_some_and(|ride| ride.in_car != in_car) {
            self.record(Fact::Ride(RideFact::InCar { order, in_car }));
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
