//! Faults are over: everything must end, or be in HOLD with an alarm; and once people looked after
//! that, the site is as good as new.

use protocol::ops::Alarm;
use protocol::peer::{Heard, Said};
use protocol::ride::RideState;
use protocol::{ElevatorId, Landing, RobotId, Side};

use super::attendant::Manner;
use super::perform::Then;
use super::run::Run;
use super::stage;
use crate::world::robot::{Habits, Order};

/// The longest that a ride takes with every wait and every second try; above the sum of `ride.md`.
const QUIET_MS: u64 = 2_400_000;
/// People need so long to put everything in order.
const ORDER_MS: u64 = 2_400_000;
/// A ride in a building in order.
const PROBE_MS: u64 = 600_000;
/// How often it is looked whether all is done.
const LOOK_MS: u64 = 30_000;

impl Run<'_> {
    pub(super) fn come_to_an_end(&mut self) {
        self.heal();
        self.attended = false;
        self.wait(QUIET_MS, Self::is_quiet);
        let left = self.not_quiet();
        if let Some(left) = left.first() {
            self.fail(format!(
                "without faults it neither ends nor is held: {left}"
            ));
            return;
        }
        self.attended = true;
        let now_ms = self.world.now_ms();
        self.attendant.behave(now_ms, Manner::prompt());
        self.wait(ORDER_MS, |run| run.not_in_order().is_empty());
        let left = self.not_in_order();
        if let Some(left) = left.first() {
            self.fail(format!("nobody could put it in order: {left}"));
            return;
        }
        for place in 0..self.elevators.len() {
            self.probe(place);
        }
    }

    /// All that was broken is whole, and all that was away is there.
    fn heal(&mut self) {
        for (_, then) in std::mem::take(&mut self.then) {
            if then == Then::StartAltered {
                self.world.disk_mut().repair();
            }
        }
        self.world.clear_sky();
        self.world.set_disk_failing(false);
        self.world.disk_mut().fail_syncs(0);
        self.world.set_sync_ms(self.plan.site.sync_ms);
        self.world.set_wall_offset(0);
        for annex in [false, true] {
            for wire in [false, true] {
                self.burn(annex, wire, false);
            }
        }
        for id in self.elevators.clone() {
            self.car_is_well(&id);
            self.set_mode(&id, protocol::hardware::Mode::Normal);
            self.set_people(&id, 0);
        }
        self.follow(Then::Start);
        self.world.disk_low(false);
        if self.world.broker_is_down() {
            self.follow(Then::BrokerUp);
        } else {
            self.world.reconnect_gateway();
        }
        for id in self.elevators.clone() {
            self.follow(Then::LinkUp(id));
        }
        for robot in self.robots.clone() {
            let connected = self.world.robot(&robot).is_some_and(|it| it.is_connected());
            if !connected {
                self.follow(Then::RobotConnects(robot));
            }
        }
        self.follow(Then::Resume);
    }

    fn wait(&mut self, most_ms: u64, done: impl Fn(&Self) -> bool) {
        let until_ms = self.world.now_ms() + most_ms;
        while self.failure.is_none() && self.world.now_ms() < until_ms && !done(self) {
            let next_ms = (self.world.now_ms() + LOOK_MS).min(until_ms);
            self.pass_until(next_ms);
        }
    }

    fn is_quiet(&self) -> bool {
        self.not_quiet().is_empty()
    }

    /// Live rides that nobody is told to look at. A queued one may wait while every elevator that
    /// could take it waits for people.
    fn not_quiet(&self) -> Vec<String> {
        let Some(gateway) = self.world.gateway() else {
            return vec!["the gateway does not run".to_owned()];
        };
        let state = gateway.core().state();
        let alarms = self.alarms();
        let mut left = Vec::new();
        let fit = |id: &ElevatorId| {
            let elevator = state.elevator(id);
            let zone = gateway.core().config().elevators.get(id).map(|it| &it.zone);
            let zone = zone.and_then(|zone| state.zones.get(zone));
            let closed = zone.is_some_and(|it| it.fire.is_some() || it.suspended.is_some());
            elevator.block.is_none()
                && !elevator.maintenance
                && !closed
                && !elevator.owner.as_ref().is_some_and(|owner| {
                    let ride = state.rides.get(&owner.order);
                    ride.is_some_and(|ride| ride.state == RideState::Hold)
                })
        };
        for ride in state.rides.values() {
            let (order, is) = (&ride.order, ride.state);
            if is.is_terminal() {
                continue;
            }
            if is == RideState::Hold {
                let told = alarms
                    .iter()
                    .any(|alarm| alarm.order_id.as_ref() == Some(order));
                if !told {
                    left.push(format!("{order} is in HOLD without an alarm"));
                }
                continue;
            }
            let able = self.able(ride.from.clone(), ride.to.clone(), &ride.elevators);
            if is == RideState::Queued && !able.iter().any(fit) {
                continue;
            }
            left.push(format!("{order} is {is}"));
        }
        left
    }

    fn able(
        &self,
        from: Landing,
        to: Landing,
        wanted: &std::collections::BTreeSet<ElevatorId>,
    ) -> Vec<ElevatorId> {
        let controllers = self.world.controllers().iter();
        controllers
            .filter(|it| {
                let config = it.car().config();
                config.index(&from.floor).is_some() && config.index(&to.floor).is_some()
            })
            .map(|it| it.id().clone())
            .filter(|id| wanted.is_empty() || wanted.contains(id))
            .collect()
    }

    /// The alarms that the broker shows as open.
    fn alarms(&self) -> Vec<Alarm> {
        let topic = "hallcall/v1/demo/ops/alarms";
        let Some(envelope) = self.world.retained(topic) else {
            return Vec::new();
        };
        match Heard::read(self.world.topics(), topic, &envelope.payload) {
            Ok(Heard {
                said: Said::Alarms(alarms),
                ..
            }) => alarms,
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn not_in_order(&self) -> Vec<String> {
        let mut left = Vec::new();
        let Some(gateway) = self.world.gateway() else {
            return vec!["the gateway does not run".to_owned()];
        };
        let state = gateway.core().state();
        for ride in state.rides.values() {
            if !ride.state.is_terminal() {
                left.push(format!("{} is {}", ride.order, ride.state));
            }
        }
        for (id, elevator) in &state.elevators {
            let because = [
                (elevator.owner.is_some(), "owned"),
                (elevator.kept.is_some(), "kept back"),
                (elevator.block.is_some(), "blocked"),
                (elevator.maintenance, "out of use"),
                (elevator.must_be_read, "to be read"),
            ];
            let because = because.iter().filter(|(is, _)| *is);
            left.extend(because.map(|(_, why)| format!("{id} is {why}")));
        }
        for (id, zone) in &state.zones {
            if zone.fire.is_some() || zone.suspended.is_some() {
                left.push(format!("zone {id} is closed"));
            }
        }
        for controller in self.world.controllers() {
            if !controller.car().occupants().is_empty() {
                left.push(format!("{} has a robot inside", controller.id()));
            }
        }
        left
    }

    /// A fresh robot rides each elevator from the bottom to the next floor.
    fn probe(&mut self, place: usize) {
        let id = self.elevators[place].clone();
        let names = (
            RobotId::new(&format!("P{}", place + 1)).ok(),
            stage::label(0),
            stage::label(1),
        );
        let (Some(robot), Some(from), Some(to)) = names else {
            return;
        };
        self.world
            .add_robot(&robot, from.clone(), Habits::default());
        let Some(order) = self.next_order() else {
            return;
        };
        let side = Side::Front;
        let mut order = Order::new(
            order,
            Landing { floor: from, side },
            Landing { floor: to, side },
        );
        order.elevators.insert(id.clone());
        let name = order.id.clone();
        self.world.request(&robot, order);
        let arrived = |run: &Self| {
            let rides = run.world.record().rides();
            rides.get(&name).is_some_and(|ride| ride.ended.is_some())
        };
        self.wait(PROBE_MS, arrived);
        let ride = self.world.record().rides().get(&name);
        let right = ride.is_some_and(crate::record::RideTruth::went_right);
        if !right && self.failure.is_none() {
            let how = ride.and_then(|ride| ride.ended).map(|(_, state)| state);
            self.fail(format!(
                "in order, but a fresh ride on {id} ended as {how:?}"
            ));
        }
    }
}
