//! Faults: which kinds a seed has, how often each comes, and how long it lasts.

use protocol::robot::RobotEvent;

use super::cars::{
    car, clock_off, close_pressed, door, door_lag, floors_off, forgets, frozen, link_lost, mode,
    mute, no_power, presence, refuses, restarts, shows_fault, silent, slow, stuck, stutters,
    unreadable, wrong_floor,
};
use super::{Choice, HOUR_MS, READY_MS, below, pick, small};
use crate::explore::plan::{CarDeed, Deed, GatewayDeed, OperatorDeed, Plan, RobotDeed};
use crate::world::broker::Weather;
use crate::world::dice::Dice;
use crate::world::trouble::Side;

type Kind = fn(&mut Dice, &Plan) -> Deed;

/// Each kind of fault is in so many of 1,000 seeds.
const IN_PERMILLE: u64 = 250;

pub(super) fn draw(plan: &mut Plan, dice: &mut Dice, choice: Choice) {
    let calm: &[Kind] = &[
        broker_down,
        link_cut,
        link_stalls,
        weather,
        weather,
        wills,
        junk,
        killed,
        power_cut,
        altered,
        sync_fails,
        disk_fails,
        disk_low,
        disk_slow,
        wall_clock,
        stalls,
        radio,
        radio,
        robot_life,
        robot_freezes,
        cancels,
        says,
        repeats,
        storms,
        asks_beside,
        people,
        hall_call,
        operator,
        operator_errs,
        slow,
        stutters,
        refuses,
        link_lost,
        clock_off,
        people_ride,
    ];
    let hard: &[Kind] = &[
        silent,
        mute,
        forgets,
        restarts,
        no_power,
        door,
        door,
        stuck,
        wrong_floor,
        floors_off,
        frozen,
        door_lag,
        presence,
        unreadable,
        shows_fault,
        mode,
        mode,
        close_pressed,
        fire,
        fire_wire,
        clock_stops,
    ];
    let lies: &[Kind] = &[lies_in_car, lies_in_car];
    let mut kinds = calm.to_vec();
    if choice.hardware {
        kinds.extend(hard);
    }
    if choice.offenders {
        kinds.extend(lies);
    }
    let lifts = plan.site.elevators.len() as u64;
    for kind in kinds {
        if !dice.happens(IN_PERMILLE) {
            continue;
        }
        let per_hour = pick(dice, &[1, 2, 4]);
        let mean_ms = HOUR_MS * 4 / (per_hour * lifts);
        let mut at_ms = READY_MS;
        loop {
            at_ms += dice.exponential_ms(mean_ms).max(1);
            if at_ms >= plan.until_ms {
                break;
            }
            let deed = kind(dice, plan);
            plan.deeds.push((at_ms, deed));
        }
    }
}

fn gateway(what: GatewayDeed, span_ms: u64) -> Deed {
    Deed::Gateway { what, span_ms }
}

fn broker_down(dice: &mut Dice, _: &Plan) -> Deed {
    let forgets = dice.happens(400);
    let span_ms = dice.between(200, 90_000);
    gateway(GatewayDeed::BrokerDown { forgets }, span_ms)
}

fn link_cut(dice: &mut Dice, _: &Plan) -> Deed {
    let side = pick(dice, &[Side::Ingest, Side::Egress]);
    let span_ms = pick(dice, &[200, 3_000, 20_000, 60_000]);
    gateway(GatewayDeed::LinkCut(side), span_ms)
}

fn link_stalls(dice: &mut Dice, _: &Plan) -> Deed {
    let side = pick(dice, &[Side::Ingest, Side::Egress]);
    let span_ms = dice.between(1_000, 60_000);
    gateway(GatewayDeed::LinkStalls(side), span_ms)
}

fn weather(dice: &mut Dice, _: &Plan) -> Deed {
    let weather = Weather {
        twice_permille: pick(dice, &[0, 50, 200]),
        late_permille: pick(dice, &[0, 30, 200]),
        late_max_ms: pick(dice, &[500, 10_000, 120_000]),
        lossy: true,
    };
    gateway(GatewayDeed::Weather(weather), dice.between(60_000, 600_000))
}

fn wills(dice: &mut Dice, plan: &Plan) -> Deed {
    if dice.happens(300) {
        return gateway(GatewayDeed::EarlyWill, 0);
    }
    robot(dice, plan, RobotDeed::EarlyWill)
}

fn junk(dice: &mut Dice, _: &Plan) -> Deed {
    let kind = u8::try_from(dice.between(0, 7)).unwrap_or(0);
    gateway(GatewayDeed::Junk(kind), 0)
}

fn killed(dice: &mut Dice, _: &Plan) -> Deed {
    let twice = dice.happens(200);
    gateway(GatewayDeed::Killed { twice }, dice.between(50, 20_000))
}

fn power_cut(dice: &mut Dice, _: &Plan) -> Deed {
    let twice = dice.happens(200);
    gateway(GatewayDeed::PowerCut { twice }, dice.between(50, 60_000))
}

fn altered(_: &mut Dice, _: &Plan) -> Deed {
    gateway(GatewayDeed::RecordAltered, 5_000)
}

fn sync_fails(dice: &mut Dice, _: &Plan) -> Deed {
    gateway(GatewayDeed::SyncFails(small(dice, 1, 2)), 0)
}

fn disk_fails(dice: &mut Dice, _: &Plan) -> Deed {
    gateway(GatewayDeed::DiskFails, dice.between(1_000, 60_000))
}

fn disk_low(dice: &mut Dice, _: &Plan) -> Deed {
    gateway(GatewayDeed::DiskLow, dice.between(5_000, 300_000))
}

fn disk_slow(dice: &mut Dice, _: &Plan) -> Deed {
    let sync_ms = pick(dice, &[200, 1_000, 5_000]);
    gateway(
        GatewayDeed::DiskSlow(sync_ms),
        dice.between(10_000, 120_000),
    )
}

fn wall_clock(dice: &mut Dice, _: &Plan) -> Deed {
    let off_ms = pick(dice, &[3_600_000, -3_600_000, 7_000, -7_000]);
    gateway(
        GatewayDeed::WallClock(off_ms),
        dice.between(30_000, 900_000),
    )
}

fn stalls(dice: &mut Dice, _: &Plan) -> Deed {
    let span_ms = dice.between(10_000, 120_000);
    gateway(GatewayDeed::Stalls { clock: false }, span_ms)
}

fn clock_stops(dice: &mut Dice, _: &Plan) -> Deed {
    let span_ms = dice.between(10_000, 120_000);
    gateway(GatewayDeed::Stalls { clock: true }, span_ms)
}

fn robot(dice: &mut Dice, plan: &Plan, what: RobotDeed) -> Deed {
    let count = u16::try_from(plan.robots.len()).unwrap_or(1);
    let robot = below(dice, count);
    Deed::Robot { robot, what }
}

fn radio(dice: &mut Dice, plan: &Plan) -> Deed {
    let span_ms = pick(dice, &[2_000, 15_000, 60_000, 300_000]);
    if dice.happens(200) {
        return robot(dice, plan, RobotDeed::TakenOver);
    }
    robot(dice, plan, RobotDeed::LosesRadio(span_ms))
}

fn robot_life(dice: &mut Dice, plan: &Plan) -> Deed {
    let what = pick(dice, &[true, false]);
    let what = if what {
        RobotDeed::Dies
    } else {
        RobotDeed::Reboots
    };
    robot(dice, plan, what)
}

fn robot_freezes(dice: &mut Dice, plan: &Plan) -> Deed {
    let span_ms = dice.between(2_000, 120_000);
    robot(dice, plan, RobotDeed::Freezes(span_ms))
}

fn cancels(dice: &mut Dice, plan: &Plan) -> Deed {
    robot(dice, plan, RobotDeed::Cancels)
}

fn says(dice: &mut Dice, plan: &Plan) -> Deed {
    let harmless = [
        RobotEvent::Query,
        RobotEvent::AtDoor,
        RobotEvent::CancelEnter { again: true },
        RobotEvent::CancelExit,
        RobotEvent::HoldDoor { hold_s: 30 },
    ];
    let last = harmless.len() as u64 - 1;
    let place = usize::try_from(dice.between(0, last)).unwrap_or(0);
    robot(dice, plan, RobotDeed::Says(harmless[place].clone()))
}

fn repeats(dice: &mut Dice, plan: &Plan) -> Deed {
    let back = u8::try_from(dice.between(0, 12)).unwrap_or(0);
    robot(dice, plan, RobotDeed::RepeatsOld(back))
}

fn storms(dice: &mut Dice, plan: &Plan) -> Deed {
    let times = u16::try_from(dice.between(10, 60)).unwrap_or(10);
    robot(dice, plan, RobotDeed::Storms(times))
}

fn asks_beside(dice: &mut Dice, plan: &Plan) -> Deed {
    if dice.happens(200) {
        return robot(dice, plan, RobotDeed::AsksAhead(600_000));
    }
    let same = dice.happens(500);
    robot(dice, plan, RobotDeed::AsksBeside { same })
}

fn lies_in_car(dice: &mut Dice, plan: &Plan) -> Deed {
    let in_car = dice.happens(500);
    robot(dice, plan, RobotDeed::LiesInCar(in_car))
}

fn people(dice: &mut Dice, plan: &Plan) -> Deed {
    hall_call(dice, plan)
}

fn hall_call(dice: &mut Dice, plan: &Plan) -> Deed {
    let floor = below(dice, plan.site.floors);
    car(dice, plan, CarDeed::HallCall(floor), (0, 0))
}

fn people_ride(dice: &mut Dice, plan: &Plan) -> Deed {
    car(dice, plan, CarDeed::People(2), (10_000, 120_000))
}

fn fire(dice: &mut Dice, _: &Plan) -> Deed {
    Deed::Fire {
        annex: dice.happens(300),
        wire: false,
        span_ms: dice.between(5_000, 600_000),
    }
}

fn fire_wire(dice: &mut Dice, _: &Plan) -> Deed {
    Deed::Fire {
        annex: dice.happens(300),
        wire: true,
        span_ms: dice.between(500, 300_000),
    }
}

fn operator(dice: &mut Dice, plan: &Plan) -> Deed {
    let lifts = u16::try_from(plan.site.elevators.len()).unwrap_or(1);
    let span_ms = dice.between(10_000, 300_000);
    Deed::Operator(match dice.between(0, 3) {
        0 => OperatorDeed::Cancels(below(dice, u16::MAX)),
        1 => OperatorDeed::Maintains(below(dice, lifts), span_ms),
        2 => OperatorDeed::Suspends(span_ms),
        _ => OperatorDeed::Resumes,
    })
}

fn operator_errs(dice: &mut Dice, plan: &Plan) -> Deed {
    let lifts = u16::try_from(plan.site.elevators.len()).unwrap_or(1);
    let elevator = below(dice, lifts);
    Deed::Operator(match dice.between(0, 3) {
        0 => OperatorDeed::Resets(elevator),
        1 => OperatorDeed::Forces(elevator),
        _ => OperatorDeed::Resolves {
            elevator,
            robot: below(dice, u16::MAX),
            on: dice.happens(500),
        },
    })
}
