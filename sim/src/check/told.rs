//! Ride states and elevator states as they are published: each change is one of the table, and
//! founded on what was read.

use dispatch::Input;
use protocol::elevator::{ElevatorView, Health};
use protocol::ops::{Alarm, Severity};
use protocol::ride::{Instruction, RideState, RideView};
use protocol::{ElevatorId, Landing, OrderId, RobotMessage};

use super::law::{Found, Law};
use super::model::{Before, Content, Model, Ride, Until, signed};
use super::seen::Step;

impl Model {
    /// A ride state that a step wants published.
    pub(super) fn told(&mut self, step: &Step<'_>, view: &RideView, found: &mut Found) {
        let order = &view.order_id;
        if !self.rides.contains_key(order) && !self.admit(step, view) {
            found.add(Law::I5, format!("{order} is told and was never asked for"));
            return;
        }
        let Some(ride) = self.rides.get(order) else {
            return;
        };
        found.check(ride.robot == view.robot_id, Law::I17, || {
            format!("{order} of {} is told to {}", ride.robot, view.robot_id)
        });
        let shown = (view.state, view.instruction, view.fence, &view.elevator_id);
        let known = (ride.state, ride.instruction, ride.fence, &ride.elevator);
        if ride.loose {
            self.adopt(view);
            return;
        }
        if view.seq == ride.seq {
            let raised = self.may_raise(step);
            found.check(shown == known || raised, Law::Ride, || {
                format!("{order}: {shown:?} with seq {} was {known:?}", view.seq)
            });
            if raised && shown != known {
                self.adopt(view);
            }
            return;
        }
        found.check(view.seq == ride.seq + 1, Law::Ride, || {
            format!("{order}: seq {} after {}", view.seq, ride.seq)
        });
        found.check(fits(view.state, view.instruction), Law::Ride, || {
            format!("{order} is {} with {}", view.state, view.instruction)
        });
        let before = ride.clone();
        self.remember_ride(order);
        if before.state != view.state {
            self.transition(step, &before, view, found);
        }
        let newly = before.instruction != view.instruction || before.state != view.state;
        if newly && matches!(view.instruction, Instruction::Enter | Instruction::Exit) {
            self.permission(&before, view, found);
        }
        self.take(step, &before, view);
    }

    /// Data of a backup, or fences that others have seen: fences rise between grants.
    fn may_raise(&self, step: &Step<'_>) -> bool {
        matches!(
            step.input,
            Input::Start { restored: true } | Input::OwnElevator { .. }
        )
    }

    /// The first word about an order: it was asked for in this step, by its robot.
    fn admit(&mut self, step: &Step<'_>, view: &RideView) -> bool {
        let Input::Robot {
            robot,
            message: RobotMessage::Request(request),
        } = step.input
        else {
            return false;
        };
        let lands = |place| self.landing(place);
        let (Some(from), Some(to)) = (lands(&request.from), lands(&request.to)) else {
            return false;
        };
        let fits = request.order_id == view.order_id && !request.dry_run && *robot == view.robot_id;
        if !fits || from != view.from || to != view.to {
            return false;
        }
        let order = &view.order_id;
        let in_car = self.robots.get(robot).is_some_and(|known| known.in_car);
        let ride = Ride {
            robot: robot.clone(),
            content: Content::of(request),
            from,
            to,
            expires_at: request.expires_at,
            state: RideState::Queued,
            held_from: None,
            reason: None,
            instruction: Instruction::Wait,
            seq: 0,
            elevator: None,
            fence: None,
            since_ms: self.now_ms,
            since_clock: self.clock(),
            born_ms: signed(self.now_ms),
            accepted_at: self.wall,
            inside: false,
            permitted_ms: 0,
            word: None,
            shut_seen: false,
            opened: false,
            in_car,
            away: request.at_door == Some(false) || request.eta_s.is_some_and(|eta| eta > 0),
            ended_at: None,
            loose: false,
        };
        let known = self.robots.entry(robot.clone()).or_default();
        let last = known.order.replace(order.clone());
        self.remember(Before::Robot(robot.clone(), last));
        self.remember(Before::Ride(order.clone(), None));
        self.rides.insert(order.clone(), ride);
        true
    }

    /// Takes a ride as it is told.
    fn adopt(&mut self, view: &RideView) {
        let (now_ms, clock) = (self.now_ms, self.clock());
        if let Some(ride) = self.rides.get_mut(&view.order_id) {
            ride.loose = false;
            ride.state = view.state;
            ride.held_from = view.held_from;
            ride.instruction = view.instruction;
            ride.reason = view.reason.as_ref().map(|reason| reason.code);
            ride.seq = view.seq;
            ride.elevator.clone_from(&view.elevator_id);
            ride.fence = view.fence;
            ride.since_ms = now_ms;
            ride.since_clock = clock;
        }
        self.is_queued(&view.order_id, view.state == RideState::Queued);
        self.own(view);
    }

    /// Whose the elevator of a ride is that was told whole.
    fn own(&mut self, view: &RideView) {
        let owns = !view.state.is_terminal() && view.state != RideState::Queued;
        if let (true, Some(elevator)) = (owns, &view.elevator_id)
            && let Some(car) = self.cars.get_mut(elevator)
        {
            car.kept.owner = Some(view.order_id.clone());
            car.kept.until = None;
            car.kept.fence = car.kept.fence.max(view.fence.unwrap_or_default());
        }
    }

    /// Makes the change part of the model.
    fn take(&mut self, step: &Step<'_>, before: &Ride, view: &RideView) {
        let order = &view.order_id;
        let (now_ms, clock, wall) = (self.now_ms, self.clock(), self.wall);
        let until = (before.state != view.state).then(|| afterwards(step, before, view));
        let Some(ride) = self.rides.get_mut(order) else {
            return;
        };
        ride.seq = view.seq;
        ride.state = view.state;
        ride.held_from = view.held_from;
        ride.instruction = view.instruction;
        ride.reason = view.reason.as_ref().map(|reason| reason.code);
        ride.elevator.clone_from(&view.elevator_id);
        ride.fence = view.fence;
        if before.state != view.state {
            ride.since_ms = now_ms;
            ride.since_clock = clock;
            // A word that leads to HOLD may lead out of it in the same step.
            let held = view.state == RideState::Hold;
            ride.word = ride.word.filter(|(_, at_ms)| held && *at_ms == now_ms);
            let goes_on = matches!(
                before.state,
                RideState::Running | RideState::TargetArrived | RideState::Hold
            );
            ride.opened = (ride.opened && goes_on) || view.state == RideState::TargetArrived;
        }
        if view.instruction == Instruction::Enter || view.state == RideState::Hold {
            ride.inside = true;
        }
        if matches!(view.instruction, Instruction::Enter | Instruction::Exit) {
            ride.permitted_ms = now_ms;
        }
        if view.state == RideState::RobotEntered {
            ride.inside = true;
        }
        if view.state == RideState::Queued {
            ride.inside = false;
            ride.shut_seen = false;
        }
        if view.state.is_terminal() {
            ride.inside = false;
            ride.ended_at = Some(wall);
        }
        self.is_queued(order, view.state == RideState::Queued);
        if view.state == RideState::Granted && before.state == RideState::Queued {
            self.granted(view);
        } else if let (Some(until), Some(elevator)) = (until.flatten(), &before.elevator) {
            self.keep_back(elevator, until);
        }
    }

    fn granted(&mut self, view: &RideView) {
        let (Some(elevator), Some(fence)) = (&view.elevator_id, view.fence) else {
            return;
        };
        self.remember_car(elevator);
        if let Some(car) = self.cars.get_mut(elevator) {
            car.kept.owner = Some(view.order_id.clone());
            car.kept.until = None;
            car.kept.fence = car.kept.fence.max(fence);
            car.came = false;
            car.held = None;
            car.known.clear();
        }
    }

    fn keep_back(&mut self, elevator: &ElevatorId, until: Until) {
        self.remember_car(elevator);
        let now_ms = self.now_ms;
        if let Some(car) = self.cars.get_mut(elevator) {
            car.kept_ms = now_ms;
            if until == Until::Free {
                car.kept.owner = None;
                car.kept.until = None;
            } else {
                car.kept.until = Some(until);
            }
        }
    }

    /// An elevator state that a step wants published: whose it is, and its fence.
    pub(super) fn shown(&mut self, step: &Step<'_>, view: &ElevatorView, found: &mut Found) {
        let elevator = &view.elevator_id;
        let Some(car) = self.cars.get(elevator) else {
            found.add(Law::I16, format!("{elevator} is shown and not configured"));
            return;
        };
        found.check(view.fence >= car.kept.fence, Law::I2, || {
            format!("{elevator}: fence {} after {}", view.fence, car.kept.fence)
        });
        if view.owner.is_none() && car.kept.owner.is_some() {
            self.freed(step, elevator, found);
        }
        let car = self.cars.get(elevator);
        let owner = car.and_then(|car| car.kept.owner.as_ref());
        let robot = owner
            .and_then(|order| self.rides.get(order))
            .map(|it| &it.robot);
        let shown = view.owner.as_ref().map(|owner| &owner.robot_id);
        let loose = owner
            .and_then(|order| self.rides.get(order))
            .is_some_and(|it| it.loose);
        found.check(robot == shown || loose, Law::I1, || {
            format!("{elevator} is shown as {shown:?}'s and is {robot:?}'s")
        });
        if view.fence > car.map_or(view.fence, |car| car.kept.fence) {
            self.remember_car(elevator);
        }
        if let Some(car) = self.cars.get_mut(elevator) {
            car.kept.fence = car.kept.fence.max(view.fence);
            car.health = Some(view.health);
        }
    }

    /// An elevator has no owner any more: what had to be seen was seen.
    pub(super) fn freed(&mut self, step: &Step<'_>, elevator: &ElevatorId, found: &mut Found) {
        let reset = operator_acted(step, elevator);
        if let Err(why) = self.may_be_free(elevator)
            && !reset
        {
            found.add(Law::I1, format!("{elevator} is free though {why}"));
        }
        self.keep_back(elevator, Until::Free);
    }

    /// Critical alarms of rides.
    pub(super) fn alarm(&mut self, alarm: &Alarm) {
        let Some(order) = &alarm.order_id else {
            return;
        };
        if alarm.cleared_at.is_some() {
            self.alarmed.remove(order);
        } else if alarm.severity == Severity::Critical {
            self.alarmed.insert(order.clone());
        }
    }

    /// Nothing that bars a grant was said of the elevator.
    pub(super) fn is_healthy(&self, elevator: &ElevatorId) -> bool {
        let health = self.cars.get(elevator).and_then(|car| car.health);
        !matches!(health, Some(Health::Unknown | Health::Maintenance))
    }
}

/// An operator did something to the elevator in this step.
pub(super) fn operator_acted(step: &Step<'_>, elevator: &ElevatorId) -> bool {
    use dispatch::OperatorAction::{ElevatorReset, ElevatorResolve};
    let Input::Operator(request) = step.input else {
        return false;
    };
    matches!(
        &request.action,
        ElevatorReset { elevator: it, .. } | ElevatorResolve { elevator: it, .. } if it == elevator
    )
}

/// What becomes of the elevator when a ride leaves it; `None` = it stays with the ride.
fn afterwards(_step: &Step<'_>, before: &Ride, view: &RideView) -> Option<Until> {
    let leaves = view.state.is_terminal() || view.state == RideState::Queued;
    if !leaves {
        return None;
    }
    let cleared = || Until::CallCleared(before.from.clone());
    let code = view.reason.as_ref().map(|reason| reason.code);
    Some(match before.state {
        RideState::Granted if code == Some(protocol::ReasonCode::FireMode) => Until::ModeNormal,
        RideState::WaitingHallCall => cleared(),
        RideState::ElevatorArrived
            if before.inside && code == Some(protocol::ReasonCode::BoardingTimeout) =>
        {
            Until::Free
        }
        RideState::TargetArrived | RideState::Hold if view.state == RideState::RobotExited => {
            Until::ShutOrEmpty
        }
        RideState::ElevatorArrived
        | RideState::Hold
        | RideState::RobotEntered
        | RideState::Running
        | RideState::TargetArrived => Until::Shut,
        RideState::Queued
        | RideState::Granted
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => Until::Free,
    })
}

/// The instruction is one that `wire.md` section 4 lists for the state.
fn fits(state: RideState, word: Instruction) -> bool {
    use Instruction::{Approach, Clear, Enter, Exit, Ride, Stay, Wait};
    match state {
        RideState::Queued => word == Wait,
        RideState::Granted | RideState::WaitingHallCall => word == Approach,
        RideState::ElevatorArrived => matches!(word, Enter | Approach | Stay),
        RideState::RobotEntered | RideState::Running => word == Ride,
        RideState::TargetArrived | RideState::Hold => matches!(word, Exit | Stay),
        RideState::RobotExited | RideState::Cancelled | RideState::Expired | RideState::Failed => {
            word == Clear
        }
    }
}

/// The landing that a permission is about.
pub(super) fn permitted_landing(view: &RideView) -> Option<Landing> {
    let (floor, side) = view.floor.clone().zip(view.side)?;
    Some(Landing { floor, side })
}

/// The orders of a set, for a text.
pub(super) fn listed<'a>(orders: impl Iterator<Item = &'a OrderId>) -> String {
    orders.map(OrderId::as_str).collect::<Vec<_>>().join(", ")
}
