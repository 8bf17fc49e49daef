//! One point, tried in every state: the same play goes on over all its crashes.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use protocol::peer::{Heard, Said};
use protocol::{FloorLabel, Landing, OrderId, RobotId, Side, SiteId, Topics};
use serde_json::Value;
use sim::record::Entry;

use crate::disk::{Dice, Disk, Lost};
use crate::oracle::{Broken, Oracle, rank, record_is_clean};
use crate::plan::{Column, Kind, Target};
use crate::robots::{CAST, Deed, Robot};
use crate::support::{Client, Gateway, SOON, Site, hallcall, operate};
use crate::world::World;

const BASE: &str = "hallcall/v1/demo";
const SIGKILL: i32 = 9;
/// Between two looks at what the robots do.
const LOOK: Duration = Duration::from_millis(3);
/// How long a point is waited for once its ride has left the state, or has ended in it.
const GRACE: Duration = Duration::from_secs(2);
/// Between two messages of robots that chat.
const CHAT: Duration = Duration::from_millis(20);
/// Where rides end that nothing more goes wrong with.
const ENDS: [(&str, &str); 5] = [
    ("H", "FAILED"),
    ("P", "ROBOT_EXITED"),
    ("E", "EXPIRED"),
    ("C", "CANCELLED"),
    ("L", "FAILED"),
];

/// What a trial came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The states in which the process ended at the point.
    pub(crate) hits: Vec<&'static str>,
    /// Those in which the point was not passed.
    pub(crate) missed: Vec<&'static str>,
    /// What power cuts took, over all.
    pub(crate) lost: Lost,
}

pub(crate) struct Trial<'a> {
    column: &'a Column,
    targets: Vec<Target>,
    /// The target that is next.
    next: usize,
    /// How long a target is waited for.
    patience: Duration,
    outcome: Outcome,
    site: Site,
    disk: Option<Disk>,
    dice: Dice,
    client: Client,
    /// Messages that were looked at.
    heard: usize,
    robots: Vec<Robot>,
    oracle: Oracle,
    /// Wills of gateways that were heard.
    wills: usize,
    chatted: Instant,
    topics: Topics,
    world: World,
}

impl<'a> Trial<'a> {
    pub(crate) fn run(
        column: &'a Column,
        patience: Duration,
        seed: u64,
    ) -> Result<Outcome, Broken> {
        let mut trial = Self::start(column, patience, seed);
        for target in trial.targets.clone() {
            let tried = if column.point == "C8" {
                trial.crash_in_recovery(target)
            } else {
                trial.crash(target)
            };
            tried.map_err(|broken| trial.told(&broken))?;
            trial.next += 1;
        }
        trial.finish().map_err(|broken| trial.told(&broken))?;
        Ok(trial.outcome)
    }

    fn start(column: &'a Column, patience: Duration, seed: u64) -> Self {
        let (world, site) = World::start(column.bus);
        let client = Client::connect(&world.broker, "robots");
        for filter in [
            "robots/+/ride/reply",
            "robots/+/ride/state",
            "elevators/+/command",
            "elevators/+/event",
            "gateways/+/connection",
        ] {
            client.subscribe(&format!("{BASE}/{filter}"));
        }
        let disk = match column.kind {
            Kind::Kill => None,
            Kind::Power(_) => Some(Disk::new(&site.data_dir())),
        };
        Self {
            column,
            targets: column.targets(),
            next: 0,
            patience,
            outcome: Outcome::default(),
            site,
            disk,
            dice: Dice(seed),
            client,
            heard: 0,
            robots: CAST.map(|(name, part)| Robot::new(name, part)).into(),
            oracle: Oracle::default(),
            wills: 0,
            chatted: Instant::now(),
            topics: Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap(),
            world,
        }
    }

    /// The process ends at the point, in this state.
    fn crash(&mut self, target: Target) -> Result<(), Broken> {
        let at = format!("{}:{}", self.column.point, self.column.pass(self.next));
        let mut on = vec![target.order, target.state];
        on.extend(self.column.word);
        if self.column.point == "C4" && !self.column.every {
            on.extend(target.command);
        }
        let impossible = self.column.impossible(target.state);
        let hit = self.run_until_crash(&at, &on)?;
        match (hit, impossible) {
            (true, Some(why)) => return Err(format!("{at} in {}: {why}", target.state)),
            (true, None) => self.outcome.hits.push(target.state),
            (false, None) => self.outcome.missed.push(target.state),
            (false, Some(_)) => {}
        }
        if hit && self.column.is_durable() {
            self.oracle.was_durable(target.order, target.state);
        }
        Ok(())
    }

    /// The process ends when this state is durable, and again at each place of the start after it.
    fn crash_in_recovery(&mut self, target: Target) -> Result<(), Broken> {
        if !self.run_until_crash("C3:1", &[target.order, target.state])? {
            self.outcome.missed.push(target.state);
            return Ok(());
        }
        self.oracle.was_durable(target.order, target.state);
        for pass in &self.column.passes {
            let at = format!("C8:{pass}");
            let Err(status) = self.start_gateway(Some((&at, &[]))) else {
                return Err(format!("{at} in {}: it got ready", target.state));
            };
            self.ended_by_point(&at, status)?;
            self.outcome.hits.push(target.state);
        }
        Ok(())
    }

    /// Starts the gateway and plays until it ends at the point, or is ended because it does not.
    fn run_until_crash(&mut self, at: &str, on: &[&str]) -> Result<bool, Broken> {
        let status = match self.start_gateway(Some((at, on))) {
            Err(status) => status,
            Ok(mut gateway) => {
                self.ask_again(|_| true);
                let deadline = Instant::now() + self.patience;
                let mut passed = None;
                while !gateway.has_ended() {
                    self.look()?;
                    if self.is_past() {
                        passed.get_or_insert_with(Instant::now);
                    }
                    let is_gone = passed.is_some_and(|at: Instant| at.elapsed() > GRACE);
                    if is_gone || Instant::now() > deadline {
                        gateway.kill();
                        self.after_crash()?;
                        return Ok(false);
                    }
                }
                gateway.wait()
            }
        };
        self.ended_by_point(at, status)?;
        Ok(true)
    }

    /// The ride of the target has left its state, or has ended in it.
    fn is_past(&self) -> bool {
        let Some(target) = self.targets.get(self.next) else {
            return true;
        };
        let state = self.state_of(target.order);
        let has_left = target.state != "QUEUED" && rank(state) > rank(target.state);
        let has_ended = rank(state) == rank("FAILED") && state == target.state;
        !state.is_empty() && (has_left || has_ended)
    }

    fn state_of(&self, order: &str) -> &str {
        let mut robots = self.robots.iter();
        let robot = robots.find(|robot| robot.name == order);
        robot.map_or("", |robot| &robot.state)
    }

    fn ended_by_point(&mut self, at: &str, status: ExitStatus) -> Result<(), Broken> {
        if status.signal() != Some(SIGKILL) {
            return Err(format!("{at}: it ended by itself: {status}"));
        }
        self.after_crash()
    }

    /// The power is gone, or not; nothing more comes of the process that ended.
    fn after_crash(&mut self) -> Result<(), Broken> {
        let connections = self.log().matches("egress is connected").count();
        let deadline = Instant::now() + SOON;
        while self.wills < connections {
            self.hear()?;
            if Instant::now() > deadline {
                return Err("waited in vain for the will".to_owned());
            }
            thread::sleep(LOOK);
        }
        self.oracle.forget_requests();
        if let (Some(disk), Kind::Power(loss)) = (&self.disk, self.column.kind) {
            let lost = disk.lose(loss, &mut self.dice);
            self.outcome.lost.unsynced += lost.unsynced;
            self.outcome.lost.lost += lost.lost;
            self.outcome.lost.torn += lost.torn;
        }
        record_is_clean(&self.world)
    }

    fn start_gateway(&self, end: Option<(&str, &[&str])>) -> Result<Gateway, ExitStatus> {
        let mut command = hallcall();
        if let Some((at, on)) = end {
            command.env("HALLCALL_CRASH_AT", at);
            command.env("HALLCALL_CRASH_ON", on.join(","));
        }
        if self.column.point == "C7" {
            command.env("HALLCALL_SNAPSHOT_EVERY", "1");
        }
        if let Some(disk) = &self.disk {
            command = disk.under(command);
        }
        Gateway::try_start_by(command, &self.site)
    }

    /// The rest of the play, with nothing that goes wrong.
    fn finish(&mut self) -> Result<(), Broken> {
        let gateway = self.start_gateway(None);
        let mut gateway = gateway.map_err(|status| format!("it does not start: {status}"))?;
        self.ask_again(|_| true);
        // Five rides one after the other, beside other trials.
        let deadline = Instant::now() + 3 * SOON;
        while self.oracle.is_owed() || !self.robots.iter().all(Robot::is_over) {
            self.look()?;
            if gateway.has_ended() {
                return Err(format!("it ended by itself: {}", gateway.wait()));
            }
            if Instant::now() > deadline {
                return Err("the rides do not come to their end".to_owned());
            }
        }
        for (order, end) in ENDS {
            let state = self.state_of(order);
            if state != end {
                return Err(format!("{order} is {state}, not {end}"));
            }
        }
        gateway.terminate();
        let status = gateway.wait();
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        let looked = operate(&self.site.config(), &["journal", "verify", "--json"]);
        let found: Value = serde_json::from_slice(&looked.stdout).unwrap_or_default();
        if found["ok"] != true {
            return Err(format!("the journal is not whole: {found}"));
        }
        record_is_clean(&self.world)?;
        self.rode_once()
    }

    /// The building's own record: the robot got in where it wished, and out where it wished.
    fn rode_once(&self) -> Result<(), Broken> {
        self.world.building.record(|record| {
            let mut rides = record.rides().iter();
            let ride = rides.find(|(order, _)| order.as_str() == "P");
            let ride = ride.map(|(_, ride)| ride);
            let places = ride.and_then(|ride| {
                let (_, elevator, from) = ride.entered.as_ref()?;
                let (_, to) = ride.left.as_ref()?;
                Some((elevator.to_string(), from.to_string(), to.to_string()))
            });
            let wished = ("EL001", "1F", "6F");
            let wished = (wished.0.into(), wished.1.into(), wished.2.into());
            match places {
                Some(places) if places == wished => Ok(()),
                other => Err(format!("P rode {other:?}")),
            }
        })
    }

    /// Asks for orders again that the broker took: they must be known.
    fn ask_again(&mut self, is_meant: impl Fn(&Robot) -> bool) {
        for at in 0..self.robots.len() {
            let robot = &mut self.robots[at];
            let known = self.oracle.orders.get(robot.name);
            if known.is_some_and(|known| known.taken) && is_meant(robot) {
                let body = robot.request();
                let name = robot.name;
                self.publish(name, "ride/request", &body);
            }
        }
    }

    /// Word of the ride that is looked at.
    fn chat(&mut self) {
        if !self.column.chats() || self.chatted.elapsed() < CHAT {
            return;
        }
        self.chatted = Instant::now();
        if let Some(target) = self.targets.get(self.next).copied() {
            self.ask_again(|robot| robot.name == target.order && robot.may_chat());
        }
    }

    fn look(&mut self) -> Result<(), Broken> {
        self.hear()?;
        self.chat();
        for at in 0..self.robots.len() {
            let (targets, next) = (&self.targets, self.next);
            let is_done = |order: &str, state: &str| {
                let place = targets
                    .iter()
                    .position(|t| (t.order, t.state) == (order, state));
                place.is_none_or(|place| place < next)
            };
            let name = self.robots[at].name;
            match self.robots[at].acts(&is_done) {
                None => {}
                Some(Deed::Says { topic, body }) => self.publish(name, topic, &body),
                Some(Deed::Crosses { floor, way }) => {
                    let did = self.world.cross(name, floor, way);
                    self.robots[at].crossed(did);
                }
            }
        }
        thread::sleep(LOOK);
        Ok(())
    }

    fn publish(&mut self, robot: &str, topic: &str, body: &Value) {
        if topic == "ride/request" {
            let order = OrderId::new(robot).unwrap();
            let is_new = !self.oracle.orders.contains_key(robot);
            let message = body["message_id"].as_str().unwrap_or_default();
            self.oracle.asks(robot, message);
            if is_new {
                let landing = |key: &str| Landing {
                    floor: FloorLabel::new(body[key]["floor"].as_str().unwrap()).unwrap(),
                    side: Side::Front,
                };
                self.world.building.note(Entry::Asked {
                    robot: RobotId::new(robot).unwrap(),
                    order,
                    from: landing("from"),
                    to: landing("to"),
                });
            }
        }
        if body["again"] == true {
            self.oracle.may_go_back(robot);
        }
        let path = format!("{BASE}/robots/{robot}/{topic}");
        self.client.publish(&path, false, body.to_string());
        if topic == "ride/request" {
            self.oracle.taken(robot);
        }
    }

    fn hear(&mut self) -> Result<(), Broken> {
        for message in self.client.heard_from(self.heard) {
            self.heard += 1;
            if message.retained {
                continue;
            }
            let levels: Vec<&str> = message.topic.split('/').skip(3).collect();
            match levels[..] {
                ["gateways", _, "connection"] => {
                    let state = message.text("connection_state");
                    self.wills += usize::from(state == "CONNECTIONBROKEN");
                    continue;
                }
                ["elevators", elevator, "command"] => {
                    self.oracle.commanded(elevator, &message.body)?;
                    continue;
                }
                ["elevators", elevator, _] => {
                    self.oracle.answered(elevator, &message.body);
                    continue;
                }
                _ => {}
            }
            self.oracle.hears(&message)?;
            self.note(&message.topic, &message.payload);
            self.robots
                .iter_mut()
                .for_each(|robot| robot.hears(&message));
        }
        Ok(())
    }

    /// What a robot was told goes into the building's record, which judges it.
    fn note(&self, topic: &str, payload: &[u8]) {
        let heard = Heard::read(&self.topics, topic, payload).map(|heard| heard.said);
        if let Ok(Said::RideState {
            robot,
            view: Some(view),
        }) = heard
        {
            self.world.building.note(Entry::Told {
                robot,
                order: view.order_id,
                state: view.state,
                instruction: view.instruction,
                elevator: view.elevator_id,
                fence: view.fence,
            });
        }
    }

    fn log(&self) -> String {
        let path = self.site.data_dir().with_file_name("gateway.log");
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// What broke, and where everybody is.
    fn told(&self, broken: &str) -> Broken {
        let robots = self.robots.iter();
        let states: Vec<_> = robots.map(|robot| (robot.name, &robot.state)).collect();
        let target = self.targets.get(self.next);
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(60)..].join("\n");
        let name = &self.column.name;
        format!("{name}, {target:?}, {states:?}: {broken}\nthe gateway's log ends:\n{tail}")
    }
}
