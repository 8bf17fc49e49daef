//! What an operator did, as far as the model learns from it.

use dispatch::{Effect, OperatorAction, OperatorRequest};
use protocol::{ElevatorId, ZoneId};

use super::model::{Before, Model};

impl Model {
    /// Takes what was asked for, where an effect tells that it was done.
    pub(super) fn operator(&mut self, request: &OperatorRequest, effects: &[Effect]) {
        let done = effects.iter().any(|effect| {
            matches!(effect, Effect::Answer { ticket, answer: Ok(_) } if *ticket == request.ticket)
        });
        if !done {
            return;
        }
        match &request.action {
            OperatorAction::ElevatorMaintenance { elevator, on } => self.maintain(elevator, *on),
            OperatorAction::ElevatorReset {
                elevator, force, ..
            } => self.maintain(elevator, *force),
            OperatorAction::ElevatorResolve {
                elevator,
                force: true,
                ..
            } => self.maintain(elevator, true),
            OperatorAction::SiteSuspend { zone } => self.suspend(zone.as_ref(), true),
            OperatorAction::SiteResume { zone } => self.suspend(zone.as_ref(), false),
            OperatorAction::ElevatorResolve { .. }
            | OperatorAction::ElevatorList
            | OperatorAction::ElevatorShow(_)
            | OperatorAction::OrderList
            | OperatorAction::OrderShow(_)
            | OperatorAction::OrderCancel(_)
            | OperatorAction::SeriesList
            | OperatorAction::SeriesShow(_)
            | OperatorAction::SeriesResume { .. }
            | OperatorAction::TurnList
            | OperatorAction::TurnShow(_)
            | OperatorAction::PoolList
            | OperatorAction::PoolShow(_)
            | OperatorAction::PoolCapacity { .. }
            | OperatorAction::RentalList
            | OperatorAction::RentalShow(_)
            | OperatorAction::DeviceList
            | OperatorAction::DeviceMaintenance { .. }
            | OperatorAction::ClaimList
            | OperatorAction::ClaimHistory
            | OperatorAction::ClaimShow(_)
            | OperatorAction::ClaimStopped { .. } => {}
        }
    }

    fn maintain(&mut self, elevator: &ElevatorId, on: bool) {
        self.remember_car(elevator);
        if let Some(car) = self.cars.get_mut(elevator) {
            car.kept.maintenance = on;
        }
    }

    fn suspend(&mut self, which: Option<&ZoneId>, on: bool) {
        let zones: Vec<ZoneId> = self.zones.keys().cloned().collect();
        for zone in zones
            .iter()
            .filter(|zone| which.is_none_or(|it| it == *zone))
        {
            let before = (self.zones[zone].burning, self.zones[zone].suspended);
            self.remember(Before::Zone(zone.clone(), before));
            if let Some(zone) = self.zones.get_mut(zone) {
                zone.suspended = on;
                zone.burning &= on;
            }
        }
    }
}
