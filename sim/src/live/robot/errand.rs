//! What a robot is told to do, how it does it, and what came of it.

use std::time::Duration;

use protocol::{ElevatorId, Fence, Landing, MessageId, OrderId, RobotId, RobotMessage};

use crate::live::pace::Pace;

/// How a robot behaves; our time, whatever the pace of the building.
#[derive(Debug, Clone)]
pub struct Habits {
    /// Between two sendings of a word without an answer (`wire.md` section 3: 5 s).
    pub repeat: Duration,
    /// Between two `status` (`wire.md` section 5: at least every 10 s with a live ride).
    pub heartbeat: Duration,
    /// Between the answer to a question and the next question.
    pub ask_again: Duration,
    /// To cross a threshold.
    pub cross: Duration,
}

impl Habits {
    /// The habits of `wire.md` in a building of that pace: repeat after 5 s, status every 8 s, ask
    /// again after 1 s, 3 s for a threshold.
    #[must_use]
    pub fn at(pace: &Pace) -> Self {
        Self {
            repeat: pace.ours(5_000),
            heartbeat: pace.ours(8_000),
            ask_again: pace.ours(1_000),
            cross: pace.ours(3_000),
        }
    }
}

/// One order for a robot.
#[derive(Debug, Clone)]
pub struct Errand {
    /// The order.
    pub order: OrderId,
    /// Where it gets in.
    pub from: Landing,
    /// Where it gets out.
    pub to: Landing,
    /// How long it drives to the door, our time.
    pub drive: Duration,
}

/// Which way over a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Into the car.
    In,
    /// Out of it.
    Out,
}

/// A threshold that a robot has leave to cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threshold {
    /// Of which car.
    pub elevator: ElevatorId,
    /// At which landing.
    pub landing: Landing,
    /// Which way.
    pub way: Way,
    /// The fence that the leave bore.
    pub fence: Option<Fence>,
}

/// A word that waits for its answer.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) message_id: MessageId,
    pub(super) message: RobotMessage,
    pub(super) due: Duration,
    /// A permission counts from here.
    pub(super) first_sent: Option<Duration>,
}

/// Something that a robot does.
#[derive(Debug, Clone)]
pub enum Deed {
    /// It says something.
    Say(RobotMessage),
    /// It begins to cross.
    CrossingBegins(Threshold),
    /// It stands on the other side.
    CrossingEnds(Threshold),
    /// Its ride is at its end.
    Finished(RideResult),
}

/// What came of one ride. Times are ours.
#[derive(Debug, Clone)]
pub struct RideResult {
    /// The robot.
    pub robot: RobotId,
    /// Its order.
    pub order: OrderId,
    /// Where it got in, or would have.
    pub from: Landing,
    /// Where it got out, or would have.
    pub to: Landing,
    /// The car that came.
    pub elevator: Option<ElevatorId>,
    /// From the request's first sending to the first word about it.
    pub decision: Option<Duration>,
    /// From there to the open car.
    pub wait: Option<Duration>,
    /// From there to the end.
    pub total: Option<Duration>,
    /// Why it was not completed; `None` = it was.
    pub failure: Option<String>,
}

impl RideResult {
    pub(super) fn new(robot: RobotId, errand: &Errand) -> Self {
        Self {
            robot,
            order: errand.order.clone(),
            from: errand.from.clone(),
            to: errand.to.clone(),
            elevator: None,
            decision: None,
            wait: None,
            total: None,
            failure: None,
        }
    }

    pub(super) fn arrived(&mut self, now: Duration, sent: Option<Duration>) {
        if let Some(sent) = sent {
            self.wait.get_or_insert_with(|| now.saturating_sub(sent));
        }
    }

    pub(super) fn completed(mut self, now: Duration, sent: Option<Duration>) -> Self {
        self.total = sent.map(|sent| now.saturating_sub(sent));
        self
    }

    pub(super) fn failed(mut self, why: String) -> Self {
        self.failure = Some(why);
        self
    }
}
