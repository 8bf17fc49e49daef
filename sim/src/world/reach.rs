//! How the parts of a world reach each other.

use dispatch::Input;
use dispatch::edge::JournalError;
use protocol::hardware::{Door, Report};
use protocol::peer::{Heard, Spoken};
use protocol::{Outgoing, RobotId, RobotMessage, Timestamp};

use super::broker::Arrival;
use super::controller::ControllerEvent;
use super::gateway::{Emission, Gateway, Moment};
use super::robot::{RobotAct, Whereabouts};
use super::schedule::Part;
use super::tale::Tale;
use super::trouble::Waiting;
use super::{ANSWERS_MAX, EGRESS, INGEST, World};
use crate::car::CarEvent;
use crate::record::Entry;

impl World {
    pub(super) fn turn_broker(&mut self) {
        while let Some(arrival) = self.broker.turn(self.now_ms) {
            match arrival {
                Arrival::Published { client, epoch, id } => {
                    if client != EGRESS || epoch != self.egress_epoch {
                        continue;
                    }
                    if self.stalled_ms.is_some() {
                        self.waiting.push_back(Waiting::Published(id));
                    } else {
                        self.tell_published(id);
                    }
                }
                Arrival::Message {
                    client,
                    epoch,
                    packet,
                    topic,
                    payload,
                    retained,
                } => {
                    if client == INGEST && self.stalled_ms.is_some() {
                        self.waiting.push_back(Waiting::Message {
                            packet,
                            topic,
                            payload,
                            retained,
                        });
                    } else if client == INGEST {
                        self.deliver(packet, &topic, &payload, retained);
                    } else {
                        self.broker.acknowledge(self.now_ms, &client, epoch, packet);
                        self.robot_hears(&client, &topic, &payload);
                    }
                }
            }
        }
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    pub(super) fn turn_gateway(&mut self) {
        if let Some((until_ms, _)) = self.stalled_ms {
            if until_ms > self.now_ms {
                self.schedule.set(Part::Gateway, Some(until_ms));
                return;
            }
            self.wake_gateway();
        }
        if self.granted_ms.is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.granted_ms = None;
            self.subscriptions_granted();
        }
        self.with_gateway(Gateway::turn);
    }

    pub(super) fn turn_elevator(&mut self, place: usize) {
        for (at_ms, event) in self.elevators[place].turn(self.now_ms) {
            let elevator = self.elevators[place].id().clone();
            match event {
                ControllerEvent::Received(command) => {
                    self.record.note(at_ms, Entry::Command(command));
                }
                ControllerEvent::Car(event) => {
                    self.tell(Tale::Car(elevator.clone(), event.clone()));
                    self.radio_shadow(place, &event);
                    self.record.note(at_ms, Entry::Car { elevator, event });
                }
                ControllerEvent::Report(report) => self.report(place, report),
            }
        }
        self.plan_elevator(place);
    }

    pub(super) fn turn_robot(&mut self, place: usize) {
        let wall = self.robot_wall(place);
        self.robots[place].turn(self.now_ms, wall);
        self.flush_robot(place);
    }

    /// A report reaches the gateway.
    pub(super) fn report(&mut self, place: usize, report: Report) {
        let elevator = self.elevators[place].id().clone();
        self.tell(Tale::Reported(elevator.clone(), report.clone()));
        self.input(Input::Report { elevator, report });
    }

    /// Something reaches the gateway.
    pub(super) fn input(&mut self, input: Input) {
        if self.stalled_ms.is_some() {
            self.waiting.push_back(Waiting::Input(Box::new(input)));
            return;
        }
        self.with_gateway(|gateway, moment, disk| gateway.input(moment, input, disk));
    }

    pub(super) fn with_gateway(
        &mut self,
        act: impl FnOnce(&mut Gateway, Moment, &mut super::ModelDisk) -> Result<(), JournalError>,
    ) {
        let moment = self.moment();
        let Some(gateway) = &mut self.gateway else {
            return;
        };
        if let Err(error) = act(gateway, moment, &mut self.disk) {
            self.tell(Tale::Ended(error.to_string()));
            self.lose_gateway();
            return;
        }
        self.flush_gateway();
    }

    pub(super) fn flush_gateway(&mut self) {
        let Some(gateway) = &mut self.gateway else {
            return;
        };
        for emission in gateway.take_emissions() {
            self.emitted(emission);
        }
        let due = self.gateway.as_ref().and_then(Gateway::next_ms);
        let next_ms = match self.stalled_ms {
            Some((until_ms, _)) => Some(until_ms),
            None => [due, self.granted_ms].into_iter().flatten().min(),
        };
        self.schedule
            .set(Part::Gateway, next_ms.map(|at_ms| at_ms.max(self.now_ms)));
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    fn emitted(&mut self, emission: Emission) {
        match emission {
            Emission::Publish {
                id,
                message,
                envelope,
            } => {
                if let Outgoing::RideState(view) = &message {
                    let told = Entry::Told {
                        robot: view.robot_id.clone(),
                        order: view.order_id.clone(),
                        state: view.state,
                        instruction: view.instruction,
                        elevator: view.elevator_id.clone(),
                        fence: view.fence,
                    };
                    self.record.note(self.now_ms, told);
                }
                self.tell(Tale::Said(message));
                self.broker.publish(self.now_ms, EGRESS, id, envelope);
            }
            Emission::Command { command, sent_ms } => {
                self.tell(Tale::Sent(command.clone()));
                if let Some(place) = self.elevator_places.get(&command.elevator_id).copied() {
                    self.elevators[place].send(self.now_ms, command, sent_ms);
                    self.plan_elevator(place);
                }
            }
            Emission::Dropped { command, why } => self.tell(Tale::Dropped(command, why)),
            Emission::Answer { ticket, answer } => {
                self.tell(Tale::Answered(answer.clone()));
                if self.answers.len() == ANSWERS_MAX {
                    self.answers.pop_front();
                }
                self.answers.push_back((ticket, answer));
            }
            Emission::Acknowledge { epoch, packet } => {
                self.broker.acknowledge(self.now_ms, INGEST, epoch, packet);
            }
            Emission::Facts(facts) => self.tell(Tale::Facts(facts)),
        }
    }

    fn robot_hears(&mut self, client: &str, topic: &str, payload: &[u8]) {
        let Ok(id) = RobotId::new(client) else { return };
        let Some(place) = self.robot_places.get(&id).copied() else {
            return;
        };
        // What cannot be read is nothing to a robot; the codec's own tests look at that.
        if let Ok(heard) = Heard::read(&self.topics, topic, payload) {
            let wall = self.robot_wall(place);
            self.robots[place].hear(self.now_ms, wall, heard.said);
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
        self.tell(Tale::Robot(robot.clone(), message.clone()));
        let client = robot.as_str().to_owned();
        let envelope = Spoken::Robot { robot, message }.encode(&self.topics);
        self.broker.publish(self.now_ms, &client, 0, envelope);
        self.schedule.set(Part::Broker, self.broker.next_ms());
    }

    fn robot_crosses(&mut self, place: usize, doorway: Whereabouts) {
        let doorway = self.truly(place, doorway);
        let Whereabouts::Doorway {
            elevator, landing, ..
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
    fn radio_shadow(&mut self, car: usize, event: &CarEvent) {
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

    fn subscriptions_granted(&mut self) {
        for filter in self.topics.start_filters() {
            self.broker.unsubscribe(INGEST, &filter);
        }
        self.tell(Tale::Ready);
        self.ready = true;
        self.input(Input::Broker { up: true });
        self.announce();
    }

    pub(super) fn plan_elevator(&mut self, place: usize) {
        self.schedule
            .set(Part::Elevator(place), self.elevators[place].next_ms());
    }

    /// Something was done to the car: what follows is seen at this moment.
    pub(super) fn plan_elevator_now(&mut self, place: usize) {
        self.schedule.set(Part::Elevator(place), Some(self.now_ms));
    }
}
