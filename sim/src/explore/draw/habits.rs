//! How a robot behaves on one ride.

use super::{Choice, pick};
use crate::world::dice::Dice;
use crate::world::robot::Habits;

pub(super) fn draw(dice: &mut Dice, choice: Choice) -> Habits {
    let mut habits = Habits {
        looks: !choice.blind,
        radio_inside: !dice.happens(300),
        cross_ms: pick(dice, &[1_500, 3_000, 3_000, 8_000]),
        ..Habits::default()
    };
    if dice.happens(100) {
        habits.clock_ppm = pick(dice, &[500, -500]);
        habits.clock_ahead_ms = pick(dice, &[0, 200_000, -3_600_000]);
    }
    if dice.happens(choice.habits_permille) {
        turn(dice, choice, &mut habits);
    }
    habits
}

fn turn(dice: &mut Dice, choice: Choice, habits: &mut Habits) {
    let kinds = if choice.offenders { 13 } else { 8 };
    match dice.between(0, kinds) {
        0 => habits.dies_in_doorway = true,
        1 => habits.dies_inside = true,
        2 => habits.enters = false,
        3 => habits.leaves = false,
        4 => habits.tells_entry = false,
        5 => habits.tells_exit = false,
        6 | 7 => habits.cross_ms = pick(dice, &[25_000, 70_000, 200_000]),
        8 | 9 => habits.asks = false,
        10 => habits.late_ms = pick(dice, &[2_000, 6_000, 40_000]),
        11 => habits.feigns_entry = true,
        12 => habits.feigns_exit = true,
        _ => habits.takes_any_car = true,
    }
    if choice.blind && !choice.offenders {
        habits.looks = false;
    }
}
