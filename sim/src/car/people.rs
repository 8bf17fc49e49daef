//! Who is in a car, and who crosses its threshold.

use std::collections::{BTreeMap, BTreeSet};

use protocol::hardware::Door;
use protocol::{FloorLabel, Landing, RobotId, Side};

use super::{Car, CarEvent, Place};

impl Car {
    /// A robot drives onto the threshold, inwards or outwards. Says whether it could: the car
    /// stands there and its door is not closed. Anything but an open door is noted against it.
    pub fn enter_doorway(&mut self, now_ms: u64, robot: &RobotId, landing: &Landing) -> bool {
        self.advance(now_ms);
        if !self.may_cross(robot, landing) {
            return false;
        }
        self.doorway.insert(robot.clone(), landing.side);
        self.note(CarEvent::InDoorway {
            robot: robot.clone(),
        });
        true
    }

    /// A robot on the threshold goes back to where it came from.
    pub fn leave_doorway(&mut self, now_ms: u64, robot: &RobotId) {
        self.advance(now_ms);
        if self.doorway.remove(robot).is_some() {
            self.note(CarEvent::OffDoorway {
                robot: robot.clone(),
            });
        }
    }

    /// A robot is inside, from the threshold or in one go. Says whether it could.
    pub fn enter(&mut self, now_ms: u64, robot: &RobotId, landing: &Landing) -> bool {
        self.advance(now_ms);
        if self.doorway.remove(robot).is_none() && !self.may_cross(robot, landing) {
            return false;
        }
        if self.occupants.insert(robot.clone()) {
            self.note(CarEvent::Entered {
                robot: robot.clone(),
                floor: landing.floor.clone(),
            });
        }
        true
    }

    /// A robot is outside, over the threshold of that side. Says whether it could.
    pub fn leave(&mut self, now_ms: u64, robot: &RobotId, side: Side) -> bool {
        self.advance(now_ms);
        let floor = self.floor();
        let landing = Landing {
            floor: floor.clone(),
            side,
        };
        if self.doorway.remove(robot).is_none() && !self.may_cross(robot, &landing) {
            return false;
        }
        if self.occupants.remove(robot) {
            self.note(CarEvent::Left {
                robot: robot.clone(),
                floor,
            });
        }
        true
    }

    /// Somebody carries a robot away, wherever it is: no rule of crossing applies.
    pub fn carry_out(&mut self, now_ms: u64, robot: &RobotId) {
        self.advance(now_ms);
        let on_threshold = self.doorway.remove(robot).is_some();
        if self.occupants.remove(robot) {
            let floor = self.floor();
            self.note(CarEvent::Left {
                robot: robot.clone(),
                floor,
            });
        } else if on_threshold {
            self.note(CarEvent::OffDoorway {
                robot: robot.clone(),
            });
        }
    }

    /// How many people are in the car; a presence signal of the kind `any` sees them.
    pub fn set_people(&mut self, now_ms: u64, people: u32) {
        self.advance(now_ms);
        self.people = people;
    }

    /// The robots inside.
    #[must_use]
    pub fn occupants(&self) -> &BTreeSet<RobotId> {
        &self.occupants
    }

    /// The robots on the threshold.
    #[must_use]
    pub fn doorway(&self) -> &BTreeMap<RobotId, Side> {
        &self.doorway
    }

    /// The floor that the car stands at or that lies nearest.
    #[must_use]
    pub fn floor(&self) -> FloorLabel {
        let floor = match self.place {
            Place::Standing { floor } => floor,
            Place::Travelling(travel) => {
                let moved_ms = self.now_ms.saturating_sub(travel.started_ms);
                let elapsed_ms = travel.stuck_at_ms.unwrap_or(moved_ms);
                self.floor_at(&travel, elapsed_ms)
            }
        };
        self.config.floors[floor].label.clone()
    }

    fn may_cross(&mut self, robot: &RobotId, landing: &Landing) -> bool {
        let level = match self.place {
            Place::Standing { floor } => self.config.floors[floor].label == landing.floor,
            Place::Travelling(_) => false,
        };
        let door = self.door(landing.side).seen();
        if !level || door != Door::Open {
            self.note(CarEvent::CrossedUnopened {
                robot: robot.clone(),
                door,
                level,
            });
        }
        level && door != Door::Closed
    }
}
