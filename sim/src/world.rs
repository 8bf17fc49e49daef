//! A whole building in one thread on a virtual clock: the real core, edge and codec, with a model
//! disk, a model broker, controllers with cars, and robots.
//!
//! Everything happens at an exact moment, one thing after the other, and the same configuration
//! and seed give the same run. The world keeps the [`Record`] that a run is judged by.
//!
//! # Layout
//!
//! * [`site`]: what there is. [`gateway`]: the process under test. [`disk`], [`broker`],
//!   [`controller`], [`robot`]: what is around it. [`dice`]: chance with a seed. [`tale`]: the run
//!   as a story.
//! * This file: the clock; `reach`: how things reach each other; `act`: what a test can do;
//!   [`trouble`]: what may go wrong around the gateway.

mod act;
pub mod broker;
pub mod controller;
pub mod dice;
pub mod disk;
pub mod gateway;
mod reach;
pub mod robot;
mod robots;
mod schedule;
pub mod site;
pub mod tale;
pub mod trouble;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dispatch::{Input, Now, OperatorAnswer, SiteConfig, State};
use protocol::id::IdError;
use protocol::{ElevatorId, GatewayId, RobotId, SiteId, Timestamp, Topics, ZoneId};

use self::broker::ModelBroker;
use self::controller::Controller;
use self::disk::ModelDisk;
use self::gateway::{Gateway, Moment};
use self::robot::Robot;
use self::schedule::{Part, Schedule};
use self::site::SitePlan;
use self::tale::Tale;
use self::trouble::Waiting;
use crate::car::Car;
use crate::check::Checker;
use crate::record::Record;

/// 2026-11-30T10:00:00Z, when every world begins.
const BEGIN: Timestamp = Timestamp(1_796_032_800_000);
/// The gateway's two clients (`wire.md` section 1).
const INGEST: &str = "gw-1-in";
const EGRESS: &str = "gw-1-out";
/// Tales that are kept until somebody takes them; the oldest go first.
const TALES_MAX: usize = 1_000_000;
/// The core's own laws are looked at once in so many steps; they look at all that is known.
const AUDIT_STEPS: u32 = 256;
/// Answers to operators that are kept.
const ANSWERS_MAX: usize = 1_000;

/// What a world is made of.
#[derive(Debug, Clone)]
pub struct WorldConfig {
    /// The site.
    pub site: SitePlan,
    /// Milliseconds of each hop to and from the broker.
    pub latency_ms: u64,
    /// Milliseconds of a sync; 0 = nothing is ever unsynced.
    pub sync_ms: u64,
    /// All chance comes from it.
    pub seed: u64,
    /// Whether tales are kept.
    pub tales: bool,
    /// How many inputs of each gateway's core are kept.
    pub steps: usize,
    /// How many entries the record keeps for reading.
    pub entries: usize,
}

impl WorldConfig {
    /// A world with a broker 5 ms away, a disk that syncs at once, and no tales.
    #[must_use]
    pub fn new(site: SitePlan) -> Self {
        Self {
            site,
            latency_ms: 5,
            sync_ms: 0,
            seed: 1,
            tales: false,
            steps: 0,
            entries: 1_000_000,
        }
    }
}

/// A building.
#[derive(Debug)]
pub struct World {
    config: WorldConfig,
    site: SiteConfig,
    topics: Topics,
    now_ms: u64,
    schedule: Schedule,
    broker: ModelBroker,
    disk: ModelDisk,
    gateway: Option<Gateway>,
    /// Numbers the processes.
    starts: u64,
    /// Subscriptions are under way; they are granted then.
    granted_ms: Option<u64>,
    /// The process was ready once.
    ready: bool,
    /// Somebody said that it is not there; it says that it is.
    announces: bool,
    /// The process stands still until then; then its clock has missed so much.
    stalled_ms: Option<(u64, u64)>,
    /// What came meanwhile.
    waiting: VecDeque<Waiting>,
    /// How far the gateway's wall clock is off.
    wall_offset_ms: i64,
    ingest_epoch: u64,
    egress_epoch: u64,
    elevators: Vec<Controller>,
    elevator_places: BTreeMap<ElevatorId, usize>,
    robots: Vec<Robot>,
    robot_places: BTreeMap<RobotId, usize>,
    /// The connection of each robot that has one.
    robot_epochs: BTreeMap<RobotId, u64>,
    /// Zones whose fire input is not clear.
    burning: BTreeSet<ZoneId>,
    checker: Checker,
    /// What the last process had in mind when it ended, and its last record.
    left: Option<(u64, State)>,
    /// Steps until the core's own laws are looked at.
    audit_in: u32,
    tales: VecDeque<(u64, Tale)>,
    answers: VecDeque<(u64, Result<OperatorAnswer, String>)>,
    tickets: u64,
}

impl World {
    /// A building in which nothing runs yet.
    ///
    /// # Errors
    /// [`IdError`] never, unless the names in this file are broken.
    pub fn new(config: WorldConfig) -> Result<Self, IdError> {
        let gateway = GatewayId::new("gw-1")?;
        let site = config.site.config(gateway);
        let topics = Topics::new("hallcall/v1", &SiteId::new("demo")?)
            .unwrap_or_else(|_| unreachable!("hallcall/v1 is a topic root"));
        let mut elevators = Vec::new();
        let mut elevator_places = BTreeMap::new();
        for (place, plan) in config.site.elevators.iter().enumerate() {
            let id = plan.config.id.clone();
            elevator_places.insert(id.clone(), place);
            let seed = config.seed.wrapping_add(place as u64);
            let car = Car::new(plan.car.clone());
            elevators.push(Controller::new(id, plan.controller.clone(), car, seed));
        }
        Ok(Self {
            broker: ModelBroker::new(config.latency_ms),
            topics,
            now_ms: 0,
            schedule: Schedule::default(),
            disk: ModelDisk::new(),
            gateway: None,
            starts: 0,
            granted_ms: None,
            ready: false,
            announces: false,
            stalled_ms: None,
            waiting: VecDeque::new(),
            wall_offset_ms: 0,
            ingest_epoch: 0,
            egress_epoch: 0,
            elevators,
            elevator_places,
            robots: Vec::new(),
            robot_places: BTreeMap::new(),
            robot_epochs: BTreeMap::new(),
            burning: BTreeSet::new(),
            checker: Checker::new(&site).keeping(config.entries),
            site,
            left: None,
            audit_in: AUDIT_STEPS,
            tales: VecDeque::new(),
            answers: VecDeque::new(),
            tickets: 0,
            config,
        })
    }

    /// Milliseconds since the world began.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The true wall clock.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        Timestamp(BEGIN.0 + self.now_ms)
    }

    /// When something happens next by itself.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        self.schedule.next_ms()
    }

    /// What truly happened.
    #[must_use]
    pub fn record(&self) -> &Record {
        self.checker.record()
    }

    /// The checker.
    #[must_use]
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The checker, to tell it of what is not the world's.
    pub fn checker_mut(&mut self) -> &mut Checker {
        &mut self.checker
    }

    /// The gateway, while it runs.
    #[must_use]
    pub fn gateway(&self) -> Option<&Gateway> {
        self.gateway.as_ref()
    }

    /// Takes the inputs that its core was given, as many as [`WorldConfig::steps`].
    pub fn take_steps(&mut self) -> Vec<(Now, Input)> {
        let gateway = self.gateway.as_mut();
        gateway.map_or_else(Vec::new, |gateway| gateway.steps().take())
    }

    /// The disk.
    #[must_use]
    pub fn disk(&self) -> &ModelDisk {
        &self.disk
    }

    /// A controller.
    #[must_use]
    pub fn controller(&self, elevator: &ElevatorId) -> Option<&Controller> {
        self.elevator_places
            .get(elevator)
            .map(|place| &self.elevators[*place])
    }

    /// The controllers.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.elevators
    }

    /// A robot.
    #[must_use]
    pub fn robot(&self, robot: &RobotId) -> Option<&Robot> {
        self.robot_places
            .get(robot)
            .map(|place| &self.robots[*place])
    }

    /// The robots.
    #[must_use]
    pub fn robots(&self) -> &[Robot] {
        &self.robots
    }

    /// The answer to an operator's question.
    #[must_use]
    pub fn answer(&self, ticket: u64) -> Option<&Result<OperatorAnswer, String>> {
        self.answers
            .iter()
            .find(|(known, _)| *known == ticket)
            .map(|(_, answer)| answer)
    }

    /// Takes what happened since the last time.
    pub fn take_tales(&mut self) -> Vec<(u64, Tale)> {
        self.tales.drain(..).collect()
    }

    /// Lets time pass until `at_ms`.
    pub fn run_until(&mut self, at_ms: u64) {
        while self.step_before(at_ms) {}
        self.now_ms = self.now_ms.max(at_ms);
    }

    /// Lets `span_ms` pass.
    pub fn run_for(&mut self, span_ms: u64) {
        self.run_until(self.now_ms + span_ms);
    }

    /// Lets time pass until something holds, but not beyond `limit_ms`. Says whether it holds.
    pub fn run_until_that(&mut self, limit_ms: u64, holds: impl Fn(&Self) -> bool) -> bool {
        while !holds(self) {
            if !self.step_before(limit_ms) {
                self.now_ms = self.now_ms.max(limit_ms);
                return holds(self);
            }
        }
        true
    }

    /// Does the next thing that is due at or before `limit_ms`; false where there is none.
    pub fn step_before(&mut self, limit_ms: u64) -> bool {
        let Some((at_ms, part)) = self.schedule.take_due(limit_ms) else {
            return false;
        };
        self.now_ms = self.now_ms.max(at_ms);
        match part {
            Part::Broker => self.turn_broker(),
            Part::Gateway => self.turn_gateway(),
            Part::Elevator(place) => self.turn_elevator(place),
            Part::Robot(place) => self.turn_robot(place),
        }
        true
    }

    fn moment(&self) -> Moment {
        Moment {
            now_ms: self.now_ms,
            wall: Timestamp(self.wall().0.saturating_add_signed(self.wall_offset_ms)),
        }
    }

    fn tell(&mut self, tale: impl FnOnce() -> Tale) {
        if !self.config.tales {
            return;
        }
        if self.tales.len() == TALES_MAX {
            self.tales.pop_front();
        }
        self.tales.push_back((self.now_ms, tale()));
    }
}
