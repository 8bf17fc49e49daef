//! What happened, in the words of the ride table.

use std::fmt::Write as _;

use dispatch::{ElevatorFact, Fact, KeptUntil, RideFact, State};
use protocol::hardware::{Action, Command};
use protocol::ride::{ReplyResult, RideReply, RideState};
use protocol::{Landing, OrderId};

use super::Building;
use super::site::order;

/// A hold that is sent later than this after a change, while one stands, only renews it.
const RENEWAL_MS: u64 = 300;

/// What facts and commands told since the trace was cleared.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    moves: Vec<(OrderId, String, u64)>,
    ownership: Vec<String>,
    commands: Vec<String>,
    /// The cell began, or the ride moved, last at this moment.
    since_ms: u64,
    last_hold: Option<(u64, Landing)>,
    last_move: Option<String>,
    /// Whether queries count as commands.
    pub(crate) queries: bool,
}

pub(crate) fn note_fact(trace: &mut Trace, now_ms: u64, fact: &Fact) {
    match fact {
        Fact::Ride(RideFact::Moved {
            order,
            seq,
            state,
            instruction,
            reason,
            ..
        }) => {
            let reason = reason.as_ref().map(|reason| reason.code.as_str());
            let text = words(*state, reason, instruction.as_str());
            if trace.last_move.as_ref() != Some(&text) {
                trace.since_ms = now_ms;
                trace.last_move = Some(text.clone());
            }
            trace.moves.push((order.clone(), text, *seq));
        }
        Fact::Ride(
            RideFact::Admitted { .. }
            | RideFact::Away { .. }
            | RideFact::InCar { .. }
            | RideFact::Claimed { .. }
            | RideFact::Inside { .. }
            | RideFact::Archived { .. }
            | RideFact::Forgotten { .. },
        )
        | Fact::Site(_)
        | Fact::Answer(_)
        | Fact::Series(_)
        | Fact::Turn(_)
        | Fact::Claim(_)
        | Fact::Rental(_) => {}
        Fact::Elevator(fact) => note_elevator(trace, fact),
    }
}

fn note_elevator(trace: &mut Trace, fact: &ElevatorFact) {
    let text = match fact {
        ElevatorFact::Granted { .. } => "K".to_owned(),
        ElevatorFact::KeptBack { until, .. } => {
            let until = match until {
                KeptUntil::Shut => "SHUT",
                KeptUntil::ShutOrEmpty => "SHUT or EMPTY",
                KeptUntil::CallCleared { .. } => "CLEARCALL",
                KeptUntil::ModeNormal => "mode normal",
            };
            format!("B until {until}")
        }
        ElevatorFact::Freed { .. } => "F".to_owned(),
        ElevatorFact::Blocked { occupant: true, .. } => "BLOCK(UNEXPECTED_OCCUPANT)".to_owned(),
        ElevatorFact::Blocked { reason, .. } => format!("BLOCK({})", reason.code),
        ElevatorFact::Unblocked { .. } => "unblocked".to_owned(),
        ElevatorFact::Maintenance { on, .. } => {
            format!("maintenance {}", if *on { "on" } else { "off" })
        }
        ElevatorFact::FenceRaised { .. } => "fence raised".to_owned(),
        ElevatorFact::MustBeRead { on: true, .. } => "unknown".to_owned(),
        ElevatorFact::MustBeRead { on: false, .. } => "read".to_owned(),
    };
    trace.ownership.push(text);
}

pub(crate) fn note_command(trace: &mut Trace, now_ms: u64, command: &Command) {
    if matches!(
        command.action,
        Action::OpenDoor { .. } | Action::CarCall { .. }
    ) {
        // The door did not stay open, or the car goes: the next hold is another one.
        trace.last_hold.take_if(|(at, _)| now_ms > *at + RENEWAL_MS);
    }
    let renews = if let Action::HoldDoor { landing, hold_ms } = &command.action {
        let last = trace.last_hold.replace((now_ms, landing.clone()));
        let stands = last.is_some_and(|(at, there)| now_ms < at + hold_ms && &there == landing);
        stands && now_ms > trace.since_ms + RENEWAL_MS
    } else {
        false
    };
    if renews || (command.action == Action::Query && !trace.queries) {
        return;
    }
    let landing = match &command.action {
        Action::Query | Action::Claim | Action::Release => None,
        Action::HallCall { landing, .. }
        | Action::CancelCall { landing, .. }
        | Action::CarCall { landing }
        | Action::OpenDoor { landing }
        | Action::HoldDoor { landing, .. }
        | Action::CloseDoor { landing } => Some(landing.floor.as_str()),
    };
    let word = command.action.word();
    let text = landing.map_or_else(|| word.to_owned(), |floor| format!("{word} {floor}"));
    trace.commands.push(text);
}

/// `STATE(REASON) instruction`; why a ride is queued is no part of the table.
fn words(state: RideState, reason: Option<&str>, instruction: &str) -> String {
    match reason {
        Some(reason) if state != RideState::Queued => format!("{state}({reason}) {instruction}"),
        Some(_) | None => format!("{state} {instruction}"),
    }
}

pub(crate) fn describe(state: &State, id: &OrderId) -> String {
    state.rides.get(id).map_or_else(
        || "no ride".to_owned(),
        |ride| {
            let reason = ride.reason.as_ref().map(|reason| reason.code.as_str());
            words(ride.state, reason, ride.instruction.as_str())
        },
    )
}

pub(crate) fn describe_all(state: &State) -> String {
    let mut text = String::new();
    for id in state.rides.keys() {
        let _ = write!(text, "{id}: {}; ", describe(state, id));
    }
    for (id, record) in &state.elevators {
        let owner = record.owner.as_ref().map(|owner| owner.order.as_str());
        let (kept, block) = (record.kept.as_ref(), record.block.as_ref());
        let block = block.map(|block| block.reason.code);
        let _ = write!(
            text,
            "{id}: owner {owner:?} kept {kept:?} block {block:?}; "
        );
    }
    text
}

/// `A`, `D`, `R:CODE` or `-`.
pub(crate) fn word_of(reply: Option<&RideReply>) -> String {
    let Some(reply) = reply else {
        return "-".to_owned();
    };
    match reply.result {
        ReplyResult::Accepted => "A".to_owned(),
        ReplyResult::Duplicate => "D".to_owned(),
        ReplyResult::Rejected => format!("R:{}", reply.code.expect("a code of a rejection")),
    }
}

/// What the observer of one cell knows before it.
pub(crate) struct Before {
    order: OrderId,
    text: String,
    seq: u64,
    inside: bool,
}

impl Building {
    /// Begins to look at a cell.
    pub(crate) fn look(&mut self, id: &str, queries: bool) -> Before {
        self.trace = Trace {
            queries,
            since_ms: self.now_ms(),
            last_hold: self.trace.last_hold.take(),
            last_move: self.trace.last_move.take(),
            ..Trace::default()
        };
        let id = order(id);
        let ride = self.state().rides.get(&id);
        Before {
            text: describe(self.state(), &id),
            seq: ride.map_or(0, |ride| ride.seq),
            inside: ride.is_some_and(|ride| ride.inside),
            order: id,
        }
    }

    /// What happened up to here is no part of the cell.
    pub(crate) fn forget(&mut self) {
        let queries = self.trace.queries;
        self.trace = Trace {
            queries,
            since_ms: self.now_ms(),
            last_hold: self.trace.last_hold.take(),
            last_move: self.trace.last_move.take(),
            ..Trace::default()
        };
    }

    /// What happened since: `-> STATE(REASON) instruction; commands; ownership`.
    pub(crate) fn seen(&self, before: &Before) -> String {
        let mut last = before.text.as_str();
        let mut text = String::new();
        for (order, moved, _) in &self.trace.moves {
            if order == &before.order && moved != last {
                let _ = write!(text, " -> {moved}");
                last = moved;
            }
        }
        if text.is_empty() {
            text.push_str(" =");
            let ride = self.state().rides.get(&before.order);
            if ride.is_some_and(|ride| ride.seq > before.seq) {
                text.push_str(" seq+");
            }
            if ride.is_some_and(|ride| ride.inside) && !before.inside {
                text.push_str(" INSIDE");
            }
        }
        let commands = counted(&self.trace.commands);
        if !commands.is_empty() {
            let _ = write!(text, "; {commands}");
        }
        if !self.trace.ownership.is_empty() {
            let _ = write!(text, "; {}", self.trace.ownership.join(", "));
        }
        text
    }
}

/// Commands in their order; what is repeated at once is counted, but for renewals of a hold and
/// queries.
fn counted(commands: &[String]) -> String {
    let mut runs: Vec<(&str, u32)> = Vec::new();
    for command in commands {
        match runs.last_mut() {
            Some((last, times)) if last == command => *times += 1,
            Some(_) | None => runs.push((command, 1)),
        }
    }
    let texts = runs.into_iter().map(|(command, times)| {
        if times == 1 || command.starts_with("hold_door") || command == "query" {
            command.to_owned()
        } else {
            format!("{times} x {command}")
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}
