//! What an operator may do, and what must have been seen for it (`ride.md` section 4).

use protocol::hardware::{Action, Door, Motion, Reading};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::robot::ConnectionState;
use protocol::{ElevatorId, OrderId, ReasonCode, RobotId};

use crate::effect::{Effect, OperatorAnswer};
use crate::effort::Aim;
use crate::fact::{ElevatorFact, Fact, KeptUntil, SiteFact};
use crate::input::{OperatorAction, OperatorRequest, ResolveOutcome};
use crate::ride::Afterwards;
use crate::state::Ride;
use crate::step::{Shift, Step, reason};

/// How old the reading may be that an operator's action is founded on.
pub(crate) const READ_MS: u64 = 30_000;

pub(crate) type Answer = Result<OperatorAnswer, String>;

impl Step<'_> {
    /// An operator asks for something.
    pub(crate) fn operator(&mut self, request: OperatorRequest) {
        let answer = self.act(&request);
        if answer.is_ok() && !is_a_look(&request.action) {
            self.record(Fact::Site(SiteFact::Operator {
                operator: crate::step::cut(request.operator),
                reason: crate::step::cut(request.reason),
                action: request.action,
                at: self.now.wall,
            }));
        }
        self.out.effects.push(Effect::Answer {
            ticket: request.ticket,
            answer,
        });
    }

    fn act(&mut self, request: &OperatorRequest) -> Answer {
        match &request.action {
            OperatorAction::ElevatorList => {
                let ids = self.config.elevators.keys();
                let views = ids.filter_map(|id| self.elevator_view(id)).collect();
                Ok(OperatorAnswer::Elevators(views))
            }
            OperatorAction::ElevatorShow(id) => self
                .elevator_view(id)
                .map(|view| OperatorAnswer::Elevators(vec![view]))
                .ok_or_else(|| format!("elevator {id} is not known")),
            OperatorAction::OrderList => {
                let live = self
                    .state
                    .rides
                    .values()
                    .filter(|ride| !ride.state.is_terminal());
                Ok(OperatorAnswer::Orders(
                    live.map(|ride| self.view(ride)).collect(),
                ))
            }
            OperatorAction::OrderShow(order) => self
                .ride(order)
                .map(|ride| OperatorAnswer::Orders(vec![self.view(ride)]))
                .ok_or_else(|| self.no_such_order(order)),
            OperatorAction::OrderCancel(order) => self.cancel_order(order, &request.reason),
            OperatorAction::ElevatorResolve {
                elevator,
                order,
                outcome,
                car_seen_empty,
                force,
            } => self.resolve(elevator, order, *outcome, (*car_seen_empty, *force)),
            OperatorAction::ElevatorReset {
                elevator,
                car_seen_empty,
                force,
            } => self.reset(elevator, *car_seen_empty, *force),
            OperatorAction::ElevatorMaintenance { elevator, on } => self.maintain(elevator, *on),
            OperatorAction::SeriesList => Ok(OperatorAnswer::Series(self.series_views())),
            OperatorAction::SeriesShow(id) => self.series_view(id),
            OperatorAction::SeriesResume { series, last } => self.resume_series(series, *last),
            OperatorAction::TurnList => Ok(OperatorAnswer::Turns(self.turn_views())),
            OperatorAction::TurnShow(id) => self.turn_view(id),
            OperatorAction::PoolList => Ok(OperatorAnswer::Pools(self.pool_views())),
            OperatorAction::PoolShow(id) => self.pool_view(id),
            OperatorAction::PoolCapacity { pool, capacity } => self.set_capacity(pool, *capacity),
            OperatorAction::ClaimList => Ok(OperatorAnswer::Claims(self.claim_rows())),
            OperatorAction::ClaimHistory => {
                let past = self.state.claims.past.iter().cloned();
                Ok(OperatorAnswer::Claims(past.collect()))
            }
            OperatorAction::ClaimShow(id) => self.claim_view(id),
            OperatorAction::ClaimStopped { pool, resource } => {
                self.resource_stopped(pool, resource)
            }
            OperatorAction::RentalList => Ok(OperatorAnswer::Rentals(self.rental_rows())),
            OperatorAction::RentalShow(id) => self.rental_row(id),
            OperatorAction::DeviceList => Ok(OperatorAnswer::Devices(self.device_views())),
            OperatorAction::DeviceMaintenance { device, on } => self.maintain_device(device, *on),
            OperatorAction::SiteSuspend { zone } => self.suspend(zone.as_ref()),
            OperatorAction::SiteResume { zone } => self.resume(zone.as_ref()),
        }
    }

    fn resolve(
        &mut self,
        elevator: &ElevatorId,
        order: &OrderId,
        outcome: ResolveOutcome,
        (car_seen_empty, force): (bool, bool),
    ) -> Answer {
        let ride = self.held_ride(elevator, order)?;
        match (force, outcome) {
            (true, ResolveOutcome::RobotOut) => self.force_out(elevator, &ride),
            (true, ResolveOutcome::Continue) => {
                Err("--force goes with --outcome robot-out only".to_owned())
            }
            (false, ResolveOutcome::RobotOut) => self.resolve_out(elevator, &ride, car_seen_empty),
            (false, ResolveOutcome::Continue) => self.resolve_on(elevator, &ride),
        }
    }

    fn no_such_order(&self, order: &OrderId) -> String {
        match self.state.ledger.find(order).and_then(|row| row.ended) {
            Some(ended) => format!("order {order} ended as {} at {}", ended.state, ended.at),
            None => format!("order {order} is not known"),
        }
    }

    fn cancel_order(&mut self, order: &OrderId, why: &str) -> Answer {
        let ride = self
            .ride(order)
            .cloned()
            .ok_or_else(|| self.no_such_order(order))?;
        if self.give_up(&ride, ReasonCode::CancelledByOperator, why) {
            Ok(OperatorAnswer::Done(format!("order {order} is cancelled")))
        } else {
            Err(format!(
                "order {order} is {}: the robot may be inside, or the order is at its end",
                ride.state
            ))
        }
    }

    fn held_ride(&self, elevator: &ElevatorId, order: &OrderId) -> Result<Ride, String> {
        if !self.config.elevators.contains_key(elevator) {
            return Err(format!("elevator {elevator} is not known"));
        }
        let ride = self
            .ride(order)
            .cloned()
            .ok_or_else(|| self.no_such_order(order))?;
        if ride.state != RideState::Hold || ride.elevator.as_ref() != Some(elevator) {
            return Err(format!(
                "order {order} is {}, not in HOLD on {elevator}",
                ride.state
            ));
        }
        Ok(ride)
    }

    /// A reading at most 30 s old of a car that stands and whose doors are known.
    fn sound_reading(&self, elevator: &ElevatorId) -> Result<Reading, String> {
        let since = self.now.mono_ms.saturating_sub(READ_MS);
        let reading = self
            .read(elevator, since)
            .ok_or_else(|| format!("there is no reading of {elevator} in the last 30 s"))?;
        if reading.motion != Motion::Stopped {
            return Err(format!(
                "{elevator} is not read as standing: {}",
                reading.motion
            ));
        }
        if reading.front == Door::Unknown || reading.rear == Some(Door::Unknown) {
            return Err(format!("the doors of {elevator} are not known"));
        }
        Ok(reading.clone())
    }

    fn seen_empty(&self, elevator: &ElevatorId, said_so: bool) -> Result<(), String> {
        let signal = self
            .elevator_config(elevator)
            .is_some_and(|config| config.presence != Presence::None);
        if !signal {
            return if said_so {
                Ok(())
            } else {
                Err("there is no presence signal: look, and say --car-seen-empty".to_owned())
            };
        }
        let since = self.now.mono_ms.saturating_sub(READ_MS);
        match self
            .read(elevator, since)
            .and_then(|reading| reading.occupied)
        {
            Some(false) => Ok(()),
            Some(true) => Err(format!("the presence signal of {elevator} says occupied")),
            None => Err(format!("the presence signal of {elevator} cannot be read")),
        }
    }

    /// A robot that lives and says that it is in the car is believed. A broker that was away when a
    /// robot died shows it ONLINE for ever: one that is not heard for `lease_s` says nothing more.
    fn robot_is_out(&self, robot: &RobotId) -> Result<(), String> {
        let known = self.live.robots.get(robot);
        let online = known.filter(|robot| robot.connection == Some(ConnectionState::Online));
        let Some(known) = online.filter(|_| self.says_in_car(robot)) else {
            return Ok(());
        };
        let lease_ms = self.config.timing.lease_ms;
        let heard_ms = known.heard_ms.max(self.live.thawed_ms);
        let silent_ms = self.now.mono_ms.saturating_sub(heard_ms);
        if self.live.frozen_since_ms.is_none() && silent_ms >= lease_ms {
            return Ok(());
        }
        let (silent_s, lease_s) = (silent_ms / 1_000, lease_ms.div_ceil(1_000));
        Err(format!(
            "{robot} is ONLINE and says that it is in the car; it was not heard for {silent_s} s, \
             and counts as gone after {lease_s} s"
        ))
    }

    fn resolve_out(&mut self, elevator: &ElevatorId, ride: &Ride, seen_empty: bool) -> Answer {
        self.sound_reading(elevator)?;
        self.seen_empty(elevator, seen_empty)?;
        self.robot_is_out(&ride.robot)?;
        let detail = "an operator saw that the robot is out";
        let until = Afterwards::Keep(KeptUntil::Shut);
        self.fail(&ride.order, ReasonCode::OperatorReset, detail, until);
        Ok(OperatorAnswer::Done(format!(
            "order {} is at its end, {elevator} is free once its doors are seen shut",
            ride.order
        )))
    }

    fn resolve_on(&mut self, elevator: &ElevatorId, ride: &Ride) -> Answer {
        let reading = self.sound_reading(elevator)?;
        if !self.mode(elevator).serves_robots() {
            return Err(format!("{elevator} is in mode {}", self.mode(elevator)));
        }
        let timing = &self.config.timing;
        let (travel_ms, exit_ms, entry_ms) = (timing.travel_ms, timing.exit_ms, timing.entry_ms);
        let order = &ride.order;
        let state = if reading.is_shut() {
            let shift = Shift::to(RideState::Running, Instruction::Ride).within(travel_ms);
            self.shift(order, shift);
            let landing = ride.to.clone();
            self.order(elevator, Aim::Call, Action::CarCall { landing });
            RideState::Running
        } else if reading.is_open_at(&ride.to) {
            let shift = Shift::to(RideState::TargetArrived, Instruction::Stay).within(exit_ms);
            self.shift(order, shift);
            RideState::TargetArrived
        } else if reading.is_open_at(&ride.from) {
            let shift = Shift::to(RideState::ElevatorArrived, Instruction::Stay).within(entry_ms);
            self.shift(order, shift);
            RideState::ElevatorArrived
        } else {
            return Err(format!(
                "{elevator} is neither shut nor open at {} or {}",
                ride.from, ride.to
            ));
        };
        self.ask(elevator);
        Ok(OperatorAnswer::Done(format!(
            "order {order} goes on in {state}"
        )))
    }

    fn force_out(&mut self, elevator: &ElevatorId, ride: &Ride) -> Answer {
        let detail = "an operator ended it without a reading";
        let until = Afterwards::Keep(KeptUntil::Shut);
        self.fail(&ride.order, ReasonCode::OperatorReset, detail, until);
        self.out_of_use(elevator, detail);
        Ok(OperatorAnswer::Done(format!(
            "order {} is at its end; {elevator} is in maintenance until a reset with a reading",
            ride.order
        )))
    }

    /// Maintenance that only a reset ends: `maintenance off` leaves the block.
    fn out_of_use(&mut self, elevator: &ElevatorId, why: &str) {
        self.block(elevator, reason(ReasonCode::OperatorReset, why), false);
        let elevator = elevator.clone();
        self.live.touched.insert(elevator.clone());
        self.record(Fact::Elevator(ElevatorFact::Maintenance {
            elevator,
            on: true,
        }));
    }

    fn reset(&mut self, elevator: &ElevatorId, seen_empty: bool, force: bool) -> Answer {
        if !self.config.elevators.contains_key(elevator) {
            return Err(format!("elevator {elevator} is not known"));
        }
        let record = self.state.elevator(elevator);
        if record.block.is_none() && record.kept.is_none() && !record.maintenance {
            return Err(format!("{elevator} is neither blocked nor kept back"));
        }
        if force {
            self.out_of_use(elevator, "an operator reset it without a reading");
            return Ok(OperatorAnswer::Done(format!(
                "{elevator} is in maintenance until a reset with a reading"
            )));
        }
        self.sound_reading(elevator)?;
        self.seen_empty(elevator, seen_empty)?;
        if let Some(owner) = &record.owner {
            self.robot_is_out(&owner.robot)?;
        }
        self.unblock(elevator);
        if record.maintenance {
            let elevator = elevator.clone();
            self.record(Fact::Elevator(ElevatorFact::Maintenance {
                elevator,
                on: false,
            }));
        }
        if record.kept.is_some() {
            self.free(elevator);
        }
        self.live.dispatch_due = true;
        Ok(OperatorAnswer::Done(format!("{elevator} is reset")))
    }

    fn unblock(&mut self, elevator: &ElevatorId) {
        if self.state.elevator(elevator).block.is_some() {
            let elevator = elevator.clone();
            self.record(Fact::Elevator(ElevatorFact::Unblocked { elevator }));
        }
        self.live.touched.insert(elevator.clone());
    }

    fn maintain(&mut self, elevator: &ElevatorId, on: bool) -> Answer {
        if !self.config.elevators.contains_key(elevator) {
            return Err(format!("elevator {elevator} is not known"));
        }
        if !on {
            self.sound_reading(elevator)?;
        }
        if self.state.elevator(elevator).maintenance != on {
            let elevator = elevator.clone();
            self.record(Fact::Elevator(ElevatorFact::Maintenance { elevator, on }));
        }
        self.live.touched.insert(elevator.clone());
        self.live.dispatch_due = true;
        let word = if on { "in maintenance" } else { "back in use" };
        Ok(OperatorAnswer::Done(format!("{elevator} is {word}")))
    }
}

fn is_a_look(action: &OperatorAction) -> bool {
    match action {
        OperatorAction::ElevatorList
        | OperatorAction::ElevatorShow(_)
        | OperatorAction::OrderList
        | OperatorAction::OrderShow(_)
        | OperatorAction::SeriesList
        | OperatorAction::SeriesShow(_)
        | OperatorAction::TurnList
        | OperatorAction::TurnShow(_)
        | OperatorAction::PoolList
        | OperatorAction::PoolShow(_)
        | OperatorAction::ClaimList
        | OperatorAction::ClaimHistory
        | OperatorAction::ClaimShow(_)
        | OperatorAction::RentalList
        | OperatorAction::RentalShow(_)
        | OperatorAction::DeviceList => true,
        OperatorAction::OrderCancel(_)
        | OperatorAction::ElevatorResolve { .. }
        | OperatorAction::ElevatorReset { .. }
        | OperatorAction::ElevatorMaintenance { .. }
        | OperatorAction::SeriesResume { .. }
        | OperatorAction::PoolCapacity { .. }
        | OperatorAction::ClaimStopped { .. }
        | OperatorAction::DeviceMaintenance { .. }
        | OperatorAction::SiteSuspend { .. }
        | OperatorAction::SiteResume { .. } => false,
    }
}
