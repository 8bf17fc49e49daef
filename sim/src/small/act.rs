//! What can happen in the small world.

use protocol::hardware::{Door, Motion};

use super::play::{Small, WIRE_MAX};

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A robot says what it has to say next.
    Speak(usize),
    /// A robot's message is delivered; `again` = and will be once more.
    Deliver {
        /// Which of those under way.
        place: usize,
        /// Doubled.
        again: bool,
    },
    /// A robot's message is lost.
    Lose(usize),
    /// A word of the controller is delivered.
    Report(usize),
    /// A word of the controller is lost.
    Unheard(usize),
    /// The car goes where it is called, and opens there.
    Move,
    /// The door shuts by itself: nobody holds it.
    Shut,
    /// A robot crosses the threshold that it may cross.
    Cross(usize),
    /// The core's next deadline.
    Wait,
    /// The gateway is killed and starts again.
    Crash,
}

impl Small {
    /// Everything that can happen at this moment.
    #[must_use]
    pub fn acts(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for place in 0..self.robots.len() {
            let speaks = self.wire.iter().all(|(robot, _)| *robot != place);
            if speaks && self.wire.len() < WIRE_MAX && self.next_word(place).is_some() {
                acts.push(Act::Speak(place));
            }
            if self.may_cross(place) {
                acts.push(Act::Cross(place));
            }
        }
        for place in 0..self.wire.len() {
            acts.push(Act::Deliver {
                place,
                again: false,
            });
            if self.doubles_left > 0 {
                acts.push(Act::Deliver { place, again: true });
            }
            if self.losses_left > 0 {
                acts.push(Act::Lose(place));
            }
        }
        for place in 0..self.reports.len() {
            acts.push(Act::Report(place));
            if self.losses_left > 0 {
                acts.push(Act::Unheard(place));
            }
        }
        if self.car.front == Door::Closed && self.called().is_some() {
            acts.push(Act::Move);
        }
        let held = self.held_until_ms > self.now_ms;
        if self.car.front == Door::Open && self.car.motion == Motion::Stopped && !held {
            acts.push(Act::Shut);
        }
        if self.reports.is_empty() {
            // While a word is under way time stands still: it is fast, or lost.
            acts.push(Act::Wait);
        }
        if self.crashes_left > 0 {
            acts.push(Act::Crash);
        }
        acts
    }

    /// The next act where nothing goes wrong.
    #[must_use]
    pub(super) fn plainest(&self) -> Act {
        let rank = |act: &Act| match act {
            Act::Report(0) => 0,
            Act::Deliver { again: false, .. } => 1,
            Act::Cross(_) => 2,
            Act::Speak(_) => 3,
            Act::Move => 4,
            Act::Wait => 5,
            Act::Report(_)
            | Act::Deliver { again: true, .. }
            | Act::Lose(_)
            | Act::Unheard(_)
            | Act::Shut
            | Act::Crash => 6,
        };
        self.acts()
            .into_iter()
            .min_by_key(rank)
            .unwrap_or(Act::Wait)
    }

    /// Does one of them.
    pub fn act(&mut self, act: Act) {
        match act {
            Act::Speak(robot) => {
                if let Some(message) = self.say(robot) {
                    self.wire.push((robot, message));
                }
            }
            Act::Deliver { place, again } => {
                let (robot, message) = if again {
                    self.doubles_left -= 1;
                    self.wire[place].clone()
                } else {
                    self.wire.remove(place)
                };
                self.hears(robot, message);
            }
            Act::Lose(place) => {
                self.losses_left -= 1;
                let (robot, _) = self.wire.remove(place);
                self.robots[robot].asked_ms = None;
            }
            Act::Report(place) => {
                let report = self.reports.remove(place);
                self.reported(report);
            }
            Act::Unheard(place) => {
                self.losses_left -= 1;
                self.reports.remove(place);
            }
            Act::Move => self.moves(),
            Act::Shut => self.car.front = Door::Closed,
            Act::Cross(robot) => self.cross(robot),
            Act::Wait => self.wait(),
            Act::Crash => {
                self.crashes_left -= 1;
                self.crash();
            }
        }
    }
}
