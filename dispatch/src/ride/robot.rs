//! What a robot says: section 1 of `ride.md`, a function per row, an arm per cell.

use protocol::hardware::Action;
use protocol::ride::{Instruction, ReplyResult, RideState};
use protocol::robot::{RideCancel, RideEvent, RobotEvent, RobotStatus};
use protocol::{Code, ElevatorId, OrderId, ReasonCode, RobotId, limits};

use super::Afterwards;
use crate::command::Aim;
use crate::fact::{Fact, KeptUntil, RideFact};
use crate::live::Claim;
use crate::render::Asked;
use crate::state::Ride;
use crate::turn::{Shift, Turn};

/// How a cell answers.
enum Cell {
    /// A: taken.
    Accept,
    /// D: known already.
    Duplicate,
    /// R: refused.
    Refuse(Code),
}

use Cell::{Accept, Duplicate, Refuse};

const WRONG_STATE: Cell = Refuse(Code::WrongState);

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

    fn query(&mut self, ride: &Ride) -> Cell {
        let permits = matches!(ride.instruction, Instruction::Enter | Instruction::Exit);
        if permits
            && let Some(elevator) = &ride.elevator
            && !self.permission_is_fresh(ride, elevator)
        {
            self.instruct(&ride.order, Instruction::Stay);
            self.ask(elevator);
        }
        Accept
    }

    /// OPEN was READ lately and the hold outlasts `valid_s`. In a mode in which no hold may be
    /// sent, a robot in HOLD leaves by the open door alone: no other way out is left to it.
    fn permission_is_fresh(&self, ride: &Ride, elevator: &ElevatorId) -> bool {
        match ride.state {
            RideState::ElevatorArrived => self.may_cross(elevator, &ride.from, 0),
            RideState::TargetArrived => self.may_cross(elevator, &ride.to, 0),
            RideState::Hold => {
                let open = self.open_landing(elevator, self.fresh_since());
                open.is_some_and(|landing| {
                    !self.mode(elevator).serves_robots() || self.may_cross(elevator, &landing, 0)
                })
            }
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::RobotEntered
            | RideState::Running
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => false,
        }
    }

    fn at_door(&mut self, ride: &Ride) -> Cell {
        match ride.state {
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::ElevatorArrived => {
                self.note_door(&ride.order, Some(true), None);
                Accept
            }
            RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => WRONG_STATE,
        }
    }

    /// The robot's word about the door: it ranks the queue, and lifts `approach` to `enter`.
    fn note_door(&mut self, order: &OrderId, at_door: Option<bool>, eta_s: Option<u32>) {
        let now_ms = self.now.mono_ms;
        let Some(ride) = self.ride(order) else { return };
        let away = match (at_door, eta_s) {
            (Some(at_door), _) => !at_door,
            (None, Some(eta)) => eta > 0,
            (None, None) => return,
        };
        let (before, elevator, state) = (ride.away, ride.elevator.clone(), ride.state);
        if let Some(progress) = self.progress(order) {
            progress.at_door = at_door == Some(true) || eta_s == Some(0);
            let span = eta_s.map(|eta| u64::from(eta).saturating_mul(1000));
            progress.at_door_ms = span.map(|span| now_ms.saturating_add(span));
        }
        if before != away {
            self.record(Fact::Ride(RideFact::Away {
                order: order.clone(),
                away,
            }));
        }
        if state == RideState::Queued {
            self.live.dispatch_due = true;
        }
        if let Some(elevator) = elevator {
            if state == RideState::ElevatorArrived {
                self.drive_owner(&elevator);
            }
            self.live.touched.insert(elevator);
        }
    }

    fn entered(&mut self, ride: &Ride) -> Cell {
        match ride.state {
            RideState::Queued => WRONG_STATE,
            RideState::Granted | RideState::WaitingHallCall => {
                self.believe_inside(ride);
                WRONG_STATE
            }
            RideState::ElevatorArrived => {
                self.note_inside(ride);
                self.take_word(&ride.order, Claim::Entered);
                Accept
            }
            RideState::RobotEntered | RideState::Running | RideState::TargetArrived => Duplicate,
            RideState::RobotExited => WRONG_STATE,
            RideState::Hold => {
                if let Some(elevator) = &ride.elevator {
                    self.entered_in_hold(ride, elevator);
                }
                Accept
            }
            RideState::Cancelled | RideState::Expired | RideState::Failed => {
                self.stranger_after_end(&ride.order, ride.fence, &ride.robot);
                WRONG_STATE
            }
        }
    }

    /// `entered` before the car came: it is believed.
    fn believe_inside(&mut self, ride: &Ride) {
        let detail = format!("{} says that it is inside before the car came", ride.robot);
        self.hold(&ride.order, ReasonCode::EntryUnconfirmed, &detail);
    }

    fn note_inside(&mut self, ride: &Ride) {
        if !ride.inside {
            let order = ride.order.clone();
            self.record(Fact::Ride(RideFact::Inside {
                order,
                inside: true,
            }));
        }
    }

    fn exited(&mut self, ride: &Ride) -> Cell {
        let opened = self
            .live
            .rides
            .get(&ride.order)
            .is_some_and(|progress| progress.door_opened);
        match ride.state {
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::ElevatorArrived
            | RideState::RobotEntered => WRONG_STATE,
            RideState::Running if opened => {
                let detail = format!("{} left the car on the way", ride.robot);
                self.hold(&ride.order, ReasonCode::WrongFloor, &detail);
                if let Some(elevator) = &ride.elevator {
                    self.exited_in_hold(&ride.order, elevator);
                }
                Accept
            }
            RideState::Running => WRONG_STATE,
            RideState::TargetArrived => {
                self.take_word(&ride.order, Claim::Exited);
                Accept
            }
            RideState::RobotExited => Duplicate,
            RideState::Hold if opened => {
                if let Some(elevator) = &ride.elevator {
                    self.exited_in_hold(&ride.order, elevator);
                }
                Accept
            }
            RideState::Hold | RideState::Cancelled | RideState::Expired | RideState::Failed => {
                WRONG_STATE
            }
        }
    }

    fn cancel_enter(&mut self, ride: &Ride, again: bool) -> Cell {
        match ride.state {
            RideState::Queued if again => Accept,
            RideState::Queued | RideState::Granted | RideState::WaitingHallCall => {
                if again {
                    self.requeue_before_entry(ride);
                } else {
                    self.give_up(
                        ride,
                        ReasonCode::CancelledByRobot,
                        "the robot does not enter",
                    );
                }
                Accept
            }
            RideState::ElevatorArrived => {
                self.take_word(&ride.order, Claim::CancelEnter { again });
                Accept
            }
            RideState::RobotEntered => {
                let detail = format!("{} says that it did not enter after all", ride.robot);
                self.hold(&ride.order, ReasonCode::EntryUnconfirmed, &detail);
                if let Some(elevator) = &ride.elevator
                    && self.is_open_or_level(elevator, &ride.from)
                {
                    let landing = ride.from.clone();
                    self.order(elevator, Aim::Open, Action::OpenDoor { landing });
                }
                Accept
            }
            RideState::Running | RideState::TargetArrived | RideState::RobotExited => WRONG_STATE,
            RideState::Hold if ride.is_held_in_boarding() => {
                if let Some(elevator) = &ride.elevator {
                    self.cancel_enter_in_hold(ride, elevator);
                }
                Accept
            }
            RideState::Hold => WRONG_STATE,
            RideState::Cancelled => Duplicate,
            RideState::Expired | RideState::Failed => WRONG_STATE,
        }
    }

    /// `cancel_enter` with `again` before the car came.
    fn requeue_before_entry(&mut self, ride: &Ride) {
        let afterwards = match &ride.elevator {
            Some(elevator) if ride.state == RideState::WaitingHallCall => {
                Afterwards::Keep(self.until_cleared(elevator, ride))
            }
            Some(_) | None => Afterwards::Free,
        };
        self.requeue(&ride.order, afterwards);
    }

    fn cancel_exit(&mut self, ride: &Ride) -> Cell {
        match ride.state {
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::RobotEntered
            | RideState::Running => WRONG_STATE,
            RideState::ElevatorArrived => {
                self.note_inside(ride);
                let detail = format!("{} says that it is inside and cannot leave", ride.robot);
                self.hold(&ride.order, ReasonCode::EntryUnconfirmed, &detail);
                Accept
            }
            RideState::TargetArrived => {
                let detail = format!("{} says that it cannot leave", ride.robot);
                self.hold(&ride.order, ReasonCode::ExitRefused, &detail);
                Accept
            }
            RideState::Hold => Duplicate,
            RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {
                self.stranger_after_end(&ride.order, ride.fence, &ride.robot);
                WRONG_STATE
            }
        }
    }

    /// The ride is given up before anybody may be inside. Returns `false` where that is not so.
    pub(crate) fn give_up(&mut self, ride: &Ride, code: ReasonCode, why: &str) -> bool {
        let shift = Shift::to(RideState::Cancelled, Instruction::Clear).because(code, why);
        let afterwards = match ride.state {
            RideState::Queued | RideState::Granted => Afterwards::Free,
            RideState::WaitingHallCall => match &ride.elevator {
                Some(elevator) => Afterwards::Keep(self.until_cleared(elevator, ride)),
                None => Afterwards::Free,
            },
            RideState::ElevatorArrived if !ride.inside => Afterwards::Keep(KeptUntil::Shut),
            RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => return false,
        };
        self.leave(&ride.order, shift, afterwards);
        true
    }

    fn hold_door(&mut self, ride: &Ride, hold_s: u32) -> Cell {
        let Some(elevator) = ride.elevator.clone() else {
            return WRONG_STATE;
        };
        match ride.state {
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::Running
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => WRONG_STATE,
            RideState::ElevatorArrived | RideState::TargetArrived => {
                self.hold_longer(ride, &elevator, hold_s);
                Accept
            }
            RideState::RobotEntered => {
                let shut = self
                    .read(&elevator, 0)
                    .is_none_or(|reading| reading.is_shut());
                if shut {
                    return WRONG_STATE;
                }
                let landing = ride.from.clone();
                self.hold_longer(ride, &elevator, hold_s);
                if let Some(car) = self.live.cars.get_mut(&elevator) {
                    car.efforts.drop_aim(Aim::Close);
                }
                self.order(&elevator, Aim::Open, Action::OpenDoor { landing });
                Accept
            }
            RideState::Hold => {
                let open = self.open_landing(&elevator, self.fresh_since());
                if open.is_some() && self.mode(&elevator).serves_robots() {
                    self.hold_once(&elevator);
                    Accept
                } else {
                    WRONG_STATE
                }
            }
        }
    }

    /// The deadline moves by `hold_s`, at most 120 s in all; the door is held meanwhile.
    fn hold_longer(&mut self, ride: &Ride, elevator: &ElevatorId, hold_s: u32) {
        let order = &ride.order;
        let now_ms = self.now.mono_ms;
        let wanted_ms = u64::from(hold_s).saturating_mul(1000);
        let most_ms = u64::from(limits::HOLD_TOTAL_S_MAX).saturating_mul(1000);
        let Some(progress) = self.progress(order) else {
            return;
        };
        let added_ms = wanted_ms.min(most_ms.saturating_sub(progress.extended_ms));
        progress.extended_ms = progress.extended_ms.saturating_add(added_ms);
        progress.close_after_ms = now_ms.saturating_add(added_ms);
        let left_ms = progress
            .deadline_ms
            .map_or(0, |at| at.saturating_sub(now_ms));
        if added_ms > 0 {
            self.extend(order, left_ms.saturating_add(added_ms));
        }
        self.hold_once(elevator);
    }

    fn hold_once(&mut self, elevator: &ElevatorId) {
        let Some(landing) = self.open_landing(elevator, 0) else {
            return;
        };
        // The controller keeps no hold longer than this; renewals make up the rest.
        let hold_ms = self
            .elevator_config(elevator)
            .map_or(0, |config| config.hold_max_ms);
        self.order(elevator, Aim::Hold, Action::HoldDoor { landing, hold_ms });
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
