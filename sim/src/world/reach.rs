//! How the parts of a world reach each other.

use dispatch::edge::JournalError;
use dispatch::{Core, Input};
use protocol::hardware::Report;

use super::broker::Arrival;
use super::controller::ControllerEvent;
use super::gateway::{Emission, Gateway, Moment, Stepped};
use super::schedule::Part;
use super::tale::Tale;
use super::trouble::Waiting;
use super::{ANSWERS_MAX, AUDIT_STEPS, EGRESS, INGEST, World};
use crate::check::{Seen, Step};

impl World {
    pub(super) fn turn_broker(&mut self) {
        while let Some(arrival) = self.broker.turn(self.now_ms) {
            match arrival {
                Arrival::Published { client, epoch, id } => {
                    if &*client != EGRESS || epoch != self.egress_epoch {
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
                    envelope,
                    retained,
                } => {
                    if &*client == INGEST && self.stalled_ms.is_some() {
                        self.waiting.push_back(Waiting::Message {
                            epoch,
                            packet,
                            envelope,
                            retained,
                        });
                    } else if &*client == INGEST {
                        self.deliver((epoch, packet), &envelope, retained);
                    } else {
                        self.broker.acknowledge(self.now_ms, &client, epoch, packet);
                        self.robot_hears(&client, &envelope.topic, &envelope.payload);
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
                    let command = &command;
                    self.checker.saw(at_ms, Seen::Received { command });
                }
                ControllerEvent::Car(event) => {
                    self.tell(|| Tale::Car(elevator.clone(), event.clone()));
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
        let wall = self.robot_wall(place);
        self.robots[place].turn(self.now_ms, wall);
        self.flush_robot(place);
    }

    /// A report reaches the gateway.
    pub(super) fn report(&mut self, place: usize, report: Report) {
        let elevator = self.elevators[place].id().clone();
        self.tell(|| Tale::Reported(elevator.clone(), report.clone()));
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
            self.flush_gateway();
            self.ended(&error);
            self.lose_gateway();
            // Memory was ahead of the disk.
            self.left = None;
            return;
        }
        self.flush_gateway();
    }

    /// The gateway process ended by itself.
    pub(super) fn ended(&mut self, error: &JournalError) {
        let detail = &error.to_string();
        let disk_failed = self.disk.has_failed();
        let ended = Seen::Ended {
            detail,
            disk_failed,
        };
        self.checker.saw(self.now_ms, ended);
        self.tell(|| Tale::Ended(detail.clone()));
    }

    pub(super) fn flush_gateway(&mut self) {
        let Some(gateway) = &mut self.gateway else {
            return;
        };
        let mut emissions = gateway.take_emissions();
        for emission in emissions.drain(..) {
            self.emitted(emission);
        }
        if let Some(gateway) = &mut self.gateway {
            gateway.reuse(emissions);
        }
        if std::mem::take(&mut self.announces) {
            self.announce();
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
                if let Some(message) = message.message() {
                    let said = Seen::Said {
                        message,
                        topic: &envelope.topic,
                        payload: &envelope.payload,
                        retain: envelope.retain,
                    };
                    self.checker.saw(self.now_ms, said);
                    self.tell(|| Tale::Said(message.clone()));
                }
                self.broker.publish(self.now_ms, EGRESS, id, envelope);
            }
            Emission::Command { command, sent_ms } => {
                let sent = Seen::Sent { command: &command };
                self.checker.saw(self.now_ms, sent);
                self.tell(|| Tale::Sent(command.clone()));
                if let Some(place) = self.elevator_places.get(&command.elevator_id).copied() {
                    self.elevators[place].send(self.now_ms, command, sent_ms);
                    self.plan_elevator(place);
                }
            }
            Emission::Dropped { command, why } => {
                let dropped = Seen::Dropped { command: &command };
                self.checker.saw(self.now_ms, dropped);
                self.tell(|| Tale::Dropped(command, why));
            }
            Emission::Answer { ticket, answer } => {
                self.tell(|| Tale::Answered(answer.clone()));
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
            Emission::SaidToBeAway => self.announces = self.ready,
            Emission::Facts(facts) => self.tell(|| Tale::Facts(facts)),
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

    fn subscriptions_granted(&mut self) {
        for filter in self.topics.start_filters() {
            self.broker.unsubscribe(INGEST, &filter);
        }
        self.tell(|| Tale::Ready);
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
