//! What the reference model knows: who is in which ride, whose each car is, and what was read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dispatch::SiteConfig;
use protocol::elevator::Health;
use protocol::hardware::{Action, Mode, Motion, Reading};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::{
    CommandId, ElevatorId, Fence, Landing, OrderId, ReasonCode, RobotId, Timestamp, ZoneId,
};

/// A robot's word that a signal must bear out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Entered,
    CancelEnter,
    Exited,
}

/// An order that was accepted.
#[derive(Debug, Clone)]
pub(super) struct Ride {
    pub(super) robot: RobotId,
    /// Everything that makes a repetition the same order.
    pub(super) content: Content,
    pub(super) from: Landing,
    pub(super) to: Landing,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) state: RideState,
    pub(super) held_from: Option<RideState>,
    pub(super) reason: Option<ReasonCode>,
    pub(super) instruction: Instruction,
    pub(super) seq: u64,
    pub(super) elevator: Option<ElevatorId>,
    pub(super) fence: Option<Fence>,
    /// The state was entered then; readings count from here.
    pub(super) since_ms: u64,
    /// The same on the clock that stands still while the broker is away.
    pub(super) since_clock: u64,
    /// It was accepted then, on the gateway's clock, before this process too, and on the wall.
    pub(super) born_ms: i64,
    pub(super) accepted_at: Timestamp,
    /// The robot may be inside (law 2).
    pub(super) inside: bool,
    /// The last permission.
    pub(super) permitted_ms: u64,
    /// Its word in this state, and when.
    pub(super) word: Option<(Word, u64)>,
    /// Every door was read shut since `enter`.
    pub(super) shut_seen: bool,
    /// A door was read open since RUNNING, or since HOLD.
    pub(super) opened: bool,
    /// It says that it is in a car.
    pub(super) in_car: bool,
    pub(super) away: bool,
    pub(super) ended_at: Option<Timestamp>,
    /// Rejoined by a process that had lost its tail: the next word is taken as it is.
    pub(super) loose: bool,
}

/// What the digest of an order covers (`wire.md` section 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) from: protocol::robot::Place,
    pub(super) to: protocol::robot::Place,
    pub(super) elevators: BTreeSet<ElevatorId>,
    pub(super) priority: u8,
}

/// What must be seen of an elevator before it is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Until {
    /// Nothing more than was seen already.
    Free,
    Shut,
    ShutOrEmpty,
    CallCleared(Landing),
    ModeNormal,
}

/// What outlives a process of an elevator.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) owner: Option<OrderId>,
    pub(super) until: Option<Until>,
    /// The highest fence that was given.
    pub(super) fence: Fence,
    /// Out of use by an operator.
    pub(super) maintenance: bool,
}

/// A command that may still be under way.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) id: CommandId,
    pub(super) action: Action,
    pub(super) sent_ms: u64,
    pub(super) resent: bool,
    /// Unanswered, and since when that is known.
    pub(super) unknown_ms: Option<u64>,
}

/// A hold of a door that was taken.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) landing: Landing,
    /// It was taken then, or has been renewed since without a gap.
    pub(super) since_ms: u64,
    pub(super) until_ms: u64,
}

/// An elevator.
#[derive(Debug, Clone, Default)]
pub(super) struct Car {
    pub(super) kept: Kept,
    /// Kept back since then; readings count from here.
    pub(super) kept_ms: u64,
    /// The car stood open at the landing of a call that cannot be read.
    pub(super) came: bool,
    pub(super) reading: Option<Reading>,
    pub(super) asked_ms: Option<u64>,
    pub(super) read_ms: Option<u64>,
    pub(super) start_ms: u64,
    pub(super) link_ms: u64,
    pub(super) doubt_ms: Option<u64>,
    pub(super) mode_seen: Option<Mode>,
    pub(super) flight: Option<Flight>,
    /// Commands of this process, the last few: a repetition of an older one is found by its age.
    pub(super) known: VecDeque<Flight>,
    /// A hold that was taken.
    pub(super) held: Option<Held>,
    pub(super) hold_sent_ms: Option<u64>,
    pub(super) open_since_ms: Option<u64>,
    pub(super) health: Option<Health>,
    /// The highest fence that left the gateway, in any process.
    pub(super) left: Fence,
    /// Whose command that was.
    pub(super) left_order: Option<OrderId>,
}

/// A robot.
#[derive(Debug, Clone, Default)]
pub(super) struct Robot {
    pub(super) order: Option<OrderId>,
    pub(super) heard_clock: u64,
    pub(super) second: u64,
    pub(super) messages: u32,
    /// It says too much in this second.
    pub(super) refused: bool,
    pub(super) in_car: bool,
}

/// A zone.
#[derive(Debug, Clone, Default)]
pub(super) struct Zone {
    pub(super) burning: bool,
    pub(super) suspended: bool,
    pub(super) clear: Option<bool>,
}

/// How things were before a step whose facts are not durable yet.
#[derive(Debug, Clone)]
pub(super) enum Before {
    Ride(OrderId, Option<Box<Ride>>),
    Car(ElevatorId, Kept),
    Robot(RobotId, Option<OrderId>),
    Zone(ZoneId, (bool, bool)),
}

/// All that the model knows.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) site: SiteConfig,
    pub(super) rides: BTreeMap<OrderId, Ride>,
    pub(super) cars: BTreeMap<ElevatorId, Car>,
    pub(super) robots: BTreeMap<RobotId, Robot>,
    pub(super) zones: BTreeMap<ZoneId, Zone>,
    pub(super) queued: BTreeSet<OrderId>,
    /// The process stood still until then.
    pub(super) stalled_ms: u64,
    /// The gateway's clock, and that without the time for which the broker was away.
    pub(super) now_ms: u64,
    pub(super) frozen_since_ms: Option<u64>,
    pub(super) frozen_ms: u64,
    pub(super) wall: Timestamp,
    pub(super) stopping: bool,
    pub(super) disk_low: bool,
    /// The last record of the step that is looked at, and what is durable.
    pub(super) appended: u64,
    pub(super) durable: u64,
    pub(super) tail: VecDeque<(u64, Before)>,
    /// Orders with a critical alarm that stands.
    pub(super) alarmed: BTreeSet<OrderId>,
}

impl Model {
    pub(super) fn new(site: &SiteConfig) -> Self {
        let cars = site.elevators.keys();
        let zones = site.zones.keys();
        Self {
            site: site.clone(),
            rides: BTreeMap::new(),
            cars: cars.map(|id| (id.clone(), Car::default())).collect(),
            robots: BTreeMap::new(),
            zones: zones.map(|id| (id.clone(), Zone::default())).collect(),
            queued: BTreeSet::new(),
            stalled_ms: 0,
            now_ms: 0,
            frozen_since_ms: None,
            frozen_ms: 0,
            wall: Timestamp(0),
            stopping: false,
            disk_low: false,
            appended: 0,
            durable: 0,
            tail: VecDeque::new(),
            alarmed: BTreeSet::new(),
        }
    }

    /// The clock on which leases and deadlines count.
    pub(super) fn clock(&self) -> u64 {
        let away = self.frozen_since_ms.map_or(0, |since| self.now_ms - since);
        self.now_ms.saturating_sub(self.frozen_ms + away)
    }

    /// Something changes that outlives the process, once it is durable.
    pub(super) fn remember(&mut self, before: Before) {
        if self.appended > self.durable {
            self.tail.push_back((self.appended, before));
        }
    }

    pub(super) fn remember_ride(&mut self, order: &OrderId) {
        if self.appended > self.durable {
            let before = self.rides.get(order).cloned().map(Box::new);
            self.remember(Before::Ride(order.clone(), before));
        }
    }

    pub(super) fn remember_car(&mut self, elevator: &ElevatorId) {
        if self.appended > self.durable
            && let Some(car) = self.cars.get(elevator)
        {
            let kept = car.kept.clone();
            self.remember(Before::Car(elevator.clone(), kept));
        }
    }

    pub(super) fn is_queued(&mut self, order: &OrderId, queued: bool) {
        if queued {
            self.queued.insert(order.clone());
        } else {
            self.queued.remove(order);
        }
    }

    pub(super) fn has_presence(&self, elevator: &ElevatorId) -> bool {
        let config = self.site.elevators.get(elevator);
        config.is_some_and(|config| config.presence != Presence::None)
    }

    /// The mode that the elevator is in, as far as it is known (`ride.md` section 0).
    pub(super) fn mode(&self, elevator: &ElevatorId) -> Mode {
        let (Some(config), Some(car)) =
            (self.site.elevators.get(elevator), self.cars.get(elevator))
        else {
            return Mode::Unknown;
        };
        let zone = self.zones.get(&config.zone);
        if zone.is_some_and(|zone| zone.burning || zone.clear == Some(false)) {
            return Mode::Fire;
        }
        if car.kept.maintenance {
            return Mode::OutOfService;
        }
        if !config.mode_signal {
            return match zone.and_then(|zone| zone.clear) {
                Some(true) => Mode::Normal,
                Some(false) => Mode::Fire,
                None => Mode::Unknown,
            };
        }
        let read = car.reading.as_ref().map(|reading| reading.mode);
        car.mode_seen.or(read).unwrap_or(Mode::Unknown)
    }

    pub(super) fn serves(&self, elevator: &ElevatorId) -> bool {
        self.mode(elevator).serves_robots()
    }

    /// No grants in its zone.
    pub(super) fn is_suspended(&self, elevator: &ElevatorId) -> bool {
        let zone = self.site.elevators.get(elevator);
        let zone = zone.and_then(|config| self.zones.get(&config.zone));
        zone.is_none_or(|zone| zone.burning || zone.suspended || zone.clear == Some(false))
    }

    /// A robot may cross: OPEN was read lately, nothing spoke against it since, and a hold that
    /// was taken before that reading was asked for outlasts the permission.
    pub(super) fn may_cross(&self, elevator: &ElevatorId, landing: &Landing, held: bool) -> bool {
        let Some(car) = self.cars.get(elevator) else {
            return false;
        };
        let timing = &self.site.timing;
        let since = self.now_ms.saturating_sub(timing.reading_fresh_ms);
        let holds = car.held.as_ref().is_some_and(|hold| {
            let lasts = hold.until_ms >= self.now_ms + timing.valid_ms;
            hold.landing == *landing && lasts && car.read(hold.since_ms).is_some()
        });
        car.is_open(landing, since) && (!held || holds)
    }
}

/// Milliseconds that may lie before a process.
pub(super) fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

impl Car {
    /// The last reading, if it was asked for at or after a moment.
    pub(super) fn read(&self, since_ms: u64) -> Option<&Reading> {
        let asked = self.asked_ms?;
        if asked < since_ms {
            return None;
        }
        self.reading.as_ref()
    }

    pub(super) fn is_open(&self, landing: &Landing, since_ms: u64) -> bool {
        let since_ms = since_ms.max(self.doubt_ms.unwrap_or(0));
        self.read(since_ms)
            .is_some_and(|reading| reading.is_open_at(landing))
    }

    pub(super) fn stands_at(&self, landing: &Landing) -> bool {
        self.reading.as_ref().is_some_and(|reading| {
            reading.motion == Motion::Stopped && reading.floor.as_ref() == Some(&landing.floor)
        })
    }

    /// How long nothing was read.
    pub(super) fn quiet_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.read_ms.unwrap_or(self.start_ms))
    }
}
