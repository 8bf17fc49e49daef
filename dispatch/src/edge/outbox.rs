//! What is on its way to the broker: it leaves at PUBACK, not when it is handed over, and after an
//! outage law 5 says what of it is still sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::hardware::Action;
use protocol::limits::ELEVATORS_MAX;
use protocol::{ClaimId, DeviceId, ElevatorId, Fence, GatewayId, Outgoing, RentalId, RobotId};

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
    /// A claim of an application.
    Claim(ClaimId),
    /// A rental of an application.
    Rental(RentalId),
    /// A device.
    Device(DeviceId),
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
            Outgoing::ClaimState { view, .. } => {
                Self::Newest(Subject::Claim(view.claim_id.clone()))
            }
            Outgoing::RentalState { view, .. } => {
                Self::Newest(Subject::Rental(view.rental_id.clone()))
            }
            Outgoing::DeviceState(view) => Self::Newest(Subject::Device(view.device_id.clone())),
            // A device obeys no older one than it has seen.
            Outgoing::DeviceCommand { command, .. } => {
                Self::Until(now_ms.saturating_add(command.expires_in_ms))
            }
            Outgoing::RideReply { .. } | Outgoing::ClientReply { .. } => {
                Self::Until(now_ms.saturating_add(REPLY_KEPT_MS))
            }
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
    /// `None`: the link is open.
    outage: Option<Outage>,
    next_id: u64,
    /// Not handed over; each is younger than all in flight.
    queued: BTreeMap<u64, Entry<M>>,
    /// Handed over on this connection, not acknowledged.
    flight: BTreeMap<u64, Entry<M>>,
    /// Made worthless by a newer one during the outage.
    dropped: VecDeque<M>,
    /// The highest fence that came, per elevator.
    fences: BTreeMap<ElevatorId, Fence>,
    capacity: usize,
    window: usize,
}

/// What of the queued becomes worthless in an outage, so that a message costs the same however many
/// wait.
#[derive(Debug, Default)]
struct Outage {
    /// The newest word about each subject.
    newest: BTreeMap<Subject, u64>,
    /// When one ends, and which.
    ends: BTreeSet<(u64, u64)>,
}

impl<M> Outbox<M> {
    /// An empty outbox with a closed link, for at most `capacity` messages of which at most
    /// `window` are in flight.
    #[must_use]
    pub fn new(capacity: usize, window: usize) -> Self {
        Self {
            outage: Some(Outage::default()),
            next_id: 0,
            queued: BTreeMap::new(),
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
        if let (Some(outage), Keep::Newest(subject)) = (&mut self.outage, &keep)
            && let Some(older) = outage.newest.remove(subject)
        {
            let older = self.queued.remove(&older);
            self.dropped.extend(older.map(|entry| entry.message));
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
            self.fence(elevator, *fence);
        }
        let id = self.next_id;
        self.next_id += 1;
        if let Some(outage) = &mut self.outage {
            outage.note(id, &keep, end_ms(&self.fences, &keep));
        }
        let entry = Entry {
            pushed_ms: now_ms,
            keep,
            message,
        };
        self.queued.insert(id, entry);
        Ok(())
    }

    /// What to do next; `None` = nothing until a message comes, is acknowledged or expires, or
    /// the link opens.
    pub fn next(&mut self, now_ms: u64) -> Option<Next<'_, M>> {
        if let Some(message) = self.dropped.pop_front() {
            return Some(Next::Dropped(message));
        }
        if let Some(outage) = &mut self.outage {
            loop {
                let id = outage.worthless(now_ms)?;
                if let Some(entry) = self.queued.remove(&id) {
                    return Some(Next::Dropped(entry.message));
                }
            }
        }
        let first = self.queued.first_entry()?;
        if now_ms >= end_ms(&self.fences, &first.get().keep) {
            return Some(Next::Dropped(first.remove().message));
        }
        if self.flight.len() >= self.window {
            return None;
        }
        let (id, entry) = first.remove_entry();
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
        self.outage = None;
    }

    /// The link closed: what was in flight waits again at its place, and of each subject only the
    /// newest is kept.
    pub fn closed(&mut self) {
        self.queued.append(&mut self.flight);
        let mut outage = Outage::default();
        let mut older = Vec::new();
        for (id, entry) in &self.queued {
            let end_ms = end_ms(&self.fences, &entry.keep);
            older.extend(outage.note(*id, &entry.keep, end_ms));
        }
        let older = older.iter().filter_map(|id| self.queued.remove(id));
        self.dropped.extend(older.map(|entry| entry.message));
        self.outage = Some(outage);
    }

    /// Whether the link is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.outage.is_none()
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

    /// A command with this fence came: older ones are worth nothing any more.
    fn fence(&mut self, elevator: &ElevatorId, fence: Fence) {
        let known = self.fences.contains_key(elevator);
        // The core names no elevator outside the configuration, which is not longer.
        if !known && self.fences.len() >= ELEVATORS_MAX {
            return;
        }
        let highest = self.fences.entry(elevator.clone()).or_default();
        if fence <= *highest {
            return;
        }
        *highest = fence;
        // A fence is raised once in a ride.
        if let Some(outage) = &mut self.outage {
            let older = self.queued.iter().filter(|(_, entry)| {
                matches!(&entry.keep, Keep::Command { elevator: whose, .. } if whose == elevator)
            });
            outage.ends.extend(older.map(|(id, _)| (0, *id)));
        }
    }
}

impl Outage {
    /// A message waits, until `end_ms`. Returns the older one that it makes worthless.
    fn note(&mut self, id: u64, keep: &Keep, end_ms: u64) -> Option<u64> {
        if let Keep::Newest(subject) = keep {
            return self.newest.insert(subject.clone(), id);
        }
        self.ends.insert((end_ms, id));
        None
    }

    /// The next that is worth nothing any more; it may be gone already.
    fn worthless(&mut self, now_ms: u64) -> Option<u64> {
        let (end_ms, id) = *self.ends.first()?;
        if now_ms < end_ms {
            return None;
        }
        self.ends.pop_first();
        Some(id)
    }
}

/// When a message becomes worthless, in milliseconds; a command of an older fence always was.
fn end_ms(fences: &BTreeMap<ElevatorId, Fence>, keep: &Keep) -> u64 {
    match keep {
        Keep::Newest(_) => u64::MAX,
        Keep::Until(until_ms) => *until_ms,
        Keep::Command {
            elevator,
            fence,
            until_ms,
        } => {
            let highest = fences.get(elevator).copied().unwrap_or_default();
            if *fence < highest { 0 } else { *until_ms }
        }
    }
}

#[cfg(test)]
mod tests;
