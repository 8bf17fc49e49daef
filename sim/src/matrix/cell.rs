//! A cell of the matrix, and how its crashes are made.

use dispatch::edge::{AckLine, Barrier, Batch, Journal};
use dispatch::{Core, Effect, Effects, Input, Now, State, ledger_changes};
use protocol::Outgoing;
use protocol::RobotMessage;
use protocol::ride::ReplyResult;

use super::oracle::{gate_holds, knows, read, start};
use super::story::Story;
use super::{Matrix, kinds};
use crate::world::dice::Dice;
use crate::world::disk::ModelDisk;

/// Where the gateway is cut off (reliability plan, C0 to C7; C8 is [`Cell::twice`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// C0: before the facts are appended.
    BeforeAppend,
    /// C1: while the last record is written, at every byte.
    Torn,
    /// C2: appended, not synced.
    Appended,
    /// C3: synced, nothing is released.
    Synced,
    /// C4: command bytes are out, no answer came.
    CommandSent,
    /// C5: published, not acknowledged.
    Published,
    /// C6: acknowledged.
    Acknowledged,
    /// C7: before and after a snapshot is there.
    Snapshot,
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// The process alone: what it wrote is there.
    Kill,
    /// The power: of what was not synced any part is there.
    Cut,
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The kind of fact.
    pub kind: &'static str,
    /// Where.
    pub point: Point,
    /// How.
    pub power: Power,
    /// Again while it starts (C8).
    pub twice: bool,
}

const POINTS: [Point; 8] = [
    Point::BeforeAppend,
    Point::Torn,
    Point::Appended,
    Point::Synced,
    Point::CommandSent,
    Point::Published,
    Point::Acknowledged,
    Point::Snapshot,
];

impl Cell {
    /// All cells of a kind.
    pub(super) fn all(kind: &'static str) -> impl Iterator<Item = Self> {
        POINTS.into_iter().flat_map(move |point| {
            [Power::Kill, Power::Cut]
                .into_iter()
                .flat_map(move |power| {
                    [false, true].map(|twice| Self {
                        kind,
                        point,
                        power,
                        twice,
                    })
                })
        })
    }
}

/// A step that is cut off.
struct Scene<'s> {
    story: &'s Story,
    now: Now,
    input: &'s Input,
    /// The disk and state before the step; the core after it, and what it wants done.
    disk: &'s ModelDisk,
    before: &'s State,
    core: &'s Core,
    out: &'s Effects,
}

/// Plays a story; cuts it off at the steps that have a kind that `wanted` wants.
pub(super) fn play(
    story: &Story,
    matrix: &mut Matrix,
    wanted: &mut impl FnMut(&'static str) -> bool,
) {
    let mut core = Core::new(story.site.clone());
    let mut disk = ModelDisk::new();
    if let Err(error) = read(&mut disk) {
        matrix.broken.push(error.to_string());
        return;
    }
    let mut out = Effects::default();
    for (now, input) in &story.steps {
        let before = core.state().clone();
        out.clear();
        core.step(*now, input.clone(), &mut out);
        if out.facts.is_empty() {
            continue;
        }
        let mut new: Vec<_> = kinds(&out.facts).filter(|kind| wanted(kind)).collect();
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            let scene = Scene {
                story,
                now: *now,
                input,
                disk: &disk,
                before: &before,
                core: &core,
                out: &out,
            };
            for kind in new {
                scene.all(kind, matrix);
            }
        }
        let appended = disk.append(&batch(&core, &out)).and_then(|_| disk.sync());
        if let Err(error) = appended {
            matrix.broken.push(error.to_string());
            return;
        }
    }
}

fn batch(core: &Core, out: &Effects) -> Batch {
    Batch {
        facts: out.facts.clone(),
        ledger: ledger_changes(core.state(), &out.facts),
    }
}

impl Scene<'_> {
    fn all(&self, kind: &'static str, matrix: &mut Matrix) {
        for cell in Cell::all(kind) {
            match self.look(cell) {
                Ok(crashes) => *matrix.cells.entry(cell).or_default() += crashes,
                Err(why) => matrix
                    .broken
                    .push(format!("{}: {cell:?}: {why}", self.story.name)),
            }
        }
    }

    /// All crashes of a cell. Returns how many.
    fn look(&self, cell: Cell) -> Result<u64, String> {
        let mut disk = self.disk.clone();
        let (before, after) = (self.before, self.core.state());
        let say = |error: dispatch::edge::JournalError| error.to_string();
        if cell.point == Point::BeforeAppend {
            disk.power_cut(0);
            return self.judge(cell, disk, &[before], &[]);
        }
        let last = disk.append(&batch(self.core, self.out)).map_err(say)?;
        let early = self.released(disk.durable(), last)?;
        match cell.point {
            Point::BeforeAppend => {}
            Point::Torn => {
                let whole = disk.unsynced_bytes();
                let mut crashes = self.altered()?;
                for bytes in 0..whole {
                    let mut torn = disk.clone();
                    torn.power_cut_at(&[true], bytes);
                    crashes += self.judge(cell, torn, &[before], &early)?;
                }
                return Ok(crashes);
            }
            Point::Appended if cell.power == Power::Kill => {
                disk.power_cut(usize::MAX);
                return self.judge(cell, disk, &[after], &early);
            }
            Point::Appended => return self.any_part(cell, &disk, &early),
            Point::Synced
            | Point::CommandSent
            | Point::Published
            | Point::Acknowledged
            | Point::Snapshot => {}
        }
        disk.sync().map_err(say)?;
        let seen = self.released(disk.durable(), last)?;
        let commands = seen
            .iter()
            .filter(|effect| matches!(effect, Effect::Command(_)));
        let seen = match cell.point {
            Point::Synced => Vec::new(),
            Point::CommandSent => commands.cloned().collect(),
            Point::BeforeAppend
            | Point::Torn
            | Point::Appended
            | Point::Published
            | Point::Acknowledged
            | Point::Snapshot => seen,
        };
        let mut crashes = 0;
        if cell.point == Point::Snapshot {
            let mut unsaved = disk.clone();
            unsaved.power_cut(0);
            crashes += self.judge(cell, unsaved, &[after], &seen)?;
            let bytes = self.core.state().encode_snapshot();
            disk.snapshot(last, &bytes).map_err(say)?;
        }
        disk.power_cut(0);
        if cell.point == Point::CommandSent {
            gate_holds(&seen)?;
        }
        if cell.point == Point::Published {
            self.delivered_again(disk.clone())?;
        }
        if cell.point == Point::Acknowledged {
            self.acknowledges(last)?;
        }
        Ok(crashes + self.judge(cell, disk, &[after], &seen)?)
    }

    /// A record that was durable is never taken for a tail (law 11).
    fn altered(&self) -> Result<u64, String> {
        let mut disk = self.disk.clone();
        if !disk.alter(&mut Dice::new(disk.durable())) {
            return Ok(0);
        }
        disk.power_cut(0);
        match read(&mut disk) {
            Err(_) => Ok(1),
            Ok(_) => Err("a record that was altered is taken for a tail".to_owned()),
        }
    }

    /// Any subset of two steps that were not synced: what stands is a beginning of them.
    fn any_part(&self, cell: Cell, disk: &ModelDisk, early: &[Effect]) -> Result<u64, String> {
        let (before, after) = (self.before, self.core.state());
        let mut disk = disk.clone();
        let mut core = self.core.clone();
        let mut out = Effects::default();
        core.step(self.now, Input::Start { restored: true }, &mut out);
        let batch = batch(&core, &out);
        disk.append(&batch).map_err(|error| error.to_string())?;
        let mut crashes = 0;
        for (first, second, stands) in [
            (false, false, before),
            (false, true, before),
            (true, false, after),
            (true, true, core.state()),
        ] {
            let mut cut = disk.clone();
            cut.power_cut_at(&[first, second], usize::MAX);
            crashes += self.judge(cell, cut, &[stands], early)?;
        }
        Ok(crashes)
    }

    /// What the barrier lets out of the step when records up to `durable` are.
    fn released(&self, durable: u64, last: u64) -> Result<Vec<Effect>, String> {
        let mut barrier = Barrier::new(self.disk.durable(), self.out.effects.len() + 1);
        barrier.appended(last);
        for effect in &self.out.effects {
            barrier
                .hold(effect.clone())
                .map_err(|full| full.to_string())?;
        }
        barrier.durable(durable);
        Ok(std::iter::from_fn(|| barrier.release()).collect())
    }

    /// The acknowledgement comes once all is durable, and not before.
    fn acknowledges(&self, last: u64) -> Result<(), String> {
        let mut barrier = Barrier::new(self.disk.durable(), 1);
        let mut line = AckLine::new(1);
        line.connected(1);
        let ticket = line.received(1).map_err(|full| full.to_string())?;
        barrier.appended(last);
        barrier.hold(ticket).map_err(|full| full.to_string())?;
        if barrier.release().is_some() || line.leave().is_some() {
            return Err("acknowledged before its facts are durable".to_owned());
        }
        barrier.durable(last);
        let due = barrier.release().is_some_and(|ticket| line.due(ticket));
        if due && line.leave() == Some(1) {
            return Ok(());
        }
        Err("never acknowledged".to_owned())
    }

    /// What was not acknowledged is delivered again: an order that was accepted is a duplicate.
    fn delivered_again(&self, mut disk: ModelDisk) -> Result<(), String> {
        let Input::Robot {
            message: RobotMessage::Request(request),
            ..
        } = self.input
        else {
            return Ok(());
        };
        let state = read(&mut disk).map_err(|error| error.to_string())?;
        let (mut core, _) = start(&self.story.site, state, self.now)?;
        let mut out = Effects::default();
        let now = Now {
            mono_ms: 1,
            ..self.now
        };
        core.step(now, self.input.clone(), &mut out);
        let again = out.effects.iter().any(|effect| {
            matches!(effect, Effect::Say(Outgoing::RideReply { reply, .. })
                if reply.result == ReplyResult::Duplicate)
        });
        let accepted = self.core.state().ledger.find(&request.order_id).is_some();
        if accepted && !again {
            return Err(format!(
                "{} is not a duplicate after the crash",
                request.order_id
            ));
        }
        Ok(())
    }

    /// What the next process makes of the disk.
    fn judge(
        &self,
        cell: Cell,
        mut disk: ModelDisk,
        stands: &[&State],
        seen: &[Effect],
    ) -> Result<u64, String> {
        let state = read(&mut disk).map_err(|error| error.to_string())?;
        if !stands.contains(&&state) {
            return Err("what stands is another state".to_owned());
        }
        knows(&state, seen)?;
        let (core, out) = start(&self.story.site, state.clone(), self.now)?;
        if !cell.twice {
            return Ok(1);
        }
        self.again(cell, &disk, &state, (&core, &out), seen)
    }

    /// The next process is cut off too, at each point of its first step.
    fn again(
        &self,
        cell: Cell,
        disk: &ModelDisk,
        state: &State,
        (core, out): (&Core, &Effects),
        seen: &[Effect],
    ) -> Result<u64, String> {
        let once = Cell {
            twice: false,
            ..cell
        };
        let mut unwritten = disk.clone();
        unwritten.power_cut(0);
        let mut crashes = self.judge(once, unwritten, &[state], seen)?;
        if out.facts.is_empty() {
            return Ok(crashes);
        }
        let mut written = disk.clone();
        let say = |error: dispatch::edge::JournalError| error.to_string();
        written.append(&batch(core, out)).map_err(say)?;
        let parts: &[bool] = match cell.power {
            Power::Kill => &[true],
            Power::Cut => &[false, true],
        };
        for kept in parts {
            let mut cut = written.clone();
            cut.power_cut_at(&[*kept], usize::MAX);
            let stands = if *kept { core.state() } else { state };
            crashes += self.judge(once, cut, &[stands], seen)?;
        }
        written.sync().map_err(say)?;
        written.power_cut(0);
        Ok(crashes + self.judge(once, written, &[core.state()], seen)?)
    }
}
