//! The devices on the wires: what they hear, what they answer, and what goes wrong with that.

mod ills;
mod news;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio_modbus::prelude::ExceptionCode;

use super::fault::Fault;
use super::plan::Plan;
use super::record::Talker;
use super::speech::{self, Speech};
use super::wire::Wire;
use crate::live::modbus::{Units, pdu};

/// The longest that a reply is late and a device shouts or is broken.
const LATE_MAX: Duration = Duration::from_secs(60);
const BABBLE_MAX: Duration = Duration::from_secs(10);
const BROKEN_MAX: Duration = Duration::from_secs(3_600);
/// Junk in one go.
const JUNK_MAX: usize = 4_096;
/// Units of another conversation, the first that is none of ours.
const FOREIGN: std::ops::RangeInclusive<u8> = 200..=247;
/// The unit number that all devices listen to and none answers.
const BROADCAST: u8 = 0;

/// Everything on one line.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) wire: Wire,
    pub(super) plan: Plan,
    pub(super) delays: Delays,
    /// Units that are switched off.
    pub(super) dead: BTreeSet<u8>,
    units: Units,
    /// Bytes for the master.
    out: Vec<u8>,
    /// Replies that wait for the next request to their unit.
    held: BTreeMap<u8, Vec<u8>>,
    /// What each unit said last.
    last: BTreeMap<u8, Vec<u8>>,
    /// Until when a unit speaks: it answers in the order in which it is asked.
    busy: BTreeMap<u8, Duration>,
    /// Until when a unit is silent.
    asleep: BTreeMap<u8, Duration>,
    cures: BTreeMap<(Duration, u64), (u8, Cure)>,
    cure_count: u64,
    /// What each unit of Kestrel showed last, and when that is looked at next.
    shown: BTreeMap<u8, [u8; 4]>,
    look_at: Duration,
}

/// How long a device takes from the end of a request's silence to the first bit of its reply.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    pub(super) usual: Duration,
    pub(super) by_unit: BTreeMap<u8, Duration>,
}

/// What ends a fault of a device.
#[derive(Debug, Clone, Copy)]
enum Cure {
    Door,
    Power,
    Position,
}

impl Devices {
    pub(super) fn new(wire: Wire, units: Units, plan: Plan, delays: Delays) -> Self {
        Self {
            wire,
            plan,
            delays,
            dead: BTreeSet::new(),
            units,
            out: Vec::new(),
            held: BTreeMap::new(),
            last: BTreeMap::new(),
            busy: BTreeMap::new(),
            asleep: BTreeMap::new(),
            cures: BTreeMap::new(),
            cure_count: 0,
            shown: BTreeMap::new(),
            look_at: Duration::ZERO,
        }
    }

    /// The master hands over bytes.
    pub(super) fn receive(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        self.wire.receive(now, bytes);
    }

    /// Somebody else puts bytes on the line.
    pub(super) fn intrude(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        self.wire.speak(Talker::Noise, now, bytes);
    }

    /// Does all that is due; the bytes that the master is to be handed.
    pub(super) fn turn(&mut self, now: Duration) -> Vec<u8> {
        self.advance(now);
        std::mem::take(&mut self.out)
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Duration> {
        let cure = self.cures.keys().next().map(|(at, _)| *at);
        let look = (self.wire.speech() == Speech::Kestrel).then_some(self.look_at);
        [self.wire.next(), cure, look].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Duration) {
        while let Some(at) = self.wire.frame_due().filter(|at| *at <= now) {
            let bytes = self.wire.deliver(at, now);
            self.out.extend(bytes);
            self.cure(at);
            if let Some(frame) = self.wire.take_frame() {
                self.hear(at, &frame);
            }
        }
        self.cure(now);
        let bytes = self.wire.deliver(now, now);
        self.out.extend(bytes);
        self.report_news(now);
    }

    /// A frame has ended, and its silence with it.
    fn hear(&mut self, at: Duration, frame: &[u8]) {
        // The wire hands over nothing else.
        let Some((unit, data)) = self.wire.speech().open(frame) else {
            return;
        };
        let record = self.wire.record_mut();
        *record.requests.entry(unit).or_default() += 1;
        if unit == BROADCAST && self.wire.speech() == Speech::Rtu {
            self.broadcast(at, data);
        } else if self.units.has(unit) && self.is_awake(unit, at) {
            self.ask(at, unit, data, frame);
        }
    }

    fn broadcast(&mut self, at: Duration, data: &[u8]) {
        let Ok(request) = pdu::request(data) else {
            return;
        };
        let numbers: Vec<_> = self.units.numbers().collect();
        for unit in numbers.into_iter().filter(|unit| self.is_awake(*unit, at)) {
            // Nobody answers a broadcast.
            let _ = self.units.answer(unit, &request);
        }
    }

    /// A device is asked.
    fn ask(&mut self, at: Duration, unit: u8, data: &[u8], frame: &[u8]) {
        let function = self.wire.speech().function(data);
        let fault = self.plan.strike(unit, function);
        let delay = self.delays.by_unit.get(&unit).unwrap_or(&self.delays.usual);
        let mut from = at + *delay;
        let silence = self.wire.speed().silence();
        if let Some(busy) = self.busy.get(&unit) {
            from = from.max(*busy + silence);
        }
        if let Some(held) = self.held.remove(&unit) {
            let end = self.wire.speak(Talker::Unit(unit), at, &held);
            from = from.max(end + silence);
        }
        if let Some(fault) = &fault {
            self.upset(at, unit, fault);
        }
        if fault == Some(Fault::NoRequest) || !self.is_awake(unit, at) {
            return;
        }
        let data = self.answer(unit, function, data, fault.as_ref());
        *self.wire.record_mut().answered.entry(unit).or_default() += 1;
        self.reply(at, from, (unit, data), frame, fault.as_ref());
    }

    /// The protocol data of what a device answers, once it has done what was asked.
    fn answer(&self, unit: u8, function: u8, data: &[u8], fault: Option<&Fault>) -> Vec<u8> {
        if self.wire.speech() == Speech::Kestrel {
            let refused = match fault {
                Some(Fault::Refuse(code)) => Some(*code),
                Some(_) | None => None,
            };
            return self.units.hear(unit, data, refused).unwrap_or_default();
        }
        if let Some(Fault::Refuse(code)) = fault
            && *code != ExceptionCode::Acknowledge
        {
            return pdu::exception(function, *code);
        }
        let answer = match pdu::request(data) {
            Ok(request) => self.units.answer(unit, &request),
            Err(code) => Some(Err(code)),
        };
        match fault {
            Some(Fault::Refuse(code)) => pdu::exception(function, *code),
            Some(_) | None => {
                let answer = answer.unwrap_or(Err(ExceptionCode::ServerDeviceFailure));
                pdu::answer(function, &answer)
            }
        }
    }

    /// Puts the reply on the line, as the fault will have it.
    fn reply(
        &mut self,
        at: Duration,
        from: Duration,
        (unit, data): (u8, Vec<u8>),
        request: &[u8],
        fault: Option<&Fault>,
    ) {
        let from = from.max(self.precede(at, (unit, request), fault));
        let Some(bytes) = self.shape(unit, data, fault) else {
            return;
        };
        let late = match fault {
            Some(Fault::Late(by)) => (*by).min(LATE_MAX),
            Some(_) | None => Duration::ZERO,
        };
        let talker = Talker::Unit(unit);
        let mut end = self.wire.speak(talker, from + late, &bytes);
        if let Some(Fault::Twice(after)) = fault {
            let again = end + (*after).min(LATE_MAX);
            end = self.wire.speak(talker, again, &bytes);
        }
        self.busy.insert(unit, end);
    }

    /// What is on the line before the reply; when that may begin.
    fn precede(
        &mut self,
        at: Duration,
        (unit, request): (u8, &[u8]),
        fault: Option<&Fault>,
    ) -> Duration {
        if fault == Some(&Fault::Echo) {
            return self.wire.speak(Talker::Echo, at, request);
        }
        if fault == Some(&Fault::Foreign) {
            let other = self.foreign();
            let end = self.wire.speak(Talker::Noise, at, &other);
            return end + self.wire.speed().silence();
        }
        if fault == Some(&Fault::Report { inside: false }) {
            let report = self.report(unit);
            let end = self.wire.speak(Talker::Unit(unit), at, &report);
            return end + self.wire.speed().silence();
        }
        if let Some(Fault::Junk(count)) = fault {
            let junk = self.plan.junk((*count).min(JUNK_MAX));
            return self.wire.speak(Talker::Noise, at, &junk);
        }
        at
    }

    /// The bytes that a device says; `None` where it says nothing.
    fn shape(&mut self, unit: u8, data: Vec<u8>, fault: Option<&Fault>) -> Option<Vec<u8>> {
        let speech = self.wire.speech();
        let right = speech.seal(unit, &data);
        let before = self.last.insert(unit, right.clone());
        Some(match fault {
            None
            | Some(
                Fault::Late(_)
                | Fault::Twice(_)
                | Fault::Refuse(_)
                | Fault::Echo
                | Fault::Door(..)
                | Fault::Reopens(_)
                | Fault::Restart(_)
                | Fault::PowerLoss(_)
                | Fault::Position(..)
                | Fault::Junk(_)
                | Fault::Foreign,
            ) => right,
            Some(Fault::NoReply | Fault::NoRequest) => return None,
            Some(Fault::IntoNext) => {
                self.held.insert(unit, right);
                return None;
            }
            Some(Fault::BadCrc) => self.turned(right),
            Some(Fault::Truncated(missing)) => {
                let len = right.len().saturating_sub(*missing).max(1);
                right[..len].to_vec()
            }
            Some(Fault::Merged) => {
                let more = before.unwrap_or_else(|| right.clone());
                [right, more].concat()
            }
            Some(Fault::WrongUnit(other)) => speech.seal(*other, &data),
            Some(Fault::WrongFunction) => {
                let data = match speech {
                    Speech::Rtu => with_other_function(data),
                    Speech::Kestrel => speech::with_other_code(data),
                };
                speech.seal(unit, &data)
            }
            Some(Fault::WrongLength) => speech.seal(unit, &shortened(data, speech)),
            Some(Fault::Report { inside: false }) => right,
            Some(Fault::Report { inside: true }) => {
                let (head, rest) = right.split_at(right.len() / 2);
                [head, &self.report(unit), rest].concat()
            }
            Some(Fault::Babble(time)) => {
                let one = self.wire.speed().chars(1).as_nanos().max(1);
                let count = (*time).min(BABBLE_MAX).as_nanos() / one;
                self.plan.junk(usize::try_from(count).unwrap_or_default())
            }
        })
    }

    fn is_awake(&self, unit: u8, at: Duration) -> bool {
        !self.dead.contains(&unit) && self.asleep.get(&unit).is_none_or(|until| *until <= at)
    }

    /// A frame with one bit turned.
    fn turned(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        let bit = self.plan.below(8 * frame.len());
        if let Some(byte) = frame.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        frame
    }

    /// A reading of one word, by a device that is none of ours.
    fn foreign(&mut self) -> Vec<u8> {
        let other = FOREIGN.into_iter().find(|unit| !self.units.has(*unit));
        let mut data = match self.wire.speech() {
            Speech::Rtu => vec![3, 2],
            // An acknowledgement of some command.
            Speech::Kestrel => vec![0, 0x06, 0x12],
        };
        if self.wire.speech() == Speech::Rtu {
            data.extend(self.plan.junk(2));
        }
        let unit = other.unwrap_or(*FOREIGN.end());
        self.wire.speech().seal(unit, &data)
    }
}

/// The same data as an answer of another function of the same shape.
fn with_other_function(mut data: Vec<u8>) -> Vec<u8> {
    if let Some(function) = data.first_mut() {
        *function = match *function {
            odd @ (1 | 3 | 5 | 15) => odd + 1,
            even @ (2 | 4 | 6 | 16) => even - 1,
            other => other ^ 1,
        };
    }
    data
}

/// One word, or eight bits, less in a reading; one byte less in any other answer.
fn shortened(mut data: Vec<u8>, speech: Speech) -> Vec<u8> {
    if speech == Speech::Kestrel {
        data.pop();
        return data;
    }
    let less = match data.as_slice() {
        [3 | 4, count, ..] if *count >= 2 => 2,
        _ => 1,
    };
    if let [1..=4, count, _, ..] = data.as_mut_slice() {
        *count = count.saturating_sub(less);
    }
    data.truncate(data.len() - usize::from(less).min(data.len() - 1));
    data
}
