//! The cells of section 1 of `ride.md`: a function per event, an arm per state.

use protocol::hardware::Action;
use protocol::ride::{Instruction, RideState};
use protocol::{Code, ElevatorId, OrderId, ReasonCode, limits};

use super::Afterwards;
use crate::effort::Aim;
use crate::fact::{Claim, Fact, KeptUntil, RideFact};
use crate::state::Ride;
use crate::step::{Shift, Step};

/// How a cell answers.
pub(super) enum Cell {
    /// A: taken.
    Accept,
    /// D: known already.
    Duplicate,
    /// R: refused.
    Refuse(Code),
}

use Cell::{Accept, Duplicate, Refuse};
pub(super) const WRONG_STATE: Cell = Refuse(Code::WrongState);

impl Step<'_> {
    pub(super) fn query(&mut self, ride: &Ride) -> Cell {
        let permits = matches!(ride.instruction, Instruction::Enter | Instruction::Exit);
        if permits
            && let Some(elevator) = &ride.elevator
            && mutate!(QueryStale, !self.permission_is_fresh(ride, elevator), false)
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
            RideState::ElevatorArrived => self.may_enter(elevator, &ride.from, 0),
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

    pub(super) fn at_door(&mut self, ride: &Ride) -> Cell {
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
    pub(super) fn note_door(&mut self, order: &OrderId, at_door: Option<bool>, eta_s: Option<u32>) {
        let now_ms = self.now.mono_ms;
        let Some(ride) = self.ride(order) else { return };
        match ride.state {
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::ElevatorArrived => {}
            RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => return,
        }
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
            self.enqueue(order);
            self.live.dispatch_due = true;
        }
        if let Some(elevator) = elevator {
            if state == RideState::ElevatorArrived {
                self.drive_owner(&elevator);
            }
            self.live.touched.insert(elevator);
        }
    }

    pub(super) fn entered(&mut self, ride: &Ride) -> Cell {
        match ride.state {
            RideState::Queued => mutate!(QueuedEntered, WRONG_STATE, Accept),
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
    pub(super) fn believe_inside(&mut self, ride: &Ride) {
        let detail = format!("{} says that it is inside before the car came", ride.robot);
        self.hold(&ride.order, ReasonCode::EntryUnconfirmed, &detail);
    }

    pub(super) fn note_inside(&mut self, ride: &Ride) {
        if !ride.inside {
            let order = ride.order.clone();
            self.record(Fact::Ride(RideFact::Inside {
                order,
                inside: true,
            }));
        }
    }

    pub(super) fn exited(&mut self, ride: &Ride) -> Cell {
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

    pub(super) fn cancel_enter(&mut self, ride: &Ride, again: bool) -> Cell {
        match ride.state {
            RideState::Queued if again => Accept,
            RideState::Queued | RideState::Granted | RideState::WaitingHallCall => {
                self.cancel_before_entry(ride, again);
                Accept
            }
            // `enter` withheld: nobody is inside, as in WAITING_HALL_CALL.
            RideState::ElevatorArrived if !ride.inside => {
                self.cancel_before_entry(ride, again);
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
                    && self.stands_level(elevator, &ride.from)
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
            RideState::Cancelled => mutate!(CancelledAgain, Duplicate, WRONG_STATE),
            RideState::Expired | RideState::Failed => WRONG_STATE,
        }
    }

    /// `cancel_enter` before anybody may be inside.
    fn cancel_before_entry(&mut self, ride: &Ride, again: bool) {
        if !again {
            let why = "the robot does not enter";
            self.give_up(ride, ReasonCode::CancelledByRobot, why);
            return;
        }
        let afterwards = match &ride.elevator {
            Some(elevator) if ride.state == RideState::WaitingHallCall => {
                Afterwards::Keep(self.until_cleared(elevator, ride))
            }
            Some(_) if ride.state == RideState::ElevatorArrived => {
                Afterwards::Keep(KeptUntil::Shut)
            }
            Some(_) | None => Afterwards::Free,
        };
        self.requeue(&ride.order, afterwards);
    }

    pub(super) fn cancel_exit(&mut self, ride: &Ride) -> Cell {
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
            RideState::ElevatorArrived if mutate!(CancelInside, !ride.inside, true) => {
                Afterwards::Keep(KeptUntil::Shut)
            }
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

    pub(super) fn hold_door(&mut self, ride: &Ride, hold_s: u32) -> Cell {
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
}
