//! One cell of the table: a ride, a fault in one state of it, and what came of both.

use protocol::ops::Presence;
use protocol::ride::RideState;
use sim::live::rtu::Plan;

use crate::rows::{FOR_EVER, Row};
use crate::stage::{Stage, UNIT, elevator, order};

/// The controller is read for so long before the robot asks.
const SETTLE_MS: u64 = 3_000;
/// The robot that stays in the car until the ride is in HOLD leaves so long after the fault began.
const LEAVES_AFTER_MS: u64 = 6_000;
/// A ride that does not move for so long, once its fault is over, stays where it is: a robot that is
/// out says so every 10 s, and an elevator that was silent heals for 10 s.
const STAYS_MS: u64 = 40_000;
/// An elevator that is not free so long after its ride is kept back: the longest wait for that is
/// `hall_call_s`, 60 s, or four times `door_close_s`.
const KEPT_MS: u64 = 90_000;
/// No cell takes longer than this; the longest waits of a ride are twice 60 s, and 180 s.
const LIMIT_MS: u64 = 700_000;
/// The longest step, so that the ends of waits are seen.
const STEP_MS: u64 = 500;

/// What came of a ride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended, or where it stays; behind a comma, what became of the elevator.
    pub end: String,
    /// From the beginning of the fault until the ride was there.
    pub took_ms: u64,
    /// Faults that struck, by the line's own record.
    pub fired: u64,
    /// What must not have happened.
    pub broken: Vec<String>,
    /// Commands that reached the car.
    pub commands: u64,
    /// Looks at the laws.
    pub looks: u64,
}

/// A ride with a fault in `state`; without `row`, nothing goes wrong.
pub fn run(presence: Presence, row: Option<&Row>, state: RideState) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(play(presence, row, state))
}

async fn play(presence: Presence, row: Option<&Row>, state: RideState) -> Outcome {
    let mut stage = Stage::new(presence);
    while stage.now_ms() < SETTLE_MS {
        stage.step(SETTLE_MS).await;
    }
    stage.set_leaves(state != RideState::Hold);
    stage.ask();
    until(&mut stage, state).await;
    let mut watch = Watch::begin(&stage, row);
    while !watch.is_over() {
        watch.end_fault(&stage);
        if state == RideState::Hold && watch.now_ms >= watch.began_ms + LEAVES_AFTER_MS {
            stage.set_leaves(true);
        }
        stage.step(watch.now_ms + STEP_MS).await;
        watch.look(&stage);
    }
    outcome(&stage, &watch)
}

async fn until(stage: &mut Stage, state: RideState) {
    let limit_ms = stage.now_ms() + LIMIT_MS;
    while Standing::of(stage).map(|standing| standing.state) != Some(state) {
        let now_ms = stage.now_ms();
        assert!(now_ms < limit_ms, "{state} was never reached");
        stage.step(now_ms + STEP_MS).await;
    }
}

/// Where a ride stands, and its elevator.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    state: RideState,
    reason: Option<String>,
    is_owned: bool,
    is_blocked: bool,
}

impl Standing {
    fn of(stage: &Stage) -> Option<Self> {
        let state = stage.core().state();
        let ride = state.rides.get(&order())?;
        let record = &state.elevators[&elevator()];
        Some(Self {
            state: ride.state,
            reason: ride.reason.as_ref().map(|reason| reason.code.to_string()),
            is_owned: record.owner.is_some(),
            is_blocked: record.block.is_some(),
        })
    }

    fn words(&self) -> String {
        let mut words = match (self.state, &self.reason) {
            (RideState::RobotExited, _) => "DONE".to_owned(),
            (state, Some(reason)) => format!("{state}({reason})"),
            (state, None) => state.to_string(),
        };
        if self.is_blocked {
            words += ", BLOCK";
        } else if self.state.is_terminal() && self.is_owned {
            words += ", kept back";
        }
        words
    }
}

/// A fault under way, and what the ride does meanwhile.
struct Watch<'a> {
    /// The fault, until it ends.
    fault: Option<&'a Row>,
    began_ms: u64,
    cure_ms: Option<u64>,
    fired: u64,
    now_ms: u64,
    standing: Standing,
    /// The ride came to its state then, and anything changed last then.
    stands_ms: u64,
    changed_ms: u64,
}

impl<'a> Watch<'a> {
    fn begin(stage: &Stage, row: Option<&'a Row>) -> Self {
        let now_ms = stage.now_ms();
        if let Some(row) = row {
            let plan = Plan::new(7).with(row.rule().unit(UNIT));
            stage.line.set_plan(plan);
        }
        let for_ms = row.map_or(0, |row| row.for_ms);
        Self {
            fault: row,
            began_ms: now_ms,
            cure_ms: (for_ms != FOR_EVER).then(|| now_ms + for_ms),
            fired: 0,
            now_ms,
            standing: Standing::of(stage).unwrap(),
            stands_ms: now_ms,
            changed_ms: now_ms,
        }
    }

    /// Ends the fault when its time is over.
    fn end_fault(&mut self, stage: &Stage) {
        if self.cure_ms.is_some_and(|at_ms| at_ms <= self.now_ms) && self.fault.take().is_some() {
            stage.line.set_plan(Plan::new(7));
        }
    }

    fn look(&mut self, stage: &Stage) {
        self.now_ms = stage.now_ms();
        if let Some(row) = self.fault {
            self.fired = stage.line.fired(row.kind());
        }
        let standing = Standing::of(stage).unwrap();
        if standing != self.standing {
            self.changed_ms = self.now_ms;
        }
        let place = |standing: &Standing| (standing.state, standing.reason.clone());
        if place(&standing) != place(&self.standing) {
            self.stands_ms = self.now_ms;
        }
        self.standing = standing;
    }

    fn is_over(&self) -> bool {
        let cured_ms = self.cure_ms.unwrap_or(0);
        let quiet_ms = self.now_ms.saturating_sub(self.changed_ms.max(cured_ms));
        let is_done = match self.standing.state {
            RideState::Hold | RideState::Queued => quiet_ms >= STAYS_MS,
            state if state.is_terminal() => !self.standing.is_owned || quiet_ms >= KEPT_MS,
            _ => false,
        };
        let is_cured = self.fault.is_none() || self.cure_ms.is_none();
        (is_done && is_cured) || self.now_ms >= self.began_ms + LIMIT_MS
    }
}

fn outcome(stage: &Stage, watch: &Watch<'_>) -> Outcome {
    let mut broken = stage.laws.broken().to_vec();
    let (violations, counts) = stage
        .building
        .record(|record| (record.judge(), record.counts()));
    let violations = violations.iter();
    broken.extend(violations.map(|(at_ms, violation)| format!("{at_ms}: {violation}")));
    Outcome {
        end: watch.standing.words(),
        took_ms: watch.stands_ms - watch.began_ms,
        fired: watch.fired,
        broken,
        commands: counts.commands,
        looks: stage.laws.looks,
    }
}
