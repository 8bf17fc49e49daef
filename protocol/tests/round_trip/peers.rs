//! Anything that robots and controllers may say.

use proptest::prelude::*;
use protocol::elevator::{ControllerEvent, ElevatorEvent};
use protocol::hardware::{Call, Direction, Door, Mode, Motion};
use protocol::robot::{
    Place, Position, RideCancel, RideEvent, RideRequest, RobotConnection, RobotEvent, RobotStatus,
};
use protocol::{Fence, RobotMessage, Sensitive, Side};

use crate::parts::{connection_state, doors, floor, id, moment, opt, some, text};

fn place() -> impl Strategy<Value = Place> {
    (floor(), opt(some(&Side::ALL))).prop_map(|(floor, side)| Place { floor, side })
}

fn request() -> impl Strategy<Value = RobotMessage> {
    let first = (id(), moment(), id(), place(), place());
    let second = (
        prop::collection::btree_set(id(), 0..=32),
        0..=9u8,
        opt(any::<bool>()),
        opt(0..=86_400u32),
        opt(moment()),
        any::<bool>(),
    );
    (first, second).prop_map(|((message_id, timestamp, order_id, from, to), second)| {
        let (elevators, priority, at_door, eta_s, expires_at, dry_run) = second;
        RobotMessage::Request(RideRequest {
            message_id,
            timestamp,
            order_id,
            from,
            to,
            elevators,
            priority,
            at_door,
            eta_s,
            expires_at,
            dry_run,
        })
    })
}

fn ride_event() -> impl Strategy<Value = RobotMessage> {
    let event = (any::<bool>(), 1..=60u32, 0..7usize)
        .prop_map(|(again, hold_s, which)| RobotEvent::all(again, hold_s)[which].clone());
    (id(), moment(), id(), event, opt(any::<u64>()), opt(id())).prop_map(
        |(message_id, timestamp, order_id, event, fence, elevator_id)| {
            let fence = fence.map(Fence);
            RobotMessage::Event(RideEvent {
                message_id,
                timestamp,
                order_id,
                event,
                fence,
                elevator_id,
            })
        },
    )
}

fn cancel() -> impl Strategy<Value = RobotMessage> {
    (id(), moment(), id(), text(256)).prop_map(|(message_id, timestamp, order_id, reason)| {
        RobotMessage::Cancel(RideCancel {
            message_id,
            timestamp,
            order_id,
            reason,
        })
    })
}

fn status() -> impl Strategy<Value = RobotMessage> {
    // Millimetres and tenths of a percent: decimals so short are read back exactly.
    let metres = || any::<i32>().prop_map(|mm| f64::from(mm) / 1_000.0);
    let percent = (0..=1_000u16).prop_map(|tenths| f64::from(tenths) / 10.0);
    let position = (metres(), metres(), text(64)).prop_map(|(x, y, map)| Position { x, y, map });
    let first = (
        id(),
        moment(),
        opt(floor()),
        opt(any::<bool>()),
        opt(0..=86_400u32),
    );
    let second = (opt(percent), opt(position), opt(any::<bool>()));
    (first, second).prop_map(|(first, (battery_pct, position, in_car))| {
        let (message_id, timestamp, floor, at_door, eta_s) = first;
        RobotMessage::Status(RobotStatus {
            message_id,
            timestamp,
            floor,
            at_door,
            eta_s,
            battery_pct,
            position: position.map(Sensitive::new),
            in_car,
        })
    })
}

fn connection() -> impl Strategy<Value = RobotMessage> {
    (id(), moment(), connection_state()).prop_map(|(message_id, timestamp, connection_state)| {
        RobotMessage::Connection(RobotConnection {
            message_id,
            timestamp,
            connection_state,
        })
    })
}

pub(crate) fn robot_message() -> impl Strategy<Value = RobotMessage> {
    prop_oneof![request(), ride_event(), cancel(), status(), connection()]
}

fn call() -> impl Strategy<Value = Call> {
    let hall = (floor(), opt(some(&Side::ALL)), opt(some(Direction::ALL))).prop_map(
        |(floor, side, direction)| Call::Hall {
            floor,
            side,
            direction,
        },
    );
    let car = (floor(), opt(some(&Side::ALL))).prop_map(|(floor, side)| Call::Car { floor, side });
    prop_oneof![hall, car]
}

pub(crate) fn controller_event() -> impl Strategy<Value = ElevatorEvent> {
    let first = (
        id(),
        moment(),
        some(ControllerEvent::ALL),
        opt(id()),
        opt(any::<u64>()),
        id(),
    );
    let second = (
        opt(floor()),
        opt(some(&Side::ALL)),
        opt(some(Door::ALL)),
        doors(),
    );
    let third = (
        some(Motion::ALL),
        some(Mode::ALL),
        opt(any::<bool>()),
        opt(any::<u8>()),
    );
    let fourth = (opt(prop::collection::vec(call(), 0..20)), opt(text(256)));
    (first, second, third, fourth).prop_map(|(first, second, third, (calls, detail))| {
        let (message_id, timestamp, event, boot_id, seq, command_id) = first;
        let (floor, side, door, doors) = second;
        let (motion, mode, occupied, load_pct) = third;
        ElevatorEvent {
            message_id,
            timestamp,
            event,
            boot_id,
            seq,
            command_id: Some(command_id),
            floor,
            side,
            door,
            doors: Some(doors),
            motion: Some(motion),
            mode: Some(mode),
            occupied,
            load_pct,
            calls,
            detail,
        }
    })
}
