//! Where the process may end, and which pass of a point ends it.
//!
//! `HALLCALL_CRASH_AT=<point>:<n>` ends it as SIGKILL does, at the n-th pass of the point, from 1:
//!
//! | point | where | passes |
//! |---|---|---|
//! | C0 | before a step is appended | 1 |
//! | C1 | a group of steps is handed to the store in part; it is with the system, of which a disk may keep any part | 2 |
//! | C2 | a step is appended and in memory; its group is with the system and not synced | 2 |
//! | C3 | a group is synced, its effects are not run | 1 |
//! | C4 | a command is written to its controller, which has not answered | 1 per write |
//! | C5 | a message is written to the broker, which has not acknowledged it | 1 |
//! | C6 | the broker acknowledged a message; we acknowledged one | 1 |
//! | C7 | in a snapshot: pieces written, named, named durably, older ones removed; before the fence marks take their name | 4, 1 |
//! | C8 | in the start: opened, loaded, marks reserved, before *ready* | 4 |
//!
//! `HALLCALL_CRASH_ON=<word>,...` lets only those passes count that are about a ride, a rental or
//! a device for which all of the words hold: its order, its state, a command, `said` or `heard`.
//! `HALLCALL_SNAPSHOT_EVERY=<facts>` makes snapshots as often as a test needs them.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use dispatch::{Effect, Fact, RideFact};
use protocol::hardware::Command;
use protocol::ride::RideState;
use protocol::{Decoded, Inbound, OrderId, Outgoing, RobotMessage};
use rumqttc::{ConnectionError, Event};
use rustix::process::{Signal, getpid, kill_process};

use super::plan::{AT, About, C0, C1, C2, C3, C4, C5, C6, C7, C8, ON, Plan, Point};
use super::rentals;
use crate::journal::Options;

const SNAPSHOT_EVERY: &str = "HALLCALL_SNAPSHOT_EVERY";

/// What the environment asks for. Without it nothing is noted and nothing ends.
static PLAN: OnceLock<Plan> = OnceLock::new();
static BOOK: Mutex<Book> = Mutex::new(Book::new());

/// What was noted on the way to the points.
struct Book {
    /// Passes that counted.
    passes: u64,
    /// The state of each ride, as it was released last.
    rides: BTreeMap<OrderId, RideState>,
    /// The rides that the group of steps moves that is not synced.
    group: Vec<About>,
    /// What the messages of the outbox are about, and the point that each passes when written.
    said: BTreeMap<u64, (Point, About)>,
    /// The order of each message that we have not acknowledged, by packet id.
    heard: BTreeMap<u16, OrderId>,
    /// What each message about rentals is about that we have not acknowledged, by packet id.
    heard_of_rentals: BTreeMap<u16, About>,
    /// The command that is written to a bus.
    executing: Option<About>,
}

/// Reads what the environment asks for.
///
/// # Errors
/// Which value cannot be read.
pub(crate) fn arm() -> Result<(), String> {
    adapters::crash::on_written(written);
    let Ok(at) = env::var(AT) else { return Ok(()) };
    let on = env::var(ON).unwrap_or_default();
    let plan = Plan::read(&at, &on)?;
    // Only the first gateway of a process.
    let _ = PLAN.set(plan);
    Ok(())
}

/// How the committer works.
///
/// # Errors
/// Which value cannot be read.
pub(crate) fn options() -> Result<Options, String> {
    let Ok(text) = env::var(SNAPSHOT_EVERY) else {
        return Ok(Options::default());
    };
    let wrong = || format!("{SNAPSHOT_EVERY} = {text:?}: it is a number of facts, from 1");
    let snapshot_every = text.parse().ok().filter(|every| *every >= 1);
    Ok(Options {
        snapshot_every: snapshot_every.ok_or_else(wrong)?,
        ..Options::default()
    })
}

/// A step is appended next.
pub(crate) fn appending(facts: &[Fact]) {
    let moved = facts.iter().filter_map(|fact| match fact {
        Fact::Ride(RideFact::Admitted { order, .. }) => Some(about(order, RideState::Queued)),
        Fact::Ride(RideFact::Moved { order, state, .. }) => Some(about(order, *state)),
        Fact::Ride(
            RideFact::Away { .. }
            | RideFact::Inside { .. }
            | RideFact::InCar { .. }
            | RideFact::Claimed { .. }
            | RideFact::Archived { .. }
            | RideFact::Forgotten { .. },
        )
        | Fact::Elevator(_)
        | Fact::Answer(_)
        | Fact::Series(_)
        | Fact::Turn(_)
        | Fact::Claim(_)
        | Fact::Site(_) => None,
        Fact::Rental(fact) => rentals::moved(fact),
    });
    let moved: Vec<About> = moved.collect();
    with_book(|book| {
        book.pass(C0, &moved);
        book.group.extend(moved);
    });
}

/// A step was appended, and is in memory.
pub(crate) fn appended() {
    with_book(|book| book.pass_group(C2));
}

/// A part of the group was handed to the store.
pub(crate) fn handed_in_part() {
    with_book(|book| book.pass_group(C1));
}

/// The group is with the system and not synced.
pub(crate) fn with_the_system() {
    with_book(|book| {
        book.pass_group(C1);
        book.pass_group(C2);
    });
}

/// The group is durable, and nothing of it was released.
pub(crate) fn synced() {
    with_book(|book| {
        book.pass_group(C3);
        book.group.clear();
    });
}

/// A step is released: where its rides are is seen next.
pub(crate) fn released(effects: &[Effect]) {
    with_book(|book| {
        for effect in effects {
            if let Effect::Say(Outgoing::RideState(view)) = effect {
                book.rides.insert(view.order_id.clone(), view.state);
            }
        }
    });
}

/// A place in a snapshot.
pub(crate) fn in_snapshot() {
    with_book(|book| {
        let rides = book.rides.iter();
        let all: Vec<About> = rides.map(|(order, state)| about(order, *state)).collect();
        book.pass(C7, &all);
    });
}

/// Before a file takes its name.
pub(crate) fn before_rename() {
    with_book(|book| book.pass(C7, &[]));
}

/// A place in the start.
pub(crate) fn recovering() {
    with_book(|book| book.pass(C8, &[]));
}

/// A message of the outbox is handed to the client library.
pub(crate) fn saying(id: u64, message: &Outgoing) {
    with_book(|book| {
        if let Some((point, about)) = rentals::said(message) {
            book.said.insert(id, (point, about));
            return;
        }
        let (point, order, state, what) = match message {
            Outgoing::ElevatorCommand(sent) => {
                let Some((order, state)) = book.ride_of(&sent.command) else {
                    return;
                };
                (C4, order, state, sent.command.action.word())
            }
            Outgoing::RideState(view) => (C5, view.order_id.clone(), view.state, "state"),
            Outgoing::RideReply { reply, .. } => {
                let (Some(order), Some(state)) = (&reply.order_id, reply.state) else {
                    return;
                };
                (C5, order.clone(), state, "reply")
            }
            Outgoing::RideStateCleared { .. }
            | Outgoing::ElevatorState(_)
            | Outgoing::ClientReply { .. }
            | Outgoing::ClaimState { .. }
            | Outgoing::RentalState { .. }
            | Outgoing::DeviceCommand { .. }
            | Outgoing::DeviceState(_)
            | Outgoing::Alarm(_)
            | Outgoing::Alarms(_)
            | Outgoing::Site(_)
            | Outgoing::GatewayConnection(..) => return,
        };
        let mut about = about(&order, state);
        about.extend([what.to_owned(), "said".to_owned()]);
        book.said.insert(id, (point, about));
    });
}

/// A message of the outbox was written to the broker.
pub(crate) fn sent(id: u64) {
    with_book(|book| {
        if let Some((point, about)) = book.said.get(&id).cloned() {
            book.pass(point, &[about]);
        }
    });
}

/// The broker acknowledged a message of the outbox.
pub(crate) fn acked(id: u64) {
    with_book(|book| {
        if let Some((_, about)) = book.said.remove(&id) {
            book.pass(C6, &[about]);
        }
    });
}

/// A message came that is to be acknowledged.
pub(crate) fn heard(packet_id: u16, decoded: &Decoded) {
    let Decoded::Message(inbound) = decoded else {
        return;
    };
    if let Some(about) = rentals::heard(inbound) {
        with_book(|book| {
            book.heard_of_rentals.insert(packet_id, about);
        });
        return;
    }
    let Inbound::Robot { message, .. } = inbound else {
        return;
    };
    let order = match message {
        RobotMessage::Request(request) => &request.order_id,
        RobotMessage::Event(event) => &event.order_id,
        RobotMessage::Cancel(cancel) => &cancel.order_id,
        RobotMessage::Status(_) | RobotMessage::Connection(_) => return,
    };
    with_book(|book| {
        book.heard.insert(packet_id, order.clone());
    });
}

/// The ingest connection did something: where it wrote an acknowledgement, a point is passed.
pub(crate) fn polled(event: &Result<Event, ConnectionError>) {
    let Ok(Event::Outgoing(rumqttc::Outgoing::PubAck(packet_id))) = event else {
        return;
    };
    with_book(|book| {
        if let Some(about) = book.heard_of_rentals.remove(packet_id) {
            book.pass(C6, &[about]);
        }
        let order = book.heard.remove(packet_id);
        let ride = order.and_then(|order| Some((book.rides.get(&order).copied()?, order)));
        if let Some((state, order)) = ride {
            let mut about = about(&order, state);
            about.push("heard".to_owned());
            book.pass(C6, &[about]);
        }
    });
}

/// A command is under way on a bus, or none is.
pub(crate) fn executing(command: Option<&Command>) {
    with_book(|book| {
        book.executing = command.and_then(|command| {
            let (order, state) = book.ride_of(command)?;
            let mut about = about(&order, state);
            about.push(command.action.word().to_owned());
            Some(about)
        });
    });
}

/// A request was written to a bus and is not answered.
fn written() {
    with_book(|book| {
        if let Some(about) = book.executing.clone() {
            book.pass(C4, &[about]);
        }
    });
}

fn about(order: &OrderId, state: RideState) -> About {
    vec![order.to_string(), state.to_string()]
}

/// Does nothing where no point was asked for.
fn with_book(act: impl FnOnce(&mut Book)) {
    if PLAN.get().is_some() {
        act(&mut lock());
    }
}

fn lock() -> MutexGuard<'static, Book> {
    // A panic ends the process, so nobody ever sees a poisoned lock.
    BOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    const fn new() -> Self {
        Self {
            passes: 0,
            rides: BTreeMap::new(),
            group: Vec::new(),
            said: BTreeMap::new(),
            heard: BTreeMap::new(),
            heard_of_rentals: BTreeMap::new(),
            executing: None,
        }
    }

    fn ride_of(&self, command: &Command) -> Option<(OrderId, RideState)> {
        let order = command.order_id.clone()?;
        let state = self.rides.get(&order).copied()?;
        Some((order, state))
    }

    fn pass_group(&mut self, point: Point) {
        let group = std::mem::take(&mut self.group);
        self.pass(point, &group);
        self.group = group;
    }

    fn pass(&mut self, point: Point, abouts: &[About]) {
        let Some(plan) = PLAN.get() else { return };
        if plan.point != point || !plan.counts(abouts) {
            return;
        }
        self.passes += 1;
        if self.passes == plan.n {
            end(plan, abouts);
        }
    }
}

/// As SIGKILL: nothing is finished, nothing is said but this.
fn end(plan: &Plan, abouts: &[About]) -> ! {
    let Plan { point, n, .. } = plan;
    let _ = writeln!(io::stderr(), "crash point {point}:{n} {abouts:?}");
    let _ = kill_process(getpid(), Signal::KILL);
    // It ends before this thread is back; a thread that held a lock here goes on with nothing.
    loop {
        thread::park();
    }
}
