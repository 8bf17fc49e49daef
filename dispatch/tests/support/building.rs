//! The building: one core, its controllers, a clock that only the test moves.

use std::collections::BTreeMap;

use dispatch::{
    Core, Effect, Effects, Input, Now, OperatorAction, OperatorAnswer, OperatorRequest, SiteConfig,
    State,
};
use protocol::hardware::{Command, Outcome, Report};
use protocol::ops::{Alarm, Presence};
use protocol::ride::{RideReply, RideView};
use protocol::{CommandId, ElevatorId, Fence, OrderId, Outgoing, RobotId, RobotMessage, Timestamp};

use super::cell::{self, Trace};
use super::laws::Laws;
use super::plant::{Plant, Treatment};
use super::site::{elevator, order};

/// How long an answer of a controller takes.
pub(crate) const ANSWER_MS: u64 = 20;
/// The wall clock at the first step.
pub(crate) const WALL_MS: u64 = 1_796_000_000_000;
/// Steps at one moment at most; more is a busy loop.
const STEPS_AT_ONCE_MAX: u32 = 200;

/// What comes later.
#[derive(Debug)]
enum Later {
    Snapshot {
        id: ElevatorId,
        asked_ms: u64,
    },
    Answer {
        id: ElevatorId,
        command: CommandId,
        outcome: Outcome,
    },
    Input(Input),
}

/// The building.
pub(crate) struct Building {
    core: Core,
    config: SiteConfig,
    now_ms: u64,
    later: BTreeMap<(u64, u64), Later>,
    serial: u64,
    laws: Laws,
    pub(crate) plants: BTreeMap<ElevatorId, Plant>,
    pub(crate) replies: Vec<RideReply>,
    pub(crate) alarms: Vec<(u64, Alarm)>,
    pub(crate) open_alarms: Vec<Alarm>,
    pub(crate) shown: Vec<(u64, RideView)>,
    pub(crate) cleared: Vec<RobotId>,
    pub(crate) answers: Vec<Result<OperatorAnswer, String>>,
    pub(crate) trace: Trace,
}

impl Building {
    /// A gateway that has started, found its broker and read its elevators.
    pub(crate) fn new(config: SiteConfig) -> Self {
        let mut building = Self::cold(config, State::default());
        building.step(Input::Start { restored: false });
        building.step(Input::Broker { up: true });
        building.run(100);
        building
    }

    /// A gateway before its first input.
    pub(crate) fn cold(config: SiteConfig, state: State) -> Self {
        let plants = config
            .elevators
            .values()
            .map(|car| (car.id.clone(), Plant::new(car.presence != Presence::None)))
            .collect();
        Self {
            laws: Laws::new(&config, state.clone()),
            core: Core::restore(config.clone(), state),
            config,
            now_ms: 1_000_000,
            later: BTreeMap::new(),
            serial: 0,
            plants,
            replies: Vec::new(),
            alarms: Vec::new(),
            open_alarms: Vec::new(),
            shown: Vec::new(),
            cleared: Vec::new(),
            answers: Vec::new(),
            trace: Trace::default(),
        }
    }

    /// The process ends and starts again `pause_ms` later; the controllers stay as they are.
    pub(crate) fn restart(&mut self, pause_ms: u64, restored: bool) {
        let state = self.laws.reload();
        self.core = Core::restore(self.config.clone(), state.clone());
        self.laws.restart(state);
        self.later.clear();
        self.now_ms += pause_ms;
        self.step(Input::Start { restored });
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub(crate) fn wall(&self) -> Timestamp {
        Timestamp(WALL_MS + self.now_ms)
    }

    pub(crate) fn state(&self) -> &State {
        self.core.state()
    }

    pub(crate) fn config(&self) -> &SiteConfig {
        &self.config
    }

    /// The controller of the first elevator.
    pub(crate) fn plant(&mut self) -> &mut Plant {
        self.plant_of(super::E1)
    }

    pub(crate) fn plant_of(&mut self, id: &str) -> &mut Plant {
        self.plants
            .get_mut(&elevator(id))
            .expect("a known elevator")
    }

    /// One input at this moment.
    pub(crate) fn step(&mut self, input: Input) {
        let now = Now {
            mono_ms: self.now_ms,
            wall: self.wall(),
        };
        self.laws.before(&input);
        let mut out = Effects::default();
        self.core.step(now, input, &mut out);
        self.laws.after(&self.core, self.now_ms, &out);
        for fact in &out.facts {
            cell::note_fact(&mut self.trace, self.now_ms, fact);
        }
        for effect in out.effects {
            self.release(effect);
        }
    }

    fn release(&mut self, effect: Effect) {
        match effect {
            Effect::Command(command) => self.command(&command),
            Effect::Note(_) | Effect::Device(_) => {}
            Effect::Answer { answer, .. } => self.answers.push(answer),
            Effect::Say(Outgoing::RideReply { reply, .. }) => self.replies.push(reply),
            Effect::Say(Outgoing::RideState(view)) => self.shown.push((self.now_ms, view)),
            Effect::Say(Outgoing::RideStateCleared { robot }) => self.cleared.push(robot),
            Effect::Say(Outgoing::Alarm(alarm)) => self.alarms.push((self.now_ms, alarm)),
            Effect::Say(Outgoing::Alarms(open)) => self.open_alarms = open,
            Effect::Say(
                Outgoing::ElevatorState(_)
                | Outgoing::ElevatorCommand(_)
                | Outgoing::Site(_)
                | Outgoing::ClientReply { .. }
                | Outgoing::ClaimState { .. }
                | Outgoing::RentalState { .. }
                | Outgoing::DeviceCommand { .. }
                | Outgoing::DeviceState(_)
                | Outgoing::GatewayConnection(..),
            ) => {}
        }
    }

    fn command(&mut self, command: &Command) {
        cell::note_command(&mut self.trace, self.now_ms, command);
        let id = command.elevator_id.clone();
        let plant = self.plants.get_mut(&id).expect("a known elevator");
        let command_id = command.command_id.clone();
        let later = match plant.take(self.now_ms, command) {
            Treatment::Snapshot => Later::Snapshot {
                id,
                asked_ms: self.now_ms,
            },
            Treatment::Accepted => Later::Answer {
                id,
                command: command_id,
                outcome: Outcome::Accepted,
            },
            Treatment::Refused => Later::Answer {
                id,
                command: command_id,
                outcome: Outcome::Failed {
                    detail: "refused".to_owned(),
                },
            },
            Treatment::Silence => return,
        };
        self.put(ANSWER_MS, later);
    }

    fn put(&mut self, in_ms: u64, later: Later) {
        self.serial += 1;
        self.later.insert((self.now_ms + in_ms, self.serial), later);
    }

    /// An input that comes later.
    pub(crate) fn after(&mut self, in_ms: u64, input: Input) {
        self.put(in_ms, Later::Input(input));
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        while self.advance(until) {}
    }

    /// Lets time pass while the robot is heard every 10 s.
    pub(crate) fn run_alive(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        while self.now_ms < until {
            self.run((until - self.now_ms).min(10_000));
            self.status(super::R1);
        }
    }

    /// Lets time pass until the condition holds; at most `most_ms`.
    pub(crate) fn run_until(
        &mut self,
        what: &str,
        most_ms: u64,
        mut met: impl FnMut(&Self) -> bool,
    ) {
        let until = self.now_ms + most_ms;
        while !met(self) {
            let more = self.advance(until);
            assert!(
                more || met(self),
                "{what}: not within {most_ms} ms; {}",
                cell::describe_all(self.state())
            );
        }
    }

    /// One more step before `until`; `false` when there is none.
    fn advance(&mut self, until: u64) -> bool {
        let arrival = self.later.keys().next().map(|(at, _)| *at);
        let tick = self.core.next_deadline_ms();
        let next = [arrival, tick].into_iter().flatten().min();
        let Some(at) = next.filter(|at| *at <= until) else {
            self.now_ms = until;
            return false;
        };
        if at > self.now_ms {
            self.laws.steps_at_once = 0;
        }
        self.laws.steps_at_once += 1;
        assert!(
            self.laws.steps_at_once < STEPS_AT_ONCE_MAX,
            "a busy loop at {} ms: next deadline {tick:?}",
            self.now_ms
        );
        self.now_ms = self.now_ms.max(at);
        if arrival == Some(at) {
            let (_, later) = self.later.pop_first().expect("there is one");
            self.arrive(later);
        } else {
            self.step(Input::Tick);
        }
        true
    }

    fn arrive(&mut self, later: Later) {
        let input = match later {
            Later::Input(input) => input,
            Later::Snapshot { id, asked_ms } => {
                let reading = self.plants[&id].reading.clone();
                let asked_ms = Some(asked_ms);
                Input::Report {
                    elevator: id,
                    report: Report::Reading { reading, asked_ms },
                }
            }
            Later::Answer {
                id,
                command,
                outcome,
            } => Input::Report {
                elevator: id,
                report: Report::Outcome {
                    command_id: command,
                    outcome,
                },
            },
        };
        self.step(input);
    }

    /// A robot says something; what it is answered.
    pub(crate) fn robot(&mut self, id: &str, message: RobotMessage) -> Option<RideReply> {
        let before = self.replies.len();
        self.step(Input::Robot {
            robot: super::site::robot(id),
            message,
        });
        self.replies.get(before).cloned()
    }

    /// An operator asks; the answer.
    pub(crate) fn operator(&mut self, action: OperatorAction) -> Result<OperatorAnswer, String> {
        self.step(Input::Operator(OperatorRequest {
            ticket: 7,
            operator: "anna".to_owned(),
            reason: "a test".to_owned(),
            action,
        }));
        self.answers.pop().expect("an answer in the same step")
    }

    /// A driver says something about the first elevator.
    pub(crate) fn report(&mut self, report: Report) {
        self.step(Input::Report {
            elevator: elevator(super::E1),
            report,
        });
    }

    /// The fence of an order's ride.
    pub(crate) fn fence(&self, id: &str) -> Option<Fence> {
        self.state()
            .rides
            .get(&order(id))
            .and_then(|ride| ride.fence)
    }

    /// An order's ride in the words of the table.
    pub(crate) fn describe(&self, id: &str) -> String {
        cell::describe(self.state(), &order(id))
    }

    pub(crate) fn is_in(&self, id: &str, state: protocol::ride::RideState) -> bool {
        let id: OrderId = order(id);
        self.state()
            .rides
            .get(&id)
            .is_some_and(|ride| ride.state == state)
    }

    /// Runs until the next answered query has been read.
    pub(crate) fn read_again(&mut self) {
        let before: usize = self.plant().count("query");
        let first = elevator(super::E1);
        self.run_until("a query", 3_000, |building| {
            building.plants[&first].count("query") > before
        });
        self.run(ANSWER_MS);
    }
}
