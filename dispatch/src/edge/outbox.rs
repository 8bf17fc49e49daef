//! What is on its way to the broker: it leaves at PUBACK, not when it is handed over, and after an
//! outage law 5 says what of it is still sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::hardware::Action;
use protocol::limits::ELEVATORS_MAX;
use protocol::{ElevatorId, Fence, GatewayId, Outgoing, RobotId};

use super::Full;

/// How long a reply is worth sending, in milliseconds. The robot that waits for it has asked again
/// by then (`wire.md` section 3: every 5 s).
pub const REPLY_KEPT_MS: u64 = 60_000;

/// What the newest word about makes older ones worthless after an outage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A robot's ride.
    Ride(RobotId),
    /// An elevator.
    Elevator(ElevatorId),
    /// One alarm; its newest word says when it was raised, too.
    Alarm(String),
    /// All open alarms.
    Alarms,
    /// The site.
    Site,
    /// A gateway's presence.
    Gateway(GatewayId),
}

/// How long a message is worth sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// A state: with the link open each is sent, after an outage only the newest.
    Newest(Subject),
    /// Until this moment of the monotonic clock, in milliseconds.
    Until(u64),
    /// A command: until this moment, and only while no higher fence has come after it.
    Command {
        /// The elevator.
        elevator: ElevatorId,
        /// The fence of the command.
        fence: Fence,
        /// Until when, in milliseconds of the monotonic clock.
        until_ms: u64,
    },
}

impl Keep {
    /// The rule for a message that is released now.
    #[must_use]
    pub fn of(message: &Outgoing, now_ms: u64) -> Self {
        match message {
            Outgoing::RideReply { .. } => Self::Until(now_ms.saturating_add(REPLY_KEPT_MS)),
            Outgoing::RideState(view) => Self::Newest(Subject::Ride(view.robot_id.clone())),
            Outgoing::RideStateCleared { robot } => Self::Newest(Subject::Ride(robot.clone())),
            Outgoing::ElevatorState(view) => {
                Self::Newest(Subject::Elevator(view.elevator_id.clone()))
            }
            Outgoing::ElevatorCommand(sent) => {
                let command = &sent.command;
                let until_ms = now_ms.saturating_add(command.expires_in_ms);
                if command.action == Action::Query {
                    return Self::Until(until_ms);
                }
                let (elevator, fence) = (command.elevator_id.clone(), command.fence);
                Self::Command {
                    elevator,
                    fence,
                    until_ms,
                }
            }
            Outgoing::Alarm(alarm) => Self::Newest(Subject::Alarm(alarm.alarm_id.clone())),
            Outgoing::Alarms(_) => Self::Newest(Subject::Alarms),
            Outgoing::Site(_) => Self::Newest(Subject::Site),
            Outgoing::GatewayConnection(gateway, _) => {
                Self::Newest(Subject::Gateway(gateway.clone()))
            }
        }
    }
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a, M> {
    /// Hand this to the broker.
    Send {
        /// Comes back with [`Outbox::acked`].
        id: u64,
        /// Since when it waits, in milliseconds; what is left of a span that it carries is less
        /// by so much.
        waited_ms: u64,
        /// The message.
        message: &'a M,
    },
    /// This will not be sent; it is out of the outbox.
    Dropped(M),
}

#[derive(Debug)]
struct Entry<M> {
    pushed_ms: u64,
    keep: Keep,
    message: M,
}

/// The messages that the broker has not acknowledged, in order.
#[derive(Debug)]
pub struct Outbox<M> {
    open: bool,
    next_id: u64,
    /// Not handed over; each is younger than all in flight.
    queued: VecDeque<(u64, Entry<M>)>,
    /// Handed over on this connection, not acknowledged.
    flight: BTreeMap<u64, Entry<M>>,
    /// Made worthless by a newer one during the outage.
    dropped: VecDeque<M>,
    /// The highest fence that came, per elevator.
    fences: BTreeMap<ElevatorId, Fence>,
    capacity: usize,
    window: usize,
}

impl<M> Outbox<M> {
    /// An empty outbox with a closed link, for at most `capacity` messages of which at most
    /// `window` are in flight.
    #[must_use]
    pub fn new(capacity: usize, window: usize) -> Self {
        Self {
            open: false,
            next_id: 0,
            queued: VecDeque::new(),
            flight: BTreeMap::new(),
            dropped: VecDeque::new(),
            fences: BTreeMap::new(),
            capacity,
            window,
        }
    }

    /// Takes a message at its place in the order.
    ///
    /// # Errors
    /// [`Full`] with the message: take what [`Outbox::next`] gives, or wait for an acknowledgement.
    pub fn push(&mut self, now_ms: u64, keep: Keep, message: M) -> Result<(), Full<M>> {
        if !self.open {
            self.supersede(&keep);
        }
        if self.len() >= self.capacity {
            return Err(Full {
                item: message,
                capacity: self.capacity,
            });
        }
        if let Keep::Command {
            elevator, fence, ..
        } = &keep
        {
            let known = self.fences.contains_key(elevator);
            // The core names no elevator outside the configuration, which is not longer.
            if known || self.fences.len() < ELEVATORS_MAX {
                let highest = self.fences.entry(elevator.clone()).or_default();
                *highest = (*highest).max(*fence);
            }
        }
        self.queued.push_back((
            self.next_id,
            Entry {
                pushed_ms: now_ms,
                keep,
                message,
            },
        ));
        self.next_id += 1;
        Ok(())
    }

    /// What to do next; `None` = nothing until a message comes, is acknowledged or expires, or
    /// the link opens.
    pub fn next(&mut self, now_ms: u64) -> Option<Next<'_, M>> {
        if let Some(message) = self.dropped.pop_front() {
            return Some(Next::Dropped(message));
        }
        if !self.open {
            let worthless = |(_, entry): &(u64, Entry<M>)| self.is_worthless(&entry.keep, now_ms);
            let place = self.queued.iter().position(worthless)?;
            return self
                .queued
                .remove(place)
                .map(|(_, entry)| Next::Dropped(entry.message));
        }
        let (id, entry) = self.queued.front()?;
        let id = *id;
        if self.is_worthless(&entry.keep, now_ms) {
            return self
                .queued
                .pop_front()
                .map(|(_, entry)| Next::Dropped(entry.message));
        }
        if self.flight.len() >= self.window {
            return None;
        }
        let (_, entry) = self.queued.pop_front()?;
        let entry = self.flight.entry(id).or_insert(entry);
        let waited_ms = now_ms.saturating_sub(entry.pushed_ms);
        Some(Next::Send {
            id,
            waited_ms,
            message: &entry.message,
        })
    }

    /// The broker has it. Returns whether it was in flight on this connection.
    pub fn acked(&mut self, id: u64) -> bool {
        self.flight.remove(&id).is_some()
    }

    /// The link opened: what waits is sent from the oldest on.
    pub fn opened(&mut self) {
        self.closed();
        self.open = true;
    }

    /// The link closed: what was in flight waits again at its place, and of each subject only the
    /// newest is kept.
    pub fn closed(&mut self) {
        self.open = false;
        while let Some(entry) = self.flight.pop_last() {
            self.queued.push_front(entry);
        }
        let mut seen = BTreeSet::new();
        let mut kept = VecDeque::with_capacity(self.queued.len());
        while let Some((id, entry)) = self.queued.pop_back() {
            match &entry.keep {
                Keep::Newest(subject) if !seen.insert(subject.clone()) => {
                    self.dropped.push_back(entry.message);
                }
                Keep::Newest(_) | Keep::Until(_) | Keep::Command { .. } => {
                    kept.push_front((id, entry));
                }
            }
        }
        self.queued = kept;
    }

    /// Whether the link is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// All that it holds, in flight or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queued.len() + self.flight.len() + self.dropped.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn supersede(&mut self, keep: &Keep) {
        if !matches!(keep, Keep::Newest(_)) {
            return;
        }
        if let Some(place) = self
            .queued
            .iter()
            .position(|(_, entry)| entry.keep == *keep)
        {
            let older = self.queued.remove(place);
            self.dropped.extend(older.map(|(_, entry)| entry.message));
        }
    }

    fn is_worthless(&self, keep: &Keep, now_ms: u64) -> bool {
        match keep {
            Keep::Newest(_) => false,
            Keep::Until(until_ms) => now_ms >= *until_ms,
            Keep::Command {
                elevator,
                fence,
                until_ms,
            } => {
                let highest = self.fences.get(elevator).copied().unwrap_or_default();
                now_ms >= *until_ms || *fence < highest
            }
        }
    }
}

#[cfg(test)]
mod tests;
