//! A gateway without elevators, and applications that say what the test says.

use std::collections::BTreeMap;

use dispatch::edge::record;
use dispatch::{
    Applications, Core, Effect, Effects, Fact, Input, Ledger, Limits, Now, OperatorAction,
    OperatorAnswer, OperatorRequest, QueuePolicy, SiteConfig, State, Timing, ledger_changes,
};
use protocol::client::{Ask, ClientReply, ClientRequest};
use protocol::device::DeviceCommand;
use protocol::ops::Alarm;
use protocol::{Outgoing, Timestamp};

/// 2026-11-30T10:00:00Z.
pub(crate) const WALL_MS: u64 = 1_796_032_800_000;

/// The gateway, its clock and all that it said.
pub(crate) struct Office {
    pub(crate) core: Core,
    pub(crate) now_ms: u64,
    /// How far the wall clock is set ahead.
    pub(crate) ahead_ms: u64,
    pub(crate) facts: Vec<Fact>,
    pub(crate) rows: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) replies: Vec<ClientReply>,
    pub(crate) said: Vec<Outgoing>,
    pub(crate) alarms: Vec<Alarm>,
    /// What devices were told.
    pub(crate) devices: Vec<DeviceCommand>,
    snapshot: Option<Vec<u8>>,
    serial: u64,
}

/// A site of these applications.
pub(crate) fn site(applications: Applications) -> SiteConfig {
    SiteConfig {
        applications,
        gateway: "gw-1".parse().expect("an id"),
        timing: Timing::default(),
        limits: Limits::default(),
        queue: QueuePolicy::default(),
        elevators: BTreeMap::new(),
        zones: BTreeMap::new(),
    }
}

impl Office {
    /// One that takes whatever comes, however fast.
    pub(crate) fn new(applications: Applications) -> Self {
        let mut config = site(applications);
        config.limits.client_messages_per_s = 1_000_000;
        Self::with(config, State::default())
    }

    pub(crate) fn with(config: SiteConfig, state: State) -> Self {
        let mut office = Self {
            core: Core::restore(config, state),
            now_ms: 1_000_000,
            ahead_ms: 0,
            facts: Vec::new(),
            rows: BTreeMap::new(),
            replies: Vec::new(),
            said: Vec::new(),
            alarms: Vec::new(),
            devices: Vec::new(),
            snapshot: None,
            serial: 0,
        };
        office.step(Input::Start { restored: false });
        office.step(Input::Broker { up: true });
        office
    }

    pub(crate) fn wall(&self) -> Timestamp {
        Timestamp(WALL_MS + self.now_ms - 1_000_000 + self.ahead_ms)
    }

    /// One input; what it yields is kept as a journal keeps it.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        let now = Now {
            mono_ms: self.now_ms,
            wall: self.wall(),
        };
        let mut out = Effects::default();
        self.core.step(now, input, &mut out);
        for change in ledger_changes(self.core.state(), &out.facts) {
            match change.row {
                Some(row) => self.rows.insert(change.key, row),
                None => self.rows.remove(&change.key),
            };
        }
        for fact in &out.facts {
            let header = record::Header {
                seq: 1,
                last: true,
                durable: 0,
                previous: record::ChainHash::default(),
            };
            let bytes = record::encode(&header, fact).expect("it fits a record");
            assert_eq!(record::decode(&bytes).expect("a record").1, *fact);
        }
        self.facts.extend(out.facts);
        for effect in &out.effects {
            match effect {
                Effect::Say(Outgoing::ClientReply { reply, .. }) => {
                    self.replies.push(reply.as_ref().clone());
                }
                Effect::Say(Outgoing::Alarm(alarm)) => self.alarms.push(alarm.clone()),
                Effect::Device(command) => self.devices.push(command.as_ref().clone()),
                Effect::Say(message) => self.said.push(message.clone()),
                _ => {}
            }
        }
        out.effects
    }

    /// Asks, and takes the one answer.
    pub(crate) fn ask(&mut self, client: &str, order: Option<&str>, ask: Ask) -> ClientReply {
        self.serial += 1;
        let request = ClientRequest {
            message_id: format!("m-{}", self.serial).parse().expect("an id"),
            timestamp: self.wall(),
            order_id: order.map(|order| order.parse().expect("an id")),
            ask,
        };
        let before = self.replies.len();
        self.step(Input::Client {
            client: client.parse().expect("an id"),
            request: Box::new(request),
        });
        assert_eq!(self.replies.len(), before + 1, "one reply to each request");
        self.replies[before].clone()
    }

    /// Lets time pass, with every deadline at its moment.
    pub(crate) fn run(&mut self, ms: u64) {
        let end = self.now_ms + ms;
        while let Some(due) = self.core.next_deadline_ms().filter(|due| *due <= end) {
            self.now_ms = self.now_ms.max(due);
            self.step(Input::Tick);
        }
        self.now_ms = end;
        self.step(Input::Tick);
    }

    pub(crate) fn operate(&mut self, action: OperatorAction) -> Result<OperatorAnswer, String> {
        let request = OperatorRequest {
            ticket: 1,
            operator: "olga".to_owned(),
            reason: "a test".to_owned(),
            action,
        };
        let effects = self.step(Input::Operator(request));
        let answer = effects.into_iter().find_map(|effect| match effect {
            Effect::Answer { answer, .. } => Some(answer),
            _ => None,
        });
        answer.expect("an answer")
    }

    /// Keeps a snapshot; facts before it are not replayed.
    pub(crate) fn snapshot(&mut self) {
        self.snapshot = Some(self.core.state().encode_snapshot());
        self.facts.clear();
    }

    /// What the journal holds, read back.
    pub(crate) fn reload(&self) -> State {
        let mut ledger = Ledger::default();
        for (key, row) in &self.rows {
            ledger.load_row(key, row).expect("a row");
        }
        State::load(self.snapshot.as_deref(), ledger, &self.facts).expect("a state")
    }

    /// The process ends and starts again.
    pub(crate) fn restart(&mut self, pause_ms: u64, restored: bool) {
        let state = self.reload();
        assert_eq!(&state, self.core.state(), "the fold of what was kept");
        self.core = Core::restore(self.core.config().clone(), state);
        self.now_ms += pause_ms;
        self.step(Input::Start { restored });
        self.step(Input::Broker { up: true });
    }

    /// An alarm of this code that stands, as the last word about it.
    pub(crate) fn standing(&self, code: protocol::AlarmCode) -> Option<&Alarm> {
        let last = self.alarms.iter().rev().find(|alarm| alarm.code == code)?;
        last.cleared_at.is_none().then_some(last)
    }
}
