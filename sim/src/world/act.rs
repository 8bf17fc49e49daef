//! What a test can do to a world.

use dispatch::{Input, OperatorAction, OperatorRequest};
use protocol::hardware::Report;
use protocol::peer::Spoken;
use protocol::robot::{ConnectionState, RobotConnection, RobotEvent};
use protocol::{
    ElevatorId, FloorLabel, InstanceId, MessageId, OrderId, RobotId, RobotMessage, ZoneId,
};

use super::controller::Controller;
use super::gateway::Gateway;
use super::robot::{Habits, Order, Robot, Whereabouts};
use super::schedule::Part;
use super::tale::Tale;
use super::{EGRESS, INGEST, World};
use crate::check::Seen;

impl World {
    /// Starts the gateway on what the disk holds. With `restored` the operator says that the data
    /// came from a backup.
    pub fn start_gateway(&mut self, restored: bool) {
        self.starts += 1;
        let name = format!("i{}", self.starts);
        // A letter and digits are an id.
        let Ok(instance) = InstanceId::new(&name) else {
            return;
        };
        let (site, topics) = (self.site.clone(), self.topics.clone());
        let (now_ms, sync_ms) = (self.now_ms, self.config.sync_ms);
        match Gateway::start(site, topics, instance, now_ms, sync_ms, &mut self.disk) {
            Ok(mut gateway) => {
                let last = gateway.appended();
                let left = self.left.take().filter(|(end, _)| *end == last);
                let same = left.map(|(_, state)| state == *gateway.core().state());
                self.checker.saw(now_ms, Seen::Started { last, same });
                gateway.steps().keep(self.config.steps);
                self.gateway = Some(gateway);
            }
            Err(error) => {
                self.ended(&error);
                return;
            }
        }
        self.tell(|| Tale::Started);
        self.input(Input::Start { restored });
        self.connect_gateway();
        for place in 0..self.elevators.len() {
            self.report(place, Report::Link { up: true });
        }
        for zone in self.config.site.fire_inputs.clone() {
            let clear = !self.burning.contains(&zone);
            self.input(Input::ZoneFire { zone, clear });
        }
    }

    /// Kills the gateway and cuts the power of its disk: of the batches that were not synced only
    /// the first `kept` survive.
    pub fn crash_gateway(&mut self, kept: usize) {
        let lost = self.disk.unsynced().saturating_sub(kept);
        self.tell(|| Tale::Crashed { lost });
        self.disk.power_cut(kept);
        self.lose_gateway();
    }

    pub(super) fn lose_gateway(&mut self) {
        // Whatever ended the process: what it wrote is in the memory of the machine, which goes on.
        self.disk.power_cut(usize::MAX);
        let survived = self.disk.last();
        self.checker.saw(self.now_ms, Seen::Crashed { survived });
        let left = self.gateway.take().filter(|it| it.appended() == survived);
        self.left = left.map(|it| (survived, it.core().state().clone()));
        self.granted_ms = None;
        self.ready = false;
        self.stalled_ms = None;
        self.waiting.clear();
        self.broker.disconnect(self.now_ms, INGEST, false);
        self.broker.disconnect(self.now_ms, EGRESS, false);
        for controller in &mut self.elevators {
            controller.cut();
        }
        self.schedule.set(Part::Gateway, None);
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    /// Connects both clients of the gateway and subscribes.
    fn connect_gateway(&mut self) {
        let stands = self.gateway.is_none() || self.stalled_ms.is_some();
        if stands || self.broker.is_down() {
            return;
        }
        self.connect_ingest();
        self.connect_egress();
        self.flush_gateway();
    }

    /// The broker goes down, with its memory where `forgetting`.
    pub fn broker_down(&mut self, forgetting: bool) {
        self.broker.go_down(forgetting);
        for place in 0..self.robots.len() {
            self.robots[place].set_connected(false);
            self.flush_robot(place);
        }
        self.egress(false);
        self.granted_ms = None;
        self.input(Input::Broker { up: false });
    }

    /// The broker is there again: everybody that lives connects.
    pub fn broker_up(&mut self) {
        self.broker.come_up();
        self.connect_gateway();
        for place in 0..self.robots.len() {
            if !self.robots[place].is_dead() {
                self.connect_robot_at(place);
            }
        }
    }

    /// A robot stands on a floor and connects. Returns false where its id is taken.
    pub fn add_robot(&mut self, id: &RobotId, floor: FloorLabel, habits: Habits) -> bool {
        if self.robot_places.contains_key(id) {
            return false;
        }
        let place = self.robots.len();
        self.robot_places.insert(id.clone(), place);
        self.robots.push(Robot::new(id.clone(), floor, habits));
        self.connect_robot_at(place);
        true
    }

    pub(super) fn connect_robot_at(&mut self, place: usize) {
        let id = self.robots[place].id().clone();
        let wall = self.wall();
        let say = |connection_state, name: &str| {
            let text = format!("{name}-{}", self.now_ms);
            let message_id = MessageId::new(&text).ok()?;
            let connection = RobotConnection {
                message_id,
                timestamp: wall,
                connection_state,
            };
            let message = RobotMessage::Connection(connection);
            Some(
                Spoken::Robot {
                    robot: id.clone(),
                    message,
                }
                .encode(&self.topics),
            )
        };
        let will = say(ConnectionState::ConnectionBroken, "will");
        let online = say(ConnectionState::Online, "online");
        let client = id.as_str();
        let Some((epoch, _)) = self.broker.connect(client, true, will) else {
            return;
        };
        self.robot_epochs.insert(id.clone(), epoch);
        for filter in self.topics.robot_filters(&id) {
            self.broker.subscribe(self.now_ms, client, &filter);
        }
        if let Some(online) = online {
            self.broker.publish(self.now_ms, client, 0, online);
        }
        self.robots[place].set_connected(true);
        self.flush_robot(place);
    }

    pub(super) fn cut_robot_at(&mut self, place: usize) {
        let client = self.robots[place].id().as_str().to_owned();
        self.broker.disconnect(self.now_ms, &client, false);
        self.robots[place].set_connected(false);
        self.flush_robot(place);
    }

    /// Does something to a robot; what it then wants done is done. False where there is none.
    pub fn with_robot(&mut self, id: &RobotId, act: impl FnOnce(&mut Robot)) -> bool {
        let Some(place) = self.robot_places.get(id).copied() else {
            return false;
        };
        act(&mut self.robots[place]);
        self.flush_robot(place);
        true
    }

    /// A robot loses its radio, or has it again.
    pub fn set_radio(&mut self, id: &RobotId, on: bool) {
        let Some(place) = self.robot_places.get(id).copied() else {
            return;
        };
        if on {
            self.connect_robot_at(place);
        } else {
            self.cut_robot_at(place);
        }
    }

    /// A robot stops for ever, and its connection breaks.
    pub fn kill_robot(&mut self, id: &RobotId) {
        let Some(place) = self.robot_places.get(id).copied() else {
            return;
        };
        self.robots[place].die();
        self.cut_robot_at(place);
    }

    /// A robot starts anew where it is, with radio.
    pub fn reboot_robot(&mut self, id: &RobotId) {
        let Some(place) = self.robot_places.get(id).copied() else {
            return;
        };
        self.robots[place].reboot();
        self.cut_robot_at(place);
        self.connect_robot_at(place);
    }

    /// A robot does and hears nothing for `span_ms`.
    pub fn freeze_robot(&mut self, id: &RobotId, span_ms: u64) {
        let until_ms = self.now_ms + span_ms;
        self.with_robot(id, |robot| robot.freeze(until_ms));
    }

    /// A robot asks for a ride. The record knows the order from here on.
    pub fn request(&mut self, id: &RobotId, order: Order) {
        let Some(place) = self.robot_places.get(id).copied() else {
            return;
        };
        let (now_ms, wall) = (self.now_ms, self.robot_wall(place));
        let is_new = self.robots[place].order().is_none() && !order.dry_run;
        if is_new && !self.record().rides().contains_key(&order.id) {
            let asked = Seen::Asked {
                robot: id,
                order: &order.id,
                from: &order.from,
                to: &order.to,
            };
            self.checker.saw(now_ms, asked);
        }
        self.robots[place].request(now_ms, wall, order);
        self.flush_robot(place);
    }

    /// A robot says an event of its order.
    pub fn say(&mut self, id: &RobotId, event: RobotEvent) {
        let (now_ms, wall) = (self.now_ms, self.wall());
        self.with_robot(id, |robot| {
            robot.event(now_ms, wall, event);
        });
    }

    /// A robot gives an order up.
    pub fn cancel(&mut self, id: &RobotId, order: &OrderId) {
        let (now_ms, wall) = (self.now_ms, self.wall());
        self.with_robot(id, |robot| {
            robot.cancel(now_ms, wall, order.clone());
        });
    }

    /// A robot says its status, with `in_car` where it shall differ from the truth.
    pub fn status(&mut self, id: &RobotId, in_car: Option<bool>) {
        let wall = self.wall();
        self.with_robot(id, |robot| robot.status(wall, in_car));
    }

    /// A robot enters or leaves in one go, by hand, without a word. Says whether it could.
    pub fn drive(&mut self, id: &RobotId, elevator: &ElevatorId, inwards: bool) -> bool {
        let places = (
            self.robot_places.get(id),
            self.elevator_places.get(elevator),
        );
        let (Some(robot), Some(car)) = (places.0.copied(), places.1.copied()) else {
            return false;
        };
        let floor = self.elevators[car].car().floor();
        let side = self.robots[robot].view().and_then(|view| view.side);
        let landing = protocol::Landing {
            floor: floor.clone(),
            side: side.unwrap_or(protocol::Side::Front),
        };
        let now_ms = self.now_ms;
        let went = if inwards {
            self.elevators[car].car_mut().enter(now_ms, id, &landing)
        } else {
            self.elevators[car]
                .car_mut()
                .leave(now_ms, id, landing.side)
        };
        if went {
            let inside = Whereabouts::Car(elevator.clone());
            let place = if inwards {
                inside
            } else {
                Whereabouts::Floor(floor)
            };
            self.robots[robot].put(place);
        }
        self.plan_elevator_now(car);
        went
    }

    /// Somebody carries a robot out of a car or off its threshold, without a word.
    pub fn carry_out(&mut self, id: &RobotId, elevator: &ElevatorId) {
        let now_ms = self.now_ms;
        let Some(car) = self.elevator_places.get(elevator).copied() else {
            return;
        };
        self.elevators[car].car_mut().carry_out(now_ms, id);
        let floor = self.elevators[car].car().floor();
        self.with_robot(id, |robot| robot.put(Whereabouts::Floor(floor)));
        self.plan_elevator_now(car);
    }

    /// Does something to a controller or its car at this moment. False where there is none.
    pub fn with_controller(
        &mut self,
        elevator: &ElevatorId,
        act: impl FnOnce(&mut Controller, u64),
    ) -> bool {
        let Some(place) = self.elevator_places.get(elevator).copied() else {
            return false;
        };
        act(&mut self.elevators[place], self.now_ms);
        self.plan_elevator_now(place);
        true
    }

    /// A controller's word reaches the gateway that was never said, or said long ago.
    pub fn inject(&mut self, elevator: &ElevatorId, report: Report) {
        if let Some(place) = self.elevator_places.get(elevator).copied() {
            self.report(place, report);
        }
    }

    /// A zone's fire input is clear, or not.
    pub fn zone_fire(&mut self, zone: &ZoneId, clear: bool) {
        if clear {
            self.burning.remove(zone);
        } else {
            self.burning.insert(zone.clone());
        }
        self.input(Input::ZoneFire {
            zone: zone.clone(),
            clear,
        });
    }

    /// The disk fails from here on, or works again.
    pub fn set_disk_failing(&mut self, failing: bool) {
        self.disk.set_failing(failing);
    }

    /// An operator asks; the ticket finds the answer.
    pub fn operate(&mut self, action: OperatorAction) -> u64 {
        self.tickets += 1;
        let ticket = self.tickets;
        self.input(Input::Operator(OperatorRequest {
            ticket,
            operator: "op-1".to_owned(),
            reason: "as the plan says".to_owned(),
            action,
        }));
        ticket
    }
}
