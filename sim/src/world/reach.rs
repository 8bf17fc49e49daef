//! How the parts of a world reach each other.

use dispatch::edge::JournalError;
use dispatch::{Core, Input};
use protocol::hardware::{Door, Report};
use protocol::peer::{Heard, Spoken};
use protocol::robot::ConnectionState;
use protocol::{RobotId, RobotMessage};

use super::broker::Arrival;
use super::controller::ControllerEvent;
use super::gateway::{Emission, Gateway, Moment, Stepped};
use super::robot::{RobotAct, Whereabouts};
use super::schedule::Part;
use super::tale::Tale;
use super::{ANSWERS_MAX, AUDIT_STEPS, EGRESS, INGEST, World};
use crate::car::CarEvent;
use crate::check::{Seen, Step};

impl World {
    pub(super) fn turn_broker(&mut self) {
        while let Some(arrival) = self.broker.turn(self.now_ms) {
            match arrival {
                Arrival::Published { client, epoch, id } => {
                    if client == EGRESS && epoch == self.egress_epoch {
                        let moment = self.moment();
                        if let Some(gateway) = &mut self.gateway {
                            gateway.published(moment, id);
                        }
                        self.flush_gateway();
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
                    if client == INGEST {
                        let delivered = Seen::Delivered {
                            epoch,
                            packet,
                            topic: &topic,
                            payload: &payload,
                            retained,
                        };
                        self.checker.saw(self.now_ms, delivered);
                        self.with_gateway(|gateway, moment, disk| {
                            gateway.message(moment, packet, (&topic, &payload, retained), disk)
                        });
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
                    let command = &command;
                    self.checker.saw(at_ms, Seen::Received { command });
                }
                ControllerEvent::Car(event) => {
                    self.tell(Tale::Car(elevator.clone(), event.clone()));
                    self.radio_shadow(place, &event);
                    let (elevator, event) = (&elevator, &event);
                    self.checker.saw(at_ms, Seen::Car { elevator, event });
                }
                ControllerEvent::Report(report) => self.report(place, report),
            }
        }
        self.plan_elevator(place);
    }

    pub(super) fn turn_robot(&mut self, place: usize) {
        let wall = self.wall();
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
            self.flush_gateway();
            self.ended(&error);
            self.lose_gateway();
            return;
        }
        self.flush_gateway();
    }

    /// The gateway process ended by itself.
    pub(super) fn ended(&mut self, error: &JournalError) {
        let detail = &error.to_string();
        let disk_failed = self.disk.is_failing();
        let ended = Seen::Ended {
            detail,
            disk_failed,
        };
        self.checker.saw(self.now_ms, ended);
        self.tell(Tale::Ended(detail.clone()));
    }

    pub(super) fn flush_gateway(&mut self) {
        let Some(gateway) = &mut self.gateway else {
            return;
        };
        for emission in gateway.take_emissions() {
            self.emitted(emission);
        }
        let due = self.gateway.as_ref().and_then(Gateway::next_ms);
        let next_ms = [due, self.granted_ms].into_iter().flatten().min();
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
                let said = Seen::Said {
                    message: &message,
                    topic: &envelope.topic,
                    payload: &envelope.payload,
                    retain: envelope.retain,
                };
                self.checker.saw(self.now_ms, said);
                self.tell(Tale::Said(message));
                self.broker.publish(self.now_ms, EGRESS, id, envelope);
            }
            Emission::Command { command, sent_ms } => {
                let sent = Seen::Sent { command: &command };
                self.checker.saw(self.now_ms, sent);
                self.tell(Tale::Sent(command.clone()));
                if let Some(place) = self.elevator_places.get(&command.elevator_id).copied() {
                    self.elevators[place].send(self.now_ms, command, sent_ms);
                    self.plan_elevator(place);
                }
            }
            Emission::Dropped { command, why } => {
                let dropped = Seen::Dropped { command: &command };
                self.checker.saw(self.now_ms, dropped);
                self.tell(Tale::Dropped(command, why));
            }
            Emission::Answer { ticket, answer } => {
                self.tell(Tale::Answered(answer.clone()));
                if self.answers.len() == ANSWERS_MAX {
                    self.answers.pop_front();
                }
                self.answers.push_back((ticket, answer));
            }
            Emission::Acknowledge { epoch, packet } => {
                let acknowledged = Seen::Acknowledged { epoch, packet };
                self.checker.saw(self.now_ms, acknowledged);
                self.broker.acknowledge(self.now_ms, INGEST, epoch, packet);
            }
            Emission::Facts(facts) => self.tell(Tale::Facts(facts)),
            Emission::Stepped(stepped) => self.stepped(&stepped),
            Emission::Released(waits_for) => {
                let released = Seen::Released { waits_for };
                self.checker.saw(self.now_ms, released);
            }
            Emission::Synced(seq) => self.checker.saw(self.now_ms, Seen::Synced { seq }),
        }
    }

    fn stepped(&mut self, stepped: &Stepped) {
        let step = Step {
            mono_ms: stepped.mono_ms,
            wall: stepped.wall,
            input: &stepped.input,
            effects: &stepped.effects,
            facts: stepped.facts,
            appended: stepped.appended,
            ticket: stepped.ticket,
        };
        self.checker.saw(self.now_ms, Seen::Stepped(step));
        self.audit_in -= 1;
        if self.audit_in == 0 {
            self.audit_in = AUDIT_STEPS;
            let core = self.gateway.as_ref().map(Gateway::core);
            let broken = core.map_or_else(Vec::new, Core::broken_laws);
            self.checker
                .saw(self.now_ms, Seen::Audited { broken: &broken });
        }
    }

    fn robot_hears(&mut self, client: &str, topic: &str, payload: &[u8]) {
        let Ok(id) = RobotId::new(client) else { return };
        let Some(place) = self.robot_places.get(&id).copied() else {
            return;
        };
        // What cannot be read is nothing to a robot; the codec's own tests look at that.
        if let Ok(heard) = Heard::read(&self.topics, topic, payload) {
            let wall = self.wall();
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
            self.checker.saw(self.now_ms, crosses);
            self.robots[place].on_threshold(self.now_ms, doorway);
        }
        self.plan_elevator_now(car);
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
        let (now_ms, wall) = (self.now_ms, self.wall());
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
        self.input(Input::Broker { up: true });
        self.with_gateway(|gateway, moment, _| gateway.present(moment, ConnectionState::Online));
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
