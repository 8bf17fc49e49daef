//! Robots among cars: what they hear and say, and how they cross thresholds.

use protocol::hardware::Door;
use protocol::peer::{Said, Spoken};
use protocol::{RobotId, RobotMessage, Timestamp};

use super::World;
use super::robot::{RobotAct, Whereabouts};
use super::schedule::Part;
use super::tale::Tale;
use crate::car::CarEvent;
use crate::check::Seen;

impl World {
    pub(super) fn robot_hears(&mut self, client: &str, topic: &str, payload: &[u8]) {
        let Ok(id) = RobotId::new(client) else { return };
        let Some(place) = self.robot_places.get(&id).copied() else {
            return;
        };
        // What cannot be read is nothing to a robot; the codec's own tests look at that.
        if let Ok(said) = Said::read(&self.topics, topic, payload) {
            let wall = self.robot_wall(place);
            self.robots[place].hear(self.now_ms, wall, said);
            self.flush_robot(place);
        }
    }

    pub(super) fn flush_robot(&mut self, place: usize) {
        for act in self.robots[place].take_acts() {
            match act {
                RobotAct::Say(message) => self.robot_says(place, message),
                RobotAct::Cross {
                    elevator,
                    landing,
                    inwards,
                } => {
                    let doorway = Whereabouts::Doorway {
                        elevator,
                        landing,
                        inwards,
                    };
                    self.robot_crosses(place, doorway);
                }
                RobotAct::Crossed => self.robot_is_through(place),
            }
        }
        self.schedule
            .set(Part::Robot(place), self.robots[place].next_ms());
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    pub(super) fn robot_says(&mut self, place: usize, message: RobotMessage) {
        let robot = self.robots[place].id().clone();
        self.tell(|| Tale::Robot(robot.clone(), message.clone()));
        let client = robot.as_str().to_owned();
        let envelope = Spoken::Robot { robot, message }.encode(&self.topics);
        let published = Seen::Published {
            client: &client,
            topic: &envelope.topic,
            payload: &envelope.payload,
        };
        self.checker.saw(self.now_ms, published);
        self.broker.publish(self.now_ms, &client, 0, envelope);
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    fn robot_crosses(&mut self, place: usize, doorway: Whereabouts) {
        let doorway = self.truly(place, doorway);
        let Whereabouts::Doorway {
            elevator,
            landing,
            inwards,
        } = &doorway
        else {
            return;
        };
        let Some(car) = self.elevator_places.get(elevator).copied() else {
            return;
        };
        let robot = self.robots[place].id().clone();
        if self.robots[place].habits().looks && !self.elevators[car].car().is_open_at(landing) {
            return;
        }
        if self.elevators[car]
            .car_mut()
            .enter_doorway(self.now_ms, &robot, landing)
        {
            let crosses = Seen::Crosses {
                robot: &robot,
                elevator,
                landing,
                inwards: *inwards,
            };
            if !self.robots[place].has_offended() {
                self.checker.saw(self.now_ms, crosses);
            }
            self.robots[place].on_threshold(self.now_ms, doorway);
        }
        self.plan_elevator_now(car);
    }

    /// The threshold that a robot truly comes to: outwards that of the car that it is in, inwards
    /// perhaps that of another.
    fn truly(&mut self, place: usize, doorway: Whereabouts) -> Whereabouts {
        let Whereabouts::Doorway {
            elevator,
            landing,
            inwards,
        } = doorway
        else {
            return doorway;
        };
        let other = match self.robots[place].place() {
            Whereabouts::Car(car) if !inwards => Some(car.clone()),
            Whereabouts::Floor(_) if inwards && self.robots[place].habits().takes_any_car => self
                .elevators
                .iter()
                .find(|other| *other.id() != elevator && other.car().is_open_at(&landing))
                .map(|other| other.id().clone()),
            Whereabouts::Car(_) | Whereabouts::Floor(_) | Whereabouts::Doorway { .. } => None,
        };
        let other = other.filter(|other| *other != elevator);
        if inwards && other.is_some() {
            self.robots[place].offends();
        }
        Whereabouts::Doorway {
            elevator: other.unwrap_or(elevator),
            landing,
            inwards,
        }
    }

    pub(super) fn robot_wall(&self, place: usize) -> Timestamp {
        let ahead_ms = self.robots[place].habits().clock_ahead_ms;
        Timestamp(self.wall().0.saturating_add_signed(ahead_ms))
    }

    pub(super) fn robot_is_through(&mut self, place: usize) {
        let Whereabouts::Doorway {
            elevator,
            landing,
            inwards,
        } = self.robots[place].place().clone()
        else {
            return;
        };
        let Some(car) = self.elevator_places.get(&elevator).copied() else {
            return;
        };
        let robot = self.robots[place].id().clone();
        let (now_ms, wall) = (self.now_ms, self.robot_wall(place));
        let there = if inwards {
            self.elevators[car]
                .car_mut()
                .enter(now_ms, &robot, &landing);
            Whereabouts::Car(elevator)
        } else {
            self.elevators[car]
                .car_mut()
                .leave(now_ms, &robot, landing.side);
            Whereabouts::Floor(landing.floor)
        };
        self.plan_elevator_now(car);
        self.robots[place].through(now_ms, wall, there);
        self.flush_robot(place);
    }

    /// A robot without radio inside loses it when the door shuts, and has it again when it opens.
    pub(super) fn radio_shadow(&mut self, car: usize, event: &CarEvent) {
        let CarEvent::Door { door, .. } = event else {
            return;
        };
        let occupants: Vec<_> = self.elevators[car]
            .car()
            .occupants()
            .iter()
            .cloned()
            .collect();
        for robot in occupants {
            let Some(place) = self.robot_places.get(&robot).copied() else {
                continue;
            };
            if self.robots[place].habits().radio_inside || self.robots[place].is_dead() {
                continue;
            }
            match door {
                Door::Closed => self.cut_robot_at(place),
                Door::Open => self.connect_robot_at(place),
                Door::Opening | Door::Closing | Door::Unknown => {}
            }
        }
    }
}
