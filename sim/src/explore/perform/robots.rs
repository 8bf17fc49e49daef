//! Deeds of robots, and junk on topics.

use protocol::robot::{ConnectionState, RobotConnection, RobotEvent};
use protocol::{Envelope, Landing, MessageId, RobotId, RobotMessage, Side};

use super::{Run, Then};
use crate::explore::plan::RobotDeed;
use crate::explore::{script, stage};
use crate::world::robot::{Order, Robot, Whereabouts};

/// The longest payload that a message may have, and some more.
const TOO_LARGE: usize = 20_000;

impl Run<'_> {
    /// Says whether the robot could.
    pub(super) fn robot_deed(&mut self, robot: u16, what: &RobotDeed) -> bool {
        let id = self.robots[usize::from(robot) % self.robots.len()].clone();
        let Some(robot) = self.world.robot(&id) else {
            return false;
        };
        let order = robot.order().cloned();
        let (dead, connected) = (robot.is_dead(), robot.is_connected());
        if dead {
            return false;
        }
        let (now_ms, wall) = (self.world.now_ms(), self.world.wall());
        match script::robot(&id, order.as_ref(), what) {
            Some(line) => self.script.line(now_ms, line),
            None => self.script.lacks(format!("{what:?}")),
        }
        match what {
            RobotDeed::Cancels => {
                let Some(order) = order else { return false };
                self.world.cancel(&id, &order);
            }
            RobotDeed::Says(event) => {
                self.says_untruly(&id, event);
                self.world.say(&id, event.clone());
                return order.is_some();
            }
            RobotDeed::RepeatsOld(back) => {
                let old = robot.said().nth(usize::from(*back)).cloned();
                let Some(old) = old else { return false };
                if let RobotMessage::Event(event) = &old {
                    self.says_untruly(&id, &event.event);
                }
                self.world.with_robot(&id, |robot| robot.repeat(old));
            }
            RobotDeed::Storms(times) => {
                for _ in 0..*times {
                    self.world.status(&id, None);
                }
            }
            RobotDeed::LiesInCar(in_car) => {
                let inside = matches!(robot.place(), Whereabouts::Car(_));
                if inside != *in_car {
                    self.world.with_robot(&id, Robot::offends);
                }
                self.world.status(&id, Some(*in_car));
            }
            RobotDeed::AsksBeside { same } => return self.asks_beside(&id, *same),
            RobotDeed::AsksAhead(ahead_ms) => {
                if order.is_some() {
                    return false;
                }
                let ahead_ms = *ahead_ms;
                self.world
                    .with_robot(&id, |robot| robot.habits_mut().clock_ahead_ms = ahead_ms);
                return self.asks_beside(&id, false);
            }
            RobotDeed::LosesRadio(span_ms) => {
                self.world.set_radio(&id, false);
                self.later(*span_ms, Then::RobotConnects(id));
            }
            RobotDeed::TakenOver => {
                if !connected {
                    return false;
                }
                self.world.set_radio(&id, false);
                self.later(1_000, Then::RobotConnects(id));
            }
            RobotDeed::Dies => self.world.kill_robot(&id),
            RobotDeed::Reboots => {
                self.world.reboot_robot(&id);
                self.world.status(&id, None);
            }
            RobotDeed::Freezes(span_ms) => self.world.freeze_robot(&id, *span_ms),
            RobotDeed::EarlyWill => {
                let text = format!("will-{now_ms}");
                let Ok(message_id) = MessageId::new(&text) else {
                    return false;
                };
                let will = RobotMessage::Connection(RobotConnection {
                    message_id,
                    timestamp: wall,
                    connection_state: ConnectionState::ConnectionBroken,
                });
                self.world.publish_for(&id, will);
            }
        }
        true
    }

    /// A robot that says of its place what is not so can only hurt itself.
    fn says_untruly(&mut self, id: &RobotId, event: &RobotEvent) {
        let Some(robot) = self.world.robot(id) else {
            return;
        };
        let inside = matches!(robot.place(), Whereabouts::Car(_));
        let outside = matches!(robot.place(), Whereabouts::Floor(_));
        let true_word = match event {
            RobotEvent::Entered | RobotEvent::CancelExit => inside,
            RobotEvent::Exited | RobotEvent::CancelEnter { .. } => outside,
            RobotEvent::Query | RobotEvent::AtDoor | RobotEvent::HoldDoor { .. } => true,
        };
        if !true_word {
            self.world.with_robot(id, Robot::offends);
        }
    }

    /// Asks for another order, or for the same one with another target.
    fn asks_beside(&mut self, id: &RobotId, same: bool) -> bool {
        let Some(robot) = self.world.robot(id) else {
            return false;
        };
        let Whereabouts::Floor(floor) = robot.place().clone() else {
            return false;
        };
        let known = robot.order().cloned();
        let id_of = if same { known } else { self.next_order() };
        let floors = self.plan.site.floors;
        let labels = [0, floors - 1].map(stage::label);
        let to = labels.into_iter().flatten().find(|label| *label != floor);
        let (Some(order), Some(to)) = (id_of, to) else {
            return false;
        };
        let side = Side::Front;
        let order = Order::new(order, Landing { floor, side }, Landing { floor: to, side });
        self.world.request(id, order);
        true
    }

    /// What nobody should publish.
    pub(super) fn junk(&mut self, kind: u8) {
        let base = "hallcall/v1/demo";
        let state = r#"{"order_id":"G1","robot_id":"ghost","seq":9,"state":"ELEVATOR_ARRIVED"}"#;
        let (topic, payload, retain) = match kind % 8 {
            0 => (
                "robots/R1/ride/request",
                b"{\"message_id\":\"m".to_vec(),
                false,
            ),
            1 => ("robots/ghost/ride/event", b"[]".to_vec(), true),
            2 => ("robots/ghost/ride/state", state.into(), true),
            3 => (
                "robots/R1/ride/state",
                state.replace("ghost", "R1").into(),
                true,
            ),
            4 => ("robots/R2/ride/event", vec![b' '; TOO_LARGE], false),
            5 => ("elevators/EL1/event", vec![0xFF, 0xFE], true),
            6 => ("robots/a b/ride/request", b"{}".to_vec(), false),
            _ => (
                "robots/R1/ride/cancel",
                b"{\"order_id\":\"nobody\"}".to_vec(),
                true,
            ),
        };
        self.world.publish_anyhow(Envelope {
            topic: format!("{base}/{topic}"),
            payload,
            retain,
            qos: 1,
        });
    }
}
