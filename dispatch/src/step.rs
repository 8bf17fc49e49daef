//! One step at work: what it may look at, and the only ways in which it changes anything.

use protocol::ride::{Instruction, Reason, RideState};
use protocol::{ElevatorId, OrderId, Outgoing, ReasonCode, limits};

use crate::config::{ElevatorConfig, SiteConfig};
use crate::effect::{Effect, Effects, Note};
use crate::effort::{Aim, Stage};
use crate::fact::{ElevatorFact, Fact, KeptUntil, RideFact};
use crate::input::Now;
use crate::live::{Live, Progress};
use crate::reach::Reach;
use crate::state::{Ride, State};
use crate::timer::TimerKey;

/// One step at work.
pub(crate) struct Step<'c> {
    /// The site.
    pub(crate) config: &'c SiteConfig,
    /// Which elevators serve what.
    pub(crate) reach: &'c Reach,
    /// What is known for sure; changed by [`Step::record`] alone.
    pub(crate) state: &'c mut State,
    /// What is known while the process runs.
    pub(crate) live: &'c mut Live,
    /// The moment.
    pub(crate) now: Now,
    /// What the step yields.
    pub(crate) out: &'c mut Effects,
}

/// What robots see next of a ride.
pub(crate) struct Shift {
    /// The state.
    pub(crate) state: RideState,
    /// What the robot shall do.
    pub(crate) instruction: Instruction,
    /// Why.
    pub(crate) reason: Option<Reason>,
    /// The deadline of the state, from here.
    pub(crate) deadline_in_ms: Option<u64>,
}

impl Shift {
    /// A state without reason or deadline.
    pub(crate) fn to(state: RideState, instruction: Instruction) -> Self {
        Self {
            state,
            instruction,
            reason: None,
            deadline_in_ms: None,
        }
    }

    /// With a deadline.
    pub(crate) fn within(mut self, deadline_in_ms: u64) -> Self {
        self.deadline_in_ms = Some(deadline_in_ms);
        self
    }

    /// With a reason.
    pub(crate) fn because(mut self, code: ReasonCode, detail: impl Into<String>) -> Self {
        self.reason = Some(reason(code, detail));
        self
    }
}

/// A reason, its detail cut to what the wire takes.
pub(crate) fn reason(code: ReasonCode, detail: impl Into<String>) -> Reason {
    Reason {
        code,
        detail: cut(detail.into()),
    }
}

/// A text cut at a character to at most [`limits::DETAIL_BYTES_MAX`] bytes.
pub(crate) fn cut(mut text: String) -> String {
    let mut end = limits::DETAIL_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

impl Step<'_> {
    /// Makes a fact: part of the state at once, and of the step's yield.
    pub(crate) fn record(&mut self, fact: Fact) {
        self.state.apply(&fact);
        self.out.facts.push(fact);
    }

    /// Publishes.
    pub(crate) fn say(&mut self, message: Outgoing) {
        self.out.effects.push(Effect::Say(message));
    }

    /// Writes into the log.
    pub(crate) fn note(&mut self, note: Note) {
        self.out.effects.push(Effect::Note(note));
    }

    /// The ride of an order.
    pub(crate) fn ride(&self, order: &OrderId) -> Option<&Ride> {
        self.state.rides.get(order)
    }

    /// The progress of a live ride.
    pub(crate) fn progress(&mut self, order: &OrderId) -> Option<&mut Progress> {
        self.live.rides.get_mut(order)
    }

    /// The configuration of an elevator.
    pub(crate) fn elevator_config(&self, elevator: &ElevatorId) -> Option<&ElevatorConfig> {
        self.config.elevators.get(elevator)
    }

    /// The ride goes to another state: a new sequence number, a new start of all that is counted
    /// in a state, and word to the robot.
    pub(crate) fn shift(&mut self, order: &OrderId, shift: Shift) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let held_from = if shift.state != RideState::Hold {
            None
        } else if ride.state == RideState::Hold {
            ride.held_from
        } else {
            Some(ride.state)
        };
        let now_ms = self.now.mono_ms;
        if shift.state.is_terminal() {
            self.live.rides.remove(order);
            self.live.queued.remove(order);
            self.live.timers.set(TimerKey::Ride(order.clone()), None);
        } else if let Some(old) = self.live.rides.get_mut(order) {
            let kept = std::mem::take(old);
            *old = Progress {
                since_ms: now_ms,
                deadline_ms: shift.deadline_in_ms.map(|span| now_ms.saturating_add(span)),
                heard_ms: kept.heard_ms,
                born_ms: kept.born_ms,
                at_door: kept.at_door,
                at_door_ms: kept.at_door_ms,
                permitted_ms: kept.permitted_ms,
                sent_back: kept.sent_back,
                door_opened: kept.door_opened && is_after_running(ride.state),
                shut_seen: kept.shut_seen && shift.state != RideState::Queued,
                resumed: kept.resumed && shift.state != RideState::Queued,
                shown: kept.shown,
                granted_ms: kept.granted_ms,
                ..Progress::default()
            };
        }
        if shift.state == RideState::Queued {
            self.enqueue(order);
        } else {
            self.live.queued.remove(order);
        }
        self.moved(
            order,
            shift.state,
            held_from,
            shift.instruction,
            shift.reason,
        );
    }

    /// The ride stays in its state with another instruction.
    pub(crate) fn instruct(&mut self, order: &OrderId, instruction: Instruction) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        if ride.instruction != instruction {
            let (state, held_from, reason) = (ride.state, ride.held_from, ride.reason.clone());
            self.moved(order, state, held_from, instruction, reason);
        }
    }

    /// The ride stays in its state with a deadline that lies `span_ms` from here.
    pub(crate) fn extend(&mut self, order: &OrderId, span_ms: u64) {
        let deadline = self.now.mono_ms.saturating_add(span_ms);
        let Some(progress) = self.live.rides.get_mut(order) else {
            return;
        };
        progress.deadline_ms = Some(deadline);
        self.repeat(order);
    }

    /// The ride stays as it is, said again with a new sequence number.
    pub(crate) fn repeat(&mut self, order: &OrderId) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let (state, held_from) = (ride.state, ride.held_from);
        let (instruction, reason) = (ride.instruction, ride.reason.clone());
        self.moved(order, state, held_from, instruction, reason);
    }

    /// The reason of a ride changes in its state.
    pub(crate) fn explain(&mut self, order: &OrderId, instruction: Instruction, why: Reason) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let (state, held_from) = (ride.state, ride.held_from);
        self.moved(order, state, held_from, instruction, Some(why));
    }

    fn moved(
        &mut self,
        order: &OrderId,
        state: RideState,
        held_from: Option<RideState>,
        instruction: Instruction,
        reason: Option<Reason>,
    ) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        let seq = mutate!(SeqStands, ride.seq.saturating_add(1), ride.seq.max(1));
        if matches!(instruction, Instruction::Enter | Instruction::Exit)
            && let Some(progress) = self.live.rides.get_mut(order)
        {
            progress.permitted_ms = self.now.mono_ms;
        }
        if let Some(elevator) = &ride.elevator {
            self.live.touched.insert(elevator.clone());
        }
        self.record(Fact::Ride(RideFact::Moved {
            order: order.clone(),
            seq,
            state,
            held_from,
            instruction,
            reason,
            at: self.now.wall,
        }));
        self.show(order);
    }

    /// The elevator has no owner any more. A claim or a hold of ours ends first.
    pub(crate) fn free(&mut self, elevator: &ElevatorId) {
        let claimed = self
            .elevator_config(elevator)
            .is_some_and(|config| config.claim);
        self.record(Fact::Elevator(ElevatorFact::Freed {
            elevator: elevator.clone(),
        }));
        if let Some(car) = self.live.cars.get_mut(elevator) {
            // One that a change of mode ordered still goes out.
            let ordered = car.efforts.stage(Aim::Release) == Some(&Stage::Waiting);
            let release = ordered || (claimed && car.release_due);
            car.efforts.clear();
            car.hold_until_ms = 0;
            car.hold_next_ms = 0;
            car.kept = crate::live::Kept::default();
            if release {
                car.efforts
                    .begin(Aim::Release, protocol::hardware::Action::Release);
            }
            car.release_due = false;
        }
        self.live.touched.insert(elevator.clone());
        self.live.dispatch_due = true;
    }

    /// The elevator stays with its owner until something is seen.
    pub(crate) fn keep_back(&mut self, elevator: &ElevatorId, until: KeptUntil) {
        self.record(Fact::Elevator(ElevatorFact::KeptBack {
            elevator: elevator.clone(),
            until,
        }));
        let span_ms = self.kept_span_ms(elevator);
        let now_ms = self.now.mono_ms;
        if let Some(car) = self.live.cars.get_mut(elevator) {
            let came = car.kept.came;
            car.kept = crate::live::Kept {
                since_ms: now_ms,
                deadline_ms: Some(now_ms.saturating_add(span_ms)),
                closes: 0,
                came,
            };
            car.hold_next_ms = u64::MAX;
            // Nothing that the order wanted may still go out.
            for aim in [Aim::Claim, Aim::Call, Aim::Hold, Aim::Open, Aim::Close] {
                car.efforts.drop_aim(aim);
            }
        }
        self.live.touched.insert(elevator.clone());
    }

    /// An operator must look at the elevator.
    pub(crate) fn block(&mut self, elevator: &ElevatorId, why: Reason, occupant: bool) {
        let known = self
            .state
            .elevators
            .get(elevator)
            .and_then(|record| record.block.as_ref());
        if known.is_some_and(|block| block.occupant || !occupant) {
            return;
        }
        self.record(Fact::Elevator(ElevatorFact::Blocked {
            elevator: elevator.clone(),
            reason: why,
            occupant,
            at: self.now.wall,
        }));
        self.live.touched.insert(elevator.clone());
    }
}

/// The door that was seen open since RUNNING began stays seen in what follows it.
fn is_after_running(state: RideState) -> bool {
    match state {
        RideState::Running | RideState::TargetArrived | RideState::Hold => true,
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::ElevatorArrived
        | RideState::RobotEntered
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => false,
    }
}
