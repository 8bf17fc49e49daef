//! The robots of the small world: they ask before they cross, and say where they are.

use std::collections::BTreeSet;

use protocol::ride::{Instruction, RideReply, RideState, RideView};
use protocol::robot::{Place, RideEvent, RideRequest, RobotEvent};
use protocol::{Fence, Landing, MessageId, OrderId, RobotId, RobotMessage, Side, limits};

use super::play::Small;
use crate::car::CarEvent;
use crate::check::Seen;

/// A robot.
#[derive(Debug, Clone)]
pub(super) struct Walker {
    pub(super) id: RobotId,
    pub(super) order: OrderId,
    pub(super) from: Landing,
    pub(super) to: Landing,
    /// It is in the car; else at `from`, or at `to` once it was inside.
    pub(super) inside: bool,
    pub(super) was_inside: bool,
    pub(super) seq: u64,
    pub(super) told: Option<(RideState, Instruction, Option<Fence>)>,
    /// The open question was sent then.
    pub(super) asked_ms: Option<u64>,
    /// What it may do, until when.
    pub(super) permit: Option<(Instruction, u64)>,
    pub(super) messages: u64,
}

/// What a robot has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Request,
    Query,
    Entered,
    Exited,
}

impl Walker {
    pub(super) fn new(id: RobotId, order: OrderId, from: Landing, to: Landing) -> Self {
        Self {
            id,
            order,
            from,
            to,
            inside: false,
            was_inside: false,
            seq: 0,
            told: None,
            asked_ms: None,
            permit: None,
            messages: 0,
        }
    }

    pub(super) fn is_told(&mut self, view: &RideView) {
        if view.order_id == self.order && view.seq >= self.seq {
            self.seq = view.seq;
            self.told = Some((view.state, view.instruction, view.fence));
        }
    }

    pub(super) fn is_answered(&mut self, reply: &RideReply, now_ms: u64) {
        let Some(asked_ms) = self.asked_ms.take() else {
            return;
        };
        let (Some(word), Some(valid)) = (reply.instruction, reply.valid_s) else {
            return;
        };
        let told = self.told.map(|(_, told, _)| told);
        let until_ms = asked_ms + valid.ms;
        if told == Some(word) && now_ms < until_ms {
            self.permit = Some((word, until_ms));
        }
    }
}

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

pub(super) fn landing(floor: &str) -> Option<Landing> {
    let floor = protocol::FloorLabel::new(floor).ok()?;
    let side = Side::Front;
    Some(Landing { floor, side })
}
