//! What one side writes the other reads back, for any content; and no bytes make the reader panic.

mod site;

use proptest::prelude::*;
use protocol::elevator::{
    ControllerEvent, Doors, ElevatorCommand, ElevatorEvent, ElevatorView, Health, OwnerView,
};
use protocol::hardware::{Action, Call, Command, Direction, Door, Mode, Motion};
use protocol::ops::{Alarm, GatewayConnection, Severity};
use protocol::peer::{Heard, Said, Spoken};
use protocol::ride::{Instruction, Reason, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{
    ConnectionState, Place, Position, RideCancel, RideEvent, RideRequest, RobotConnection,
    RobotEvent, RobotStatus,
};
use protocol::{
    AlarmCode, Code, Decoded, Fence, FloorLabel, Inbound, Landing, Outgoing, ReasonCode, RobotId,
    RobotMessage, Seconds, Side, Timestamp, decode,
};
use site::{stamp, topics};

/// A valid identifier of any kind.
fn id<T>() -> impl Strategy<Value = T>
where
    T: std::str::FromStr<Err = protocol::id::IdError> + std::fmt::Debug,
{
    let alphabet: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain("_.:-".chars())
        .collect();
    prop::collection::vec(prop::sample::select(alphabet), 1..=64).prop_map(|chars| {
        chars
            .into_iter()
            .collect::<String>()
            .parse()
            .expect("an id")
    })
}

fn floor() -> impl Strategy<Value = FloorLabel> {
    let alphabet: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain("_-".chars())
        .collect();
    prop::collection::vec(prop::sample::select(alphabet), 1..=8).prop_map(|chars| {
        chars
            .into_iter()
            .collect::<String>()
            .parse()
            .expect("a floor")
    })
}

fn some<T: Clone + std::fmt::Debug>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn opt<S: Strategy>(inner: S) -> impl Strategy<Value = Option<S::Value>> {
    prop::option::of(inner)
}

/// The years 1970 to 9999.
fn moment() -> impl Strategy<Value = Timestamp> {
    (0..=253_402_300_799_999u64).prop_map(Timestamp)
}

/// Up to some weeks, with any fraction.
fn seconds() -> impl Strategy<Value = Seconds> {
    (0..=4_000_000_000u64).prop_map(Seconds::from_ms)
}

fn landing() -> impl Strategy<Value = Landing> {
    (floor(), some(&Side::ALL)).prop_map(|(floor, side)| Landing { floor, side })
}

/// Any characters, at most so many bytes.
fn text(bytes_max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..=bytes_max / 4)
        .prop_map(|chars| chars.into_iter().collect())
}

/// A text that goes out as it is: without control characters.
fn sentence() -> impl Strategy<Value = String> {
    let plain = |c: &char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    prop::collection::vec(
        any::<char>().prop_filter("a control character", plain),
        0..=64,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

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
            position,
            in_car,
        })
    })
}

fn connection_state() -> impl Strategy<Value = ConnectionState> {
    some(ConnectionState::ALL)
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

fn robot_message() -> impl Strategy<Value = RobotMessage> {
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

fn doors() -> impl Strategy<Value = Doors> {
    (some(Door::ALL), opt(some(Door::ALL))).prop_map(|(front, rear)| Doors { front, rear })
}

fn controller_event() -> impl Strategy<Value = ElevatorEvent> {
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

fn reply() -> impl Strategy<Value = RideReply> {
    let first = (
        moment(),
        opt(id()),
        opt(id()),
        some(ReplyResult::ALL),
        opt(some(Code::ALL)),
    );
    let second = (
        opt(sentence()),
        opt(seconds()),
        opt(some(RideState::ALL)),
        opt(any::<u64>()),
    );
    let third = (
        opt(some(Instruction::ALL)),
        opt(seconds()),
        opt(id()),
        opt(any::<u64>()),
    );
    let fourth = (
        opt(floor()),
        opt(some(&Side::ALL)),
        opt(any::<u32>()),
        opt(seconds()),
    );
    (first, second, third, fourth).prop_map(|(first, second, third, fourth)| {
        let (received_at, in_reply_to, order_id, result, code) = first;
        let (detail, retry_after_s, state, seq) = second;
        let (instruction, valid_s, elevator_id, fence) = third;
        let (floor, side, queue_position, eta_s) = fourth;
        RideReply {
            received_at,
            in_reply_to,
            order_id,
            result,
            code,
            detail,
            retry_after_s,
            state,
            seq,
            instruction,
            valid_s,
            elevator_id,
            fence: fence.map(Fence),
            floor,
            side,
            queue_position,
            eta_s,
        }
    })
}

fn ride_view() -> impl Strategy<Value = RideView> {
    let reason =
        (some(ReasonCode::ALL), sentence()).prop_map(|(code, detail)| Reason { code, detail });
    let first = (
        id(),
        id(),
        any::<u64>(),
        some(RideState::ALL),
        opt(some(RideState::ALL)),
    );
    let second = (
        some(Instruction::ALL),
        opt(seconds()),
        opt(id()),
        opt(id()),
        opt(any::<u64>()),
    );
    let third = (
        landing(),
        landing(),
        opt(floor()),
        opt(some(&Side::ALL)),
        opt(any::<u32>()),
    );
    let fourth = (opt(seconds()), opt(moment()), opt(seconds()), opt(reason));
    (first, second, third, fourth).prop_map(|(first, second, third, fourth)| {
        let (order_id, robot_id, seq, state, held_from) = first;
        let (instruction, valid_s, elevator_id, bank_id, fence) = second;
        let (from, to, floor, side, queue_position) = third;
        let (eta_s, deadline, deadline_s, reason) = fourth;
        RideView {
            order_id,
            robot_id,
            seq,
            state,
            held_from,
            instruction,
            valid_s,
            elevator_id,
            bank_id,
            fence: fence.map(Fence),
            from,
            to,
            floor,
            side,
            queue_position,
            eta_s,
            deadline,
            deadline_s,
            reason,
        }
    })
}

fn elevator_view() -> impl Strategy<Value = ElevatorView> {
    let owner = (id(), any::<u64>(), moment()).prop_map(|(robot_id, fence, since)| OwnerView {
        robot_id,
        fence: Fence(fence),
        since,
    });
    let first = (
        id(),
        opt(id()),
        opt(floor()),
        doors(),
        some(Motion::ALL),
        some(Mode::ALL),
    );
    let second = (
        opt(any::<bool>()),
        some(Health::ALL),
        opt(sentence()),
        opt(owner),
    );
    let third = (any::<u64>(), any::<bool>(), any::<u32>(), opt(moment()));
    (first, second, third).prop_map(|(first, second, third)| {
        let (elevator_id, bank_id, floor, doors, motion, mode) = first;
        let (occupied, health, health_reason, owner) = second;
        let (fence, busy, queue_length, observed_at) = third;
        ElevatorView {
            elevator_id,
            bank_id,
            floor,
            doors,
            motion,
            mode,
            occupied,
            health,
            health_reason,
            owner,
            fence: Fence(fence),
            busy,
            queue_length,
            observed_at,
        }
    })
}

fn action() -> impl Strategy<Value = Action> {
    (landing(), some(Direction::ALL), 1..=60_000u64, 0..9usize).prop_map(
        |(landing, direction, hold_ms, which)| match which {
            0 => Action::Query,
            1 => Action::Claim,
            2 => Action::HallCall { landing, direction },
            3 => Action::CancelCall { landing, direction },
            4 => Action::CarCall { landing },
            5 => Action::OpenDoor { landing },
            6 => Action::HoldDoor { landing, hold_ms },
            7 => Action::CloseDoor { landing },
            _ => Action::Release,
        },
    )
}

fn command() -> impl Strategy<Value = ElevatorCommand> {
    let ids = (id(), id(), any::<u64>(), opt(id()));
    (ids, action(), 0..=600_000u64, moment()).prop_map(
        |((elevator_id, command_id, fence, order_id), action, expires_in_ms, expires_at)| {
            let fence = Fence(fence);
            let command = Command {
                elevator_id,
                command_id,
                fence,
                order_id,
                action,
                expires_in_ms,
            };
            ElevatorCommand {
                command,
                expires_at,
            }
        },
    )
}

fn alarm() -> impl Strategy<Value = Alarm> {
    let first = (
        sentence(),
        some(Severity::ALL),
        some(AlarmCode::ALL),
        opt(id()),
        opt(id()),
    );
    (first, moment(), opt(moment()), sentence()).prop_map(
        |((alarm_id, severity, code, elevator_id, order_id), raised_at, cleared_at, detail)| {
            Alarm {
                alarm_id,
                severity,
                code,
                elevator_id,
                order_id,
                raised_at,
                cleared_at,
                detail,
            }
        },
    )
}

fn outgoing() -> impl Strategy<Value = Outgoing> {
    let presence = (id(), connection_state(), id()).prop_map(|(gateway, state, instance)| {
        let connection = GatewayConnection {
            connection_state: state,
            instance,
        };
        Outgoing::GatewayConnection(gateway, connection)
    });
    prop_oneof![
        (id(), reply()).prop_map(|(robot, reply)| Outgoing::RideReply { robot, reply }),
        ride_view().prop_map(Outgoing::RideState),
        id().prop_map(|robot| Outgoing::RideStateCleared { robot }),
        elevator_view().prop_map(Outgoing::ElevatorState),
        command().prop_map(Outgoing::ElevatorCommand),
        alarm().prop_map(Outgoing::Alarm),
        prop::collection::vec(alarm(), 0..4).prop_map(Outgoing::Alarms),
        presence,
    ]
}

/// What a message says, as the reader on the other side names it.
fn as_said(message: Outgoing) -> Said {
    match message {
        Outgoing::RideReply { robot, reply } => Said::RideReply { robot, reply },
        Outgoing::RideState(view) => Said::RideState {
            robot: view.robot_id.clone(),
            view: Some(view),
        },
        Outgoing::RideStateCleared { robot } => Said::RideState { robot, view: None },
        Outgoing::ElevatorState(view) => Said::ElevatorState(view),
        Outgoing::ElevatorCommand(command) => Said::ElevatorCommand(command),
        Outgoing::Alarm(alarm) => Said::Alarm(alarm),
        Outgoing::Alarms(alarms) => Said::Alarms(alarms),
        Outgoing::Site(site) => Said::Site(site),
        Outgoing::GatewayConnection(gateway, connection) => {
            Said::GatewayConnection(gateway, connection)
        }
    }
}

proptest! {
    #[test]
    fn the_gateway_reads_what_robots_write(robot in id::<RobotId>(), message in robot_message()) {
        let spoken = Spoken::Robot { robot: robot.clone(), message: message.clone() };
        let envelope = spoken.encode(&topics());
        let decoded = decode(&topics(), &envelope.topic, &envelope.payload, envelope.retain);
        prop_assert_eq!(decoded, Decoded::Message(Inbound::Robot { robot, message }));
    }

    #[test]
    fn the_gateway_reads_what_controllers_write(elevator in id(), event in controller_event()) {
        let spoken = Spoken::Controller { elevator, event };
        let envelope = spoken.encode(&topics());
        let Spoken::Controller { elevator, event } = spoken else { unreachable!() };
        let decoded = decode(&topics(), &envelope.topic, &envelope.payload, false);
        prop_assert_eq!(decoded, Decoded::Message(Inbound::Controller { elevator, event }));
    }

    #[test]
    fn peers_read_what_the_gateway_writes(message in outgoing()) {
        let envelope = message.encode(&topics(), &stamp());
        let heard = Heard::read(&topics(), &envelope.topic, &envelope.payload);
        prop_assert_eq!(heard.map_err(|error| error.to_string()).map(|heard| heard.said), Ok(as_said(message)));
    }

    #[test]
    fn the_gateway_reads_its_own_retained_states(view in ride_view(), elevator in elevator_view()) {
        let expected = Inbound::OwnRide {
            robot: view.robot_id.clone(),
            order: view.order_id.clone(),
            terminal: matches!(
                view.state,
                RideState::RobotExited | RideState::Cancelled | RideState::Expired | RideState::Failed
            ),
        };
        let envelope = Outgoing::RideState(view).encode(&topics(), &stamp());
        let decoded = decode(&topics(), &envelope.topic, &envelope.payload, true);
        prop_assert_eq!(decoded, Decoded::Message(expected));
        let (id, fence) = (elevator.elevator_id.clone(), elevator.fence);
        let envelope = Outgoing::ElevatorState(elevator).encode(&topics(), &stamp());
        let decoded = decode(&topics(), &envelope.topic, &envelope.payload, true);
        prop_assert_eq!(decoded, Decoded::Message(Inbound::OwnElevator { elevator: id, fence }));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        retained in any::<bool>(),
    ) {
        read_on_every_topic(&bytes, retained);
    }

    #[test]
    fn no_damage_to_a_message_makes_the_reader_panic(
        message in robot_message(),
        at in any::<prop::sample::Index>(),
        with in any::<u8>(),
    ) {
        let robot = "R001".parse().expect("an id");
        let mut payload = Spoken::Robot { robot, message }.encode(&topics()).payload;
        let at = at.index(payload.len());
        payload[at] = with;
        read_on_every_topic(&payload, false);
        payload.truncate(at);
        read_on_every_topic(&payload, false);
    }
}

/// Reads the bytes as each kind of message; a refusal's sentence must keep its bounds.
fn read_on_every_topic(bytes: &[u8], retained: bool) {
    for topic in [
        site::REQUEST,
        site::EVENT,
        site::CANCEL,
        site::STATUS,
        site::CONNECTION,
        site::CONTROLLER,
        "gateways/gw-1/connection",
        "robots/R001/ride/state",
        "elevators/EL001/state",
    ] {
        let whole = format!("hallcall/v1/demo/{topic}");
        if let Decoded::Refused(refusal) = decode(&topics(), &whole, bytes, retained) {
            assert!(refusal.detail.len() <= 256 && !refusal.detail.contains(char::is_control));
        }
    }
}
