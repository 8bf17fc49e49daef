//! The line of each deed that has one.

use std::fmt::Write as _;

use protocol::robot::RobotEvent;
use protocol::{ElevatorId, OrderId, RobotId};

use crate::explore::plan::{CarDeed, GatewayDeed, RobotDeed};
use crate::world::robot::Order;

/// Batches that the disk keeps when a process is killed: all.
const ALL: u32 = 1_000_000;

/// A robot asks for a ride.
pub(in crate::explore) fn asks(robot: &RobotId, order: &Order) -> String {
    let (from, to) = (&order.from.floor, &order.to.floor);
    let mut line = format!("{robot} asks {} {from} {to}", order.id);
    if order.eta_s > 0 {
        let _ = write!(line, " eta={}", order.eta_s);
    }
    if order.priority != protocol::limits::PRIORITY_DEFAULT {
        let _ = write!(line, " priority={}", order.priority);
    }
    for elevator in &order.elevators {
        let _ = write!(line, " elevators={elevator}");
    }
    line
}

/// What a robot does.
pub(in crate::explore) fn robot(
    id: &RobotId,
    order: Option<&OrderId>,
    what: &RobotDeed,
) -> Option<String> {
    Some(match what {
        RobotDeed::Cancels => format!("{id} cancels {}", order?),
        RobotDeed::Says(said) => format!("{id} says {}", event(said)),
        RobotDeed::LiesInCar(in_car) => format!("{id} status in_car={in_car}"),
        RobotDeed::LosesRadio(_) | RobotDeed::TakenOver => format!("{id} radio off"),
        RobotDeed::Dies => format!("{id} dies"),
        RobotDeed::RepeatsOld(_)
        | RobotDeed::Storms(_)
        | RobotDeed::AsksBeside { .. }
        | RobotDeed::AsksAhead(_)
        | RobotDeed::Reboots
        | RobotDeed::Freezes(_)
        | RobotDeed::EarlyWill => return None,
    })
}

/// What happens around the gateway, and its end.
pub(in crate::explore) fn gateway(what: &GatewayDeed) -> Option<(String, String)> {
    let lines = match what {
        GatewayDeed::BrokerDown { forgets: false } => ("broker down".to_owned(), "broker up"),
        GatewayDeed::BrokerDown { forgets: true } => ("broker lost".to_owned(), "broker up"),
        GatewayDeed::Killed { twice: false } => (format!("crash kept={ALL}"), "start"),
        GatewayDeed::Killed { twice: true }
        | GatewayDeed::LinkCut(_)
        | GatewayDeed::LinkStalls(_)
        | GatewayDeed::Weather(_)
        | GatewayDeed::EarlyWill
        | GatewayDeed::Junk(_)
        | GatewayDeed::PowerCut { .. }
        | GatewayDeed::RecordAltered
        | GatewayDeed::SyncFails(_)
        | GatewayDeed::DiskFails
        | GatewayDeed::DiskLow
        | GatewayDeed::DiskSlow(_)
        | GatewayDeed::WallClock(_)
        | GatewayDeed::Stalls { .. } => return None,
    };
    Some((lines.0, lines.1.to_owned()))
}

/// The words of an event after `R1 says`.
fn event(event: &RobotEvent) -> String {
    match event {
        RobotEvent::CancelEnter { again: true } => "cancel_enter again".to_owned(),
        RobotEvent::HoldDoor { hold_s } => format!("hold_door hold={hold_s}"),
        RobotEvent::CancelEnter { again: false }
        | RobotEvent::Query
        | RobotEvent::AtDoor
        | RobotEvent::Entered
        | RobotEvent::Exited
        | RobotEvent::CancelExit => event.word().to_owned(),
    }
}

/// The line of a deed at an elevator, and of its end.
pub(in crate::explore) fn car(id: &ElevatorId, what: &CarDeed) -> Option<(String, Option<String>)> {
    let car = |words: String| format!("car {id} {words}");
    let ends = |begin: &str, end: &str| Some((car(begin.to_owned()), Some(car(end.to_owned()))));
    match what {
        CarDeed::Silent => Some((
            format!("controller {id} silent"),
            Some(format!("controller {id} back")),
        )),
        CarDeed::Mute => Some((
            format!("controller {id} mute"),
            Some(format!("controller {id} back")),
        )),
        CarDeed::Refuses { word, times } => {
            Some((format!("controller {id} refuses {word} {times}"), None))
        }
        CarDeed::StuckClosed => ends("door stuck-closed", "door well"),
        CarDeed::StuckOpen => ends("door stuck-open", "door well"),
        CarDeed::Stuck => ends("stuck on", "stuck off"),
        CarDeed::Reopens(times) => Some((car(format!("reopens {times}")), None)),
        CarDeed::WrongFloor(floors) => Some((car(format!("wrong-floor {floors}")), None)),
        CarDeed::ForgetsCalls(times) => Some((car(format!("forgets {times}")), None)),
        CarDeed::Presence(is) => Some((
            car(format!("presence {is}")),
            Some(car("presence well".to_owned())),
        )),
        CarDeed::Mode(mode) => Some((
            car(format!("mode {mode}")),
            Some(car("mode normal".to_owned())),
        )),
        CarDeed::HallCall(floor) => Some((car(format!("called-to {}F", floor + 1)), None)),
        CarDeed::People(people) => Some((
            car(format!("people {people}")),
            Some(car("people 0".to_owned())),
        )),
        CarDeed::ClosePressed => Some((car("closes".to_owned()), None)),
        CarDeed::Slow(_)
        | CarDeed::Stutters
        | CarDeed::Restarts
        | CarDeed::NoPower
        | CarDeed::FloorsOff(_)
        | CarDeed::Frozen
        | CarDeed::DoorLag(_)
        | CarDeed::ModeUnreadable
        | CarDeed::CallsUnreadable
        | CarDeed::ShowsFault
        | CarDeed::LinkLost
        | CarDeed::ClockOff(_) => None,
    }
}
