//! What is known, as others see it: ride states, replies, elevator states, the site.

use protocol::ride::{Instruction, ReplyResult, RideReply, RideState, RideView};
use protocol::{Code, Landing, MessageId, OrderId, Outgoing, RobotId, Seconds, Timestamp};

use crate::ledger::Ended;
use crate::state::Ride;
use crate::step::{Step, cut};

/// Whom a reply goes to, and what it answers.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The robot.
    pub(crate) robot: RobotId,
    /// Its message.
    pub(crate) message_id: Option<MessageId>,
    /// The order that it names.
    pub(crate) order: Option<OrderId>,
    /// When it came.
    pub(crate) received_at: Timestamp,
}

/// A reply without any ride in it.
pub(crate) fn bare_reply(asked: &Asked, result: ReplyResult) -> RideReply {
    RideReply {
        received_at: asked.received_at,
        in_reply_to: asked.message_id.clone(),
        order_id: asked.order.clone(),
        result,
        code: None,
        detail: None,
        retry_after_s: None,
        state: None,
        seq: None,
        instruction: None,
        valid_s: None,
        elevator_id: None,
        fence: None,
        floor: None,
        side: None,
        queue_position: None,
        eta_s: None,
    }
}

/// When a refused request may come again; `None` where it would be refused again.
pub(crate) fn retry_after(code: Code) -> Option<Seconds> {
    match code {
        Code::Unavailable | Code::QueueFull => Some(Seconds::from_ms(10_000)),
        Code::RateLimited => Some(Seconds::from_ms(1_000)),
        Code::TooLarge
        | Code::Malformed
        | Code::Unauthorized
        | Code::NoAnswer
        | Code::OrderConflict
        | Code::StaleRequest
        | Code::UnknownFloor
        | Code::SameFloor
        | Code::UnknownElevator
        | Code::NotServed
        | Code::SiteSuspended
        | Code::RobotBusy
        | Code::UnknownOrder
        | Code::NotOwner
        | Code::WrongState
        | Code::StaleFence
        | Code::CapacityFull
        | Code::QuotaExceeded
        | Code::ResourceTaken
        | Code::NotEligible
        | Code::UnknownPool
        | Code::UnknownClaim
        | Code::ClaimExpired
        | Code::UnknownDevice
        | Code::DeviceUnavailable
        | Code::BadToken
        | Code::RentalExpired
        | Code::UnknownRental
        | Code::RentalLimit
        | Code::UnknownSeries
        | Code::SeriesExhausted
        | Code::UnknownNumber
        | Code::UnknownDepartment
        | Code::NoTurnWaiting => None,
    }
}

impl Step<'_> {
    /// Answers with the ride as it is at the end of the step.
    pub(crate) fn reply(&mut self, asked: &Asked, result: ReplyResult) {
        let reply = self.reply_view(asked, result);
        self.send_reply(asked, reply);
    }

    /// Refuses; the ride is shown as it is where there is one of this robot.
    pub(crate) fn refuse(&mut self, asked: &Asked, code: Code, detail: String) {
        let mut reply = self.reply_view(asked, ReplyResult::Rejected);
        reply.code = Some(code);
        reply.detail = Some(cut(detail));
        reply.retry_after_s = retry_after(code);
        self.send_reply(asked, reply);
    }

    /// Sends a reply.
    pub(crate) fn send_reply(&mut self, asked: &Asked, reply: RideReply) {
        self.say(Outgoing::RideReply {
            robot: asked.robot.clone(),
            reply,
        });
    }

    fn reply_view(&mut self, asked: &Asked, result: ReplyResult) -> RideReply {
        let mut reply = bare_reply(asked, result);
        let Some(order) = &asked.order else {
            return reply;
        };
        if let Some(ride) = self
            .state
            .rides
            .get(order)
            .filter(|ride| ride.robot == asked.robot)
        {
            let view = self.view(ride);
            if view.valid_s.is_some()
                && let Some(progress) = self.live.rides.get_mut(order)
            {
                progress.permitted_ms = self.now.mono_ms;
            }
            reply.state = Some(view.state);
            reply.seq = Some(view.seq);
            reply.instruction = Some(view.instruction);
            reply.valid_s = view.valid_s;
            reply.elevator_id = view.elevator_id;
            reply.fence = view.fence;
            reply.floor = view.floor;
            reply.side = view.side;
            reply.queue_position = view.queue_position;
            reply.eta_s = view.eta_s;
        } else if let Some(row) = self.state.ledger.find(order)
            && row.robot == asked.robot
            && let Some(ended) = &row.ended
        {
            show_ended(&mut reply, ended);
        }
        reply
    }

    /// Publishes a ride's state as it is.
    pub(crate) fn show(&mut self, order: &OrderId) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let view = self.view(ride);
        let now_ms = self.now.mono_ms;
        if let Some(progress) = self.live.rides.get_mut(order) {
            progress.shown = Some(view.clone());
            progress.told_ms = now_ms;
        }
        self.say(Outgoing::RideState(view));
    }

    /// A ride as its robot sees it.
    pub(crate) fn view(&self, ride: &Ride) -> RideView {
        let progress = self.live.rides.get(&ride.order);
        let deadline_ms = progress.and_then(|progress| progress.deadline_ms);
        let left_ms = deadline_ms.map(|at| at.saturating_sub(self.now.mono_ms));
        let permits = matches!(ride.instruction, Instruction::Enter | Instruction::Exit);
        let landing = self.concerned(ride);
        let queued = ride.state == RideState::Queued;
        let position = queued.then(|| self.queue_position(&ride.order)).flatten();
        let bank_id = ride
            .elevator
            .as_ref()
            .and_then(|id| self.elevator_config(id))
            .and_then(|config| config.bank_id.clone());
        RideView {
            order_id: ride.order.clone(),
            robot_id: ride.robot.clone(),
            seq: ride.seq,
            state: ride.state,
            held_from: ride.held_from,
            instruction: ride.instruction,
            valid_s: permits.then(|| Seconds::from_ms(self.config.timing.valid_ms)),
            elevator_id: ride.elevator.clone(),
            bank_id,
            fence: ride.fence,
            from: ride.from.clone(),
            to: ride.to.clone(),
            floor: landing.as_ref().map(|landing| landing.floor.clone()),
            side: landing.map(|landing| landing.side),
            queue_position: position,
            eta_s: self
                .eta_ms(ride, position)
                .map(|ms| Seconds::from_ms(ms / 1000 * 1000)),
            deadline: left_ms.map(|left| Timestamp(self.now.wall.0.saturating_add(left))),
            deadline_s: left_ms.map(Seconds::from_ms),
            reason: ride.reason.clone(),
        }
    }

    /// The landing that the instruction concerns.
    fn concerned(&self, ride: &Ride) -> Option<Landing> {
        match ride.state {
            RideState::Queued
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => None,
            RideState::Granted | RideState::WaitingHallCall | RideState::ElevatorArrived => {
                Some(ride.from.clone())
            }
            RideState::RobotEntered | RideState::Running | RideState::TargetArrived => {
                Some(ride.to.clone())
            }
            RideState::Hold => {
                let open = ride
                    .elevator
                    .as_ref()
                    .and_then(|id| self.open_landing(id, 0));
                let expected = if ride.is_held_in_boarding() {
                    &ride.from
                } else {
                    &ride.to
                };
                match ride.instruction {
                    Instruction::Exit => open.or_else(|| Some(expected.clone())),
                    Instruction::Wait
                    | Instruction::Approach
                    | Instruction::Enter
                    | Instruction::Ride
                    | Instruction::Stay
                    | Instruction::Clear => Some(expected.clone()),
                }
            }
        }
    }
}

fn show_ended(reply: &mut RideReply, ended: &Ended) {
    reply.state = Some(ended.state);
    reply.seq = Some(ended.seq);
    reply.instruction = Some(Instruction::Clear);
    reply.elevator_id.clone_from(&ended.elevator);
    reply.fence = ended.fence;
}
