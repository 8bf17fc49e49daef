//! What a robot makes of what it was told.

use protocol::ride::{Instruction, RideReply, RideState};
use protocol::robot::RobotEvent;
use protocol::{Landing, Timestamp};

use super::{OUTSIDE_MS, REPEAT_MS, Robot, RobotAct, Whereabouts};

impl Robot {
    /// The answer to its question: it crosses if that repeats the permission in time.
    pub(super) fn permitted(
        &mut self,
        now_ms: u64,
        wall: Timestamp,
        sent_ms: u64,
        reply: &RideReply,
    ) {
        let Some(view) = self.view.as_ref() else {
            return;
        };
        let passed_ms = self.own_span_ms(now_ms - sent_ms);
        let is_fresh = reply.valid_s.is_some_and(|valid| passed_ms < valid.ms);
        let landing = reply.floor.clone().zip(reply.side);
        let (Some((floor, side)), Some(elevator)) = (landing, reply.elevator_id.clone()) else {
            return;
        };
        if !is_fresh || reply.instruction != Some(view.instruction) || !self.wants_to_cross() {
            return;
        }
        let inwards = view.instruction == Instruction::Enter;
        if self.feigns(now_ms, wall, inwards) {
            return;
        }
        let landing = Landing { floor, side };
        let act = RobotAct::Cross {
            elevator,
            landing,
            inwards,
        };
        if self.habits.late_ms > 0 {
            let valid_ms = reply.valid_s.map_or(0, |valid| valid.ms);
            self.offended |= passed_ms + self.habits.late_ms >= valid_ms;
            self.crossing = Some((now_ms + self.habits.late_ms, act));
        } else {
            self.acts.push(act);
        }
    }

    /// Says that it crossed, where it is of that kind, and stays where it is.
    fn feigns(&mut self, now_ms: u64, wall: Timestamp, inwards: bool) -> bool {
        let (feigns, event) = if inwards {
            (self.habits.feigns_entry, RobotEvent::Entered)
        } else {
            (self.habits.feigns_exit, RobotEvent::Exited)
        };
        if feigns {
            self.offended = true;
            self.event(now_ms, wall, event);
        }
        feigns
    }

    /// Crosses by the last state that it was told, without a question.
    fn crosses_unasked(&mut self) {
        let Some(view) = self.view.as_ref() else {
            return;
        };
        let landing = view.floor.clone().zip(view.side);
        let (Some((floor, side)), Some(elevator)) = (landing, view.elevator_id.clone()) else {
            return;
        };
        self.offended = true;
        self.acts.push(RobotAct::Cross {
            elevator,
            landing: Landing { floor, side },
            inwards: view.instruction == Instruction::Enter,
        });
    }

    /// A span as its own clock counts it.
    fn own_span_ms(&self, span_ms: u64) -> u64 {
        let span = i64::try_from(span_ms).unwrap_or(i64::MAX);
        let drift = span.saturating_mul(i64::from(self.habits.clock_ppm)) / 1_000_000;
        span_ms.saturating_add_signed(drift)
    }

    pub(super) fn think(&mut self, now_ms: u64, wall: Timestamp) {
        if self.habits.by_hand || !self.connected {
            return;
        }
        if self.asks_ms().is_some_and(|at_ms| at_ms <= now_ms) {
            if self.habits.asks {
                let id = self.event(now_ms, wall, RobotEvent::Query);
                self.asked = id.map(|id| (id, now_ms));
            } else {
                self.crosses_unasked();
            }
            self.ask_ms = now_ms + REPEAT_MS;
        }
        if self.tells_outside_ms().is_some_and(|at_ms| at_ms <= now_ms) {
            self.outside_ms = now_ms + OUTSIDE_MS;
            let again = RobotEvent::CancelEnter { again: false };
            let event = if self.was_inside {
                RobotEvent::Exited
            } else {
                again
            };
            self.event(now_ms, wall, event);
        }
    }

    /// When it says again that it is outside: in HOLD, until that was seen.
    pub(super) fn tells_outside_ms(&self) -> Option<u64> {
        let held = self.view.as_ref().is_some_and(|view| {
            view.state == RideState::Hold && self.order() == Some(&view.order_id)
        });
        let outside = matches!(self.place, Whereabouts::Floor(_));
        (held && outside && !self.habits.by_hand && self.habits.tells_exit)
            .then_some(self.outside_ms)
    }

    /// When it asks whether it may cross.
    pub(super) fn asks_ms(&self) -> Option<u64> {
        let asks = !self.habits.by_hand
            && self.gateway_online
            && self.crossed_ms.is_none()
            && self.crossing.is_none()
            && self.arrives_ms.is_none()
            && self.wants_to_cross();
        asks.then_some(self.ask_ms)
    }

    fn wants_to_cross(&self) -> bool {
        let (Some(view), Some(order)) = (self.view.as_ref(), self.order.as_ref()) else {
            return false;
        };
        if view.order_id != order.id {
            return false;
        }
        match (view.instruction, &self.place) {
            (Instruction::Enter, Whereabouts::Floor(floor)) => {
                self.habits.enters && Some(floor) == view.floor.as_ref()
            }
            (Instruction::Exit, Whereabouts::Car(_)) => self.habits.leaves,
            (
                Instruction::Wait
                | Instruction::Approach
                | Instruction::Enter
                | Instruction::Ride
                | Instruction::Exit
                | Instruction::Stay
                | Instruction::Clear,
                _,
            ) => false,
        }
    }
}
