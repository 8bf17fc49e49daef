//! A robot's rules, by what `wire.md` sections 3 to 5 say of them.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::ride::{Instruction, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{ConnectionState, RobotEvent};
use protocol::{
    Code, ElevatorId, Fence, FloorLabel, GatewayId, Landing, MessageId, OrderId, RobotId,
    RobotMessage, Seconds, Side, Timestamp,
};

use super::{Brain, Deed, Errand, Habits, Way};
use crate::live::speaker::Speaker;

const HABITS: Habits = Habits {
    repeat: Duration::from_secs(5),
    heartbeat: Duration::from_secs(8),
    ask_again: Duration::from_secs(1),
    cross: Duration::from_secs(3),
};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

/// A robot with its radio up, at the door, with the order `T-1` from 1F to 6F.
struct Trial {
    brain: Brain,
}

impl Trial {
    fn new() -> Self {
        let robot = RobotId::new("R001").unwrap();
        let mut brain = Brain::new(robot, HABITS, Speaker::new("m").unwrap());
        brain.radio(true, s(0));
        brain.hear_gateway(GatewayId::new("gw-1").unwrap(), ConnectionState::Online);
        let errand = Errand {
            order: OrderId::new("T-1").unwrap(),
            from: landing("1F"),
            to: landing("6F"),
            drive: Duration::ZERO,
        };
        brain.start(errand, s(0));
        Self { brain }
    }

    /// The ride events and requests said at that moment, by their words, and their message ids.
    fn said(&mut self, now: Duration) -> Vec<(&'static str, MessageId)> {
        let word = |deed| match deed {
            Deed::Say(RobotMessage::Request(request)) => Some(("request", request.message_id)),
            Deed::Say(RobotMessage::Event(event)) => Some((event.event.word(), event.message_id)),
            Deed::CrossingBegins(threshold) => Some((
                match threshold.way {
                    Way::In => "crosses in",
                    Way::Out => "crosses out",
                },
                MessageId::new("none").unwrap(),
            )),
            Deed::Say(_) | Deed::CrossingEnds(_) | Deed::Finished(_) => None,
        };
        self.brain.act(now).into_iter().filter_map(word).collect()
    }

    fn words(&mut self, now: Duration) -> Vec<&'static str> {
        self.said(now).into_iter().map(|(word, _)| word).collect()
    }

    /// Says all that it has to say in a state until it asks; returns the question's id.
    fn asks(&mut self, now: Duration) -> MessageId {
        for _ in 0..4 {
            let said = self.said(now);
            if let Some((_, id)) = said.iter().find(|(word, _)| *word == "query") {
                return id.clone();
            }
            for (_, id) in said {
                self.brain.hear_reply(&answered(id), now);
            }
        }
        panic!("the robot does not ask");
    }
}

fn state(seq: u64, state: RideState, instruction: Instruction) -> RideView {
    RideView {
        order_id: OrderId::new("T-1").unwrap(),
        robot_id: RobotId::new("R001").unwrap(),
        seq,
        state,
        held_from: None,
        instruction,
        valid_s: None,
        elevator_id: Some(ElevatorId::new("EL001").unwrap()),
        bank_id: None,
        fence: Some(Fence(17)),
        from: landing("1F"),
        to: landing("6F"),
        floor: None,
        side: None,
        queue_position: None,
        eta_s: None,
        deadline: None,
        deadline_s: None,
        reason: None,
    }
}

fn arrived(seq: u64) -> RideView {
    state(seq, RideState::ElevatorArrived, Instruction::Enter)
}

/// A reply that shows no ride.
fn answered(to: MessageId) -> RideReply {
    RideReply {
        received_at: Timestamp(0),
        in_reply_to: Some(to),
        order_id: Some(OrderId::new("T-1").unwrap()),
        result: ReplyResult::Accepted,
        code: None,
        detail: None,
        retry_after_s: None,
        state: None,
        seq: None,
        instruction: None,
        valid_s: None,
        elevator_id: None,
        fence: None,
        floor: None,
        side: None,
        queue_position: None,
        eta_s: None,
    }
}

/// Leave to cross at 1F for 5 s.
fn leave(to: MessageId, seq: u64, instruction: Instruction) -> RideReply {
    RideReply {
        state: Some(RideState::ElevatorArrived),
        seq: Some(seq),
        instruction: Some(instruction),
        valid_s: Some(Seconds::from_ms(5_000)),
        elevator_id: Some(ElevatorId::new("EL001").unwrap()),
        fence: Some(Fence(17)),
        floor: Some(FloorLabel::new("1F").unwrap()),
        side: Some(Side::Front),
        ..answered(to)
    }
}

#[test]
fn a_request_is_repeated_every_5_s_with_the_same_message_id_until_answered() {
    let mut trial = Trial::new();
    let first = trial.said(s(0));
    assert_eq!(first.len(), 1);
    assert_eq!(trial.words(s(4)), Vec::<&str>::new());
    assert_eq!(trial.said(s(5)), first);
    trial.brain.hear_reply(&answered(first[0].1.clone()), s(6));
    assert_eq!(trial.words(s(20)), Vec::<&str>::new());
}

#[test]
fn after_queue_full_it_tries_again_after_retry_after_s() {
    let mut trial = Trial::new();
    let (_, id) = trial.said(s(0)).remove(0);
    let full = RideReply {
        result: ReplyResult::Rejected,
        code: Some(Code::QueueFull),
        retry_after_s: Some(Seconds::from_ms(30_000)),
        ..answered(id)
    };
    trial.brain.hear_reply(&full, s(1));
    assert_eq!(trial.words(s(30)), Vec::<&str>::new());
    assert_eq!(trial.words(s(31)), ["request"]);
}

#[test]
fn a_state_alone_is_no_permission() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let words: Vec<_> = (1..=60).flat_map(|now| trial.words(s(now))).collect();
    assert!(words.contains(&"query"), "{words:?}");
    assert!(!words.contains(&"crosses in"), "{words:?}");
}

#[test]
fn a_fresh_answer_to_its_own_question_is() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let question = trial.asks(s(1));
    trial
        .brain
        .hear_reply(&leave(question, 4, Instruction::Enter), s(5));
    assert_eq!(trial.words(s(5)), ["crosses in"]);
    assert_eq!(trial.words(s(7)), Vec::<&str>::new());
    assert_eq!(trial.words(s(8)), ["entered"]);
}

#[test]
fn an_answer_later_than_valid_s_after_the_question_is_none() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let question = trial.asks(s(1));
    trial
        .brain
        .hear_reply(&leave(question, 4, Instruction::Enter), s(6));
    assert!(!trial.words(s(6)).contains(&"crosses in"));
    assert_eq!(trial.words(s(7)), ["query"]);
}

#[test]
fn an_answer_older_than_the_newest_state_is_none() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let question = trial.asks(s(1));
    let stay = state(5, RideState::ElevatorArrived, Instruction::Stay);
    trial.brain.hear_state(&stay, s(2));
    trial
        .brain
        .hear_reply(&leave(question, 4, Instruction::Enter), s(2));
    assert_eq!(trial.words(s(30)), Vec::<&str>::new());
}

#[test]
fn an_answer_that_says_stay_or_something_else_is_none() {
    for instruction in [Instruction::Stay, Instruction::Approach, Instruction::Exit] {
        let mut trial = Trial::new();
        trial.brain.hear_state(&arrived(4), s(1));
        let question = trial.asks(s(1));
        trial
            .brain
            .hear_reply(&leave(question, 5, instruction), s(2));
        assert!(!trial.words(s(2)).contains(&"crosses in"), "{instruction}");
    }
}

#[test]
fn it_asks_nothing_and_crosses_nothing_while_no_gateway_is_online() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let question = trial.asks(s(1));
    let gateway = GatewayId::new("gw-1").unwrap();
    trial
        .brain
        .hear_gateway(gateway, ConnectionState::ConnectionBroken);
    trial
        .brain
        .hear_reply(&leave(question, 4, Instruction::Enter), s(2));
    assert_eq!(trial.words(s(30)), Vec::<&str>::new());
}

#[test]
fn another_order_and_an_older_seq_move_nothing() {
    let mut trial = Trial::new();
    let queued = state(7, RideState::Queued, Instruction::Wait);
    trial.brain.hear_state(&queued, s(1));
    trial.brain.hear_state(&arrived(6), s(1));
    let mut other = arrived(9);
    other.order_id = OrderId::new("T-0").unwrap();
    trial.brain.hear_state(&other, s(1));
    let words: BTreeSet<_> = (1..=30).flat_map(|now| trial.words(s(now))).collect();
    assert!(!words.contains("query"), "{words:?}");
}

#[test]
fn without_radio_it_says_nothing_and_says_it_again_when_the_radio_is_back() {
    let mut trial = Trial::new();
    trial.brain.hear_state(&arrived(4), s(1));
    let question = trial.asks(s(1));
    trial
        .brain
        .hear_reply(&leave(question, 4, Instruction::Enter), s(2));
    assert_eq!(trial.words(s(2)), ["crosses in"]);
    let entered = trial.said(s(5));
    assert_eq!(entered[0].0, "entered");
    trial.brain.radio(false, s(6));
    assert_eq!(trial.words(s(30)), Vec::<&str>::new());
    trial.brain.radio(true, s(31));
    assert_eq!(trial.said(s(31)), entered);
}

#[test]
fn held_outside_it_says_that_it_stands_outside() {
    let mut trial = Trial::new();
    trial
        .brain
        .hear_state(&state(5, RideState::Hold, Instruction::Exit), s(1));
    assert!(
        trial
            .words(s(1))
            .contains(&RobotEvent::CancelEnter { again: false }.word())
    );
    assert!(!trial.words(s(2)).contains(&"cancel_enter"));
}

#[test]
fn a_refusal_for_good_ends_the_ride_as_failed() {
    let mut trial = Trial::new();
    let (_, id) = trial.said(s(0)).remove(0);
    let refused = RideReply {
        result: ReplyResult::Rejected,
        code: Some(Code::NotServed),
        detail: Some("no elevator serves 1F and 6F".to_owned()),
        ..answered(id)
    };
    trial.brain.hear_reply(&refused, s(1));
    let deeds = trial.brain.act(s(1));
    let failure = deeds.into_iter().find_map(|deed| match deed {
        Deed::Finished(result) => result.failure,
        Deed::Say(_) | Deed::CrossingBegins(_) | Deed::CrossingEnds(_) => None,
    });
    assert_eq!(
        failure.unwrap(),
        "refused NOT_SERVED: no elevator serves 1F and 6F"
    );
}
