//! What is known of rentals and devices: the fold of their facts.

use std::collections::{BTreeMap, VecDeque};

use protocol::client::RentalState;
use protocol::device::{DeviceState, DeviceWord};
use protocol::{DeviceId, Fence, InstanceId, RentalId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use super::fact::RentalFact;
use super::row::Rental;

/// Rentals that are over and are still shown; all others are in the journal.
const PAST_SHOWN: usize = 1_000;
/// Starts of a device before its last one that are known as old.
const BOOTS_MAX: usize = 64;

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Where it stands.
    pub state: DeviceState,
    /// Grows by one with each change of the state; 1 before the first.
    pub version: u64,
    /// Of its newest rental.
    pub fence: Fence,
    /// Of the last command.
    pub sequence: u64,
    /// Its open rental.
    pub rental: Option<RentalId>,
    /// Its last start that was heard of.
    pub boot: Option<InstanceId>,
    /// Those before.
    pub boots: VecDeque<InstanceId>,
    /// The last event of that start.
    pub seq: u64,
    /// What it said last.
    pub word: Option<DeviceWord>,
    /// When.
    pub heard_at: Option<Timestamp>,
    /// It said how it stands since its state changed.
    pub heard_since: bool,
}

impl Default for Device {
    /// Nobody has it: what it does without a rental, it says.
    fn default() -> Self {
        Self {
            state: DeviceState::Idle,
            version: 1,
            fence: Fence(0),
            sequence: 0,
            rental: None,
            boot: None,
            boots: VecDeque::new(),
            seq: 0,
            word: None,
            heard_at: None,
            heard_since: false,
        }
    }
}

impl Device {
    /// Whether an event is newer than all that moved anything.
    pub(crate) fn is_newer(&self, boot: &InstanceId, seq: u64) -> bool {
        match &self.boot {
            Some(last) if last == boot => seq > self.seq,
            Some(_) => !self.boots.contains(boot),
            None => true,
        }
    }

    fn go(&mut self, state: DeviceState) {
        self.state = state;
        self.version = self.version.saturating_add(1);
        self.heard_since = false;
    }

    fn hear(&mut self, boot: &InstanceId, seq: u64) {
        if self.boot.as_ref() != Some(boot)
            && let Some(old) = self.boot.replace(boot.clone())
        {
            if self.boots.len() >= BOOTS_MAX {
                self.boots.pop_front();
            }
            self.boots.push_back(old);
        }
        self.seq = seq;
    }
}

/// All rentals and devices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Rentals {
    /// How many were ever made.
    pub made: u64,
    /// The devices that facts are known of.
    pub devices: BTreeMap<DeviceId, Device>,
    /// Those that are not over.
    pub live: BTreeMap<RentalId, Rental>,
    /// Those that were over last.
    pub past: VecDeque<Rental>,
    /// Open rentals of each user.
    #[serde(skip)]
    users: BTreeMap<UserId, u32>,
}

/// What of [`Rentals`] a snapshot holds.
#[derive(Deserialize)]
struct Kept {
    made: u64,
    devices: BTreeMap<DeviceId, Device>,
    live: BTreeMap<RentalId, Rental>,
    past: VecDeque<Rental>,
}

impl From<Kept> for Rentals {
    fn from(kept: Kept) -> Self {
        let mut rentals = Self {
            made: kept.made,
            devices: kept.devices,
            past: kept.past,
            ..Self::default()
        };
        for rental in kept.live.into_values() {
            rentals.insert(rental);
        }
        rentals
    }
}

impl Rentals {
    /// A device as it is known; a free one where nothing is.
    #[must_use]
    pub fn device(&self, id: &DeviceId) -> Device {
        self.devices.get(id).cloned().unwrap_or_default()
    }

    /// Open rentals of a user.
    #[must_use]
    pub fn open_of(&self, user: &UserId) -> u32 {
        self.users.get(user).copied().unwrap_or(0)
    }

    /// The open rental of a device.
    pub(crate) fn of_device(&self, id: &DeviceId) -> Option<&Rental> {
        self.live.get(self.devices.get(id)?.rental.as_ref()?)
    }

    /// A rental, open or lately over.
    pub(crate) fn find(&self, rental: &RentalId) -> Option<&Rental> {
        let past = || self.past.iter().rev().find(|one| &one.rental == rental);
        self.live.get(rental).or_else(past)
    }

    pub(crate) fn apply(&mut self, fact: &RentalFact) {
        match fact {
            RentalFact::Opened { version, rental } => self.open(*version, rental),
            RentalFact::Started { .. } => self.start(fact),
            RentalFact::Moved { .. } => self.go(fact),
            RentalFact::Device {
                device,
                version,
                state,
                ..
            } => {
                let known = self.devices.entry(device.clone()).or_default();
                if known.version == *version {
                    known.go(*state);
                }
            }
            RentalFact::Heard {
                device,
                boot,
                seq,
                word,
                at,
            } => {
                let known = self.devices.entry(device.clone()).or_default();
                known.hear(boot, *seq);
                if word.is_some() {
                    known.word = *word;
                    known.heard_at = Some(*at);
                    known.heard_since = true;
                }
            }
            RentalFact::Commanded {
                device,
                sequence,
                rental,
            } => {
                let known = self.devices.entry(device.clone()).or_default();
                known.sequence = known.sequence.max(*sequence);
                if let Some((rental, tries)) = rental
                    && let Some(rental) = self.live.get_mut(rental)
                {
                    rental.tries = *tries;
                }
            }
            RentalFact::Raised {
                device,
                fence,
                sequence,
            } => {
                let known = self.devices.entry(device.clone()).or_default();
                known.fence = known.fence.max(*fence);
                known.sequence = known.sequence.max(*sequence);
            }
        }
    }

    /// One decision: the version and the state are what they were, else nothing happens.
    fn open(&mut self, version: u64, rental: &Rental) {
        let device = self.devices.entry(rental.device.clone()).or_default();
        if device.version != version || device.state != DeviceState::Idle {
            return;
        }
        device.go(if rental.state == RentalState::Reserved {
            DeviceState::Locked
        } else {
            DeviceState::Renting
        });
        device.fence = device.fence.max(rental.fence);
        device.rental = Some(rental.rental.clone());
        self.made = self.made.saturating_add(1);
        self.insert(rental.clone());
    }

    fn start(&mut self, fact: &RentalFact) {
        let RentalFact::Started {
            version,
            rental,
            order,
            client,
            ..
        } = fact
        else {
            return;
        };
        let Some(known) = self.live.get_mut(rental) else {
            return;
        };
        let device = self.devices.entry(known.device.clone()).or_default();
        let is_theirs = device.rental.as_ref() == Some(rental);
        if device.version != *version || device.state != DeviceState::Locked || !is_theirs {
            return;
        }
        device.go(DeviceState::Renting);
        known.state = RentalState::Pending;
        known.order = order.clone();
        known.client = client.clone();
        known.tries = 0;
    }

    fn go(&mut self, fact: &RentalFact) {
        let RentalFact::Moved {
            rental,
            state,
            why,
            refunded,
            at,
        } = fact
        else {
            return;
        };
        let Some(known) = self.live.get_mut(rental) else {
            return;
        };
        known.state = *state;
        known.why.clone_from(why);
        known.refunded |= *refunded;
        known.tries = 0;
        if *state == RentalState::Active {
            known.active_at.get_or_insert(*at);
        } else {
            known.metered_until.get_or_insert(*at);
        }
        if state.is_terminal() {
            known.over_at = Some(*at);
            self.pass(rental);
        }
    }

    fn pass(&mut self, rental: &RentalId) {
        let Some(over) = self.live.remove(rental) else {
            return;
        };
        if let Some(device) = self.devices.get_mut(&over.device)
            && device.rental.as_ref() == Some(rental)
        {
            device.rental = None;
        }
        match self.users.get_mut(&over.user) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                self.users.remove(&over.user);
            }
        }
        if self.past.len() >= PAST_SHOWN {
            self.past.pop_front();
        }
        self.past.push_back(over);
    }

    fn insert(&mut self, rental: Rental) {
        *self.users.entry(rental.user.clone()).or_default() += 1;
        self.live.insert(rental.rental.clone(), rental);
    }
}
