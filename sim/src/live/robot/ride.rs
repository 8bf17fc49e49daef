//! What a robot knows of its ride and of itself.

use std::time::Duration;

use protocol::ride::{Instruction, RideReply, RideState, RideView};
use protocol::{ElevatorId, Fence, MessageId};

use super::errand::{Errand, RideResult, Threshold};

/// What the robot knows of its ride: the newest word about it.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) seq: u64,
    pub(super) state: RideState,
    pub(super) instruction: Instruction,
    pub(super) elevator: Option<ElevatorId>,
    pub(super) fence: Option<Fence>,
    pub(super) why: Option<String>,
}

/// Where the robot's body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    Outside,
    Crossing {
        threshold: Threshold,
        until: Option<Duration>,
    },
    Inside(ElevatorId),
}

/// The ride that it is on.
#[derive(Debug)]
pub(super) struct Ride {
    pub(super) errand: Errand,
    pub(super) view: Option<View>,
    pub(super) at_door_from: Duration,
    /// The elevator, null included, for which it said last that it stands at the door.
    pub(super) at_door_said: Option<Option<ElevatorId>>,
    /// The message id of the question that is open.
    pub(super) query: Option<MessageId>,
    pub(super) ask_from: Duration,
    pub(super) was_inside: bool,
    /// The `seq` of the HOLD that it answered last.
    pub(super) hold_answered: u64,
    pub(super) result: RideResult,
    pub(super) request_id: MessageId,
    pub(super) request_sent: Option<Duration>,
    /// Why the request was refused for good.
    pub(super) refused: Option<String>,
}

impl View {
    /// What a reply shows; `None` where it shows no ride.
    pub(super) fn of_reply(reply: &RideReply) -> Option<Self> {
        Some(Self {
            seq: reply.seq?,
            state: reply.state?,
            instruction: reply.instruction?,
            elevator: reply.elevator_id.clone(),
            fence: reply.fence,
            why: None,
        })
    }

    /// What a state shows.
    pub(super) fn of_state(state: &RideView) -> Self {
        let why = state.reason.as_ref();
        Self {
            seq: state.seq,
            state: state.state,
            instruction: state.instruction,
            elevator: state.elevator_id.clone(),
            fence: state.fence,
            why: why.map(|reason| format!("{}: {}", reason.code, reason.detail)),
        }
    }
}

impl Ride {
    /// The first decision about the request has come.
    pub(super) fn decided(&mut self, now: Duration) {
        if let Some(sent) = self.request_sent {
            self.result
                .decision
                .get_or_insert_with(|| now.saturating_sub(sent));
        }
    }

    /// Whether it should say that it stands at the door: not said yet, or for another car, or the
    /// gateway still thinks that it is away.
    pub(super) fn is_news_at_door(&self, view: &View) -> bool {
        let approaching = matches!(view.instruction, Instruction::Approach | Instruction::Enter);
        match &self.at_door_said {
            None => true,
            Some(said) => approaching && *said != view.elevator,
        }
    }

    /// Whether the newest word would let it cross, if it asked.
    pub(super) fn wants_to_cross(&self, body: &Body) -> bool {
        let Some(view) = &self.view else { return false };
        match body {
            Body::Outside => view.instruction == Instruction::Enter && !self.was_inside,
            Body::Inside(_) => view.instruction == Instruction::Exit,
            Body::Crossing { .. } => false,
        }
    }
}
