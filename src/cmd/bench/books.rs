//! A data directory full of orders, made by the real core and the real journal in this process: each
//! order is requested, accepted and cancelled, and its facts and ledger rows are appended, synced in
//! groups and covered by snapshots as the gateway does it. No broker is needed for that, and time is
//! the caller's, so that a week of orders takes minutes.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use dispatch::config::SiteConfig;
use dispatch::edge::{Batch, Journal, Seq};
use dispatch::{Core, Effect, Effects, Input, Now, ledger_changes};
use protocol::ride::ReplyResult;
use protocol::robot::{Place, RideCancel, RideRequest};
use protocol::{FloorLabel, MessageId, OrderId, Outgoing, RobotId, RobotMessage, Timestamp};

use crate::journal::committer::{GROUP_RECORDS_MAX, SNAPSHOT_EVERY};
use crate::journal::{FenceMarks, SledJournal};

/// Robots that take turns.
const ROBOTS: u64 = 100;

/// The books.
pub(super) struct Books {
    core: Core,
    journal: SledJournal,
    marks: FenceMarks,
    out: Effects,
    now: Now,
    from: FloorLabel,
    to: FloorLabel,
    last: Seq,
    unsynced: usize,
    since_snapshot: u64,
}

impl Books {
    /// New books below a data directory that has none; its clock stands at `begin`.
    ///
    /// # Errors
    /// Where the journal cannot be created, or is there already.
    pub(super) fn open(
        site: SiteConfig,
        data_dir: &Path,
        begin: Timestamp,
    ) -> anyhow::Result<Self> {
        let floors = site.floors();
        let (Some(from), Some(to)) = (floors.first(), floors.last()) else {
            bail!("a site without floors");
        };
        let (from, to) = (from.label.clone(), to.label.clone());
        let mut journal = SledJournal::open(data_dir)?;
        let last = journal.load(&mut |_, _| {})?.last();
        ensure!(last == 0, "{} is in use", data_dir.display());
        let marks = FenceMarks::open(data_dir, journal.id(), last, false)?;
        let mut books = Self {
            core: Core::new(site),
            journal,
            marks,
            out: Effects::default(),
            now: Now {
                mono_ms: 0,
                wall: begin,
            },
            from,
            to,
            last,
            unsynced: 0,
            since_snapshot: 0,
        };
        books.step(Input::Start { restored: false })?;
        books.step(Input::Broker { up: true })?;
        Ok(books)
    }

    /// An order is accepted and cancelled; then `after_ms` pass.
    ///
    /// # Errors
    /// Where it is not accepted, or the journal fails.
    pub(super) fn order(&mut self, number: u64, after_ms: u64) -> anyhow::Result<()> {
        let robot = RobotId::new(&format!("R{:03}", number % ROBOTS + 1))?;
        let order = OrderId::new(&format!("T-{number:08}"))?;
        let place = |floor: &FloorLabel| Place {
            floor: floor.clone(),
            side: None,
        };
        let request = RideRequest {
            message_id: MessageId::new(&format!("q-{number:08}"))?,
            timestamp: self.now.wall,
            order_id: order.clone(),
            from: place(&self.from),
            to: place(&self.to),
            elevators: [].into(),
            priority: 5,
            at_door: None,
            eta_s: None,
            expires_at: None,
            dry_run: false,
        };
        let cancel = RideCancel {
            message_id: MessageId::new(&format!("c-{number:08}"))?,
            timestamp: self.now.wall,
            order_id: order,
            reason: "remembered".to_owned(),
        };
        for message in [RobotMessage::Request(request), RobotMessage::Cancel(cancel)] {
            let robot = robot.clone();
            self.step(Input::Robot { robot, message })?;
            ensure!(self.is_accepted(), "{number}: not accepted");
        }
        self.pass(after_ms)
    }

    /// Orders that are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.core.state().ledger.len()
    }

    /// Makes all durable and closes the journal.
    ///
    /// # Errors
    /// Where it fails.
    pub(super) fn close(mut self) -> anyhow::Result<()> {
        self.journal.sync()?;
        self.journal.close()?;
        self.marks.close(self.last).context("the fence marks")?;
        Ok(())
    }

    /// Lets time pass, with what is due meanwhile.
    fn pass(&mut self, ms: u64) -> anyhow::Result<()> {
        let until_ms = self.now.mono_ms + ms;
        while let Some(due_ms) = self.core.next_deadline_ms()
            && due_ms <= until_ms
        {
            self.set_clock(due_ms);
            self.step(Input::Tick)?;
            // A deadline that stays in the past would stop the time.
            if self.core.next_deadline_ms() == Some(due_ms) {
                break;
            }
        }
        self.set_clock(until_ms);
        Ok(())
    }

    fn set_clock(&mut self, mono_ms: u64) {
        let passed_ms = mono_ms.saturating_sub(self.now.mono_ms);
        self.now.mono_ms += passed_ms;
        self.now.wall = Timestamp(self.now.wall.0 + passed_ms);
    }

    /// One step, kept as the engine and the committer keep it.
    fn step(&mut self, input: Input) -> anyhow::Result<()> {
        self.out.clear();
        self.core.step(self.now, input, &mut self.out);
        if self.out.facts.is_empty() {
            return Ok(());
        }
        let facts = std::mem::take(&mut self.out.facts);
        let ledger = ledger_changes(self.core.state(), &facts);
        self.unsynced += facts.len();
        self.since_snapshot += facts.len() as u64;
        self.last = self.journal.append(&Batch { facts, ledger })?;
        if self.unsynced >= GROUP_RECORDS_MAX {
            self.journal.sync()?;
            self.unsynced = 0;
        }
        if self.since_snapshot >= SNAPSHOT_EVERY {
            self.journal.sync()?;
            self.unsynced = 0;
            let state = self.core.state().encode_snapshot();
            self.journal.snapshot(self.last, &state)?;
            self.since_snapshot = 0;
        }
        Ok(())
    }

    /// Whether the last step accepted something.
    fn is_accepted(&self) -> bool {
        self.out.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Say(Outgoing::RideReply { reply, .. })
                    if reply.result == ReplyResult::Accepted
            )
        })
    }
}
