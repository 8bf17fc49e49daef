//! Faults at elevators.

use protocol::hardware::Mode;

use super::{below, pick, small};
use crate::explore::plan::{CarDeed, Deed, Plan};
use crate::world::dice::Dice;

pub(super) fn car(dice: &mut Dice, plan: &Plan, what: CarDeed, (low, high): (u64, u64)) -> Deed {
    let count = u16::try_from(plan.site.elevators.len()).unwrap_or(1);
    Deed::Elevator {
        elevator: below(dice, count),
        what,
        span_ms: dice.between(low, high),
    }
}

pub(super) fn close_pressed(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::ClosePressed, (0, 0))
}

pub(super) fn slow(dice: &mut Dice, plan: &Plan) -> Deed {
    let late_ms = pick(dice, &[400, 1_500, 4_000]);
    car(dice, plan, CarDeed::Slow(late_ms), (10_000, 300_000))
}

pub(super) fn stutters(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Stutters, (60_000, 600_000))
}

pub(super) fn refuses(dice: &mut Dice, plan: &Plan) -> Deed {
    let words = [
        "claim",
        "hall_call",
        "cancel_call",
        "car_call",
        "open_door",
        "hold_door",
        "close_door",
        "release",
    ];
    let what = CarDeed::Refuses {
        word: pick(dice, &words).to_owned(),
        times: small(dice, 1, 3),
    };
    car(dice, plan, what, (30_000, 300_000))
}

pub(super) fn link_lost(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::LinkLost, (100, 60_000))
}

pub(super) fn clock_off(dice: &mut Dice, plan: &Plan) -> Deed {
    let ahead_ms = pick(dice, &[90_000, -3_600_000]);
    car(dice, plan, CarDeed::ClockOff(ahead_ms), (0, 0))
}

pub(super) fn silent(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Silent, (1_000, 120_000))
}

pub(super) fn mute(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Mute, (1_000, 60_000))
}

pub(super) fn forgets(dice: &mut Dice, plan: &Plan) -> Deed {
    let what = CarDeed::ForgetsCalls(small(dice, 1, 3));
    car(dice, plan, what, (60_000, 300_000))
}

pub(super) fn restarts(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Restarts, (500, 30_000))
}

pub(super) fn no_power(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::NoPower, (2_000, 120_000))
}

pub(super) fn door(dice: &mut Dice, plan: &Plan) -> Deed {
    let what = match dice.between(0, 2) {
        0 => CarDeed::StuckClosed,
        1 => CarDeed::StuckOpen,
        _ => CarDeed::Reopens(small(dice, 1, 5)),
    };
    car(dice, plan, what, (5_000, 180_000))
}

pub(super) fn stuck(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Stuck, (5_000, 600_000))
}

pub(super) fn wrong_floor(dice: &mut Dice, plan: &Plan) -> Deed {
    let floors = pick(dice, &[1, -1, 2]);
    car(dice, plan, CarDeed::WrongFloor(floors), (60_000, 300_000))
}

pub(super) fn floors_off(dice: &mut Dice, plan: &Plan) -> Deed {
    let floors = pick(dice, &[1, -1]);
    car(dice, plan, CarDeed::FloorsOff(floors), (10_000, 120_000))
}

pub(super) fn frozen(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::Frozen, (5_000, 120_000))
}

pub(super) fn door_lag(dice: &mut Dice, plan: &Plan) -> Deed {
    let late_ms = pick(dice, &[500, 2_000]);
    car(dice, plan, CarDeed::DoorLag(late_ms), (60_000, 600_000))
}

pub(super) fn presence(dice: &mut Dice, plan: &Plan) -> Deed {
    let occupied = dice.happens(700);
    car(dice, plan, CarDeed::Presence(occupied), (10_000, 300_000))
}

pub(super) fn unreadable(dice: &mut Dice, plan: &Plan) -> Deed {
    let what = if dice.happens(500) {
        CarDeed::ModeUnreadable
    } else {
        CarDeed::CallsUnreadable
    };
    car(dice, plan, what, (5_000, 300_000))
}

pub(super) fn shows_fault(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::ShowsFault, (5_000, 120_000))
}

pub(super) fn mode(dice: &mut Dice, plan: &Plan) -> Deed {
    let modes = [
        Mode::Attendant,
        Mode::Maintenance,
        Mode::OutOfService,
        Mode::Emergency,
    ];
    let mode = pick(dice, &modes);
    car(dice, plan, CarDeed::Mode(mode), (5_000, 600_000))
}
