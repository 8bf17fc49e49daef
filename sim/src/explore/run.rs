//! One run of a plan: first with faults, every law looked at after every step; then without, and
//! everything must come to its end.

use std::collections::BTreeMap;

use protocol::id::IdError;
use protocol::{ElevatorId, RobotId};

use super::attendant::Attendant;
use super::excuse::Excuses;
use super::fault::{Fault, Fired};
use super::perform::Then;
use super::plan::Plan;
use super::script::Script;
use super::stage;
use crate::world::World;
use crate::world::tale::Tale;

/// How much was done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Milliseconds with requests and faults, times elevators.
    pub elevator_ms: u64,
    /// Rides that robots asked for.
    pub rides: u64,
    /// Of these, those that came to `ROBOT_EXITED` where they should.
    pub arrived: u64,
    /// Steps of the core.
    pub steps: u64,
    /// Deeds that were faults.
    pub faults: u64,
    /// Each kind of fault.
    pub fired: Fired,
    /// Each rare branch.
    pub branches: BTreeMap<String, u64>,
}

impl Totals {
    /// All of another run.
    pub fn merge(&mut self, other: &Self) {
        self.elevator_ms += other.elevator_ms;
        self.rides += other.rides;
        self.arrived += other.arrived;
        self.steps += other.steps;
        self.faults += other.faults;
        self.fired.merge(&other.fired);
        for (branch, count) in &other.branches {
            *self.branches.entry(branch.clone()).or_default() += count;
        }
    }
}

/// A law that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at_ms: u64,
    /// What happened.
    pub what: String,
}

impl Failure {
    /// The kind of failure: what happened, without names and numbers.
    #[must_use]
    pub fn kind(&self) -> String {
        let words = self.what.split_whitespace().filter(|word| {
            word.chars()
                .all(|c| c.is_ascii_lowercase() || ",.;_".contains(c))
        });
        words.take(8).collect::<Vec<_>>().join(" ")
    }
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The seed of its plan.
    pub seed: u64,
    /// The first law that was broken.
    pub failure: Option<Failure>,
    /// How much was done.
    pub totals: Totals,
    /// The same for the same plan.
    pub trace: u64,
    /// The run as a transcript, where [`Options::script`] asks for it, or what it cannot express.
    pub script: Option<Result<String, String>>,
}

/// A run at work.
#[derive(Debug)]
pub struct Run<'p> {
    pub(super) plan: &'p Plan,
    pub(super) world: World,
    pub(super) attendant: Attendant,
    /// Whether those who look after the building are there.
    pub(super) attended: bool,
    pub(super) excuses: Excuses,
    /// What follows from deeds, by its moment and number.
    pub(super) then: BTreeMap<(u64, u64), Then>,
    pub(super) numbers: u64,
    pub(super) elevators: Vec<ElevatorId>,
    pub(super) robots: Vec<RobotId>,
    pub(super) orders: u64,
    pub(super) fired: Fired,
    pub(super) faults: u64,
    /// Violations that were looked at already.
    judged: (usize, usize),
    pub(super) failure: Option<Failure>,
    options: Options,
    pub(super) script: Script,
}

/// How a plan is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Hears everything that happens.
    pub tell: Option<fn(u64, &Tale)>,
    /// Only what cars, controllers and robots saw is judged, not every step of the gateway.
    pub truth_only: bool,
    /// The run is noted as a transcript.
    pub script: bool,
}

/// Runs a plan to its end, or to the first law that is broken.
///
/// # Errors
/// [`IdError`] never, unless the names of the stage are broken.
pub fn run(plan: &Plan, options: Options) -> Result<Outcome, IdError> {
    Ok(Run::new(plan, options)?.play())
}

impl<'p> Run<'p> {
    fn new(plan: &'p Plan, options: Options) -> Result<Self, IdError> {
        let mut world = stage::world(plan, options.tell.is_some())?;
        world.start_gateway(false);
        let elevators = world.controllers().iter().map(|it| it.id().clone());
        let elevators: Vec<_> = elevators.collect();
        let robots = stage::robots(plan, &mut world)?;
        Ok(Self {
            plan,
            world,
            attendant: Attendant::new(plan.manner, plan.seed ^ 0xA77E),
            attended: true,
            excuses: Excuses::default(),
            then: BTreeMap::new(),
            numbers: 0,
            elevators,
            robots,
            orders: 0,
            fired: Fired::default(),
            faults: 0,
            judged: (0, 0),
            failure: None,
            script: Script::new(options.script),
            options,
        })
    }

    fn play(mut self) -> Outcome {
        for (at_ms, deed) in &self.plan.deeds {
            self.pass_until(*at_ms);
            if self.failure.is_some() {
                return self.outcome();
            }
            self.perform(deed);
            self.judge();
        }
        self.pass_until(self.plan.until_ms);
        if self.failure.is_none() {
            self.come_to_an_end();
        }
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        self.fired.add_mishaps(self.world.mishaps());
        let record = self.world.record();
        let arrived = record.rides().values().filter(|ride| ride.went_right());
        let trace = self.world.checker().trace();
        let ran_ms = self.plan.until_ms.min(self.world.now_ms());
        let script = self.script.notes().then(|| self.script.text(self.plan));
        Outcome {
            seed: self.plan.seed,
            script,
            totals: Totals {
                elevator_ms: ran_ms * self.elevators.len() as u64,
                rides: trace.requests(),
                arrived: arrived.count() as u64,
                steps: trace.steps(),
                faults: self.faults,
                fired: self.fired,
                branches: trace.branches(),
            },
            trace: trace.hash(),
            failure: self.failure,
        }
    }

    /// Lets time pass, with what follows from deeds and those who look after the building.
    pub(super) fn pass_until(&mut self, at_ms: u64) {
        while self.failure.is_none() {
            let then_ms = self
                .then
                .first_key_value()
                .map(|((then_ms, _), _)| *then_ms);
            let looks_ms = self.attended.then(|| self.attendant.next_ms());
            let next_ms = [then_ms, looks_ms].into_iter().flatten().min();
            let stop_ms = next_ms.unwrap_or(at_ms).min(at_ms);
            self.let_pass(stop_ms);
            if self.failure.is_some() {
                return;
            }
            if self.world.now_ms() < stop_ms {
                continue;
            }
            if then_ms.is_some_and(|then_ms| then_ms <= stop_ms) {
                if let Some((_, then)) = self.then.pop_first() {
                    self.follow(then);
                }
            } else if looks_ms.is_some_and(|looks_ms| looks_ms <= stop_ms) {
                self.attendant.look(&mut self.world, &mut self.script);
            } else {
                return;
            }
            self.judge();
        }
    }

    fn let_pass(&mut self, at_ms: u64) {
        while self.world.step_before(at_ms) {
            self.judge();
            if self.failure.is_some() || self.supervise() {
                return;
            }
        }
        self.world.run_until(at_ms);
    }

    /// Looks at what the last step brought up.
    pub(super) fn judge(&mut self) {
        if let Some(tell) = self.options.tell {
            for (at_ms, tale) in self.world.take_tales() {
                tell(at_ms, &tale);
            }
        }
        let checker = self.world.checker();
        let seen = (
            checker.record().violations().len(),
            checker.violations().len(),
        );
        if seen == self.judged || self.failure.is_some() {
            return;
        }
        let (truths, laws) = self.judged;
        self.judged = seen;
        let truths = checker.record().violations().iter().skip(truths);
        for (at_ms, violation) in truths {
            if !self.excuses.excuse(&self.world, &self.attendant, violation) {
                self.failure = Some(Failure {
                    at_ms: *at_ms,
                    what: violation.to_string(),
                });
                return;
            }
        }
        let law = checker.violations().get(laws);
        if let Some((at_ms, what)) = law.filter(|_| !self.options.truth_only) {
            self.failure = Some(Failure {
                at_ms: *at_ms,
                what: what.to_string(),
            });
        }
    }

    pub(super) fn fail(&mut self, what: String) {
        let at_ms = self.world.now_ms();
        self.failure.get_or_insert(Failure { at_ms, what });
    }

    pub(super) fn count(&mut self, fault: Option<Fault>) {
        if let Some(fault) = fault {
            self.fired.add(fault, 1);
            self.faults += 1;
        }
    }

    pub(super) fn later(&mut self, span_ms: u64, then: Then) {
        self.numbers += 1;
        let at_ms = self.world.now_ms() + span_ms;
        self.then.insert((at_ms, self.numbers), then);
    }
}
