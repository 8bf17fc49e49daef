//! The one thread that owns the core.
//!
//! It takes what happened from its inbox, in order, lets the core step, and hands facts and effects
//! to the committer, which releases the effects when the facts are durable. It waits for nothing
//! else: the clock's next deadline wakes it, a full committer holds it, and a held engine holds the
//! sockets.

mod held;
mod mqtt_line;
mod notes;
mod outlet;
mod stop;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use dispatch::edge::{Batch, Ticket};
use dispatch::{Core, Effects, Input, Timing, ledger_changes};
use protocol::ElevatorId;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

pub use mqtt_line::MqttLine;
pub use outlet::{Lines, Outlet, Release, Ways};

use crate::clock::Clock;
use crate::ending::{End, Ending};
use crate::inbox::{Arrival, Heard};
use crate::journal::{Committer, FenceMarks};
use stop::{Doors, InFlight};

/// Arrivals that are taken at once.
const BATCH: usize = 64;
/// The longest sleep; the core's own deadlines are mostly sooner.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// For held doors, where the end was asked for: 2 x the default of `valid_s`.
const STOP_HOLD_MAX_MS: u64 = 10_000;
/// From the request to end to the end of the engine (docs/operating.md: 15 s in all).
const STOP_MAX_MS: u64 = 10_500;
/// For the committer to finish what it has.
const CLOSE: Duration = Duration::from_secs(1);

/// What the engine's thread needs.
pub struct Parts {
    /// The core, restored.
    pub core: Core,
    /// The clock.
    pub clock: Clock,
    /// What happens.
    pub inbox: mpsc::Receiver<Arrival>,
    /// Keeps the facts.
    pub committer: Committer<Release>,
    /// Keeps the fences.
    pub marks: FenceMarks,
    /// The controllers that speak MQTT.
    pub mqtt: Arc<MqttLine>,
    /// Where commands go past the committer, once it has failed.
    pub lines: Arc<Lines>,
    /// Where the end of the process is called for.
    pub ending: Ending,
    /// The waits of the site.
    pub timing: Timing,
}

/// The engine's thread, from outside.
pub struct Running {
    ended: watch::Receiver<bool>,
}

impl Running {
    /// Waits for the thread to end, at most for `wait`. `false`: it did not.
    pub async fn ended(&self, wait: Duration) -> bool {
        let mut ended = self.ended.clone();
        let over = ended.wait_for(|ended| *ended);
        timeout(wait, over).await.is_ok()
    }
}

/// Starts the thread. `first` are the first inputs of the process, before anything of the inbox.
///
/// # Errors
/// Where the system starts no thread.
pub fn start(parts: Parts, first: Vec<Input>, runtime: Handle) -> io::Result<Running> {
    let (sender, ended) = watch::channel(false);
    let engine = Engine {
        parts,
        out: Effects::default(),
        doors: Doors::default(),
        in_flight: InFlight::default(),
        stop: None,
        failed: false,
    };
    std::thread::Builder::new()
        .name("engine".to_owned())
        .spawn(move || {
            engine.run(first, &runtime);
            sender.send_replace(true);
        })?;
    Ok(Running { ended })
}

/// When a stopping engine ends, on the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Stop {
    /// Not before: doors are held.
    held_until_ms: u64,
    /// Not after, whatever is under way.
    last_ms: u64,
}

struct Engine {
    parts: Parts,
    out: Effects,
    /// Which doors were seen open last.
    doors: Doors,
    /// Commands whose outcome is not known.
    in_flight: InFlight,
    /// A stopping engine's end.
    stop: Option<Stop>,
    /// The journal failed.
    failed: bool,
}

impl Engine {
    fn run(mut self, first: Vec<Input>, runtime: &Handle) {
        for input in first {
            self.step(input, None);
        }
        let mut batch = Vec::with_capacity(BATCH);
        while !self.is_over() {
            let sleep = self.sleep();
            let inbox = &mut self.parts.inbox;
            let receive = async { timeout(sleep, inbox.recv_many(&mut batch, BATCH)).await };
            // Nothing received, and not for the time: every sender is gone.
            if let Ok(0) = runtime.block_on(receive) {
                break;
            }
            for arrival in batch.drain(..) {
                self.take(arrival);
            }
            self.tick();
        }
        self.close();
    }

    fn take(&mut self, Arrival { heard, ack }: Arrival) {
        match heard {
            Heard::Input(input) => {
                let link = if let Input::Broker { up } = input {
                    Some(up)
                } else {
                    None
                };
                self.step(input, ack);
                if let Some(up) = link {
                    self.mqtt_link(up);
                }
            }
            Heard::Controller { elevator, event } => {
                let now = self.parts.clock.now();
                let mut reports = self.parts.mqtt.heard(&elevator, &event, now);
                let last = reports.pop();
                for report in reports {
                    self.step(report, None);
                }
                // The message is done with when the last report of it is.
                match last {
                    Some(report) => self.step(report, ack),
                    None => self.submit(ack),
                }
            }
            Heard::Stop => {
                self.step(Input::Stopping, None);
                self.stop_soon();
            }
            Heard::JournalFailed => self.fail(),
        }
    }

    /// The link to the controllers that speak MQTT is the link to the broker.
    fn mqtt_link(&mut self, up: bool) {
        for report in self.parts.mqtt.link(up) {
            self.step(report, None);
        }
    }

    fn step(&mut self, input: Input, ack: Option<Ticket>) {
        self.doors.see(&input);
        self.in_flight.see(&input);
        if self.failed {
            return;
        }
        self.out.clear();
        self.parts
            .core
            .step(self.parts.clock.now(), input, &mut self.out);
        self.submit(ack);
    }

    /// Hands over what the last step yielded.
    fn submit(&mut self, ack: Option<Ticket>) {
        if self.failed {
            return;
        }
        let at_ms = self.parts.clock.mono_ms();
        let facts = std::mem::take(&mut self.out.facts);
        let effects = std::mem::take(&mut self.out.effects);
        self.in_flight.released(&effects, at_ms);
        let durable = self.parts.committer.durable();
        if let Err(error) = self.parts.marks.note(&facts, durable) {
            tracing::error!(%error, "the fence marks failed");
            return self.fail();
        }
        let ledger = ledger_changes(self.parts.core.state(), &facts);
        let release = Release {
            at_ms,
            effects,
            ack,
        };
        let submitted = self
            .parts
            .committer
            .submit(Batch { facts, ledger }, release);
        let kept = submitted.and_then(|()| {
            if !self.parts.committer.snapshot_is_due() {
                return Ok(());
            }
            self.parts
                .committer
                .snapshot(self.parts.core.state().encode_snapshot())
        });
        if let Err(error) = kept {
            tracing::error!(%error, "the journal takes no more");
            self.fail();
        }
    }

    fn tick(&mut self) {
        let now_ms = self.parts.clock.mono_ms();
        if self.failed {
            self.parts.lines.renew_holds(&self.held(now_ms), now_ms);
        } else if self
            .parts
            .core
            .next_deadline_ms()
            .is_some_and(|due_ms| due_ms <= now_ms)
        {
            self.step(Input::Tick, None);
        }
    }

    fn sleep(&self) -> Duration {
        let now_ms = self.parts.clock.mono_ms();
        if self.failed || self.stop.is_some() {
            return Duration::from_millis(50);
        }
        match self.parts.core.next_deadline_ms() {
            Some(due_ms) => Duration::from_millis(due_ms.saturating_sub(now_ms)).min(SLEEP_MAX),
            None => SLEEP_MAX,
        }
    }

    /// Memory is ahead of the disk and not used any more.
    fn fail(&mut self) {
        if self.failed {
            return;
        }
        self.failed = true;
        self.stop_soon();
        self.parts.ending.call(End::JournalFailed);
    }

    /// The end comes after the doors that must be held, and the commands under way.
    fn stop_soon(&mut self) {
        let now_ms = self.parts.clock.mono_ms();
        let hold_ms = if self.held(now_ms).is_empty() {
            0
        } else {
            2 * self.parts.timing.valid_ms
        };
        // An end that was asked for has 15 s in all, a failed journal has no such bound.
        let (hold_ms, last_ms) = if self.failed {
            (hold_ms, hold_ms)
        } else {
            (hold_ms.min(STOP_HOLD_MAX_MS), STOP_MAX_MS)
        };
        self.stop.get_or_insert(Stop {
            held_until_ms: now_ms + hold_ms,
            last_ms: now_ms + last_ms,
        });
    }

    /// Elevators that a robot may be in, whose door is held and was seen open.
    fn held(&self, now_ms: u64) -> Vec<ElevatorId> {
        let rides = &self.parts.core.state().rides;
        let inside: Vec<&ElevatorId> = rides
            .values()
            .filter(|ride| ride.inside)
            .filter_map(|ride| ride.elevator.as_ref())
            .collect();
        let mut held = self.parts.lines.held(now_ms);
        held.retain(|elevator| inside.contains(&elevator) && self.doors.is_open(elevator));
        held
    }

    fn is_over(&self) -> bool {
        let Some(stop) = &self.stop else {
            return false;
        };
        let now_ms = self.parts.clock.mono_ms();
        let patience_ms = 2 * self.parts.timing.accept_ms;
        let is_busy = self.in_flight.is_any_younger_than(patience_ms, now_ms);
        now_ms >= stop.last_ms || now_ms >= stop.held_until_ms && !is_busy
    }

    fn close(self) {
        let Parts {
            committer,
            marks,
            core,
            ..
        } = self.parts;
        if self.failed {
            return;
        }
        let submitted = committer.submitted();
        tracing::debug!(
            rides = core.state().rides.len(),
            submitted,
            "the engine ends"
        );
        match committer.close(CLOSE) {
            Ok(()) => {
                if let Err(error) = marks.close(submitted) {
                    tracing::error!(%error, "the fence marks were not closed");
                }
            }
            Err(error) => tracing::error!(%error, "the journal was not closed"),
        }
    }
}
