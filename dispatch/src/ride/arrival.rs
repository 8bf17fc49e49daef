//! TARGET_ARRIVED: until the robot is confirmed outside.

use protocol::hardware::{Action, Motion};
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, ReasonCode};

use crate::effort::Aim;
use crate::state::Ride;
use crate::step::{Shift, Step};

/// Reminders to leave before HOLD (`ride.md` section 2).
const REMINDERS: u8 = 3;

impl Step<'_> {
    pub(super) fn drive_target(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let since = self.since(order);
        if self.hold_if_silent(ride, elevator) || self.drive_recheck(ride, elevator) {
            return;
        }
        if self.is_late(order) {
            self.exit_is_over(ride);
            return;
        }
        let Some(reading) = self.read(elevator, since).cloned() else {
            self.ask_since(elevator, since);
            self.doubt_door(ride, elevator, &ride.to);
            self.hold_unread(elevator, &ride.to);
            return;
        };
        let away = matches!(reading.motion, Motion::Up | Motion::Down)
            || (reading.motion == Motion::Stopped
                && reading
                    .floor
                    .as_ref()
                    .is_some_and(|floor| floor != &ride.to.floor));
        if away {
            self.left_target(ride, elevator);
            return;
        }
        if !self.is_open(elevator, &ride.to, since) {
            self.door_not_open(ride, elevator, &ride.to);
        } else if self.hold_open(ride, elevator, &ride.to)
            && self.may_cross(elevator, &ride.to, since)
        {
            self.instruct(order, Instruction::Exit);
        }
    }

    /// The car left the target with the robot: it is sent back once.
    fn left_target(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let sent_back = self
            .live
            .rides
            .get(order)
            .is_some_and(|progress| progress.sent_back);
        if sent_back {
            let detail = format!("{elevator} left {} twice", ride.to);
            self.hold(order, ReasonCode::TravelTimeout, &detail);
            return;
        }
        self.release_hold(elevator);
        let span_ms = self.config.timing.travel_ms;
        self.shift(
            order,
            Shift::to(RideState::Running, Instruction::Ride).within(span_ms),
        );
        if let Some(progress) = self.progress(order) {
            progress.sent_back = true;
        }
        self.order(
            elevator,
            Aim::Call,
            Action::CarCall {
                landing: ride.to.clone(),
            },
        );
    }

    fn exit_is_over(&mut self, ride: &Ride) {
        let order = &ride.order;
        let span_ms = self.config.timing.exit_ms;
        let Some(progress) = self.progress(order) else {
            return;
        };
        if progress.tries.remind < REMINDERS {
            progress.tries.remind += 1;
            mutate!(CloseUnconfirmed, self.extend(order, span_ms), {
                self.extend(order, span_ms);
                if let Some(elevator) = &ride.elevator {
                    let landing = ride.to.clone();
                    self.order(elevator, Aim::Close, Action::CloseDoor { landing });
                }
            });
        } else {
            let detail = format!("{} did not leave the car at {}", ride.robot, ride.to);
            self.hold(order, ReasonCode::ExitTimeout, &detail);
        }
    }
}
