//! A simulated serial line at the pace of its rate, and the gateway's own bus task on it.
//!
//! All that is measured is read from the line's own record; the task tells only that a command is
//! over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapters::bus::{Bus, LineConfig, LineTiming, Transport, Unit};
use adapters::map::{MappedFloor, RegisterMap};
use adapters::rtu::serial::SerialConfig;
use anyhow::{Context, anyhow, ensure};
use dispatch::Input;
use dispatch::edge::FenceGate;
use protocol::hardware::{Action, Command, Outcome, Report};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side};
use sim::live::rtu::{LineSettings, Plan, Pty, RtuLine, Speech, Speed, Spoken, Talker};
use sim::live::{Building, Pace, modbus};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bus::{self, BusLine};
use crate::clock::Clock;
use crate::inbox::{Arrival, Heard, INBOX_MAX};

/// A map that is read by one block of 8 registers, as often as a map may ask for, and a door that is
/// opened by one register.
const MAP: &str = r#"
poll_ms = 50
[floors]
count = 2
[floor]
register = { point = "holding", address = 0 }
[motion]
register = { point = "holding", address = 1 }
values = { stopped = 1 }
[front.door]
register = { point = "holding", address = 2 }
values = { open = 1, closed = 2 }
[signals]
load = { point = "holding", address = 7 }
[front.buttons]
hall_up = { point = "coil", address = 0 }
hall_down = { point = "coil", address = 2 }
car = { point = "coil", address = 4 }
open = { point = "holding", address = 100 }
close = { point = "holding", address = 101 }
"#;
/// Functions of the requests.
const POLL: u8 = 3;
const WRITE: u8 = 6;
/// As long as a command may take with all that can go wrong on a line.
const COMMAND_MAX: Duration = Duration::from_secs(5);
/// Valid for as long.
const VALID_MS: u32 = 5_000;

/// The line with its devices, and the bus task.
pub(super) struct Rig {
    line: Arc<RtuLine>,
    bus: BusLine,
    outcomes: mpsc::Receiver<Outcome>,
    clock: Clock,
    commands: u64,
    served: JoinHandle<std::io::Result<()>>,
    owner: JoinHandle<()>,
    heard: JoinHandle<()>,
}

/// How a command went, by the line's own record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// From handed over to its first bit on the line.
    pub(super) wait: Duration,
    /// Polls that were on the line meanwhile.
    pub(super) behind: usize,
}

impl Rig {
    /// A line of so many units that answer after `reply`, each polled as an elevator.
    ///
    /// # Errors
    /// Where there is no pseudoterminal.
    pub(super) fn start(speed: Speed, units: u8, reply: Duration) -> anyhow::Result<Self> {
        let plain = (1..=units).map(|unit| (unit, modbus::Unit::Plain));
        let settings = LineSettings {
            speech: Speech::Rtu,
            speed,
            reply_delay: reply,
            echo: false,
        };
        let building = Building::new(Vec::new(), Pace::new(1.0)?);
        let line = RtuLine::new(building, plain.collect(), &settings, Plan::new(1))?;
        let pty = Pty::open().context("no pseudoterminal")?;
        let port = SerialConfig::new(pty.path(), speed.baud());
        let served = tokio::spawn(Arc::clone(&line).serve_pty(pty));
        let config = LineConfig {
            transport: Transport::Serial(port),
            units: (1..=units).map(unit).collect::<anyhow::Result<_>>()?,
            zones: Vec::new(),
            timing: LineTiming::default(),
            seed: 1,
        };
        let clock = Clock::start();
        let driver = Bus::new(config, Arc::new(move || clock.mono_ms()))
            .map_err(|errors| anyhow!("{errors:?}"))?;
        let (inbox, arrivals) = mpsc::channel(INBOX_MAX);
        let (tell, outcomes) = mpsc::channel(1);
        let gate = FenceGate::new();
        let (bus, owner) = bus::spawn("b1".to_owned(), Box::new(driver), gate, inbox, clock);
        Ok(Self {
            line,
            bus,
            outcomes,
            clock,
            commands: 0,
            served,
            owner,
            heard: tokio::spawn(hear(arrivals, tell)),
        })
    }

    /// The line with its record.
    pub(super) fn line(&self) -> &RtuLine {
        &self.line
    }

    /// Good replies of all units so far.
    pub(super) fn answered(&self) -> u64 {
        self.line.record(|record| record.answered.values().sum())
    }

    /// Hands a command to a unit over, waits for its outcome, and looks up how it went.
    ///
    /// # Errors
    /// Where it is not accepted, or the record does not have it.
    pub(super) async fn command(&mut self, unit: u8) -> anyhow::Result<Turn> {
        self.commands += 1;
        let command = Command {
            elevator_id: elevator(unit)?,
            command_id: CommandId::new(&format!("c-{}", self.commands))?,
            fence: Fence(1),
            order_id: None,
            action: Action::OpenDoor {
                landing: landing()?,
            },
            expires_in_ms: VALID_MS.into(),
        };
        let given = self.line.now();
        let sent = self.bus.send(command, self.clock.mono_ms());
        sent.map_err(|(_, why)| anyhow!(why))?;
        let outcome = timeout(COMMAND_MAX, self.outcomes.recv()).await;
        let outcome = outcome.context("a command has no outcome")?;
        let outcome = outcome.context("the bus task is gone")?;
        ensure!(outcome == Outcome::Accepted, "a command: {outcome:?}");
        self.line
            .record(|record| turn(record.frames(), given))
            .context("the line did not see the command")
    }

    /// Ends the task and the line.
    pub(super) async fn end(self) {
        drop(self.bus);
        // It ends within the time of `finish`; what it learned is of no use here.
        let _ = self.owner.await;
        self.served.abort();
        self.heard.abort();
    }
}

/// The most requests to `dead` between two requests to another unit, since `from`: time-outs of a
/// round.
pub(super) fn time_outs_of_a_round(line: &RtuLine, dead: u8, from: Duration) -> usize {
    line.record(|record| {
        let polls = record.frames().filter(|spoken| is(spoken, POLL));
        let units = polls
            .filter(|poll| poll.from >= from)
            .map(|poll| poll.bytes[0]);
        let mut since: BTreeMap<u8, usize> = BTreeMap::new();
        let mut most = 0;
        for unit in units {
            if unit == dead {
                since.values_mut().for_each(|count| *count += 1);
            } else {
                most = most.max(since.insert(unit, 0).unwrap_or(0));
            }
        }
        most
    })
}

/// The first write behind `given`, and the polls that it had to let pass: the one that was under way
/// then, and those that began later. A poll without a reply is under way until the next request.
fn turn<'f>(frames: impl DoubleEndedIterator<Item = &'f Spoken>, given: Duration) -> Option<Turn> {
    let mut recent = Vec::new();
    for spoken in frames.rev() {
        recent.push(spoken);
        if spoken.talker == Talker::Master && spoken.from <= given {
            break;
        }
    }
    recent.reverse();
    let is_later = |spoken: &&Spoken| spoken.from > given;
    let at = recent
        .iter()
        .position(|spoken| is_later(spoken) && is(spoken, WRITE))?;
    let (before, write) = (&recent[..at], recent[at]);
    let later = before
        .iter()
        .filter(|spoken| is_later(spoken) && is(spoken, POLL));
    let is_under_way = match before {
        [last, ..] if last.from > given || !is(last, POLL) => false,
        [_, reply, ..] if matches!(reply.talker, Talker::Unit(_)) => reply.to > given,
        [_, ..] => true,
        [] => false,
    };
    Some(Turn {
        wait: write.from.saturating_sub(given),
        behind: later.count() + usize::from(is_under_way),
    })
}

fn is(spoken: &Spoken, function: u8) -> bool {
    spoken.talker == Talker::Master && spoken.bytes.get(1) == Some(&function)
}

/// Takes what the task learns; outcomes go on.
async fn hear(mut arrivals: mpsc::Receiver<Arrival>, outcomes: mpsc::Sender<Outcome>) {
    while let Some(arrival) = arrivals.recv().await {
        if let Heard::Input(Input::Report {
            report: Report::Outcome { outcome, .. },
            ..
        }) = arrival.heard
            && outcomes.send(outcome).await.is_err()
        {
            return;
        }
    }
}

fn unit(unit: u8) -> anyhow::Result<Unit> {
    let floor = |label| -> anyhow::Result<MappedFloor> {
        Ok(MappedFloor {
            label: FloorLabel::new(label)?,
            sides: [Side::Front].into(),
        })
    };
    let map = RegisterMap::parse(MAP).map_err(|errors| anyhow!("{errors:?}"))?;
    Ok(Unit {
        elevator: elevator(unit)?,
        unit,
        relay_unit: None,
        device: map.into(),
        floors: vec![floor("1F")?, floor("2F")?],
    })
}

fn elevator(unit: u8) -> anyhow::Result<ElevatorId> {
    Ok(ElevatorId::new(&format!("EL{unit:03}"))?)
}

fn landing() -> anyhow::Result<Landing> {
    Ok(Landing {
        floor: FloorLabel::new("1F")?,
        side: Side::Front,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn spoken(talker: Talker, function: u8, from_ms: u64, to_ms: u64) -> Spoken {
        Spoken {
            talker,
            from: Duration::from_millis(from_ms),
            to: Duration::from_millis(to_ms),
            bytes: vec![1, function],
        }
    }

    /// A poll from 0 to 24 ms, one from 26 to 50 ms, a write from 52 ms on.
    #[test]
    fn a_command_lets_pass_what_is_under_way_and_what_overtakes_it() {
        let unit = Talker::Unit(1);
        let frames = [
            spoken(Talker::Master, POLL, 0, 5),
            spoken(unit, POLL, 12, 24),
            spoken(Talker::Master, POLL, 26, 31),
            spoken(unit, POLL, 38, 50),
            spoken(Talker::Master, WRITE, 52, 57),
            spoken(unit, WRITE, 64, 69),
        ];
        let look = |given_ms| {
            let turn = turn(frames.iter(), Duration::from_millis(given_ms)).unwrap();
            (turn.behind, turn.wait.as_millis())
        };
        assert_eq!(look(51), (0, 1));
        assert_eq!(look(40), (1, 12));
        assert_eq!(look(30), (1, 22));
        assert_eq!(look(25), (1, 27));
        assert_eq!(look(20), (2, 32));
        assert_eq!(look(2), (2, 50));
        assert!(turn(frames.iter(), Duration::from_millis(53)).is_none());
    }
}
