//! The small world at work: the real core, a car that moves in one go, two robots.

use std::collections::BTreeSet;
use std::fmt;

use dispatch::{Core, Effect, Effects, Input, Now, SiteConfig};
use protocol::hardware::{Action, Call, Command, Door, Mode, Motion, Outcome, Reading, Report};
use protocol::id::IdError;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::{ElevatorId, GatewayId, OrderId, Outgoing, RobotId, RobotMessage, Timestamp};

use super::walker::{Walker, landing};
use crate::check::{Checker, Seen, Step};
use crate::world::site::{ElevatorPlan, SitePlan};

/// Messages of robots under way.
pub(super) const WIRE_MAX: usize = 3;
/// 2026-11-30T10:00:00Z.
const BEGIN: u64 = 1_796_032_800_000;

/// The small world.
#[derive(Debug, Clone)]
pub struct Small {
    core: Core,
    site: SiteConfig,
    pub(super) checker: Checker,
    /// The gateway's clock, and when its process began.
    pub(super) now_ms: u64,
    begun_ms: u64,
    facts: u64,
    pub(super) elevator: ElevatorId,
    /// The car as it truly is.
    pub(super) car: Reading,
    pub(super) held_until_ms: u64,
    pub(super) robots: Vec<Walker>,
    /// Messages of robots, and words of the controller, that are under way.
    pub(super) wire: Vec<(usize, RobotMessage)>,
    pub(super) reports: Vec<Report>,
    pub(super) losses_left: u8,
    pub(super) doubles_left: u8,
    pub(super) crashes_left: u8,
}

impl Small {
    /// Both robots at their doors, the car shut between them, the gateway just started.
    ///
    /// # Errors
    /// [`IdError`] never, unless the names in this file are broken.
    pub fn new() -> Result<Self, IdError> {
        let plan = ElevatorPlan::new("EL1", 3)?.presence(Presence::Robot);
        let site = SitePlan::new(vec![plan]).config(GatewayId::new("gw-1")?);
        let mut robots = Vec::new();
        for (robot, order, from, to) in [("R1", "T1", "1F", "3F"), ("R2", "T2", "3F", "1F")] {
            if let (Some(from), Some(to)) = (landing(from), landing(to)) {
                robots.push(Walker::new(
                    RobotId::new(robot)?,
                    OrderId::new(order)?,
                    from,
                    to,
                ));
            }
        }
        let mut small = Self {
            core: Core::new(site.clone()),
            checker: Checker::new(&site).keeping(0),
            site,
            now_ms: 0,
            begun_ms: 0,
            facts: 0,
            elevator: ElevatorId::new("EL1")?,
            car: Reading {
                floor: landing("2F").map(|landing| landing.floor),
                front: Door::Closed,
                rear: None,
                motion: Motion::Stopped,
                mode: Mode::Normal,
                occupied: Some(false),
                load_pct: None,
                calls: Some(Vec::new()),
                fault: None,
            },
            held_until_ms: 0,
            robots,
            wire: Vec::new(),
            reports: Vec::new(),
            losses_left: 1,
            doubles_left: 1,
            crashes_left: 1,
        };
        for robot in &small.robots {
            let asked = Seen::Asked {
                robot: &robot.id,
                order: &robot.order,
                from: &robot.from,
                to: &robot.to,
            };
            small.checker.saw(0, asked);
        }
        small.begin();
        Ok(small)
    }

    /// The first law that is broken.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        let truth = self.checker.record().violations().first();
        let truth = truth.map(|(_, violation)| violation.to_string());
        let law = self.checker.violations().first();
        let law = law.map(|(_, violation)| violation.to_string());
        truth.or(law).or_else(|| self.core.broken_laws().pop())
    }

    /// Both rides are over, and the elevator is free.
    pub(super) fn is_over(&self) -> bool {
        let ended = |robot: &Walker| robot.told.is_some_and(|(state, ..)| state.is_terminal());
        self.robots.iter().all(ended) && self.core.state().elevator(&self.elevator).owner.is_none()
    }

    /// Some ride came to its end as it should.
    #[must_use]
    pub fn has_arrived(&self) -> bool {
        let ended = |robot: &Walker| {
            robot
                .told
                .is_some_and(|(state, ..)| state == RideState::RobotExited)
        };
        self.robots.iter().any(ended)
    }

    /// All that the world goes on by.
    ///
    /// # Errors
    /// What `to` says.
    pub fn write_all(&self, to: &mut impl fmt::Write) -> fmt::Result {
        self.core.write_all(to)?;
        write!(
            to,
            "{}{}{:?}{}{:?}{:?}{:?}{}{}{}",
            self.now_ms,
            self.begun_ms,
            self.car,
            self.held_until_ms,
            self.robots,
            self.wire,
            self.reports,
            self.losses_left,
            self.doubles_left,
            self.crashes_left
        )
    }

    pub(super) fn world_ms(&self) -> u64 {
        self.begun_ms + self.now_ms
    }

    pub(super) fn wall(&self) -> Timestamp {
        Timestamp(BEGIN + self.world_ms())
    }

    /// The floor that the car is called to.
    pub(super) fn called(&self) -> Option<&Call> {
        self.car.calls.as_ref()?.first()
    }

    pub(super) fn moves(&mut self) {
        let Some(calls) = &mut self.car.calls else {
            return;
        };
        if calls.is_empty() {
            return;
        }
        let (Call::Hall { floor, .. } | Call::Car { floor, .. }) = calls.remove(0);
        self.car.floor = Some(floor);
        self.car.front = Door::Open;
    }

    pub(super) fn hears(&mut self, place: usize, message: RobotMessage) {
        let robot = self.robots[place].id.clone();
        self.step(Input::Robot { robot, message });
    }

    pub(super) fn reported(&mut self, report: Report) {
        let elevator = self.elevator.clone();
        self.step(Input::Report { elevator, report });
    }

    pub(super) fn wait(&mut self) {
        let next_ms = self.core.next_deadline_ms().unwrap_or(self.now_ms);
        self.now_ms = next_ms.max(self.now_ms + 1);
        self.step(Input::Tick);
    }

    /// The process is killed; what it had written down is there.
    pub(super) fn crash(&mut self) {
        let (now_ms, survived) = (self.world_ms(), self.facts);
        self.checker.saw(now_ms, Seen::Crashed { survived });
        self.held_until_ms = self.held_until_ms.saturating_sub(self.now_ms);
        self.begun_ms = now_ms;
        self.now_ms = 0;
        self.reports.clear();
        for robot in &mut self.robots {
            robot.asked_ms = None;
            robot.said_ms = None;
            robot.permit = None;
        }
        self.core = Core::restore(self.site.clone(), self.core.state().clone());
        self.begin();
    }

    fn begin(&mut self) {
        let last = self.facts;
        self.checker
            .saw(self.world_ms(), Seen::Started { last, same: None });
        self.step(Input::Start { restored: false });
        self.reported(Report::Link { up: true });
        self.step(Input::Broker { up: true });
    }

    fn step(&mut self, input: Input) {
        let mut out = Effects::default();
        let wall = self.wall();
        let now = Now {
            mono_ms: self.now_ms,
            wall,
        };
        self.core.step(now, input.clone(), &mut out);
        self.facts += out.facts.len() as u64;
        let (world_ms, appended) = (self.world_ms(), self.facts);
        let step = Step {
            mono_ms: self.now_ms,
            wall,
            input: &input,
            effects: &out.effects,
            facts: out.facts.len(),
            appended,
            ticket: None,
        };
        self.checker.saw(world_ms, Seen::Stepped(step));
        self.checker.saw(world_ms, Seen::Synced { seq: appended });
        for effect in out.effects {
            match effect {
                Effect::Say(Outgoing::RideState(view)) => {
                    for robot in &mut self.robots {
                        robot.is_told(&view);
                    }
                }
                Effect::Say(Outgoing::RideReply { robot, reply }) => {
                    let now_ms = self.now_ms;
                    let known = self.robots.iter_mut().find(|known| known.id == robot);
                    if let Some(robot) = known {
                        robot.is_answered(&reply, now_ms);
                    }
                }
                Effect::Command(command) => self.obey(command),
                Effect::Say(_) | Effect::Device(_) | Effect::Note(_) | Effect::Answer { .. } => {}
            }
        }
    }

    /// The controller does at once what it is told, and its word about it goes under way.
    fn obey(&mut self, command: Command) {
        let world_ms = self.world_ms();
        let command = &command;
        self.checker.saw(world_ms, Seen::Sent { command });
        self.checker.saw(world_ms, Seen::Received { command });
        let calls = self.car.calls.get_or_insert_default();
        match &command.action {
            Action::Query => {}
            Action::HallCall { landing, direction } => calls.push(Call::Hall {
                floor: landing.floor.clone(),
                side: Some(landing.side),
                direction: Some(*direction),
            }),
            Action::CarCall { landing } => calls.push(Call::Car {
                floor: landing.floor.clone(),
                side: Some(landing.side),
            }),
            Action::CancelCall { .. } => calls.clear(),
            Action::OpenDoor { .. } => self.car.front = Door::Open,
            Action::CloseDoor { .. } => {
                self.car.front = Door::Closed;
                self.held_until_ms = 0;
            }
            Action::HoldDoor { hold_ms, .. } => self.held_until_ms = self.now_ms + hold_ms,
            Action::Claim | Action::Release => {}
        }
        let report = if command.action == Action::Query {
            Report::Reading {
                reading: self.car.clone(),
                asked_ms: Some(self.now_ms),
            }
        } else {
            Report::Outcome {
                command_id: command.command_id.clone(),
                outcome: Outcome::Accepted,
            }
        };
        self.reports.push(report);
    }

    /// The orders, for those who look at how far a search came.
    #[must_use]
    pub fn states(&self) -> BTreeSet<RideState> {
        let told = self.robots.iter().filter_map(|robot| robot.told);
        told.map(|(state, ..)| state).collect()
    }
}
