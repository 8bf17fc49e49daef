//! What a step wants done. Nothing of it may be seen before the step's facts are durable.

use protocol::Outgoing;
use protocol::elevator::ElevatorView;
use protocol::hardware::Command;
use protocol::ride::RideView;
use serde::Serialize;

use crate::fact::Fact;
use crate::series::SeriesView;
use crate::turn::TurnView;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Publish a message.
    Say(Outgoing),
    /// Send a command, through the fence gate.
    Command(Command),
    /// Answer an operator.
    Answer {
        /// The ticket of the request.
        ticket: u64,
        /// The answer; an error says what is missing.
        answer: Result<OperatorAnswer, String>,
    },
}

/// An answer to an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorAnswer {
    /// Done; one sentence.
    Done(String),
    /// Elevators.
    Elevators(Vec<ElevatorView>),
    /// Orders.
    Orders(Vec<RideView>),
    /// Series.
    Series(Vec<SeriesView>),
    /// Departments.
    Turns(Vec<TurnView>),
}

/// What one step yields: facts to keep, then effects to release once they are durable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effects {
    /// To be appended, all or none.
    pub facts: Vec<Fact>,
    /// To be done afterwards, in this order.
    pub effects: Vec<Effect>,
}

impl Effects {
    /// Forgets all, for the next step.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.effects.clear();
    }
}
