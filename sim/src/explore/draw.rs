//! A plan from a seed. Swarm: each seed draws which kinds of faults it has at all, and how often;
//! what never meets in one plan meets in another.

mod cars;
mod deeds;
mod habits;
mod site;

use super::plan::{Deed, Manner, Plan};
use crate::world::dice::Dice;

/// Milliseconds of an hour.
pub(super) const HOUR_MS: u64 = 3_600_000;
/// The gateway is ready by then.
const READY_MS: u64 = 1_000;

/// What a seed chose of the whole.
#[derive(Debug, Clone, Copy)]
struct Choice {
    /// Robots keep their eyes shut: only without faults that no permission can foresee.
    blind: bool,
    /// Faults at elevators at all.
    hardware: bool,
    /// Of 1,000 rides so many with habits of their own.
    habits_permille: u64,
    /// Robots that break rules or lie at all.
    offenders: bool,
}

/// The plan of a seed, with requests and faults for so many hours, at least one.
#[must_use]
pub fn draw(seed: u64, hours: u64) -> Plan {
    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5EED);
    let site = site::draw(&mut dice, seed);
    let hardware = dice.happens(750);
    let choice = Choice {
        blind: !hardware && dice.happens(500),
        hardware,
        habits_permille: pick(&mut dice, &[0, 20, 60, 150]),
        offenders: dice.happens(500),
    };
    let robots = (0..site.elevators.len() * 4 + 2)
        .map(|_| below(&mut dice, site.floors))
        .collect();
    let manner = Manner {
        looks_ms: pick(&mut dice, &[20_000, 45_000, 90_000]),
        way_max_ms: pick(&mut dice, &[0, 60_000, 180_000]),
        goes_on_permille: pick(&mut dice, &[0, 200, 500]),
    };
    let until_ms = hours.max(1) * HOUR_MS;
    let mut plan = Plan {
        seed,
        site,
        robots,
        manner,
        until_ms,
        deeds: Vec::new(),
    };
    rides(&mut plan, &mut dice, choice);
    deeds::draw(&mut plan, &mut dice, choice);
    plan.deeds.sort_by_key(|(at_ms, _)| *at_ms);
    plan
}

/// Requests that come by themselves, more than 15 for each elevator in an hour.
fn rides(plan: &mut Plan, dice: &mut Dice, choice: Choice) {
    let lifts = plan.site.elevators.len() as u64;
    let per_hour = pick(dice, &[16, 16, 17, 18]);
    let mean_ms = HOUR_MS / (per_hour * lifts);
    let count = u16::try_from(plan.robots.len()).unwrap_or(u16::MAX);
    let mut at_ms = READY_MS;
    loop {
        at_ms += dice.exponential_ms(mean_ms).max(1);
        if at_ms >= plan.until_ms {
            return;
        }
        let lies = choice.offenders && dice.happens(5);
        let chooses = dice.happens(30);
        let only = u16::try_from(dice.between(0, lifts - 1)).unwrap_or(0);
        let deed = Deed::Ride {
            robot: below(dice, count),
            from: lies.then(|| below(dice, plan.site.floors)),
            to: below(dice, plan.site.floors),
            eta_s: if dice.happens(200) {
                small(dice, 5, 90)
            } else {
                0
            },
            priority: if dice.happens(200) { digit(dice) } else { 5 },
            only: chooses.then_some(only),
            habits: Box::new(habits::draw(dice, choice)),
        };
        plan.deeds.push((at_ms, deed));
    }
}

fn pick<T: Copy>(dice: &mut Dice, of: &[T]) -> T {
    let last = of.len().saturating_sub(1) as u64;
    of[usize::try_from(dice.between(0, last)).unwrap_or(0)]
}

fn below(dice: &mut Dice, count: u16) -> u16 {
    u16::try_from(dice.between(0, u64::from(count.saturating_sub(1)))).unwrap_or(0)
}

fn small(dice: &mut Dice, low: u64, high: u64) -> u32 {
    u32::try_from(dice.between(low, high)).unwrap_or(u32::MAX)
}

fn digit(dice: &mut Dice) -> u8 {
    u8::try_from(dice.between(0, 9)).unwrap_or(0)
}
