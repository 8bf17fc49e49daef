//! What robots say.

use std::collections::BTreeSet;

use protocol::ride::RideReply;
use protocol::robot::{
    ConnectionState, Place, RideCancel, RideEvent, RideRequest, RobotConnection, RobotEvent,
    RobotStatus,
};
use protocol::{Fence, RobotMessage};

use super::Building;
use super::site::{elevator, floor, order};

impl Building {
    fn message_id(&self) -> protocol::MessageId {
        format!("m-{}", self.replies.len()).parse().expect("an id")
    }

    /// A request from 1F to 6F, at the door.
    pub(crate) fn request_of(&self, id: &str) -> RideRequest {
        let place = |label: &str| Place {
            floor: floor(label),
            side: None,
        };
        RideRequest {
            message_id: self.message_id(),
            timestamp: self.wall(),
            order_id: order(id),
            from: place("1F"),
            to: place("6F"),
            elevators: BTreeSet::new(),
            priority: 5,
            at_door: Some(true),
            eta_s: None,
            expires_at: None,
            dry_run: false,
        }
    }

    pub(crate) fn ask(&mut self, robot: &str, request: RideRequest) -> RideReply {
        self.robot(robot, RobotMessage::Request(request))
            .expect("a reply to a request")
    }

    /// `ride/request` from 1F to 6F, at the door.
    pub(crate) fn request(&mut self, robot: &str, id: &str) -> RideReply {
        let request = self.request_of(id);
        self.ask(robot, request)
    }

    pub(crate) fn event_of(&self, id: &str, event: RobotEvent, fence: Option<Fence>) -> RideEvent {
        RideEvent {
            message_id: self.message_id(),
            timestamp: self.wall(),
            order_id: order(id),
            event,
            fence,
            elevator_id: None,
        }
    }

    /// `ride/event` with the fence that the ride has.
    pub(crate) fn event(&mut self, robot: &str, id: &str, event: RobotEvent) -> RideReply {
        let fence = self.fence(id);
        let event = self.event_of(id, event, fence);
        self.robot(robot, RobotMessage::Event(event))
            .expect("a reply to an event")
    }

    /// `ride/event` with a fence and an elevator of the test's choice.
    pub(crate) fn event_with(
        &mut self,
        robot: &str,
        id: &str,
        event: RobotEvent,
        fence: Option<u64>,
        at: Option<&str>,
    ) -> RideReply {
        let mut event = self.event_of(id, event, fence.map(Fence));
        event.elevator_id = at.map(elevator);
        self.robot(robot, RobotMessage::Event(event))
            .expect("a reply to an event")
    }

    /// `ride/cancel`.
    pub(crate) fn cancel(&mut self, robot: &str, id: &str) -> RideReply {
        let cancel = RideCancel {
            message_id: self.message_id(),
            timestamp: self.wall(),
            order_id: order(id),
            reason: "a test".to_owned(),
        };
        self.robot(robot, RobotMessage::Cancel(cancel))
            .expect("a reply to a cancel")
    }

    pub(crate) fn status_of(&self) -> RobotStatus {
        RobotStatus {
            message_id: self.message_id(),
            timestamp: self.wall(),
            floor: None,
            at_door: None,
            eta_s: None,
            battery_pct: None,
            position: None,
            in_car: None,
        }
    }

    pub(crate) fn tell(&mut self, robot: &str, status: RobotStatus) {
        let reply = self.robot(robot, RobotMessage::Status(status));
        assert!(reply.is_none(), "a status gets no reply");
    }

    /// `status` that says nothing but that the robot is there.
    pub(crate) fn status(&mut self, robot: &str) {
        let status = self.status_of();
        self.tell(robot, status);
    }

    /// `status` with `in_car`.
    pub(crate) fn in_car(&mut self, robot: &str, in_car: bool) {
        let mut status = self.status_of();
        status.in_car = Some(in_car);
        self.tell(robot, status);
    }

    /// `connection`.
    pub(crate) fn connection(&mut self, robot: &str, connection_state: ConnectionState) {
        let connection = RobotConnection {
            message_id: self.message_id(),
            timestamp: self.wall(),
            connection_state,
        };
        let reply = self.robot(robot, RobotMessage::Connection(connection));
        assert!(reply.is_none(), "a connection gets no reply");
    }
}
