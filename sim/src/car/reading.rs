//! What a car's controller can tell of it.

use protocol::hardware::{Call, Door, Mode, Motion, Reading};
use protocol::ops::Presence;
use protocol::{FloorLabel, Landing, Side};

use super::{Car, Place};

impl Car {
    /// All that the controller shows at `now_ms`.
    pub fn snapshot(&mut self, now_ms: u64) -> Reading {
        self.advance(now_ms);
        let (motion, between_floors) = self.motion();
        Reading {
            floor: (!between_floors).then(|| self.shown_floor()),
            front: self.door(Side::Front).seen(),
            rear: self.config.has_rear().then(|| self.door(Side::Rear).seen()),
            motion,
            mode: if self.faults.mode_unreadable {
                Mode::Unknown
            } else {
                self.mode
            },
            occupied: self.occupied(),
            load_pct: None,
            calls: (!self.faults.calls_unreadable).then(|| self.lit()),
            fault: self.faults.fault.clone(),
        }
    }

    fn shown_floor(&self) -> FloorLabel {
        let floor = self.floor();
        if self.faults.floors_off == 0 {
            return floor;
        }
        let floors = &self.config.floors;
        let index = self.config.index(&floor).unwrap_or(0);
        floors[self.faults.shown_floor(index, floors.len())]
            .label
            .clone()
    }

    /// Whether the car stands level at the landing with its door fully open.
    #[must_use]
    pub fn is_open_at(&self, landing: &Landing) -> bool {
        matches!(self.place, Place::Standing { .. })
            && self.floor() == landing.floor
            && self.door(landing.side).seen() == Door::Open
    }

    /// The mode that it is in.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    fn motion(&self) -> (Motion, bool) {
        match self.place {
            Place::Standing { .. } => (Motion::Stopped, false),
            Place::Travelling(travel) if travel.stuck_at_ms.is_some() => (Motion::Unknown, true),
            Place::Travelling(travel) if travel.to > travel.from => (Motion::Up, false),
            Place::Travelling(_) => (Motion::Down, false),
        }
    }

    fn occupied(&self) -> Option<bool> {
        let robots = !self.occupants.is_empty() || !self.doorway.is_empty();
        let real = match self.config.presence {
            Presence::None => return None,
            Presence::Robot => robots,
            Presence::Any => robots || self.people > 0,
        };
        Some(self.faults.presence.unwrap_or(real))
    }

    fn lit(&self) -> Vec<Call> {
        let call = |press: &super::Press| {
            let floor = self.config.floors[press.floor].label.clone();
            let side = Some(press.side);
            match press.hall {
                Some(direction) => Call::Hall {
                    floor,
                    side,
                    direction: Some(direction),
                },
                None => Call::Car { floor, side },
            }
        };
        self.calls.iter().map(call).collect()
    }
}
