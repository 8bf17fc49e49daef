//! What must never happen in a world, and what must: a small reference model written from
//! `wire.md` and `ride.md`, fed with what is [`Seen`].
//!
//! It takes nothing of `dispatch` but inputs, effects and the configuration, and each thing is
//! judged when it is seen, at the cost of what it changes. Two laws look at all that is known and
//! are therefore sampled: that a restart gives back what the process had in mind (at each restart
//! that lost nothing), and the core's own laws (once in so many steps).
//!
//! # Layout
//!
//! * [`Seen`]: what there is to see. [`Law`], [`Violation`]: what must hold, and what broke it.
//! * `model`: who is in which ride, whose each car is, what was read. `hear`: what it learns from
//!   what the core is given.
//! * `reply`, `request`: the answers. `told`, `evidence`, `founded`: the states, and what each is founded on.
//!   `command`: what controllers are told. `edge`: what is visible when. `ends`: liveness.

mod command;
mod edge;
mod ends;
mod evidence;
mod founded;
mod hear;
mod law;
mod model;
mod operator;
mod read;
mod reply;
mod request;
mod seen;
mod told;
mod trace;

use dispatch::{Effect, Input, SiteConfig};
use protocol::limits::{DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX};
use protocol::ride::{Instruction, ReplyResult, RideReply};
use protocol::robot::RobotEvent;
use protocol::{Landing, Outgoing, RobotMessage};

use self::edge::Edge;
use self::law::Found;
pub use self::law::{Law, Violation};
use self::model::Model;
pub use self::seen::{Seen, Step};
pub use self::trace::Trace;
use crate::record::{Entry, Record};

/// A gateway that steps no more often than this stands still: each elevator is polled more often.
const STALL_MS: u64 = 2_500;

/// Judges a world.
#[derive(Debug, Clone)]
pub struct Checker {
    record: Record,
    trace: Trace,
    model: Model,
    edge: Edge,
    found: Found,
}

impl Checker {
    /// A checker of a site that has seen nothing.
    #[must_use]
    pub fn new(site: &SiteConfig) -> Self {
        Self {
            record: Record::new(),
            trace: Trace::default(),
            model: Model::new(site),
            edge: Edge::default(),
            found: Found::default(),
        }
    }

    /// Keeps only so many entries of the record for reading.
    #[must_use]
    pub fn keeping(mut self, entries: usize) -> Self {
        self.record = self.record.keeping(entries);
        self
    }

    /// Judges what happened at `now_ms` of the world; times never go back.
    pub fn saw(&mut self, now_ms: u64, seen: Seen<'_>) {
        self.trace.saw(now_ms, &seen);
        self.found.now_ms = now_ms;
        let found = &mut self.found;
        match seen {
            Seen::Stepped(step) => self.stepped(&step),
            Seen::Delivered { epoch, packet, .. } => self.edge.delivered(epoch, packet),
            Seen::Acknowledged { epoch, packet } => self.edge.acknowledged(epoch, packet, found),
            Seen::Released { waits_for } => self.edge.released(waits_for, found),
            Seen::Synced { seq } => {
                self.edge.synced(seq);
                self.model.synced(seq);
            }
            Seen::Started { last, same } => self.edge.started(last, same, found),
            Seen::Crashed { survived } => self.model.crashed(survived),
            Seen::Ended {
                detail,
                disk_failed,
            } => Edge::ended(detail, disk_failed, found),
            Seen::Sent { command } => self.model.left(command, found),
            Seen::Audited { broken } => {
                for law in broken {
                    found.add(Law::Core, law.clone());
                }
            }
            Seen::Said { payload, topic, .. } => {
                found.check(payload.len() <= MESSAGE_BYTES_MAX, Law::I16, || {
                    format!("{} bytes on {topic}", payload.len())
                });
                self.note(now_ms, seen);
            }
            Seen::Asked { .. } | Seen::Received { .. } | Seen::Car { .. } => {
                self.note(now_ms, seen);
            }
            Seen::Crosses {
                robot,
                elevator,
                inwards: true,
                ..
            } => {
                let owner = self.model.owner_robot(elevator);
                found.check(owner == Some(robot), Law::I9, || {
                    format!("{robot} boards {elevator}, which is {owner:?}'s")
                });
            }
            Seen::Crosses { .. }
            | Seen::Published { .. }
            | Seen::Dropped { .. }
            | Seen::ClockJumped { .. } => {}
        }
    }

    /// Judges a world in which for `calm_ms` no fault happened and nobody asked for anything: the
    /// liveness laws.
    pub fn settled(&mut self, now_ms: u64, calm_ms: u64) {
        self.found.now_ms = now_ms;
        self.model.settled(calm_ms, &mut self.found);
    }

    /// What cars, controllers and robots saw, judged by itself.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What should not have happened, beside what [`Record::judge`] says.
    #[must_use]
    pub fn violations(&self) -> &[(u64, Violation)] {
        &self.found.list
    }

    /// The run as one number, and what was counted.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Orders that are neither at their end nor in HOLD.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.model.under_way()
    }

    fn stepped(&mut self, step: &Step<'_>) {
        self.edge.stepped(step.ticket, step.appended);
        let (model, found) = (&mut self.model, &mut self.found);
        if step.mono_ms > model.now_ms + STALL_MS {
            model.stalled_ms = step.mono_ms;
        }
        model.now_ms = step.mono_ms;
        model.wall = step.wall;
        model.appended = step.appended;
        let answer = if let Input::Robot { robot, message } = step.input {
            model.answer_to(robot, message)
        } else {
            None
        };
        model.hear(step.input, step.effects);
        let mut replies = 0;
        for effect in step.effects {
            match effect {
                Effect::Say(Outgoing::RideReply { robot, reply }) => {
                    replies += 1;
                    bounded(reply, found);
                    model.replied(robot, reply, found);
                    model.repeats_permission(step, reply, found);
                    let said = Some((reply.result, reply.code));
                    let law = reply::law_of(answer);
                    found.check(answer.is_none() || answer == said, law, || {
                        format!(
                            "{robot}: {:?} is answered {said:?}, not {answer:?}",
                            step.input
                        )
                    });
                }
                Effect::Say(Outgoing::RideState(view)) => model.told(step, view, found),
                Effect::Say(Outgoing::ElevatorState(view)) => model.shown(step, view, found),
                Effect::Say(Outgoing::Alarm(alarm)) => model.alarm(alarm),
                Effect::Command(command) => model.commanded(step, command, found),
                Effect::Say(_) | Effect::Device(_) | Effect::Note(_) | Effect::Answer { .. } => {}
            }
        }
        found.check(answer.is_none() || replies == 1, Law::I11, || {
            format!("{:?} has {replies} answers", step.input)
        });
        if let Input::Report { elevator, .. } = step.input {
            model.is_held(elevator, found);
        }
    }

    /// Keeps the record of what truly happened.
    fn note(&mut self, now_ms: u64, seen: Seen<'_>) {
        match seen {
            Seen::Asked {
                robot,
                order,
                from,
                to,
            } => {
                self.record.asked(now_ms, robot, order, (from, to));
                self.record.keep(now_ms, || Entry::Asked {
                    robot: robot.clone(),
                    order: order.clone(),
                    from: from.clone(),
                    to: to.clone(),
                });
            }
            Seen::Received { command } => {
                self.record.command(now_ms, command);
                self.record.keep(now_ms, || Entry::Command(command.clone()));
            }
            Seen::Car { elevator, event } => {
                self.record.car(now_ms, elevator, event);
                self.record.keep(now_ms, || Entry::Car {
                    elevator: elevator.clone(),
                    event: event.clone(),
                });
            }
            Seen::Said {
                message: Outgoing::RideState(view),
                ..
            } => {
                let grant = view.elevator_id.as_ref().zip(view.fence);
                let (robot, order) = (&view.robot_id, &view.order_id);
                self.record.told(now_ms, robot, order, view.state, grant);
                self.record.keep(now_ms, || Entry::Told {
                    robot: robot.clone(),
                    order: order.clone(),
                    state: view.state,
                    instruction: view.instruction,
                    elevator: view.elevator_id.clone(),
                    fence: view.fence,
                });
            }
            Seen::Said { .. }
            | Seen::Published { .. }
            | Seen::Delivered { .. }
            | Seen::Acknowledged { .. }
            | Seen::Stepped(_)
            | Seen::Released { .. }
            | Seen::Synced { .. }
            | Seen::Sent { .. }
            | Seen::Dropped { .. }
            | Seen::Crosses { .. }
            | Seen::Started { .. }
            | Seen::Crashed { .. }
            | Seen::Ended { .. }
            | Seen::ClockJumped { .. }
            | Seen::Audited { .. } => {}
        }
    }
}

impl Model {
    /// The answer to a `query` is the fresh permission, and what a robot crosses by.
    fn repeats_permission(&mut self, step: &Step<'_>, reply: &RideReply, found: &mut Found) {
        let Input::Robot {
            message: RobotMessage::Event(event),
            ..
        } = step.input
        else {
            return;
        };
        let leaves = matches!(
            event.event,
            RobotEvent::Exited | RobotEvent::CancelEnter { .. }
        );
        if leaves && reply.result == ReplyResult::Accepted {
            self.is_out(&event.order_id);
        }
        let permits = matches!(
            reply.instruction,
            Some(Instruction::Enter | Instruction::Exit)
        );
        if !permits || reply.result == ReplyResult::Rejected {
            return;
        }
        let order = &event.order_id;
        let landing = reply.floor.clone().zip(reply.side);
        if let (RobotEvent::Query, Some(elevator), Some((floor, side))) =
            (&event.event, &reply.elevator_id, landing)
        {
            let landing = Landing { floor, side };
            let held = self.serves(elevator);
            let exits = reply.instruction == Some(Instruction::Exit);
            let may = self.may_cross(elevator, &landing, held) && (held || exits);
            found.check(may, Law::I9, || {
                format!("{order} asked and may cross {elevator} at {landing}")
            });
        }
        let now_ms = self.now_ms;
        if let Some(ride) = self.rides.get_mut(order) {
            ride.permitted_ms = now_ms;
        }
    }

    fn owner_robot(&self, elevator: &protocol::ElevatorId) -> Option<&protocol::RobotId> {
        let order = self.cars.get(elevator)?.kept.owner.as_ref()?;
        self.rides.get(order).map(|ride| &ride.robot)
    }

    fn under_way(&self) -> usize {
        let live = self.rides.values().filter(|ride| ride.is_live());
        live.filter(|ride| ride.state != protocol::ride::RideState::Hold)
            .count()
    }
}

fn bounded(reply: &RideReply, found: &mut Found) {
    let long = |text: &String| text.len() > DETAIL_BYTES_MAX;
    found.check(!reply.detail.as_ref().is_some_and(long), Law::I16, || {
        format!("a detail of {:?} is too long", reply.order_id)
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
