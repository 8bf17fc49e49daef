//! What a robot says, and the order that it says it for.

use std::collections::BTreeSet;

use protocol::robot::{Place, RideCancel, RideEvent, RideRequest, RobotEvent, RobotStatus};
use protocol::{ElevatorId, Fence, Landing, MessageId, OrderId, RobotMessage, Timestamp, limits};

use super::{PENDING_MAX, Pending, REPEAT_MS, Robot, RobotAct, STATUS_MS, Whereabouts};

/// An order to ride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// Where it gets in.
    pub from: Landing,
    /// Where it gets out.
    pub to: Landing,
    /// The elevators that it allows; empty = any.
    pub elevators: BTreeSet<ElevatorId>,
    /// 0 to 9.
    pub priority: u8,
    /// Seconds until the robot stands at the door; 0 = it stands there.
    pub eta_s: u32,
    /// Give up if still queued then.
    pub expires_at: Option<Timestamp>,
    /// Only asks.
    pub dry_run: bool,
}

impl Order {
    /// A plain order of a robot that stands at the door.
    #[must_use]
    pub fn new(id: OrderId, from: Landing, to: Landing) -> Self {
        Self {
            id,
            from,
            to,
            elevators: BTreeSet::new(),
            priority: limits::PRIORITY_DEFAULT,
            eta_s: 0,
            expires_at: None,
            dry_run: false,
        }
    }
}

impl Robot {
    /// Asks for a ride; from here on the order is its live one, unless it has another.
    pub fn request(&mut self, now_ms: u64, wall: Timestamp, order: Order) -> MessageId {
        let message_id = self.next_id();
        let place = |landing: &Landing| Place {
            floor: landing.floor.clone(),
            side: Some(landing.side),
        };
        let stands_there = order.eta_s == 0;
        let request = RideRequest {
            message_id: message_id.clone(),
            timestamp: wall,
            order_id: order.id.clone(),
            from: place(&order.from),
            to: place(&order.to),
            elevators: order.elevators.clone(),
            priority: order.priority,
            at_door: Some(stands_there),
            eta_s: (!stands_there).then_some(order.eta_s),
            expires_at: order.expires_at,
            dry_run: order.dry_run,
        };
        if self.order.is_none() && !order.dry_run {
            self.arrives_ms = (!stands_there).then_some(now_ms + u64::from(order.eta_s) * 1_000);
            self.was_inside = false;
            self.offended = false;
            self.adopts = false;
            self.outside_ms = now_ms;
            self.asked = None;
            self.ask_ms = now_ms;
            self.status_ms = now_ms + STATUS_MS;
            self.order = Some(order);
        }
        self.ask_for_answer(now_ms, &message_id, RobotMessage::Request(request));
        message_id
    }

    /// Says what happened, for its live order, else for its last one. Returns the message's id, or
    /// nothing where it never had an order.
    pub fn event(&mut self, now_ms: u64, wall: Timestamp, event: RobotEvent) -> Option<MessageId> {
        self.event_in(now_ms, wall, event, None)
    }

    /// The same, from another elevator than its ride's where one is given.
    pub(super) fn event_in(
        &mut self,
        now_ms: u64,
        wall: Timestamp,
        event: RobotEvent,
        elevator: Option<ElevatorId>,
    ) -> Option<MessageId> {
        let view = self.view.as_ref();
        let order = self.order.as_ref().map(|order| &order.id);
        let order_id = order.or_else(|| view.map(|view| &view.order_id))?.clone();
        let known = view.filter(|view| view.order_id == order_id);
        let fence = known.and_then(|view| view.fence);
        let own = known.and_then(|view| view.elevator_id.clone());
        let elevator_id = elevator.or(own);
        Some(self.event_for(now_ms, wall, event, order_id, fence, elevator_id))
    }

    /// Says something about an order with the fence and elevator given, true or not.
    pub fn event_for(
        &mut self,
        now_ms: u64,
        wall: Timestamp,
        event: RobotEvent,
        order_id: OrderId,
        fence: Option<Fence>,
        elevator_id: Option<ElevatorId>,
    ) -> MessageId {
        let message_id = self.next_id();
        let is_query = event == RobotEvent::Query;
        let event = RideEvent {
            message_id: message_id.clone(),
            timestamp: wall,
            order_id,
            event,
            fence,
            elevator_id,
        };
        if is_query {
            // A question is asked anew each time: the permission counts from its sending.
            self.acts.push(RobotAct::Say(RobotMessage::Event(event)));
        } else {
            self.ask_for_answer(now_ms, &message_id, RobotMessage::Event(event));
        }
        message_id
    }

    /// Gives an order up.
    pub fn cancel(&mut self, now_ms: u64, wall: Timestamp, order_id: OrderId) -> MessageId {
        let message_id = self.next_id();
        let cancel = RideCancel {
            message_id: message_id.clone(),
            timestamp: wall,
            order_id,
            reason: "not needed".to_owned(),
        };
        self.ask_for_answer(now_ms, &message_id, RobotMessage::Cancel(cancel));
        message_id
    }

    /// Says its status; `in_car` only where it shall differ from the truth.
    pub fn status(&mut self, wall: Timestamp, in_car: Option<bool>) {
        let floor = match &self.place {
            Whereabouts::Floor(floor) => Some(floor.clone()),
            Whereabouts::Doorway { landing, .. } => Some(landing.floor.clone()),
            Whereabouts::Car(_) => None,
        };
        let inside = match &self.place {
            Whereabouts::Car(_) => true,
            // On its way out it is still in the car, on its way in not yet.
            Whereabouts::Doorway { inwards, .. } => !inwards,
            Whereabouts::Floor(_) => false,
        };
        let status = RobotStatus {
            message_id: self.next_id(),
            timestamp: wall,
            floor,
            at_door: None,
            eta_s: None,
            battery_pct: None,
            position: None,
            in_car: Some(in_car.unwrap_or(inside)),
        };
        self.acts.push(RobotAct::Say(RobotMessage::Status(status)));
    }

    /// Says the same message again, as a robot that got no answer does.
    pub fn repeat(&mut self, message: RobotMessage) {
        self.acts.push(RobotAct::Say(message));
    }

    fn ask_for_answer(&mut self, now_ms: u64, message_id: &MessageId, message: RobotMessage) {
        self.keep_said(&message);
        if self.connected {
            self.acts.push(RobotAct::Say(message.clone()));
        }
        if self.pending.len() < PENDING_MAX {
            let next_ms = if self.connected {
                now_ms + REPEAT_MS
            } else {
                now_ms
            };
            self.pending.push(Pending {
                message,
                message_id: message_id.clone(),
                next_ms,
            });
        }
    }

    fn next_id(&mut self) -> MessageId {
        self.messages += 1;
        let text = format!(
            "{}-{}",
            self.id.as_str().get(..40).unwrap_or(self.id.as_str()),
            self.messages
        );
        // 40 bytes of an id, a dash and at most 20 digits are an id.
        MessageId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an id"))
    }
}
