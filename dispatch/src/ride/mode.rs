//! Fire, maintenance and suspension: what a ride does when its elevator stops serving robots.

use protocol::hardware::{Action, Mode};
use protocol::ride::RideState;
use protocol::{ElevatorId, ReasonCode, ZoneId};

use super::Afterwards;
use crate::effort::Aim;
use crate::fact::{Fact, KeptUntil, SiteFact};
use crate::state::Ride;
use crate::step::{Step, reason};

impl Step<'_> {
    /// The zone's fire input was read, or could not be.
    pub(crate) fn zone_fire(&mut self, zone: &ZoneId, clear: bool) {
        if !self
            .config
            .zones
            .get(zone)
            .is_some_and(|config| config.fire_input)
        {
            return;
        }
        let before = self.live.fire_clear.insert(zone.clone(), clear);
        if !clear {
            self.latch_fire(zone);
        }
        if before != Some(clear) {
            self.touch_zone(zone);
        }
    }

    /// A fire stands until `site resume`.
    fn latch_fire(&mut self, zone: &ZoneId) {
        if self
            .state
            .zones
            .get(zone)
            .is_some_and(|zone| zone.fire.is_some())
        {
            return;
        }
        mutate!(
            FireUnlatched,
            self.record(Fact::Site(SiteFact::Fire {
                zone: zone.clone(),
                at: self.now.wall,
            })),
            ()
        );
        self.live.site_due = true;
        self.touch_zone(zone);
    }

    /// All elevators of the zone are looked at in this step.
    pub(crate) fn touch_zone(&mut self, zone: &ZoneId) {
        let ids = self
            .config
            .elevators
            .values()
            .filter(|config| &config.zone == zone);
        self.live
            .touched
            .extend(ids.map(|config| config.id.clone()));
        self.live.dispatch_due = true;
    }

    /// Acts on the mode that the elevator is in.
    pub(crate) fn drive_mode(&mut self, elevator: &ElevatorId) {
        let mode = self.mode(elevator);
        let read = self
            .live
            .cars
            .get(elevator)
            .is_some_and(|car| car.reading.is_some());
        match mode {
            Mode::Normal | Mode::Robot => {}
            Mode::Fire | Mode::Emergency => {
                if let Some(config) = self.elevator_config(elevator) {
                    let zone = config.zone.clone();
                    self.latch_fire(&zone);
                }
                self.end_holds(elevator);
                self.drive_out_of_mode(elevator, mode);
            }
            Mode::Attendant | Mode::Maintenance | Mode::OutOfService => {
                self.end_holds(elevator);
                self.drive_out_of_mode(elevator, mode);
            }
            // Before the first reading nothing is known, and nothing is decided.
            Mode::Unknown if read => {
                self.end_holds(elevator);
                self.drive_out_of_mode(elevator, mode);
            }
            Mode::Unknown => {}
        }
    }

    /// `release` ends our holds: a held door must not delay a recall.
    fn end_holds(&mut self, elevator: &ElevatorId) {
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let due = car.release_due;
        car.hold_until_ms = 0;
        car.hold_next_ms = 0;
        if due {
            car.release_due = false;
            car.efforts.forget();
            self.order(elevator, Aim::Release, Action::Release);
        }
    }

    fn drive_out_of_mode(&mut self, elevator: &ElevatorId, mode: Mode) {
        let Some(record) = self.state.elevators.get(elevator) else {
            return;
        };
        let (Some(owner), None) = (&record.owner, &record.kept) else {
            return;
        };
        let order = owner.order.clone();
        let Some(ride) = self.ride(&order).cloned() else {
            return;
        };
        if ride.elevator.as_ref() != Some(elevator) {
            return;
        }
        match mode {
            Mode::Fire | Mode::Emergency => self.ride_in_fire(&ride, elevator),
            Mode::Attendant | Mode::Maintenance | Mode::OutOfService | Mode::Unknown => {
                self.ride_out_of_service(&ride, elevator, mode);
            }
            Mode::Normal | Mode::Robot => {}
        }
    }

    fn ride_in_fire(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let order = &ride.order;
        let code = ReasonCode::FireMode;
        let detail = format!("fire or emergency mode of {elevator}");
        match ride.state {
            RideState::Granted => {
                self.fail(
                    order,
                    code,
                    &detail,
                    Afterwards::Keep(KeptUntil::ModeNormal),
                );
            }
            RideState::WaitingHallCall => {
                let until = self.until_cleared(elevator, ride);
                self.fail(order, code, &detail, Afterwards::Keep(until));
            }
            RideState::ElevatorArrived if !ride.inside => {
                self.fail(order, code, &detail, Afterwards::Keep(KeptUntil::Shut));
            }
            RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived => self.hold(order, code, &detail),
            RideState::Hold => {
                if ride
                    .reason
                    .as_ref()
                    .is_none_or(|reason| reason.code != code)
                {
                    let open = self.exit_landing(elevator);
                    let mut held = ride.clone();
                    held.reason = Some(reason(code, detail.clone()));
                    let word = self.hold_instruction(&held, open.as_ref());
                    self.explain(order, word, reason(code, detail));
                }
            }
            RideState::Queued
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {}
        }
    }

    fn ride_out_of_service(&mut self, ride: &Ride, elevator: &ElevatorId, mode: Mode) {
        let order = &ride.order;
        let detail = format!("{elevator} is in mode {mode}");
        match ride.state {
            RideState::Granted => self.requeue(order, Afterwards::Free),
            RideState::WaitingHallCall => {
                let until = self.until_cleared(elevator, ride);
                self.requeue(order, Afterwards::Keep(until));
            }
            RideState::ElevatorArrived if !ride.inside => {
                self.requeue(order, Afterwards::Keep(KeptUntil::Shut));
            }
            RideState::ElevatorArrived
            | RideState::RobotEntered
            | RideState::Running
            | RideState::TargetArrived => self.hold(order, ReasonCode::OutOfService, &detail),
            RideState::Hold
            | RideState::Queued
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => {}
        }
    }
}
