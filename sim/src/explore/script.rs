//! A run as a transcript in the form of `tests/scripts/*.txt`, as far as that form can express it.

mod lines;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::ops::Presence;

pub(super) use self::lines::{asks, car, gateway, robot};
use super::plan::{Lift, Plan, Waits};
use crate::world::robot::Habits;

/// The player of transcripts lets so much pass after these lines by itself.
const AFTER_START_MS: u64 = 200;
const AFTER_ROBOT_MS: u64 = 20;
const AFTER_DEED_MS: u64 = 50;

/// What a run did, line by line, and what of it has no line.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Whether anything is noted at all.
    notes: bool,
    lines: Vec<(u64, String)>,
    /// How robots behave, where they do it on all their rides.
    habits: BTreeMap<String, Habits>,
    /// What cannot be expressed.
    lacks: Vec<String>,
}

impl Script {
    pub(super) fn new(notes: bool) -> Self {
        Self {
            notes,
            ..Self::default()
        }
    }

    pub(super) fn notes(&self) -> bool {
        self.notes
    }

    pub(super) fn line(&mut self, at_ms: u64, line: String) {
        if self.notes {
            self.lines.push((at_ms, line));
        }
    }

    pub(super) fn lacks(&mut self, what: impl Into<String>) {
        if self.notes {
            self.lacks.push(what.into());
        }
    }

    pub(super) fn rides(&mut self, robot: &str, habits: &Habits) {
        if !self.notes {
            return;
        }
        let known = self.habits.entry(robot.to_owned());
        if known.or_insert_with(|| habits.clone()) != habits {
            self.lacks(format!("{robot} behaves in two ways"));
        }
    }

    pub(super) fn operated(&mut self, at_ms: u64, action: &OperatorAction) {
        let seen = |seen: bool| if seen { " seen-empty" } else { "" };
        let by_force = |force: bool| if force { " force" } else { "" };
        let line = match action {
            OperatorAction::OrderCancel(order) => format!("operator cancel {order}"),
            OperatorAction::ElevatorResolve {
                elevator,
                order,
                outcome,
                car_seen_empty,
                force,
            } => {
                let how = match outcome {
                    ResolveOutcome::RobotOut => "robot-out",
                    ResolveOutcome::Continue => "continue",
                };
                let (seen, force) = (seen(*car_seen_empty), by_force(*force));
                format!("operator resolve {elevator} {order} {how}{seen}{force}")
            }
            OperatorAction::ElevatorReset {
                elevator,
                car_seen_empty,
                force,
            } => {
                let (seen, force) = (seen(*car_seen_empty), by_force(*force));
                format!("operator reset {elevator}{seen}{force}")
            }
            OperatorAction::ElevatorMaintenance { elevator, on } => {
                let word = if *on { "on" } else { "off" };
                format!("operator maintenance {elevator} {word}")
            }
            OperatorAction::SiteSuspend { .. } => "operator suspend".to_owned(),
            OperatorAction::SiteResume { .. } => "operator resume".to_owned(),
            OperatorAction::ElevatorList
            | OperatorAction::ElevatorShow(_)
            | OperatorAction::OrderList
            | OperatorAction::OrderShow(_)
            | OperatorAction::SeriesList
            | OperatorAction::SeriesShow(_)
            | OperatorAction::SeriesResume { .. }
            | OperatorAction::TurnList
            | OperatorAction::TurnShow(_)
            | OperatorAction::PoolList
            | OperatorAction::PoolShow(_)
            | OperatorAction::PoolCapacity { .. }
            | OperatorAction::RentalList
            | OperatorAction::RentalShow(_)
            | OperatorAction::DeviceList
            | OperatorAction::DeviceMaintenance { .. }
            | OperatorAction::ClaimList
            | OperatorAction::ClaimHistory
            | OperatorAction::ClaimShow(_)
            | OperatorAction::ClaimStopped { .. } => return,
        };
        self.line(at_ms, line);
    }

    /// The transcript, to be filled in by `UPDATE_EXPECT=1`; an error says what has no line.
    ///
    /// # Errors
    /// What the form of transcripts cannot express.
    pub fn text(&self, plan: &Plan) -> Result<String, String> {
        if let Some(lack) = self.lacks.first() {
            return Err(lack.clone());
        }
        let mut text = String::new();
        for (number, lift) in (1..).zip(&plan.site.elevators) {
            let _ = writeln!(text, "{}", elevator(plan, number, lift)?);
        }
        is_plain(plan)?;
        text.push_str("start\n");
        let mut now_ms = AFTER_START_MS;
        for (number, floor) in (1..).zip(&plan.robots) {
            let name = format!("R{number}");
            let Some(habits) = self.habits.get(&name) else {
                continue;
            };
            let _ = writeln!(text, "robot {name} at {}F{}", floor + 1, words(habits)?);
            now_ms += AFTER_ROBOT_MS;
        }
        text.push_str("----\n");
        let mut lines = self.lines.clone();
        lines.sort_by_key(|(at_ms, _)| *at_ms);
        for (at_ms, line) in &lines {
            if *at_ms > now_ms {
                let _ = writeln!(text, "\nwait {}ms\n----", at_ms - now_ms);
                now_ms = *at_ms;
            }
            let _ = writeln!(text, "\n{line}\n----");
            if line.starts_with('R') {
                now_ms += AFTER_DEED_MS;
            }
        }
        let _ = writeln!(text, "\nwait 60s\njudge\n----");
        Ok(text)
    }
}

fn elevator(plan: &Plan, number: u16, lift: &Lift) -> Result<String, String> {
    if lift.hop_ms != (20, 30) || lift.hold_max_ms != 10_000 || !lift.tells {
        return Err(format!("EL{number} has hops or holds of its own"));
    }
    let mut line = format!("elevator EL{number} floors={}", plan.site.floors);
    match lift.presence {
        Presence::None => {}
        Presence::Robot => line.push_str(" presence=robot"),
        Presence::Any => line.push_str(" presence=any"),
    }
    if lift.annex {
        line.push_str(" zone=annex");
    }
    if let Some(floor) = lift.recall {
        let _ = write!(line, " recall={}F", floor + 1);
    }
    if lift.claim {
        line.push_str(" claim");
    }
    if plan.site.fire_inputs {
        line.push_str(" fire-input");
    }
    if !lift.mode_signal || lift.not_served > 0 {
        return Err(format!("EL{number} lacks a signal or a floor"));
    }
    Ok(line)
}

fn is_plain(plan: &Plan) -> Result<(), String> {
    let plain = plan.site.waits == Waits::plain();
    if plain && plan.site.latency_ms == 5 && plan.site.sync_ms == 0 {
        return Ok(());
    }
    Err("the site has waits or delays of its own".to_owned())
}

fn words(habits: &Habits) -> Result<String, String> {
    let told = Habits {
        enters: habits.enters,
        leaves: habits.leaves,
        dies_in_doorway: habits.dies_in_doorway,
        radio_inside: habits.radio_inside,
        looks: true,
        ..Habits::default()
    };
    if told != *habits {
        return Err("a robot has habits that have no word".to_owned());
    }
    let table = [
        (!habits.enters, " never-enters"),
        (!habits.leaves, " never-leaves"),
        (habits.dies_in_doorway, " dies-in-doorway"),
        (!habits.radio_inside, " no-radio-inside"),
    ];
    Ok(table
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, word)| *word)
        .collect())
}
