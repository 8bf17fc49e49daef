//! A gateway process of the world: the real core, edge and codec, without threads.
//!
//! It moves messages as the program does: decode, step, append, barrier, then effects and
//! acknowledgements in order. What leaves it comes out as [`Emission`]s.

mod emission;
mod presence;
mod publish;
mod steps;

use std::collections::VecDeque;

use dispatch::edge::Keep;
use dispatch::edge::{AckLine, Barrier, Batch, FenceGate, Journal, JournalError, Outbox, Ticket};
use dispatch::{
    Core, Effect, Effects, Fact, Input, Ledger, Now, SiteConfig, State, ledger_changes,
};
use protocol::hardware::{Command, Outcome, Report};
use protocol::robot::ConnectionState;
use protocol::{Decoded, Inbound, InstanceId, Outgoing, Topics, decode};

pub use self::emission::{Emission, Moment, Stepped};
pub use self::steps::Steps;
use super::disk::ModelDisk;

/// Messages of one connection that wait for their acknowledgement.
const LINE_MAX: usize = 10_000;
/// Effects that wait for the disk, and messages that wait for the broker.
const HELD_MAX: usize = 100_000;
/// Messages under way to the broker.
const FLIGHT_MAX: usize = 100;
/// Facts between two snapshots.
const SNAPSHOT_FACTS: u64 = 250;

#[derive(Debug)]
enum Held {
    /// With the moment at which it was wanted, and the last record appended then.
    Effect(Box<Effect>, u64, u64),
    Due(Ticket),
}

/// One process.
#[derive(Debug)]
pub struct Gateway {
    core: Core,
    topics: Topics,
    site: SiteConfig,
    instance: InstanceId,
    out: Effects,
    /// Inputs that came up while others were worked on.
    inbox: VecDeque<(Input, Option<(Ticket, u64)>)>,
    barrier: Barrier<Held>,
    line: AckLine<u64>,
    outbox: Outbox<Outgoing>,
    gate: FenceGate,
    started_ms: u64,
    /// How long a sync takes.
    sync_ms: u64,
    sync_at_ms: Option<u64>,
    appended: u64,
    covered: u64,
    messages: u64,
    emissions: Vec<Emission>,
    steps: Steps,
}

impl Gateway {
    /// A process that starts at `now_ms` on what the disk holds.
    ///
    /// # Errors
    /// What the disk says when it cannot be read.
    pub fn start(
        site: SiteConfig,
        topics: Topics,
        instance: InstanceId,
        now_ms: u64,
        sync_ms: u64,
        disk: &mut ModelDisk,
    ) -> Result<Self, JournalError> {
        let mut ledger = Ledger::default();
        let mut rows = Ok(());
        let loaded = disk.load(&mut |key, row| {
            if rows.is_ok() {
                rows = ledger.load_row(key, row);
            }
        })?;
        let snapshot = loaded.snapshot.as_ref().map(|(_, bytes)| bytes.as_slice());
        let facts = loaded.facts.iter().map(|(_, fact)| fact);
        let state = rows
            .and_then(|()| State::load(snapshot, ledger, facts))
            .map_err(|error| JournalError::Store(error.to_string()))?;
        Ok(Self {
            core: Core::restore(site.clone(), state),
            topics,
            site,
            instance,
            out: Effects::default(),
            inbox: VecDeque::new(),
            barrier: Barrier::new(loaded.last(), HELD_MAX),
            line: AckLine::new(LINE_MAX),
            outbox: Outbox::new(HELD_MAX, FLIGHT_MAX),
            gate: FenceGate::new(),
            started_ms: now_ms,
            sync_ms,
            sync_at_ms: None,
            appended: loaded.last(),
            covered: loaded.snapshot.map_or(0, |(covers, _)| covers),
            messages: 0,
            emissions: Vec::new(),
            steps: Steps::default(),
        })
    }

    /// The core.
    #[must_use]
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// What the core was given.
    pub fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    /// Its own clock at a moment of the world.
    #[must_use]
    pub fn mono_ms(&self, now_ms: u64) -> u64 {
        now_ms - self.started_ms
    }

    /// Its own clock stood still for so long.
    pub fn lose_time(&mut self, lost_ms: u64) {
        self.started_ms += lost_ms;
        self.sync_at_ms = self.sync_at_ms.map(|at_ms| at_ms + lost_ms);
    }

    /// A sync takes this long from here on.
    pub fn set_sync_ms(&mut self, sync_ms: u64) {
        self.sync_ms = sync_ms;
    }

    /// When something is due next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        let due = self
            .core
            .next_deadline_ms()
            .map(|at_ms| at_ms + self.started_ms);
        [due, self.sync_at_ms].into_iter().flatten().min()
    }

    /// Does what is due.
    ///
    /// # Errors
    /// As [`Gateway::input`].
    pub fn turn(&mut self, moment: Moment, disk: &mut ModelDisk) -> Result<(), JournalError> {
        if self.sync_at_ms.is_some_and(|at_ms| at_ms <= moment.now_ms) {
            self.sync_at_ms = None;
            self.sync(disk)?;
            self.release(moment);
        }
        let due = self.core.next_deadline_ms();
        if due.is_some_and(|at_ms| at_ms + self.started_ms <= moment.now_ms) {
            return self.input(moment, Input::Tick, disk);
        }
        self.work(moment, disk)
    }

    /// Takes one input.
    ///
    /// # Errors
    /// What the disk says: the process must end.
    pub fn input(
        &mut self,
        moment: Moment,
        input: Input,
        disk: &mut ModelDisk,
    ) -> Result<(), JournalError> {
        self.inbox.push_back((input, None));
        self.work(moment, disk)
    }

    /// Ingest has a new connection.
    pub fn ingest_opened(&mut self, epoch: u64) {
        self.line.connected(epoch);
    }

    /// Egress has a new connection, or lost it.
    pub fn egress(&mut self, moment: Moment, open: bool) {
        if open {
            self.outbox.opened();
            self.pump(moment);
        } else {
            self.outbox.closed();
        }
    }

    /// Takes a message of the broker.
    ///
    /// # Errors
    /// What the disk says: the process must end.
    pub fn message(
        &mut self,
        moment: Moment,
        packet: u64,
        message: (&str, &[u8], bool),
        disk: &mut ModelDisk,
    ) -> Result<(), JournalError> {
        let (topic, payload, retained) = message;
        let Ok(ticket) = self.line.received(packet) else {
            return Err(JournalError::Store(
                "the acknowledgement line is full".to_owned(),
            ));
        };
        let input = match decode(&self.topics, topic, payload, retained) {
            Decoded::Message(Inbound::Gateway { connection, .. }) => {
                if !retained && connection.connection_state != ConnectionState::Online {
                    self.emissions.push(Emission::SaidToBeAway);
                }
                None
            }
            Decoded::Message(inbound) => Input::from_wire(inbound),
            Decoded::Refused(refusal) => Some(Input::Unreadable(refusal)),
            Decoded::Ignored(_) => None,
        };
        match input {
            Some(input) => self.inbox.push_back((input, Some((ticket, packet)))),
            None => self.hold(Held::Due(ticket))?,
        }
        self.work(moment, disk)
    }

    /// The broker has a message.
    pub fn published(&mut self, moment: Moment, id: u64) {
        self.outbox.acked(id);
        self.pump(moment);
    }

    /// The last record that it appended.
    #[must_use]
    pub fn appended(&self) -> u64 {
        self.appended
    }

    /// Takes what left it.
    pub fn take_emissions(&mut self) -> Vec<Emission> {
        std::mem::take(&mut self.emissions)
    }

    fn work(&mut self, moment: Moment, disk: &mut ModelDisk) -> Result<(), JournalError> {
        loop {
            self.release(moment);
            let Some((input, ticket)) = self.inbox.pop_front() else {
                return Ok(());
            };
            self.out.clear();
            let now = Now {
                mono_ms: self.mono_ms(moment.now_ms),
                wall: moment.wall,
            };
            self.steps.note(now, &input);
            let given = input.clone();
            self.core.step(now, input, &mut self.out);
            let facts = std::mem::take(&mut self.out.facts);
            let stepped = Stepped {
                mono_ms: now.mono_ms,
                wall: now.wall,
                input: given,
                effects: self.out.effects.clone(),
                facts: facts.len(),
                appended: self.appended + facts.len() as u64,
                ticket: ticket.map(|(ticket, packet)| (ticket.epoch, packet)),
            };
            self.emissions.push(Emission::Stepped(Box::new(stepped)));
            if !facts.is_empty() {
                self.append(moment, facts, disk)?;
            }
            for effect in std::mem::take(&mut self.out.effects) {
                let held = Held::Effect(Box::new(effect), moment.now_ms, self.appended);
                self.hold(held)?;
            }
            if let Some((ticket, _)) = ticket {
                self.hold(Held::Due(ticket))?;
            }
        }
    }

    fn append(
        &mut self,
        moment: Moment,
        facts: Vec<Fact>,
        disk: &mut ModelDisk,
    ) -> Result<(), JournalError> {
        let ledger = ledger_changes(self.core.state(), &facts);
        let batch = Batch { facts, ledger };
        self.appended = disk.append(&batch)?;
        self.barrier.appended(self.appended);
        self.emissions.push(Emission::Facts(batch.facts));
        if self.sync_ms == 0 {
            return self.sync(disk);
        }
        self.sync_at_ms.get_or_insert(moment.now_ms + self.sync_ms);
        Ok(())
    }

    fn sync(&mut self, disk: &mut ModelDisk) -> Result<(), JournalError> {
        disk.sync()?;
        self.emissions.push(Emission::Synced(disk.durable()));
        self.barrier.durable(self.appended);
        if self.appended - self.covered >= SNAPSHOT_FACTS {
            disk.snapshot(self.appended, &self.core.state().encode_snapshot())?;
            self.covered = self.appended;
        }
        Ok(())
    }

    fn hold(&mut self, held: Held) -> Result<(), JournalError> {
        self.barrier
            .hold(held)
            .map_err(|full| JournalError::Store(full.to_string()))
    }

    /// Lets out what may be seen.
    fn release(&mut self, moment: Moment) {
        while let Some(held) = self.barrier.release() {
            match held {
                Held::Due(ticket) => {
                    self.line.due(ticket);
                }
                Held::Effect(effect, since_ms, waits_for) => {
                    self.emissions.push(Emission::Released(waits_for));
                    self.effect(moment, *effect, since_ms);
                }
            }
        }
        while let Some(packet) = self.line.leave() {
            self.emissions.push(Emission::Acknowledge {
                epoch: self.line.epoch(),
                packet,
            });
        }
        self.pump(moment);
    }

    fn effect(&mut self, moment: Moment, effect: Effect, since_ms: u64) {
        match effect {
            Effect::Say(message) => {
                let keep = Keep::of(&message, moment.now_ms);
                // Beyond its bound a message is lost; a world is far below it.
                let _ = self.outbox.push(moment.now_ms, keep, message);
            }
            Effect::Command(command) => self.command(moment, command, moment.now_ms - since_ms),
            Effect::Note(_) | Effect::Device(_) => {}
            Effect::Answer { ticket, answer } => {
                self.emissions.push(Emission::Answer { ticket, answer });
            }
        }
    }

    fn command(&mut self, moment: Moment, command: Command, age_ms: u64) {
        let outcome = match self.gate.pass(&command, age_ms) {
            Ok(()) => Outcome::Sent,
            Err(why) => {
                let why = why.to_string();
                self.emissions.push(Emission::Dropped {
                    command: command.clone(),
                    why: why.clone(),
                });
                Outcome::Dropped { detail: why }
            }
        };
        let report = Report::Outcome {
            command_id: command.command_id.clone(),
            outcome: outcome.clone(),
        };
        self.inbox.push_back((
            Input::Report {
                elevator: command.elevator_id.clone(),
                report,
            },
            None,
        ));
        if outcome == Outcome::Sent {
            let sent_ms = self.mono_ms(moment.now_ms);
            self.emissions.push(Emission::Command { command, sent_ms });
        }
    }
}
