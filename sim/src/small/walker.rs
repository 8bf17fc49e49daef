//! A robot of the small world: what it knows and what it was told.

use protocol::ride::{Instruction, RideReply, RideState, RideView};
use protocol::{Fence, Landing, OrderId, RobotId, Side};

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
    /// Its word about where it is was said then; it is repeated later.
    pub(super) said_ms: Option<u64>,
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
            said_ms: None,
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

pub(super) fn landing(floor: &str) -> Option<Landing> {
    let floor = protocol::FloorLabel::new(floor).ok()?;
    let side = Side::Front;
    Some(Landing { floor, side })
}
