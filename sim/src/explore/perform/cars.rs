//! Deeds at elevators.

use protocol::hardware::{Direction, Report};
use protocol::{ElevatorId, Landing, Side};

use super::{Run, Then};
use crate::car::{CarFaults, DoorStuck};
use crate::explore::plan::CarDeed;
use crate::explore::{script, stage};
use crate::world::controller::Controller;

impl Run<'_> {
    pub(super) fn car_deed(&mut self, elevator: u16, what: &CarDeed, span_ms: u64) {
        let id = self.elevators[usize::from(elevator) % self.elevators.len()].clone();
        let until_ms = self.world.now_ms() + span_ms;
        match script::car(&id, what) {
            Some((begin, end)) => {
                self.script.line(self.world.now_ms(), begin);
                if let Some(end) = end {
                    self.script.line(until_ms, end);
                }
            }
            None => self.script.lacks(format!("{what:?}")),
        }
        match what {
            CarDeed::Mode(mode) => {
                self.set_mode(&id, *mode);
                self.later(span_ms, Then::ModeNormal(id));
            }
            CarDeed::HallCall(floor) => self.press(&id, *floor),
            CarDeed::People(people) => {
                self.set_people(&id, *people);
                self.later(span_ms, Then::PeopleLeave(id));
            }
            CarDeed::ClosePressed => self.at(&id, |controller, now_ms| {
                controller.car_mut().close_door(now_ms);
            }),
            CarDeed::LinkLost => {
                self.world.inject(&id, Report::Link { up: false });
                self.later(span_ms, Then::LinkUp(id));
            }
            CarDeed::ClockOff(ahead_ms) => {
                let ahead_ms = *ahead_ms;
                self.world.inject(&id, Report::Clock { ahead_ms });
            }
            CarDeed::Restarts => {
                self.at(&id, |controller, _| controller.set_silent(true));
                self.later(span_ms, Then::Restarts(id));
            }
            CarDeed::NoPower => {
                self.at(&id, Controller::lose_power);
                self.later(span_ms, Then::Restarts(id));
            }
            CarDeed::Slow(_)
            | CarDeed::Silent
            | CarDeed::Mute
            | CarDeed::Stutters
            | CarDeed::Refuses { .. }
            | CarDeed::ForgetsCalls(_)
            | CarDeed::StuckClosed
            | CarDeed::StuckOpen
            | CarDeed::Reopens(_)
            | CarDeed::Stuck
            | CarDeed::WrongFloor(_)
            | CarDeed::FloorsOff(_)
            | CarDeed::Frozen
            | CarDeed::DoorLag(_)
            | CarDeed::Presence(_)
            | CarDeed::ModeUnreadable
            | CarDeed::CallsUnreadable
            | CarDeed::ShowsFault => {
                if lies(what) {
                    self.excuses.lies(&id, until_ms);
                }
                self.at(&id, |controller, now_ms| trouble(controller, now_ms, what));
                self.later(span_ms, Then::CarIsWell(id));
            }
        }
    }

    pub(in crate::explore) fn car_is_well(&mut self, id: &ElevatorId) {
        self.at(id, Controller::heal);
    }

    fn at(&mut self, id: &ElevatorId, act: impl FnOnce(&mut Controller, u64)) {
        self.world.with_controller(id, act);
    }

    fn press(&mut self, id: &ElevatorId, floor: u16) {
        let Some(floor) = stage::label(floor % self.plan.site.floors) else {
            return;
        };
        let landing = Landing {
            floor,
            side: Side::Front,
        };
        self.at(id, |controller, now_ms| {
            controller
                .car_mut()
                .hall_call(now_ms, &landing, Direction::Up);
        });
    }
}

/// Whether what the elevator shows is not what is.
fn lies(what: &CarDeed) -> bool {
    matches!(
        what,
        CarDeed::FloorsOff(_) | CarDeed::Frozen | CarDeed::DoorLag(_) | CarDeed::Presence(false)
    )
}

/// What is wrong with the controller, or else with the car.
fn trouble(controller: &mut Controller, now_ms: u64, what: &CarDeed) {
    if let CarDeed::Slow(late_ms) = what {
        controller.set_slow(*late_ms);
    }
    if let CarDeed::DoorLag(late_ms) = what {
        controller.set_door_lag(0, *late_ms);
    }
    if let CarDeed::Refuses { word, times } = what {
        controller.refuse(word, *times);
    }
    if *what == CarDeed::Silent {
        controller.set_silent(true);
    }
    if *what == CarDeed::Mute {
        controller.set_mute(true);
    }
    controller.set_stutter(*what == CarDeed::Stutters);
    controller.set_frozen(now_ms, *what == CarDeed::Frozen);
    controller
        .car_mut()
        .set_faults(now_ms, |faults| breaks(faults, what));
}

fn breaks(faults: &mut CarFaults, what: &CarDeed) {
    match what {
        CarDeed::StuckClosed => faults.door = Some(DoorStuck::Closed),
        CarDeed::StuckOpen => faults.door = Some(DoorStuck::Open),
        CarDeed::Reopens(times) => faults.reopens = *times,
        CarDeed::Stuck => faults.stuck = true,
        CarDeed::WrongFloor(floors) => faults.wrong_floor = *floors,
        CarDeed::FloorsOff(floors) => faults.floors_off = *floors,
        CarDeed::ForgetsCalls(times) => faults.forget_calls = *times,
        CarDeed::Presence(occupied) => faults.presence = Some(*occupied),
        CarDeed::ModeUnreadable => faults.mode_unreadable = true,
        CarDeed::CallsUnreadable => faults.calls_unreadable = true,
        CarDeed::ShowsFault => faults.fault = Some("E42".to_owned()),
        CarDeed::Slow(_)
        | CarDeed::Silent
        | CarDeed::Mute
        | CarDeed::Stutters
        | CarDeed::Refuses { .. }
        | CarDeed::Frozen
        | CarDeed::DoorLag(_)
        | CarDeed::Restarts
        | CarDeed::NoPower
        | CarDeed::Mode(_)
        | CarDeed::HallCall(_)
        | CarDeed::People(_)
        | CarDeed::ClosePressed
        | CarDeed::LinkLost
        | CarDeed::ClockOff(_) => {}
    }
}
