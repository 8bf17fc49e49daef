//! From what the journal holds to where the gateway stands.

use std::collections::BTreeMap;

use dispatch::edge::{Journal, Seq};
use dispatch::{Input, Ledger, State};
use protocol::{ElevatorId, Fence};

use super::StartError;
use crate::config::Config;
use crate::journal::{FenceMarks, SledJournal};

/// Where the gateway stands.
pub(super) struct Restored {
    pub(super) journal: SledJournal,
    pub(super) state: State,
    pub(super) marks: FenceMarks,
    /// The last record that the snapshot covers.
    pub(super) covered: Seq,
    /// The last record.
    pub(super) last: Seq,
    /// The first inputs: the start, and fences that others may have seen.
    pub(super) first: Vec<Input>,
}

/// Opens the journal, alone, and reads it.
pub(super) fn restore(config: &Config, restored: bool) -> Result<Restored, StartError> {
    let data_dir = &config.gateway.data_dir;
    // A refused start leaves the data directory as it was (law 11).
    FenceMarks::look(data_dir)?;
    let mut journal = SledJournal::open(data_dir)?;
    crash_point!(recovering());
    take_over(&mut journal, config, restored)?;
    if restored {
        journal.restored();
    }
    let mut ledger = Ledger::default();
    let mut rows = Ok(());
    let loaded = journal.load(&mut |key, row| {
        if rows.is_ok() {
            rows = ledger.load_row(key, row);
        }
    })?;
    rows?;
    if loaded.cut > 0 {
        tracing::warn!(
            records = loaded.cut,
            "an unacknowledged tail was cut off the journal"
        );
    }
    let snapshot = loaded.snapshot.as_ref().map(|(_, bytes)| bytes.as_slice());
    let facts = loaded.facts.iter().map(|(_, fact)| fact);
    let state = State::load(snapshot, ledger, facts)?;
    let covered = loaded.snapshot.as_ref().map_or(0, |(seq, _)| *seq);
    let last = loaded.facts.last().map_or(covered, |(seq, _)| *seq);
    journal.settle();
    crash_point!(recovering());
    let mut marks = FenceMarks::open(data_dir, journal.id(), last, restored)?;
    if marks.verdict().is_loss() {
        tracing::warn!(verdict = ?marks.verdict(), "fences may have been given that are not known");
    }
    tracing::info!(
        last,
        covered,
        rides = state.rides.len(),
        orders = state.ledger.len(),
        "loaded"
    );
    let mut first = vec![Input::Start { restored }];
    let fences = fences(config, &state);
    let behind = marks.behind(&fences);
    // Marks are ahead before the first grant, which then waits for no disk but the journal's.
    marks.reserve(fences.iter().map(|(id, fence)| (id, *fence)), last)?;
    crash_point!(recovering());
    first.extend(
        behind
            .into_iter()
            .map(|(elevator, fence)| Input::OwnElevator { elevator, fence }),
    );
    Ok(Restored {
        journal,
        state,
        marks,
        covered,
        last,
        first,
    })
}

/// The journal is this gateway's from now on, unless it is another's.
fn take_over(journal: &mut SledJournal, config: &Config, restored: bool) -> Result<(), StartError> {
    let (owner, data_dir) = (owner(config), &config.gateway.data_dir);
    if let Some(other) = journal.owner()?
        && other != owner
        && !restored
    {
        return Err(StartError::Config(format!(
            "gateway.data_dir = {data_dir:?}: it holds the rides of {other}, this is {owner}. Give \
             it a directory of its own, or start with --restored where it is the same under \
             another name"
        )));
    }
    journal.set_owner(owner);
    Ok(())
}

/// Whose rides a journal holds, for people.
fn owner(config: &Config) -> String {
    let gateway = &config.gateway;
    format!(
        "gateway {} of {}/{}",
        gateway.id, gateway.root, gateway.site
    )
}

fn fences(config: &Config, state: &State) -> BTreeMap<ElevatorId, Fence> {
    config
        .site
        .elevators
        .keys()
        .map(|id| (id.clone(), state.elevator(id).fence))
        .collect()
}
