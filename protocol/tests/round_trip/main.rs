//! What one side writes the other reads back, for any content; and no bytes make the reader panic.

mod applications;
mod gateway;
mod parts;
mod peers;
#[path = "../site/mod.rs"]
mod site;

use gateway::{elevator_view, outgoing, ride_view};
use parts::id;
use peers::{controller_event, robot_message};
use proptest::prelude::*;
use protocol::peer::{Heard, Said, Spoken};
use protocol::ride::RideState;
use protocol::{Decoded, Inbound, Outgoing, RobotId, decode};
use site::{stamp, topics};

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
        Outgoing::ClientReply { client, reply } => Said::ClientReply { client, reply },
        Outgoing::ClaimState { client, view } => Said::ClaimState { client, view },
        Outgoing::RentalState { client, view } => Said::RentalState { client, view },
        Outgoing::DeviceCommand { command, signature } => {
            Said::DeviceCommand { command, signature }
        }
        Outgoing::DeviceState(view) => Said::DeviceState(view),
        Outgoing::GatewayConnection(gateway, connection) => {
            Said::GatewayConnection(gateway, connection)
        }
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
        "clients/app-1/request",
        "gateways/gw-1/connection",
        "robots/R001/ride/state",
        "elevators/EL001/state",
        "devices/DEV_001/event",
    ] {
        let whole = format!("hallcall/v1/demo/{topic}");
        if let Decoded::Refused(refusal) = decode(&topics(), &whole, bytes, retained) {
            assert!(refusal.detail.len() <= 256 && !refusal.detail.contains(char::is_control));
        }
    }
}
