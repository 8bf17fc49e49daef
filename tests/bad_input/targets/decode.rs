//! Messages off the broker: bytes to [`decode`], then all that the gateway does with what was read.
//!
//! An input is up to eight messages with a line `---` between two. The first line of each is its
//! topic below the base, after `retained ` where it comes with the retain flag; the rest is the
//! payload. 700 ms pass after each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use adapters::mqtt::MqttDriver;
use dispatch::edge::{Anchor, Chain, record};
use dispatch::{Core, Effect, Effects, ElevatorConfig, Input, Now, State};
use protocol::limits::{DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX, PACKET_BYTES_MAX};
use protocol::peer::Heard;
use protocol::{
    Code, Decoded, ElevatorId, Inbound, Outgoing, Refusal, Stamp, Timestamp, Topics, decode,
};

use crate::site;

/// What lies before each topic.
const BASE: &str = "hallcall/v1/demo/";
/// Messages of one input.
const MESSAGES_MAX: usize = 8;
/// Between two messages.
const PAUSE_MS: u64 = 700;
/// 2026-11-30T10:00:00Z.
const TEN_MS: u64 = 1_796_032_800_000;

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let topics = Topics::new("hallcall/v1", &"demo".parse().expect("an id")).expect("a root");
    let mut gateway = Gateway::start(topics);
    for message in messages(data).into_iter().take(MESSAGES_MAX) {
        let at = message.iter().position(|byte| *byte == b'\n');
        let (line, payload) = message.split_at(at.unwrap_or(message.len()));
        let payload = payload.strip_prefix(b"\n").unwrap_or(payload);
        let Ok(line) = std::str::from_utf8(line) else {
            // A topic that is no UTF-8 ends the connection (MQTT-1.5.3-1), it never comes here.
            continue;
        };
        let topic = line.strip_prefix("retained ");
        let is_retained = topic.is_some();
        gateway.hear(topic.unwrap_or(line), payload, is_retained);
        gateway.pause();
    }
    gateway.log
}

fn messages(data: &[u8]) -> Vec<&[u8]> {
    let divider = b"\n---\n";
    let mut rest = data;
    let mut messages = Vec::new();
    while let Some(at) = rest.windows(divider.len()).position(|part| part == divider) {
        messages.push(&rest[..at]);
        rest = &rest[at + divider.len()..];
    }
    messages.push(rest);
    messages
}

/// A gateway without threads and sockets, and what it said.
struct Gateway {
    topics: Topics,
    core: Core,
    /// The fold of all facts, beside the core's own.
    state: State,
    chain: Chain,
    drivers: BTreeMap<ElevatorId, MqttDriver>,
    now_ms: u64,
    out: Effects,
    log: String,
}

impl Gateway {
    fn start(topics: Topics) -> Self {
        let config = site::site();
        let sides = |elevator: &ElevatorConfig| {
            let floors = elevator.floors.iter();
            floors.flat_map(|floor| floor.sides.clone()).collect()
        };
        let drivers = config.elevators.iter();
        let drivers = drivers.map(|(id, elevator)| (id.clone(), MqttDriver::new(sides(elevator))));
        let mut gateway = Self {
            topics,
            drivers: drivers.collect(),
            core: Core::new(config),
            state: State::default(),
            chain: Chain::new(Anchor::default()),
            now_ms: 1_000,
            out: Effects::default(),
            log: String::new(),
        };
        gateway.step(Input::Start { restored: false });
        gateway.step(Input::Broker { up: true });
        let mut linked = Vec::new();
        for (id, driver) in &mut gateway.drivers {
            linked.extend(
                driver
                    .connected()
                    .into_iter()
                    .map(|report| (id.clone(), report)),
            );
        }
        for (elevator, report) in linked {
            gateway.step(Input::Report { elevator, report });
        }
        gateway
    }

    fn now(&self) -> Now {
        Now {
            mono_ms: self.now_ms,
            wall: Timestamp(TEN_MS + self.now_ms),
        }
    }

    fn pause(&mut self) {
        self.now_ms += PAUSE_MS;
        if self
            .core
            .next_deadline_ms()
            .is_some_and(|at| at <= self.now_ms)
        {
            self.step(Input::Tick);
        }
    }

    fn hear(&mut self, topic: &str, payload: &[u8], retained: bool) {
        let decoded = decode(&self.topics, &format!("{BASE}{topic}"), payload, retained);
        let _ = writeln!(self.log, "{decoded:?}");
        match decoded {
            Decoded::Ignored(_) => {}
            Decoded::Refused(refusal) => {
                check_refusal(&refusal, payload);
                self.step(Input::Unreadable(refusal));
            }
            Decoded::Message(Inbound::Controller { elevator, event }) => {
                let Now { mono_ms, wall } = self.now();
                let Some(driver) = self.drivers.get_mut(&elevator) else {
                    return;
                };
                for report in driver.event(mono_ms, wall, &event) {
                    let elevator = elevator.clone();
                    self.step(Input::Report { elevator, report });
                }
            }
            Decoded::Message(inbound) => {
                assert!(payload.len() <= MESSAGE_BYTES_MAX, "too large and read");
                if let Some(input) = Input::from_wire(inbound) {
                    self.step(input);
                }
            }
        }
    }

    fn step(&mut self, input: Input) {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        self.core.step(self.now(), input, &mut out);
        self.keep(&out);
        for effect in &out.effects {
            match effect {
                Effect::Say(outgoing) => self.say(outgoing),
                Effect::Command(command) => {
                    let Now { mono_ms, wall } = self.now();
                    let driver = self.drivers.get_mut(&command.elevator_id);
                    let told = driver.expect("a known car").command(mono_ms, wall, command);
                    self.say(&Outgoing::ElevatorCommand(told));
                }
                Effect::Note(_) | Effect::Device(_) => {}
                Effect::Answer { .. } => panic!("nobody asked"),
            }
        }
        self.out = out;
    }

    /// What the journal does with facts: each fits into a record, comes back as it was, and all of
    /// them make the state that the core has.
    fn keep(&mut self, out: &Effects) {
        let records = self
            .chain
            .extend(&out.facts)
            .expect("facts fit into records");
        for ((_, bytes), fact) in records.iter().zip(&out.facts) {
            let (_, read) = record::decode(bytes).expect("a record is read");
            assert_eq!(&read, fact, "kept and read back");
            self.state.apply(&read);
        }
        if !out.facts.is_empty() {
            let (folded, own) = (&self.state, self.core.state());
            assert_eq!(
                folded.encode_snapshot(),
                own.encode_snapshot(),
                "the fold of all facts"
            );
        }
    }

    fn say(&mut self, outgoing: &Outgoing) {
        let stamp = Stamp {
            message_id: "g-1".parse().expect("an id"),
            timestamp: self.now().wall,
            source: "gw-1".parse().expect("an id"),
        };
        let envelope = outgoing.encode(&self.topics, &stamp);
        assert!(
            envelope.payload.len() <= PACKET_BYTES_MAX,
            "{} is too large",
            envelope.topic
        );
        let heard = Heard::read(&self.topics, &envelope.topic, &envelope.payload);
        let heard = heard.unwrap_or_else(|why| panic!("{envelope:?}: {why}"));
        let _ = writeln!(self.log, "{} {heard:?}", envelope.topic);
        let text = String::from_utf8(envelope.payload).expect("UTF-8");
        assert!(is_one_line(&text), "{text}");
    }
}

fn check_refusal(refusal: &Refusal, payload: &[u8]) {
    let is_large = payload.len() > MESSAGE_BYTES_MAX;
    let expected = if is_large {
        Code::TooLarge
    } else {
        Code::Malformed
    };
    assert_eq!(refusal.code, expected, "{refusal}");
    let detail = &refusal.detail;
    assert!(
        (1..=DETAIL_BYTES_MAX).contains(&detail.len()),
        "{} bytes",
        detail.len()
    );
    assert!(is_one_line(detail), "{detail:?}");
}

/// No character of it ends a line or tells a terminal what to do.
fn is_one_line(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}
