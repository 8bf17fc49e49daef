//! A robot of the load: what it says next, and what it waits for.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::Context;
use protocol::peer::Spoken;
use protocol::robot::{Place, RideCancel, RideRequest};
use protocol::{FloorLabel, MessageId, OrderId, RobotId, RobotMessage, Topics};
use serde::Deserialize;
use sim::live::speaker::wall;

use super::line::Line;
use super::tally::Tally;
use super::template::{BLANK, DIGITS, Template};

/// Without an answer so long, a robot says it again (`wire.md` section 3).
const REPEAT: Duration = Duration::from_secs(5);
/// Seconds until a robot of the load would stand at the door: it never does, so that its orders can
/// be cancelled whatever an elevator does meanwhile.
const ETA_S: u32 = 20;

/// What the robots of a load do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Request, accepted, cancel, accepted, and so on; one message at a time.
    Orders,
    /// One order, accepted and cancelled; then its request again and again, so many at a time.
    Repeats(usize),
}

/// The name of a load's robot, from 0.
pub(super) fn name(number: usize) -> String {
    format!("L{:04}", number + 1)
}

/// An order of a load's robot.
pub(super) fn order_name(robot: &str, phase: char, number: u64) -> String {
    format!("{robot}-{phase}-{number:08}")
}

/// A robot of the load.
pub(super) struct LoadRobot {
    task: Task,
    request_topic: String,
    cancel_topic: String,
    request: Template,
    cancel: Template,
    again: Template,
    /// What is not answered, the oldest first.
    open: VecDeque<(Word, u64, Instant)>,
    /// The order, or in [`Task::Repeats`] the repetition, that comes next.
    number: u64,
    /// The orders that were accepted.
    pub(super) accepted: Vec<u64>,
}

/// A message of a robot, by the letter in its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Request,
    Cancel,
    Again,
}

/// What a load reads of a reply.
#[derive(Debug, Deserialize)]
struct Reply<'a> {
    in_reply_to: Option<&'a str>,
    result: &'a str,
    code: Option<&'a str>,
}

impl LoadRobot {
    /// A robot that has said nothing. `phase` makes its ids unlike those of another phase.
    ///
    /// # Errors
    /// Where its messages cannot be made, which is a bug.
    pub(super) fn new(
        number: usize,
        phase: char,
        task: Task,
        floors: &[FloorLabel],
        topics: &Topics,
    ) -> anyhow::Result<Self> {
        let robot = name(number);
        let order = order_name(&robot, phase, 0);
        let id = |word: char| format!("{robot}-{phase}-{word}-{BLANK}");
        let (from, to) = way(number, floors).context("a building of one floor")?;
        let said = |message| {
            let robot = RobotId::new(&robot)?;
            anyhow::Ok(Spoken::Robot { robot, message }.encode(topics))
        };
        let place = |floor: &FloorLabel| Place {
            floor: floor.clone(),
            side: None,
        };
        let request = |word| {
            said(RobotMessage::Request(RideRequest {
                message_id: MessageId::new(&id(word))?,
                timestamp: wall(),
                order_id: OrderId::new(&order)?,
                from: place(from),
                to: place(to),
                elevators: [].into(),
                priority: 0,
                at_door: Some(false),
                eta_s: Some(ETA_S),
                expires_at: None,
                dry_run: false,
            }))
        };
        let first = request('q')?;
        let cancel = said(RobotMessage::Cancel(RideCancel {
            message_id: MessageId::new(&id('c'))?,
            timestamp: wall(),
            order_id: OrderId::new(&order)?,
            reason: "a load test".to_owned(),
        }))?;
        Ok(Self {
            task,
            request_topic: first.topic,
            cancel_topic: cancel.topic,
            request: Template::new(first.payload, &[&id('q'), &order])?,
            cancel: Template::new(cancel.payload, &[&id('c'), &order])?,
            again: Template::new(request('r')?.payload, &[&id('r')])?,
            open: VecDeque::new(),
            number: 0,
            accepted: Vec::new(),
        })
    }

    /// Whether nothing of it is unanswered.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// How many of its messages are unanswered.
    pub(super) fn unanswered(&self) -> u64 {
        self.open.len() as u64
    }

    /// Says its first word.
    pub(super) fn start(
        &mut self,
        line: &mut Line,
        tally: &mut Tally,
        now: Instant,
    ) -> anyhow::Result<()> {
        self.say(Word::Request, 0, now, line, tally)
    }

    /// Hears a reply, and says what comes after it unless the time `is_over`.
    pub(super) fn hear(
        &mut self,
        payload: &[u8],
        now: Instant,
        is_over: bool,
        line: &mut Line,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let reply: Reply<'_> = serde_json::from_slice(payload)
            .with_context(|| format!("a reply: {}", String::from_utf8_lossy(payload)))?;
        let Some((word, number)) = reply.in_reply_to.and_then(read_id) else {
            return Ok(());
        };
        let is_it = |(open, at, _): &(Word, u64, Instant)| (*open, *at) == (word, number);
        // The answer to a message that was said again and answered already.
        let Some(at) = self.open.iter().position(is_it) else {
            return Ok(());
        };
        let Some((_, _, sent)) = self.open.remove(at) else {
            return Ok(());
        };
        let is_good = matches!(
            (word, reply.result),
            (Word::Request | Word::Cancel, "accepted") | (Word::Again, "duplicate")
        );
        let counts = matches!(
            (self.task, word),
            (Task::Orders, Word::Request | Word::Cancel) | (Task::Repeats(_), Word::Again)
        );
        if is_good && counts {
            tally.answered(sent, now);
        }
        if reply.result == "rejected" {
            let code = reply.code.unwrap_or("none").to_owned();
            *tally.refused.entry(code).or_default() += 1;
        } else if word == Word::Request {
            self.accepted.push(number);
        }
        match (self.task, word) {
            (_, Word::Request) if reply.result != "rejected" => {
                self.say(Word::Cancel, number, now, line, tally)
            }
            _ if is_over => Ok(()),
            (Task::Orders, Word::Request | Word::Cancel) | (Task::Repeats(_), Word::Request) => {
                self.number += 1;
                self.say(Word::Request, self.number, now, line, tally)
            }
            (Task::Repeats(at_once), Word::Cancel) => {
                for _ in 0..at_once {
                    self.again(now, line, tally)?;
                }
                Ok(())
            }
            (Task::Repeats(_) | Task::Orders, Word::Again) => self.again(now, line, tally),
        }
    }

    /// Says again what has no answer for too long.
    pub(super) fn repeat(
        &mut self,
        now: Instant,
        line: &mut Line,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        while let Some((word, number, sent)) = self.open.front().copied()
            && now.saturating_duration_since(sent) >= REPEAT
        {
            self.open.pop_front();
            tally.repeats += 1;
            self.say(word, number, now, line, tally)?;
        }
        Ok(())
    }

    fn again(&mut self, now: Instant, line: &mut Line, tally: &mut Tally) -> anyhow::Result<()> {
        self.number += 1;
        self.say(Word::Again, self.number, now, line, tally)
    }

    fn say(
        &mut self,
        word: Word,
        number: u64,
        now: Instant,
        line: &mut Line,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let (topic, template) = match word {
            Word::Request => (&self.request_topic, &mut self.request),
            Word::Cancel => (&self.cancel_topic, &mut self.cancel),
            Word::Again => (&self.request_topic, &mut self.again),
        };
        let payload = template.numbered(number);
        line.publish(topic, payload, false)?;
        tally.passed(payload.len(), now);
        self.open.push_back((word, number, now));
        Ok(())
    }
}

/// Which word with which number has that id.
fn read_id(id: &str) -> Option<(Word, u64)> {
    let at = id.len().checked_sub(DIGITS + 2)?;
    let (word, number) = id.get(at..)?.split_once('-')?;
    let word = match word {
        "q" => Word::Request,
        "c" => Word::Cancel,
        "r" => Word::Again,
        _ => return None,
    };
    Some((word, number.parse().ok()?))
}

/// From where to where a robot asks: every pair of floors comes up.
fn way(number: usize, floors: &[FloorLabel]) -> Option<(&FloorLabel, &FloorLabel)> {
    let count = floors.len();
    let others = count.checked_sub(1).filter(|others| *others > 0)?;
    let from = number % count;
    let to = (from + 1 + number / count % others) % count;
    Some((floors.get(from)?, floors.get(to)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back() {
        assert_eq!(read_id("L0001-a-c-00000042"), Some((Word::Cancel, 42)));
        assert_eq!(read_id("L0001-a-x-00000042"), None);
        assert_eq!(read_id("c-0000042"), None);
    }

    #[test]
    fn every_way_leads_somewhere_else() {
        let floors: Vec<_> = (1..=3)
            .map(|n| FloorLabel::new(&format!("{n}F")).unwrap())
            .collect();
        let mut ways: Vec<_> = (0..6).map(|n| way(n, &floors).unwrap()).collect();
        assert!(ways.iter().all(|(from, to)| from != to));
        ways.sort();
        ways.dedup();
        assert_eq!(ways.len(), 6);
        assert!(way(0, &floors[..1]).is_none());
    }
}
