//! What comes from a robot: counted against its rate, renewing its lease, given to its row.

use protocol::message::RobotTopic;
use protocol::ride::ReplyResult;
use protocol::robot::{ConnectionState, RobotConnection};
use protocol::{Code, OrderId, Refusal, RobotId, RobotMessage, limits};

use crate::render::{Asked, bare_reply};
use crate::step::{Step, cut};

/// A message that cannot be read or comes too fast is answered at most once in this time per
/// topic (`wire.md` section 1).
const REFUSAL_PAUSE_MS: u64 = 1_000;

impl Step<'_> {
    pub(crate) fn robot(&mut self, robot: RobotId, message: RobotMessage) {
        let (topic, message_id, order) = describe(&message);
        let asked = Asked {
            robot,
            message_id,
            order,
            received_at: self.now.wall,
        };
        let heard = self.hear(&asked.robot, renews_lease(&message));
        if !heard && !matches!(message, RobotMessage::Connection(_)) && !says_in_car(&message) {
            self.refuse_seldom(
                &asked,
                topic,
                Code::RateLimited,
                "too many messages per second",
            );
            return;
        }
        match message {
            RobotMessage::Request(request) => self.request(&asked, &request),
            RobotMessage::Event(event) => self.event(&asked, &event),
            RobotMessage::Cancel(cancel) => self.cancel(&asked, &cancel),
            RobotMessage::Status(status) => self.status(&asked.robot, &status),
            RobotMessage::Connection(connection) => self.connection(&asked.robot, &connection),
        }
    }

    /// Notes that a robot said anything. Returns `false` where it says too much.
    fn hear(&mut self, robot: &RobotId, renews: bool) -> bool {
        let now_ms = self.now.mono_ms;
        let limit = self.config.limits.robot_messages_per_s;
        if !self.live.robots.contains_key(robot) && self.live.robots.len() >= limits::ROBOTS_MAX {
            return false;
        }
        let known = self.live.robots.entry(robot.clone()).or_default();
        known.heard_ms = now_ms;
        let second = now_ms / 1000;
        if known.second != second {
            known.second = second;
            known.messages = 0;
        }
        known.messages = known.messages.saturating_add(1);
        let within = known.messages <= limit;
        if renews
            && let Some(order) = self.state.robots.get(robot)
            && let Some(progress) = self.live.rides.get_mut(order)
        {
            progress.heard_ms = now_ms;
        }
        within
    }

    pub(crate) fn unreadable(&mut self, refusal: Refusal) {
        if let Some((client, kind)) = refusal.client {
            self.unreadable_of_client(client, kind, refusal.message_id, refusal.order_id, {
                (refusal.code, refusal.detail)
            });
            return;
        }
        let Some((robot, topic)) = refusal.robot else {
            return;
        };
        self.hear(&robot, true);
        let asked = Asked {
            robot,
            message_id: refusal.message_id,
            order: refusal.order_id,
            received_at: self.now.wall,
        };
        self.refuse_seldom(&asked, topic, refusal.code, &refusal.detail);
    }

    fn refuse_seldom(&mut self, asked: &Asked, topic: RobotTopic, code: Code, detail: &str) {
        let answered = match topic {
            RobotTopic::Request | RobotTopic::Event | RobotTopic::Cancel => true,
            RobotTopic::Status | RobotTopic::Connection => false,
        };
        let now_ms = self.now.mono_ms;
        let Some(known) = self.live.robots.get_mut(&asked.robot) else {
            return;
        };
        let due = known
            .refused_ms
            .get(&topic)
            .is_none_or(|last| now_ms >= last.saturating_add(REFUSAL_PAUSE_MS));
        if answered && due {
            known.refused_ms.insert(topic, now_ms);
            let mut reply = bare_reply(asked, ReplyResult::Rejected);
            reply.code = Some(code);
            reply.detail = Some(cut(detail.to_owned()));
            if code == Code::RateLimited {
                reply.retry_after_s = Some(protocol::Seconds::from_ms(REFUSAL_PAUSE_MS));
            }
            self.send_reply(asked, reply);
        }
    }

    fn connection(&mut self, robot: &RobotId, connection: &RobotConnection) {
        if let Some(known) = self.live.robots.get_mut(robot) {
            known.connection = Some(connection.connection_state);
        }
    }
}

/// Any word of a robot renews its lease; that it left, or its will, is no word of it.
fn renews_lease(message: &RobotMessage) -> bool {
    match message {
        RobotMessage::Connection(connection) => {
            connection.connection_state == ConnectionState::Online
        }
        RobotMessage::Request(_)
        | RobotMessage::Event(_)
        | RobotMessage::Cancel(_)
        | RobotMessage::Status(_) => true,
    }
}

fn says_in_car(message: &RobotMessage) -> bool {
    match message {
        RobotMessage::Status(status) => status.in_car == Some(true),
        RobotMessage::Request(_)
        | RobotMessage::Event(_)
        | RobotMessage::Cancel(_)
        | RobotMessage::Connection(_) => false,
    }
}

fn describe(message: &RobotMessage) -> (RobotTopic, Option<protocol::MessageId>, Option<OrderId>) {
    match message {
        RobotMessage::Request(request) => (
            RobotTopic::Request,
            Some(request.message_id.clone()),
            Some(request.order_id.clone()),
        ),
        RobotMessage::Event(event) => (
            RobotTopic::Event,
            Some(event.message_id.clone()),
            Some(event.order_id.clone()),
        ),
        RobotMessage::Cancel(cancel) => (
            RobotTopic::Cancel,
            Some(cancel.message_id.clone()),
            Some(cancel.order_id.clone()),
        ),
        RobotMessage::Status(status) => (RobotTopic::Status, Some(status.message_id.clone()), None),
        RobotMessage::Connection(connection) => (
            RobotTopic::Connection,
            Some(connection.message_id.clone()),
            None,
        ),
    }
}
