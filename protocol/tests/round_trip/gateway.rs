//! Anything that the gateway may say.

use proptest::prelude::*;
use protocol::elevator::{ElevatorCommand, ElevatorView, Health, OwnerView};
use protocol::hardware::{Action, Command, Direction, Mode, Motion};
use protocol::ops::{
    Alarm, GatewayConnection, Presence, Severity, SiteElevator, SiteFloor, SiteView, Suspension,
    SuspensionCode,
};
use protocol::ride::{Instruction, Reason, ReplyResult, RideReply, RideState, RideView};
use protocol::{AlarmCode, Code, Fence, Outgoing, ReasonCode, Side};

use crate::applications::{claim_state, client_reply};
use crate::parts::{
    connection_state, doors, floor, id, landing, moment, opt, seconds, sentence, some,
};

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

pub(crate) fn ride_view() -> impl Strategy<Value = RideView> {
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

pub(crate) fn elevator_view() -> impl Strategy<Value = ElevatorView> {
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

fn site() -> impl Strategy<Value = SiteView> {
    let suspension = (
        some(SuspensionCode::ALL),
        prop::collection::vec(id(), 0..4),
        moment(),
    )
        .prop_map(|(code, zones, since)| Suspension { code, zones, since });
    let sides = prop::collection::vec(some(&Side::ALL), 0..=2);
    let floor_of_site =
        (floor(), any::<u32>(), sides).prop_map(|(label, index, sides)| SiteFloor {
            label,
            index,
            sides,
        });
    let floors = prop::collection::vec(floor(), 0..6);
    let elevator = (
        id(),
        opt(id()),
        id(),
        floors,
        some(Presence::ALL),
        seconds(),
    )
        .prop_map(
            |(id, bank_id, zone, floors, presence, hold_max_s)| SiteElevator {
                id,
                bank_id,
                zone,
                floors,
                presence,
                hold_max_s,
            },
        );
    let lists = (
        prop::collection::vec(floor_of_site, 0..6),
        prop::collection::vec(elevator, 0..4),
    );
    (id(), opt(suspension), seconds(), seconds(), lists).prop_map(
        |(gateway, suspended, lease_s, status_s, (floors, elevators))| SiteView {
            versions: vec!["v1".to_owned()],
            gateway,
            suspended,
            lease_s,
            status_s,
            floors,
            elevators,
        },
    )
}

pub(crate) fn outgoing() -> impl Strategy<Value = Outgoing> {
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
        client_reply(),
        claim_state(),
        site().prop_map(Outgoing::Site),
        presence,
    ]
}
