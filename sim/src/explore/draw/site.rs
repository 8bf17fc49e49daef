//! Sites: small and large, with every kind of signal.

use dispatch::Limits;
use protocol::ops::Presence;

use super::{below, pick};
use crate::explore::plan::{Lift, Site, Waits};
use crate::world::dice::Dice;

pub(super) fn draw(dice: &mut Dice, seed: u64) -> Site {
    let floors = pick(dice, &[2, 3, 6, 6, 10]);
    let lifts = pick(dice, &[1, 2, 3, 4]);
    let zones = dice.happens(300);
    Site {
        floors,
        elevators: (0..lifts).map(|_| lift(dice, floors, zones)).collect(),
        waits: waits(dice),
        latency_ms: pick(dice, &[1, 5, 20, 80]),
        sync_ms: pick(dice, &[0, 1, 5, 30]),
        fire_inputs: dice.happens(300),
        // Few robots never fill a queue of the usual length.
        queue: if seed % 8 == 6 {
            2
        } else {
            Limits::default().queue
        },
    }
}

fn lift(dice: &mut Dice, floors: u16, zones: bool) -> Lift {
    let presence = [
        Presence::None,
        Presence::Robot,
        Presence::Robot,
        Presence::Any,
    ];
    let short = floors > 3 && dice.happens(100);
    Lift {
        presence: pick(dice, &presence),
        annex: zones && dice.happens(400),
        claim: dice.happens(250),
        mode_signal: dice.happens(850),
        hold_max_ms: pick(dice, &[8_000, 10_000, 20_000, 30_000]),
        tells: dice.happens(800),
        recall: dice.happens(600).then(|| below(dice, floors)),
        not_served: u16::from(short),
        hop_ms: pick(dice, &[(5, 5), (20, 30), (100, 150), (300, 300)]),
    }
}

/// Waits that `hallcall check` has nothing to say about: a reading outlasts the pause to the next.
fn waits(dice: &mut Dice) -> Waits {
    let (poll_ms, fresh_ms, silent_ms) = pick(
        dice,
        &[
            (2_000, 3_000, 10_000),
            (5_000, 6_000, 15_000),
            (10_000, 12_000, 25_000),
            (20_000, 25_000, 45_000),
            (30_000, 35_000, 70_000),
            (30_000, 35_000, 70_000),
            (30_000, 35_000, 70_000),
            (30_000, 35_000, 70_000),
        ],
    );
    Waits {
        poll_ms,
        silent_ms,
        lease_ms: pick(dice, &[30_000, 30_000, 60_000]),
        door_ms: pick(dice, &[60_000, 60_000, 30_000, 120_000]),
        valid_ms: pick(dice, &[5_000, 5_000, 4_000]),
        promote_ms: pick(dice, &[120_000, 60_000]),
        fresh_ms,
        sweep_ms: pick(dice, &[5_000, 20_000, 20_000]),
    }
}
