//! Once the faults have stopped: every order comes to an end or to HOLD with an alarm, and the
//! cars are free again.

use protocol::ride::RideState;

use super::law::{Found, Law};
use super::model::Model;
use super::told::listed;

impl Model {
    /// Judges a world in which for `calm_ms` no fault happened and nobody asked for anything.
    pub(super) fn settled(&self, calm_ms: u64, found: &mut Found) {
        let live = self.rides.iter().filter(|(_, ride)| ride.is_live());
        for (order, ride) in live
            .clone()
            .filter(|(_, ride)| ride.state != RideState::Hold)
        {
            let detail = format!("{order} is still {} after {calm_ms} ms of calm", ride.state);
            found.add(Law::L1, detail);
        }
        let held = live.filter(|(_, ride)| ride.state == RideState::Hold);
        for (order, _) in held.filter(|(order, _)| !self.alarmed.contains(*order)) {
            found.add(
                Law::L1,
                format!("{order} is in HOLD without a critical alarm"),
            );
        }
        found.check(self.queued.is_empty(), Law::L5, || {
            format!("still queued: {}", listed(self.queued.iter()))
        });
        for (elevator, car) in &self.cars {
            let Some(order) = &car.kept.owner else {
                continue;
            };
            let ride = self.rides.get(order);
            let rides = ride.is_some_and(|ride| ride.is_live());
            let stuck = !rides && self.serves(elevator) && self.is_healthy(elevator);
            found.check(!stuck, Law::L3, || {
                format!("{elevator} is kept for {order}, which is over")
            });
        }
    }
}
