//! The fence marks: a second small file, so that a lost journal reuses no fence (law 3).
//!
//! For each elevator it holds a mark: the highest fence that may have been given. A mark is
//! reserved [`AHEAD`] fences ahead of the last one given, and anew when less than [`LOW`] are left,
//! by a thread of its own. A fence above the mark waits for it.
//!
//! The file also names the journal and a record that was durable in it. When the journal is
//! another one or ends before that record, every mark moves up by [`LOST`], further than a mark
//! ever is ahead of a journal that is whole. From then on, over any number of starts, an elevator's
//! mark says by its distance that its fence must be raised, until it is.

mod file;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;

use dispatch::edge::Seq;
use dispatch::{ElevatorFact, Fact};
use protocol::{ElevatorId, Fence};

use super::JournalId;
use file::Content;
use writer::Writer;

/// The name of the file in the data directory.
pub const FILE: &str = file::NAME;
/// Fences that a mark is ahead of the one given last (architecture, law 3).
pub const AHEAD: u64 = 1000;
/// A mark is reserved anew when less than this many fences are left.
pub const LOW: u64 = 500;
/// How far marks move when the journal is lost.
pub const LOST: u64 = 2 * AHEAD;
/// Further ahead than this a mark is only because the journal was lost: [`AHEAD`], and the grants
/// that were on their way to a journal that never took them.
const BEHIND: u64 = AHEAD + LOW;
/// Records after which the file names a newer durable one.
const WITNESS_EVERY: Seq = 10_000;
/// Elevators in the file; those of the site, and of earlier configurations.
const ELEVATORS_MAX: usize = 4096;

/// Why the marks cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FenceMarkError {
    /// The file is not what was written.
    #[error(
        "{path} is corrupt: {detail}. If the journal in the same directory is the newest, move \
         this file away: it is made anew. If the directory was restored from a backup, move it \
         away and start with --restored"
    )]
    Corrupt {
        /// The file.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The file could not be read or written.
    #[error("the fence marks failed: {0}")]
    Store(String),
    /// More elevators than the file may hold.
    #[error("{0} is one elevator more than the {ELEVATORS_MAX} that the fence marks may hold")]
    TooMany(ElevatorId),
}

/// How the journal looks beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There was no file.
    First,
    /// The journal is the one that the file names.
    Same,
    /// The journal is another one.
    Lost,
    /// The journal ends before a record that was durable.
    Older {
        /// The durable record that the file names.
        durable: Seq,
    },
    /// The data directory was restored from a backup, as the operator says.
    Restored,
}

impl Verdict {
    /// Whether fences may have been given that the journal does not know.
    #[must_use]
    pub fn is_loss(self) -> bool {
        match self {
            Self::First | Self::Same => false,
            Self::Lost | Self::Older { .. } | Self::Restored => true,
        }
    }
}

/// The marks of all elevators.
#[derive(Debug)]
pub struct FenceMarks {
    verdict: Verdict,
    /// What was handed to the writer last, durable or on its way.
    content: Content,
    writer: Writer,
}

impl FenceMarks {
    /// Reads the file, for the journal that was loaded up to record `last`; `restored` as the
    /// operator says. Where fences may be lost, the moved marks are durable on return.
    ///
    /// # Errors
    /// [`FenceMarkError::Corrupt`] for a file that is not what was written (exit 4), else
    /// [`FenceMarkError::Store`].
    pub fn open(
        data_dir: &Path,
        journal: JournalId,
        last: Seq,
        restored: bool,
    ) -> Result<Self, FenceMarkError> {
        let found = file::read(data_dir)?;
        let verdict = match &found {
            None => Verdict::First,
            Some(_) if restored => Verdict::Restored,
            Some(content) if content.journal != journal => Verdict::Lost,
            Some(content) if content.durable > last => Verdict::Older {
                durable: content.durable,
            },
            Some(_) => Verdict::Same,
        };
        let mut marks = found.map(|content| content.marks).unwrap_or_default();
        if verdict.is_loss() {
            marks
                .values_mut()
                .for_each(|mark| mark.0 = mark.0.saturating_add(LOST));
        }
        let content = Content {
            journal,
            durable: last,
            marks,
        };
        let mut writer = Writer::start(data_dir)?;
        if verdict.is_loss() {
            writer.write(&content);
            writer.wait()?;
        }
        Ok(Self {
            verdict,
            content,
            writer,
        })
    }

    /// The marks in the file, to look at them; `None` where there is no file.
    ///
    /// # Errors
    /// As for [`FenceMarks::open`].
    pub fn look(data_dir: &Path) -> Result<Option<BTreeMap<ElevatorId, Fence>>, FenceMarkError> {
        Ok(file::read(data_dir)?.map(|content| content.marks))
    }

    /// How the journal looked.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The elevators whose fence, as the journal has it, must be raised above a mark before the
    /// first grant, with that mark: `Input::OwnElevator { elevator, fence }` right after
    /// `Input::Start`.
    #[must_use]
    pub fn behind(&self, fences: &BTreeMap<ElevatorId, Fence>) -> Vec<(ElevatorId, Fence)> {
        let behind = |(elevator, fence): (&ElevatorId, &Fence)| {
            let mark = *self.content.marks.get(elevator)?;
            let is_behind = mark.0 > fence.0.saturating_add(BEHIND);
            is_behind.then(|| (elevator.clone(), mark))
        };
        fences.iter().filter_map(behind).collect()
    }

    /// Sees to it that these fences are below a durable mark. `durable` is the last record known
    /// durable. Waits for the disk only where a fence is above its mark.
    ///
    /// # Errors
    /// The marks could not be written: no command with such a fence may leave, the process must
    /// end as for a failed journal.
    pub fn reserve<'a>(
        &mut self,
        fences: impl IntoIterator<Item = (&'a ElevatorId, Fence)>,
        durable: Seq,
    ) -> Result<(), FenceMarkError> {
        self.writer.check()?;
        let mut write = durable.saturating_sub(self.content.durable) >= WITNESS_EVERY;
        let mut wait = false;
        for (elevator, fence) in fences {
            let mark = self.content.marks.get(elevator).copied();
            if mark.is_none() && self.content.marks.len() >= ELEVATORS_MAX {
                return Err(FenceMarkError::TooMany(elevator.clone()));
            }
            if mark.is_none_or(|mark| mark.0 < fence.0.saturating_add(LOW)) {
                let ahead = Fence(fence.0.saturating_add(AHEAD));
                self.content.marks.insert(elevator.clone(), ahead);
                write = true;
            }
            wait |= self
                .writer
                .written(elevator)
                .is_none_or(|mark| mark < fence);
        }
        if write {
            self.content.durable = self.content.durable.max(durable);
            self.writer.write(&self.content);
        }
        if wait {
            self.writer.wait()?;
        }
        Ok(())
    }

    /// [`FenceMarks::reserve`] for the fences that a step's facts give; to be called before the
    /// step is submitted.
    ///
    /// # Errors
    /// As for [`FenceMarks::reserve`].
    pub fn note(&mut self, facts: &[Fact], durable: Seq) -> Result<(), FenceMarkError> {
        let given = |fact: &'_ Fact| match fact {
            Fact::Elevator(
                ElevatorFact::Granted {
                    elevator, fence, ..
                }
                | ElevatorFact::FenceRaised { elevator, fence },
            ) => Some((elevator.clone(), *fence)),
            Fact::Elevator(
                ElevatorFact::KeptBack { .. }
                | ElevatorFact::Freed { .. }
                | ElevatorFact::Blocked { .. }
                | ElevatorFact::Unblocked { .. }
                | ElevatorFact::Maintenance { .. }
                | ElevatorFact::MustBeRead { .. },
            )
            | Fact::Ride(_)
            | Fact::Answer(_)
            | Fact::Series(_)
            | Fact::Turn(_)
            | Fact::Claim(_)
            | Fact::Rental(_)
            | Fact::Site(_) => None,
        };
        let given: Vec<_> = facts.iter().filter_map(given).collect();
        self.reserve(
            given.iter().map(|(elevator, fence)| (elevator, *fence)),
            durable,
        )
    }

    /// Writes once more which record is durable, and ends the thread.
    ///
    /// # Errors
    /// [`FenceMarkError::Store`].
    pub fn close(mut self, durable: Seq) -> Result<(), FenceMarkError> {
        self.content.durable = self.content.durable.max(durable);
        self.writer.write(&self.content);
        self.writer.wait()
    }
}

#[cfg(test)]
mod tests;
