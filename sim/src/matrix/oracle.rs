//! What must be true of a gateway that starts after a crash.

use std::collections::BTreeSet;

use dispatch::edge::{FenceGate, Journal, JournalError};
use dispatch::{Core, Effect, Effects, Input, Ledger, Now, SiteConfig, State};
use protocol::hardware::{Action, Command};
use protocol::ride::ReplyResult;
use protocol::{Fence, Outgoing};

use crate::world::disk::ModelDisk;

/// Reads a disk as a process does that starts.
///
/// # Errors
/// What the disk or the codec says.
pub(super) fn read(disk: &mut ModelDisk) -> Result<State, JournalError> {
    let mut ledger = Ledger::default();
    let mut rows = Ok(());
    let loaded = disk.load(&mut |key, row| {
        if rows.is_ok() {
            rows = ledger.load_row(key, row);
        }
    })?;
    let snapshot = loaded.snapshot.as_ref().map(|(_, bytes)| bytes.as_slice());
    let facts = loaded.facts.iter().map(|(_, fact)| fact);
    rows.and_then(|()| State::load(snapshot, ledger, facts))
        .map_err(|error| JournalError::Store(error.to_string()))
}

/// Everything that somebody saw is known: accepted orders, ride states, fences.
pub(super) fn knows(state: &State, seen: &[Effect]) -> Result<(), String> {
    for effect in seen {
        match effect {
            Effect::Say(Outgoing::RideReply { reply, .. }) => {
                let Some(order) = reply.order_id.as_ref().filter(|_| reply.state.is_some()) else {
                    continue;
                };
                if reply.result == ReplyResult::Accepted && state.ledger.find(order).is_none() {
                    return Err(format!("{order} was accepted and is not known"));
                }
            }
            Effect::Say(Outgoing::RideState(view)) => {
                let order = &view.order_id;
                let known = state.rides.get(order);
                if known.is_none_or(|ride| ride.seq < view.seq) {
                    return Err(format!(
                        "{order} was told #{} and is at {:?}",
                        view.seq,
                        known.map(|ride| ride.seq)
                    ));
                }
            }
            Effect::Command(command) => {
                let known = state.elevator(&command.elevator_id).fence;
                if known < command.fence {
                    return Err(format!("fence {} left and {known} is known", command.fence));
                }
            }
            Effect::Say(_) | Effect::Device(_) | Effect::Note(_) | Effect::Answer { .. } => {}
        }
    }
    Ok(())
}

/// The first step of a process: nothing is permitted, and each elevator is read before anything
/// else is said to it. Returns the core and what the step yielded.
///
/// # Errors
/// What it did instead.
pub(super) fn start(site: &SiteConfig, state: State, now: Now) -> Result<(Core, Effects), String> {
    let mut core = Core::restore(site.clone(), state);
    let mut out = Effects::default();
    let now = Now { mono_ms: 0, ..now };
    core.step(now, Input::Start { restored: false }, &mut out);
    let mut asked = BTreeSet::new();
    for effect in &out.effects {
        match effect {
            Effect::Command(command) if command.action == Action::Query => {
                asked.insert(command.elevator_id.clone());
            }
            // In a mode that serves no robots our holds end at once, the question first.
            Effect::Command(command)
                if command.action != Action::Release || !asked.contains(&command.elevator_id) =>
            {
                return Err(format!(
                    "{} before anything was read",
                    command.action.word()
                ));
            }
            Effect::Say(Outgoing::RideState(view)) if view.valid_s.is_some() => {
                return Err(format!("{} may cross after a restart", view.order_id));
            }
            Effect::Command(_)
            | Effect::Say(_)
            | Effect::Device(_)
            | Effect::Note(_)
            | Effect::Answer { .. } => {}
        }
    }
    Ok((core, out))
}

/// The gate has seen the fences of these commands: what an owner before them wanted, or what waited
/// too long, does not leave any more.
///
/// # Errors
/// What left.
pub(super) fn gate_holds(sent: &[Effect]) -> Result<(), String> {
    let mut gate = FenceGate::new();
    for effect in sent {
        let Effect::Command(command) = effect else {
            continue;
        };
        if gate.pass(command, 0).is_err() {
            return Err(format!("{} did not leave", command.action.word()));
        }
        let late = Command {
            action: Action::Release,
            ..command.clone()
        };
        let old = Command {
            fence: Fence(command.fence.0.saturating_sub(1)),
            ..late.clone()
        };
        if gate.pass(&late, late.expires_in_ms).is_ok() {
            return Err("a command left that waited too long".to_owned());
        }
        if command.fence > Fence(0) && gate.pass(&old, 0).is_ok() {
            return Err("a command of an earlier owner left".to_owned());
        }
    }
    Ok(())
}
