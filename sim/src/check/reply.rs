//! The answers of `ride.md` section 1, one cell after the other.

use protocol::hardware::{Door, Motion};
use protocol::ride::{ReplyResult, RideReply, RideState};
use protocol::robot::{RideCancel, RideEvent, RobotEvent};
use protocol::{Code, OrderId, RobotId, RobotMessage};

use super::law::{Found, Law};
use super::model::{Model, Ride};

/// What may be answered; `None` where the model cannot say.
pub(super) type Answer = Option<(ReplyResult, Option<Code>)>;

const A: Answer = Some((ReplyResult::Accepted, None));
const D: Answer = Some((ReplyResult::Duplicate, None));
const W: Answer = refused(Code::WrongState);

pub(super) const fn refused(code: Code) -> Answer {
    Some((ReplyResult::Rejected, Some(code)))
}

/// The law that another answer breaks.
pub(super) fn law_of(answer: Answer) -> Law {
    match answer {
        Some((ReplyResult::Duplicate, _)) => Law::I5,
        Some((_, Some(Code::OrderConflict))) => Law::I6,
        Some(_) | None => Law::I11,
    }
}

impl Model {
    /// What a message must be answered with; asked before the model takes it in.
    pub(super) fn answer_to(&self, robot: &RobotId, message: &RobotMessage) -> Answer {
        let second = self.now_ms / 1_000;
        let known = self.robots.get(robot);
        let before = known.filter(|known| known.second == second);
        let messages = before.map_or(0, |known| known.messages) + 1;
        if messages > self.site.limits.robot_messages_per_s {
            return None;
        }
        match message {
            RobotMessage::Request(request) => self.request(robot, request),
            RobotMessage::Event(event) => self.event_answer(robot, event),
            RobotMessage::Cancel(cancel) => self.cancel_answer(robot, cancel),
            RobotMessage::Status(_) | RobotMessage::Connection(_) => None,
        }
    }

    /// The order, if it is remembered; `Err` = the answer is settled without it.
    fn remembered(&self, robot: &RobotId, order: &OrderId) -> Result<&Ride, Answer> {
        let Some(ride) = self.rides.get(order) else {
            return Err(refused(Code::UnknownOrder));
        };
        if self.may_be_forgotten(ride) {
            return Err(None);
        }
        if &ride.robot != robot {
            return Err(refused(Code::NotOwner));
        }
        Ok(ride)
    }

    /// Its retention is over, or its tail was lost: the model does not say.
    pub(super) fn may_be_forgotten(&self, ride: &Ride) -> bool {
        let retention_ms = self.site.limits.dedup_retention_s * 1_000;
        let ended = ride.ended_at;
        ride.loose || ended.is_some_and(|at| self.wall.since(at) >= retention_ms)
    }

    fn event_answer(&self, robot: &RobotId, event: &RideEvent) -> Answer {
        let ride = match self.remembered(robot, &event.order_id) {
            Ok(ride) => ride,
            Err(answer) => return answer,
        };
        let asks = matches!(event.event, RobotEvent::Query | RobotEvent::AtDoor);
        if !asks {
            match (event.fence, ride.fence) {
                (None, Some(_)) => return refused(Code::Malformed),
                (Some(given), Some(fence)) if given != fence => return refused(Code::StaleFence),
                (_, _) => {}
            }
            if event.elevator_id.is_some() && event.elevator_id != ride.elevator {
                return W;
            }
        }
        match &event.event {
            RobotEvent::Query => A,
            RobotEvent::AtDoor => at_door(ride.state),
            RobotEvent::Entered => entered(ride.state),
            RobotEvent::Exited => exited(ride),
            RobotEvent::CancelEnter { .. } => cancel_enter(ride),
            RobotEvent::CancelExit => cancel_exit(ride.state),
            RobotEvent::HoldDoor { .. } => self.hold_door(ride),
        }
    }

    fn hold_door(&self, ride: &Ride) -> Answer {
        let Some(elevator) = &ride.elevator else {
            return W;
        };
        let car = self.cars.get(elevator)?;
        match ride.state {
            RideState::ElevatorArrived | RideState::TargetArrived => A,
            RideState::RobotEntered => {
                let shut = car.reading.as_ref().is_none_or(|reading| reading.is_shut());
                if shut { W } else { A }
            }
            RideState::Hold => {
                let since = self
                    .now_ms
                    .saturating_sub(self.site.timing.reading_fresh_ms);
                let since = since.max(car.doubt_ms.unwrap_or(0));
                let open = car.read(since).is_some_and(|reading| {
                    let doors = [Some(reading.front), reading.rear];
                    reading.motion == Motion::Stopped
                        && reading.floor.is_some()
                        && doors.contains(&Some(Door::Open))
                });
                if open && self.serves(elevator) { A } else { W }
            }
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::Running
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => W,
        }
    }

    fn cancel_answer(&self, robot: &RobotId, cancel: &RideCancel) -> Answer {
        let ride = match self.remembered(robot, &cancel.order_id) {
            Ok(ride) => ride,
            Err(answer) => return answer,
        };
        match ride.state {
            RideState::Queued | RideState::Granted | RideState::WaitingHallCall => A,
            RideState::ElevatorArrived if !ride.inside => A,
            RideState::Cancelled => D,
            RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived
            | RideState::RobotExited
            | RideState::Hold
            | RideState::Expired
            | RideState::Failed => W,
        }
    }

    /// Looks at a reply: whose it is, what it says, and that it shows the ride as it is.
    pub(super) fn replied(&mut self, robot: &RobotId, reply: &RideReply, found: &mut Found) {
        let Some(order) = &reply.order_id else {
            return;
        };
        let Some(ride) = self.rides.get(order).filter(|ride| !ride.loose) else {
            found.check(reply.state.is_none(), Law::I17, || {
                format!("{robot} is shown {order}, which nobody asked for")
            });
            return;
        };
        if &ride.robot != robot {
            found.check(
                reply.state.is_none() && reply.fence.is_none(),
                Law::I17,
                || format!("{robot} is shown {order} of {}", ride.robot),
            );
            return;
        }
        if self.may_be_forgotten(ride) || reply.state.is_none() {
            return;
        }
        let shown = (reply.state, reply.seq, reply.instruction, reply.fence);
        let is = (
            Some(ride.state),
            Some(ride.seq),
            Some(ride.instruction),
            ride.fence,
        );
        found.check(shown == is, Law::I5, || {
            format!("{order} is {is:?} and a reply shows {shown:?}")
        });
    }
}

fn at_door(state: RideState) -> Answer {
    match state {
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::ElevatorArrived => A,
        RideState::RobotEntered
        | RideState::Running
        | RideState::TargetArrived
        | RideState::RobotExited
        | RideState::Hold
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => W,
    }
}

fn entered(state: RideState) -> Answer {
    match state {
        RideState::ElevatorArrived | RideState::Hold => A,
        RideState::RobotEntered | RideState::Running | RideState::TargetArrived => D,
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => W,
    }
}

fn exited(ride: &Ride) -> Answer {
    match ride.state {
        RideState::Running | RideState::Hold if ride.opened => A,
        RideState::TargetArrived => A,
        RideState::RobotExited => D,
        RideState::Running
        | RideState::Hold
        | RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::ElevatorArrived
        | RideState::RobotEntered
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => W,
    }
}

fn cancel_enter(ride: &Ride) -> Answer {
    match ride.state {
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::ElevatorArrived
        | RideState::RobotEntered => A,
        RideState::Hold if ride.is_held_in_boarding() => A,
        RideState::Cancelled => D,
        RideState::Hold
        | RideState::Running
        | RideState::TargetArrived
        | RideState::RobotExited
        | RideState::Expired
        | RideState::Failed => W,
    }
}

fn cancel_exit(state: RideState) -> Answer {
    match state {
        RideState::ElevatorArrived | RideState::TargetArrived => A,
        RideState::Hold => D,
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::RobotEntered
        | RideState::Running
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => W,
    }
}

impl Ride {
    /// In HOLD: the robot was to go in, not out.
    pub(super) fn is_held_in_boarding(&self) -> bool {
        matches!(
            self.held_from,
            Some(
                RideState::Granted
                    | RideState::WaitingHallCall
                    | RideState::ElevatorArrived
                    | RideState::RobotEntered
            )
        )
    }
}
