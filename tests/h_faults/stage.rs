//! The stage: the core with its edge and codec, a bus task, the RTU master and a register map, down
//! to the bytes of a serial line that has one car behind it. All of it is the gateway's own code but
//! the journal, the broker, the line, the car and the robot; all of it runs on the runtime's clock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dispatch::Input;
use hallcall::bus::BusLine;
use hallcall::inbox::{Arrival, Heard as Happened};
use protocol::hardware::{Door, Report};
use protocol::ops::Presence;
use protocol::peer::{Heard, Spoken};
use protocol::robot::{ConnectionState, RobotConnection};
use protocol::{
    ElevatorId, Envelope, FloorLabel, GatewayId, InstanceId, Landing, MessageId, OrderId, Outgoing,
    RobotId, RobotMessage, Side, SiteId, Timestamp, Topics,
};
use sim::live::modbus::Unit as Device;
use sim::live::robot::{Threshold, Way};
use sim::live::rtu::{LineSettings, Plan, RtuLine};
use sim::live::{Building, CarPlan, Pace};
use sim::record::Entry;
use sim::world::disk::ModelDisk;
use sim::world::gateway::{Emission, Gateway, Moment};
use sim::world::robot::{Habits, Order, Robot, RobotAct, Whereabouts};
use sim::world::site::{ElevatorPlan, SitePlan};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::laws::Laws;
use crate::line::master;

/// The car's controller.
pub const UNIT: u8 = 1;
/// Floors of the building.
pub const FLOORS: u32 = 5;
/// From the gateway to the robot, and back.
const AIR_MS: u64 = 5;
/// 2026-11-30T10:00:00Z, when every run begins.
const BEGIN: Timestamp = Timestamp(1_796_032_800_000);

pub fn elevator() -> ElevatorId {
    ElevatorId::new("EL1").unwrap()
}

pub fn robot() -> RobotId {
    RobotId::new("R1").unwrap()
}

pub fn order() -> OrderId {
    OrderId::new("T1").unwrap()
}

pub fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

/// A message on its way.
enum Word {
    ToGateway(Envelope),
    ToRobot(Envelope),
}

/// A gateway, a line, a car and a robot.
pub struct Stage {
    pub building: Arc<Building>,
    pub line: Arc<RtuLine>,
    pub laws: Laws,
    gateway: Gateway,
    disk: ModelDisk,
    robot: Robot,
    topics: Topics,
    bus: BusLine,
    inbox: mpsc::Receiver<Arrival>,
    start: Instant,
    air: VecDeque<(u64, Word)>,
    packets: u64,
}

impl Stage {
    /// One elevator that stands shut at 3F, with this presence signal; a robot at 1F.
    pub fn new(presence: Presence) -> Self {
        let plan = ElevatorPlan::new("EL1", FLOORS).unwrap();
        let plan = plan.presence(presence).starting_at(2);
        let site = SitePlan::new(vec![plan.clone()]).config(GatewayId::new("gw-1").unwrap());
        let car = CarPlan {
            elevator: elevator(),
            zone: plan.config.zone.clone(),
            config: plan.car.clone(),
        };
        let start = Instant::now();
        let building = Building::new(vec![car], Pace::new(1.0).unwrap());
        let units = BTreeMap::from([(UNIT, Device::Car(elevator()))]);
        let settings = LineSettings::default();
        let line = RtuLine::new(Arc::clone(&building), units, &settings, Plan::new(1)).unwrap();
        let (bus, inbox) = master(&line);
        tokio::spawn(Arc::clone(&building).run());
        let topics = Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap();
        let mut disk = ModelDisk::new();
        let instance = InstanceId::new("i1").unwrap();
        let laws = Laws::new(&site.timing, presence);
        let gateway = Gateway::start(site, topics.clone(), instance, 0, 0, &mut disk).unwrap();
        // It has eyes and drives through no shut door, as every robot must.
        let habits = Habits {
            looks: true,
            ..Habits::default()
        };
        let mut stage = Self {
            building,
            line,
            laws,
            gateway,
            disk,
            robot: Robot::new(robot(), landing("1F").floor, habits),
            topics,
            bus,
            inbox,
            start,
            air: VecDeque::new(),
            packets: 0,
        };
        stage.connect();
        stage
    }

    /// Milliseconds since the run began.
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap()
    }

    pub fn core(&self) -> &dispatch::Core {
        self.gateway.core()
    }

    /// The robot asks for a ride from 1F to 4F.
    pub fn ask(&mut self) {
        let order = Order::new(order(), landing("1F"), landing("4F"));
        self.building.note(Entry::Asked {
            robot: robot(),
            order: order.id.clone(),
            from: order.from.clone(),
            to: order.to.clone(),
        });
        let moment = self.moment();
        self.robot.request(moment.now_ms, moment.wall, order);
        self.turn();
    }

    /// Whether the robot leaves when it may.
    pub fn set_leaves(&mut self, leaves: bool) {
        self.robot.habits_mut().leaves = leaves;
    }

    /// Lets the next thing happen, at `limit_ms` at the latest.
    pub async fn step(&mut self, limit_ms: u64) {
        let air = self.air.front().map(|(at_ms, _)| *at_ms);
        let due = [self.gateway.next_ms(), self.robot.next_ms(), air];
        let next_ms = due.into_iter().flatten().fold(limit_ms, u64::min);
        tokio::select! {
            biased;
            Some(arrival) = self.inbox.recv() => self.arrive(arrival),
            () = sleep_until(self.start + Duration::from_millis(next_ms)) => {}
        }
        self.turn();
    }

    fn connect(&mut self) {
        self.input(Input::Start { restored: false });
        self.gateway.ingest_opened(1);
        let moment = self.moment();
        self.gateway.egress(moment, true);
        self.input(Input::Broker { up: true });
        self.gateway
            .present(moment, ConnectionState::Online)
            .unwrap();
        self.robot.set_connected(true);
        self.say(RobotMessage::Connection(RobotConnection {
            message_id: MessageId::new("online").unwrap(),
            timestamp: moment.wall,
            connection_state: ConnectionState::Online,
        }));
        self.turn();
    }

    fn moment(&self) -> Moment {
        let now_ms = self.now_ms();
        Moment {
            now_ms,
            wall: Timestamp(BEGIN.0 + now_ms),
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        let Happened::Input(input) = arrival.heard else {
            panic!("a bus task sent {:?}", arrival.heard);
        };
        if let Input::Report {
            report: Report::Reading { reading, asked_ms },
            ..
        } = &input
        {
            self.laws.read(reading, *asked_ms);
        }
        self.input(input);
    }

    fn input(&mut self, input: Input) {
        let moment = self.moment();
        self.gateway.input(moment, input, &mut self.disk).unwrap();
        self.laws.look(moment.now_ms, self.gateway.core());
    }

    /// Does all that is due at this moment.
    fn turn(&mut self) {
        let moment = self.moment();
        let is_due = |at_ms: Option<u64>| at_ms.is_some_and(|at_ms| at_ms <= moment.now_ms);
        loop {
            self.flush();
            if is_due(self.air.front().map(|(at_ms, _)| *at_ms)) {
                let word = self.air.pop_front();
                word.into_iter().for_each(|(_, word)| self.deliver(word));
            } else if is_due(self.gateway.next_ms()) {
                self.gateway.turn(moment, &mut self.disk).unwrap();
                self.laws.look(moment.now_ms, self.gateway.core());
            } else if is_due(self.robot.next_ms()) {
                self.robot.turn(moment.now_ms, moment.wall);
            } else {
                return;
            }
        }
    }

    fn deliver(&mut self, word: Word) {
        let moment = self.moment();
        match word {
            Word::ToGateway(envelope) => {
                self.packets += 1;
                let message = (
                    envelope.topic.as_str(),
                    envelope.payload.as_slice(),
                    envelope.retain,
                );
                self.gateway
                    .message(moment, self.packets, message, &mut self.disk)
                    .unwrap();
                self.laws.look(moment.now_ms, self.gateway.core());
            }
            Word::ToRobot(envelope) => {
                let heard = Heard::read(&self.topics, &envelope.topic, &envelope.payload).unwrap();
                self.robot.hear(moment.now_ms, moment.wall, heard.said);
            }
        }
    }

    /// Takes what the gateway and the robot want done until there is no more.
    fn flush(&mut self) {
        loop {
            let emissions = self.gateway.take_emissions();
            let acts = self.robot.take_acts();
            if emissions.is_empty() && acts.is_empty() {
                return;
            }
            emissions.into_iter().for_each(|one| self.emitted(one));
            acts.into_iter().for_each(|act| self.act(act));
        }
    }

    fn emitted(&mut self, emission: Emission) {
        let moment = self.moment();
        match emission {
            Emission::Publish {
                id,
                message,
                envelope,
            } => {
                let message = message.message().unwrap();
                self.laws.told(moment.now_ms, message);
                if let Outgoing::RideState(view) = message {
                    self.building.note(Entry::Told {
                        robot: view.robot_id.clone(),
                        order: view.order_id.clone(),
                        state: view.state,
                        instruction: view.instruction,
                        elevator: view.elevator_id.clone(),
                        fence: view.fence,
                    });
                }
                let arrives_ms = moment.now_ms + AIR_MS;
                self.air.push_back((arrives_ms, Word::ToRobot(envelope)));
                self.gateway.published(moment, id);
            }
            Emission::Command { command, .. } => {
                self.laws
                    .commanded(moment.now_ms, self.gateway.core(), &command);
                self.bus.send(command, moment.now_ms).unwrap();
            }
            Emission::Dropped { .. }
            | Emission::Answer { .. }
            | Emission::Acknowledge { .. }
            | Emission::SaidToBeAway
            | Emission::Stepped(_)
            | Emission::Released(_)
            | Emission::Synced(_)
            | Emission::Facts(_) => {}
        }
    }

    fn say(&mut self, message: RobotMessage) {
        let robot = robot();
        let envelope = Spoken::Robot { robot, message }.encode(&self.topics);
        let arrives_ms = self.now_ms() + AIR_MS;
        self.air.push_back((arrives_ms, Word::ToGateway(envelope)));
    }

    fn act(&mut self, act: RobotAct) {
        let moment = self.moment();
        match act {
            RobotAct::Say(message) => self.say(message),
            RobotAct::Cross {
                elevator,
                landing,
                inwards,
            } => {
                let threshold = threshold(&elevator, &landing, inwards);
                if self.sees_open(&landing)
                    && self.building.begin_crossing(&robot(), &threshold).unwrap()
                {
                    let doorway = Whereabouts::Doorway {
                        elevator,
                        landing,
                        inwards,
                    };
                    self.robot.on_threshold(moment.now_ms, doorway);
                }
            }
            RobotAct::Crossed => self.through(),
        }
    }

    fn through(&mut self) {
        let moment = self.moment();
        let Whereabouts::Doorway {
            elevator,
            landing,
            inwards,
        } = self.robot.place().clone()
        else {
            return;
        };
        let threshold = threshold(&elevator, &landing, inwards);
        // Where it could not, the building's record says that it tried.
        self.building.end_crossing(&robot(), &threshold).unwrap();
        let there = if inwards {
            Whereabouts::Car(elevator)
        } else {
            Whereabouts::Floor(landing.floor)
        };
        self.robot.through(moment.now_ms, moment.wall, there);
    }

    fn sees_open(&self, landing: &Landing) -> bool {
        let seen = self.building.snapshot(&elevator()).unwrap();
        seen.front == Door::Open && seen.floor.as_ref() == Some(&landing.floor)
    }
}

fn threshold(elevator: &ElevatorId, landing: &Landing, inwards: bool) -> Threshold {
    Threshold {
        elevator: elevator.clone(),
        landing: landing.clone(),
        way: if inwards { Way::In } else { Way::Out },
        fence: None,
    }
}
