//! The laws of `docs/architecture.md` that a run is held to after every step, beside the judgement of
//! the simulator's record.

use dispatch::{Core, Timing};
use protocol::hardware::{Action, Command, Reading};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::{Fence, Outgoing};

use crate::stage::order;

/// What was broken, and what it takes to see that.
pub struct Laws {
    fresh_ms: u64,
    /// There is no presence signal.
    is_blind: bool,
    broken: Vec<String>,
    /// The newest reading was asked for then.
    asked_ms: Option<u64>,
    /// The newest reading's mode lets us command.
    serves: bool,
    state: Option<RideState>,
    told: Option<Instruction>,
    fence: Fence,
    /// Steps, commands and words that were looked at.
    pub looks: u64,
}

impl Laws {
    pub fn new(timing: &Timing, presence: Presence) -> Self {
        Self {
            fresh_ms: timing.reading_fresh_ms,
            is_blind: presence == Presence::None,
            broken: Vec::new(),
            asked_ms: None,
            serves: false,
            state: None,
            told: None,
            fence: Fence(0),
            looks: 0,
        }
    }

    /// What was broken, one sentence each.
    pub fn broken(&self) -> &[String] {
        &self.broken
    }

    /// A reading goes to the core.
    pub fn read(&mut self, reading: &Reading, asked_ms: Option<u64>) {
        self.asked_ms = self.asked_ms.max(asked_ms);
        self.serves = reading.mode.serves_robots();
    }

    /// The core made a step.
    pub fn look(&mut self, now_ms: u64, core: &Core) {
        self.looks += 1;
        self.broken.extend(core.broken_laws());
        let state = core.state().rides.get(&order()).map(|ride| ride.state);
        if state == self.state {
            return;
        }
        // Law 6: only a fresh reading moves a ride on.
        // Without a presence signal the robot's word moves it over a threshold.
        let by_word = matches!(
            state,
            Some(RideState::RobotEntered | RideState::RobotExited)
        );
        if by_word && self.is_blind {
            self.state = state;
            return;
        }
        let moved_on = matches!(
            state,
            Some(
                RideState::WaitingHallCall
                    | RideState::ElevatorArrived
                    | RideState::RobotEntered
                    | RideState::Running
                    | RideState::TargetArrived
                    | RideState::RobotExited
            )
        );
        if moved_on && !self.is_fresh(now_ms) {
            let (from, to, read) = (self.state, state, self.asked_ms);
            self.note(format!("{from:?} to {to:?} on a reading of {read:?}"));
        }
        self.state = state;
    }

    /// A message leaves.
    pub fn told(&mut self, now_ms: u64, message: &Outgoing) {
        self.looks += 1;
        let instruction = match message {
            Outgoing::RideReply { reply, .. } => reply.instruction,
            Outgoing::RideState(view) => {
                let before = self.told.replace(view.instruction);
                (before != self.told).then_some(view.instruction)
            }
            _ => None,
        };
        // Laws 2 and 6: nobody is sent over a threshold on what may have changed meanwhile.
        let sends = matches!(instruction, Some(Instruction::Enter | Instruction::Exit));
        if sends && !self.is_fresh(now_ms) {
            let read = self.asked_ms;
            self.note(format!(
                "{now_ms}: {instruction:?} on a reading of {read:?}"
            ));
        }
    }

    /// A command leaves.
    pub fn commanded(&mut self, now_ms: u64, core: &Core, command: &Command) {
        self.looks += 1;
        let word = command.action.word();
        let is_free = matches!(command.action, Action::Query | Action::Release);
        // Law 7.
        if !self.serves && !is_free {
            self.note(format!("{now_ms}: {word} in another mode"));
        }
        // Law 3.
        if command.fence < self.fence && command.action != Action::Query {
            let (fence, highest) = (command.fence, self.fence);
            self.note(format!(
                "{now_ms}: {word} with fence {fence} after {highest}"
            ));
        }
        self.fence = self.fence.max(command.fence);
        // Law 9.
        let state = core.state().rides.get(&order()).map(|ride| ride.state);
        let confirmed = !matches!(
            state,
            Some(RideState::ElevatorArrived | RideState::TargetArrived | RideState::Hold)
        );
        if matches!(command.action, Action::CloseDoor { .. }) && !confirmed {
            self.note(format!("{now_ms}: {word} in {state:?}"));
        }
    }

    fn is_fresh(&self, now_ms: u64) -> bool {
        self.asked_ms
            .is_some_and(|asked_ms| now_ms - asked_ms <= self.fresh_ms)
    }

    fn note(&mut self, sentence: String) {
        self.broken.push(sentence);
    }
}
