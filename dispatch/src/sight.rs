//! What may be believed of an elevator at this moment: mode, doors, presence, silence.

use protocol::hardware::{Door, Mode, Motion, Reading};
use protocol::ops::Presence;
use protocol::{ElevatorId, Landing, RobotId, Side, ZoneId};

use crate::fact::KeptUntil;
use crate::step::Step;

/// What a presence signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occupancy {
    /// READ, fresh, and empty.
    Empty,
    /// READ, fresh, and somebody is inside.
    Full,
    /// No signal at all.
    NoSignal,
    /// There is a signal, and no fresh READ of it.
    NotRead,
}

impl Step<'_> {
    /// The mode that the elevator is in, as far as it is known (`ride.md` section 0).
    pub(crate) fn mode(&self, elevator: &ElevatorId) -> Mode {
        let Some(config) = self.config.elevators.get(elevator) else {
            return Mode::Unknown;
        };
        if self.zone_burns(&config.zone) {
            return Mode::Fire;
        }
        if self
            .state
            .elevators
            .get(elevator)
            .is_some_and(|record| record.maintenance)
        {
            return Mode::OutOfService;
        }
        if !config.mode_signal {
            return match self.live.fire_clear.get(&config.zone) {
                Some(true) => Mode::Normal,
                Some(false) => Mode::Fire,
                None => Mode::Unknown,
            };
        }
        let Some(car) = self.live.cars.get(elevator) else {
            return Mode::Unknown;
        };
        if let Some(mode) = car.mode_seen {
            return mode;
        }
        car.reading
            .as_ref()
            .map_or(Mode::Unknown, |reading| reading.mode)
    }

    /// A fire is latched in the zone, or its input is not clear.
    pub(crate) fn zone_burns(&self, zone: &ZoneId) -> bool {
        self.state
            .zones
            .get(zone)
            .is_some_and(|zone| zone.fire.is_some())
            || self.live.fire_clear.get(zone) == Some(&false)
    }

    /// What was READ of an elevator since a moment.
    pub(crate) fn read(&self, elevator: &ElevatorId, since_ms: u64) -> Option<&Reading> {
        self.live.cars.get(elevator)?.read_since(since_ms)
    }

    /// What the presence signal says.
    pub(crate) fn occupancy(&self, elevator: &ElevatorId) -> Occupancy {
        let Some(config) = self.config.elevators.get(elevator) else {
            return Occupancy::NotRead;
        };
        match config.presence {
            Presence::None => return Occupancy::NoSignal,
            Presence::Robot | Presence::Any => {}
        }
        let fresh_since = self
            .now
            .mono_ms
            .saturating_sub(self.config.timing.reading_fresh_ms);
        match self
            .read(elevator, fresh_since)
            .and_then(|reading| reading.occupied)
        {
            Some(true) => Occupancy::Full,
            Some(false) => Occupancy::Empty,
            None => Occupancy::NotRead,
        }
    }

    /// The car was READ standing open at the landing, and nothing said since that it is not.
    pub(crate) fn is_open(&self, elevator: &ElevatorId, landing: &Landing, since_ms: u64) -> bool {
        let Some(car) = self.live.cars.get(elevator) else {
            return false;
        };
        let since_ms = since_ms.max(car.doubt_ms.unwrap_or(0));
        car.read_since(since_ms)
            .is_some_and(|reading| reading.is_open_at(landing))
    }

    /// A permission may be given: OPEN was READ lately and the hold outlasts it.
    pub(crate) fn may_cross(&self, elevator: &ElevatorId, landing: &Landing, since: u64) -> bool {
        let timing = &self.config.timing;
        let now_ms = self.now.mono_ms;
        let car = self.live.cars.get(elevator);
        let since_ms = car.map_or(since, |car| {
            let held_ms = mutate!(CrossBeforeHold, car.hold_since_ms, 0);
            since.max(car.permits_since_ms()).max(held_ms)
        });
        let since_ms = since_ms.max(now_ms.saturating_sub(timing.reading_fresh_ms));
        mutate!(CrossUnread, self.is_open(elevator, landing, since_ms), true)
            && self.mode(elevator).serves_robots()
            && self.live.cars.get(elevator).is_some_and(|car| {
                mutate!(
                    CrossUnheld,
                    car.hold_lasts_ms(now_ms) >= timing.valid_ms,
                    true
                )
            })
    }

    /// As `may_cross`, inwards: never while the gateway ends.
    pub(crate) fn may_enter(&self, elevator: &ElevatorId, landing: &Landing, since: u64) -> bool {
        !self.live.stopping && self.may_cross(elevator, landing, since)
    }

    /// The landing where a car was READ standing open, wherever that is.
    pub(crate) fn open_landing(&self, elevator: &ElevatorId, since_ms: u64) -> Option<Landing> {
        let car = self.live.cars.get(elevator)?;
        let reading = car.read_since(since_ms.max(car.doubt_ms.unwrap_or(0)))?;
        let floor = reading.floor.clone()?;
        if reading.motion != Motion::Stopped {
            return None;
        }
        let side = Side::ALL
            .into_iter()
            .find(|side| reading.door(*side) == Door::Open)?;
        Some(Landing { floor, side })
    }

    /// The same, where leaving by that door may be said: not on the way of our own `close_door`.
    pub(crate) fn exit_landing(&self, elevator: &ElevatorId) -> Option<Landing> {
        let car = self.live.cars.get(elevator)?;
        self.open_landing(elevator, self.fresh_since().max(car.permits_since_ms()))
    }

    /// The car was READ standing level at the landing, whatever its door does.
    pub(crate) fn stands_level(&self, elevator: &ElevatorId, landing: &Landing) -> bool {
        self.read(elevator, 0).is_some_and(|reading| {
            let stands = reading.motion == Motion::Stopped;
            let level = stands && reading.floor.as_ref() == Some(&landing.floor);
            mutate!(OpenOffLevel, level, true)
        })
    }

    /// The controller has been silent for `silent_s`.
    pub(crate) fn is_silent(&self, elevator: &ElevatorId) -> bool {
        self.live.cars.get(elevator).is_none_or(|car| {
            let silent = car.quiet_ms(self.now.mono_ms) >= self.config.timing.silent_ms;
            mutate!(NeverSilent, silent, false)
        })
    }

    /// Whether the robot says that it is in a car.
    pub(crate) fn says_in_car(&self, robot: &RobotId) -> bool {
        let order = self.state.robots.get(robot);
        let ride = order.and_then(|order| self.state.rides.get(order));
        ride.is_some_and(|ride| ride.in_car)
            || self
                .live
                .robots
                .get(robot)
                .is_some_and(|robot| robot.in_car)
    }

    /// How long a kept-back elevator may take to show what is waited for.
    pub(crate) fn kept_span_ms(&self, elevator: &ElevatorId) -> u64 {
        let timing = &self.config.timing;
        let hold_ms = self
            .elevator_config(elevator)
            .map_or(0, |config| config.hold_max_ms);
        let until = self
            .state
            .elevators
            .get(elevator)
            .and_then(|record| record.kept.as_ref());
        match until {
            Some(KeptUntil::CallCleared { .. }) => timing.hall_call_ms,
            Some(KeptUntil::ShutOrEmpty) => timing.door_close_ms,
            Some(KeptUntil::Shut | KeptUntil::ModeNormal) | None => {
                hold_ms.saturating_add(timing.door_close_ms.saturating_mul(2))
            }
        }
    }
}
