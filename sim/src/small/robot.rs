//! What the robots of the small world do: they ask before they cross, and say where they are.

use std::collections::BTreeSet;

use protocol::ride::{Instruction, RideState};
use protocol::robot::{Place, RideEvent, RideRequest, RobotEvent};
use protocol::{Landing, MessageId, RobotMessage, limits};

use super::play::Small;
use super::walker::Word;
use crate::car::CarEvent;
use crate::check::Seen;

/// A robot repeats what is not answered, or not believed, after this (`wire.md` section 3).
const REPEAT_MS: u64 = 5_000;

impl Small {
    /// What a robot says next, if anything.
    pub(super) fn next_word(&self, robot: usize) -> Option<Word> {
        let robot = &self.robots[robot];
        let Some((state, instruction, _)) = robot.told else {
            return Some(Word::Request);
        };
        if robot
            .permit
            .is_some_and(|(_, until_ms)| self.now_ms < until_ms)
        {
            return None;
        }
        let lately =
            |at_ms: Option<u64>| at_ms.is_some_and(|at_ms| self.now_ms < at_ms + REPEAT_MS);
        let is_where = matches!(
            (state, robot.inside),
            (RideState::ElevatorArrived, true) | (RideState::TargetArrived, false)
        );
        if lately(if is_where {
            robot.said_ms
        } else {
            robot.asked_ms
        }) {
            return None;
        }
        match (state, robot.inside) {
            (RideState::ElevatorArrived, true) => Some(Word::Entered),
            (RideState::TargetArrived, false) => Some(Word::Exited),
            (RideState::ElevatorArrived, false) if instruction == Instruction::Enter => {
                Some(Word::Query)
            }
            (RideState::TargetArrived, true) if instruction == Instruction::Exit => {
                Some(Word::Query)
            }
            (_, _) => None,
        }
    }

    /// A robot says it.
    pub(super) fn say(&mut self, place: usize) -> Option<RobotMessage> {
        let word = self.next_word(place)?;
        let (now_ms, wall) = (self.now_ms, self.wall());
        let robot = &mut self.robots[place];
        robot.messages += 1;
        let message_id = MessageId::new(&format!("m{}", robot.messages)).ok()?;
        let order_id = robot.order.clone();
        if word == Word::Request {
            let place = |landing: &Landing| Place {
                floor: landing.floor.clone(),
                side: Some(landing.side),
            };
            return Some(RobotMessage::Request(RideRequest {
                message_id,
                timestamp: wall,
                order_id,
                from: place(&robot.from),
                to: place(&robot.to),
                elevators: BTreeSet::new(),
                priority: limits::PRIORITY_DEFAULT,
                at_door: Some(true),
                eta_s: None,
                expires_at: None,
                dry_run: false,
            }));
        }
        let event = match word {
            Word::Request | Word::Query => RobotEvent::Query,
            Word::Entered => RobotEvent::Entered,
            Word::Exited => RobotEvent::Exited,
        };
        if word == Word::Query {
            robot.asked_ms = Some(now_ms);
        } else {
            robot.said_ms = Some(now_ms);
        }
        Some(RobotMessage::Event(RideEvent {
            message_id,
            timestamp: wall,
            order_id,
            event,
            fence: robot.told.and_then(|(_, _, fence)| fence),
            elevator_id: None,
        }))
    }

    /// It may cross, it has eyes, and the car stands open before it.
    pub(super) fn may_cross(&self, robot: usize) -> bool {
        let robot = &self.robots[robot];
        let Some((word, until_ms)) = robot.permit else {
            return false;
        };
        let enters = word == Instruction::Enter;
        let landing = if enters { &robot.from } else { &robot.to };
        enters != robot.inside && self.now_ms < until_ms && self.car.is_open_at(landing)
    }

    pub(super) fn cross(&mut self, place: usize) {
        let world_ms = self.world_ms();
        let robot = &mut self.robots[place];
        robot.permit = None;
        robot.said_ms = None;
        robot.inside = !robot.inside;
        robot.was_inside |= robot.inside;
        let (id, floor) = (robot.id.clone(), robot.from.floor.clone());
        let (inside, to) = (robot.inside, robot.to.floor.clone());
        self.car.occupied = Some(self.robots.iter().any(|robot| robot.inside));
        let event = if inside {
            CarEvent::Entered { robot: id, floor }
        } else {
            CarEvent::Left {
                robot: id,
                floor: to,
            }
        };
        let elevator = &self.elevator;
        let seen = Seen::Car {
            elevator,
            event: &event,
        };
        self.checker.saw(world_ms, seen);
    }
}
