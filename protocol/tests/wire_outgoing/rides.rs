//! Replies and ride states.

use protocol::ride::{Instruction, Reason, ReplyResult, RideReply, RideState, RideView};
use protocol::{Code, Fence, Landing, Outgoing, ReasonCode, Seconds, Side, Timestamp};

use crate::check;
use crate::site::{TEN, stamp, topics};

fn seconds(ms: u64) -> Option<Seconds> {
    Some(Seconds::from_ms(ms))
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: floor.parse().expect("a floor"),
        side: Side::Front,
    }
}

/// The reply of `wire.md` section 3.
fn queued() -> RideReply {
    RideReply {
        received_at: Timestamp(TEN.0 - 3),
        in_reply_to: Some("m-1".parse().expect("an id")),
        order_id: Some("T-1".parse().expect("an id")),
        result: ReplyResult::Accepted,
        code: None,
        detail: None,
        retry_after_s: None,
        state: Some(RideState::Queued),
        seq: Some(1),
        instruction: Some(Instruction::Wait),
        valid_s: None,
        elevator_id: None,
        fence: None,
        floor: None,
        side: None,
        queue_position: Some(1),
        eta_s: seconds(40_000),
    }
}

fn reply(reply: RideReply) -> Outgoing {
    Outgoing::RideReply {
        robot: "R001".parse().expect("an id"),
        reply,
    }
}

#[test]
fn ride_reply_as_in_the_specification() {
    check(
        &reply(queued()),
        "robots/R001/ride/reply",
        false,
        &[
            r#"{"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""received_at":"2026-11-30T09:59:59.997Z","source":"gateway/gw-1","#,
            r#""in_reply_to":"m-1","order_id":"T-1","result":"accepted","code":null,"detail":null,"#,
            r#""retry_after_s":null,"state":"QUEUED","seq":1,"instruction":"wait","valid_s":null,"#,
            r#""elevator_id":null,"fence":null,"floor":null,"side":null,"queue_position":1,"#,
            r#""eta_s":40}"#,
        ],
    );
}

#[test]
fn ride_reply_of_a_refusal_without_ids() {
    let refused = RideReply {
        in_reply_to: None,
        order_id: None,
        result: ReplyResult::Rejected,
        code: Some(Code::Malformed),
        detail: Some("order_id is missing".to_owned()),
        retry_after_s: seconds(1_500),
        state: None,
        seq: None,
        instruction: None,
        queue_position: None,
        eta_s: None,
        ..queued()
    };
    check(
        &reply(refused),
        "robots/R001/ride/reply",
        false,
        &[
            r#"{"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""received_at":"2026-11-30T09:59:59.997Z","source":"gateway/gw-1","#,
            r#""in_reply_to":null,"order_id":null,"result":"rejected","code":"MALFORMED","#,
            r#""detail":"order_id is missing","retry_after_s":1.5,"state":null,"seq":null,"#,
            r#""instruction":null,"valid_s":null,"elevator_id":null,"fence":null,"floor":null,"#,
            r#""side":null,"queue_position":null,"eta_s":null}"#,
        ],
    );
}

/// The state of `wire.md` section 4.
fn arrived() -> RideView {
    RideView {
        order_id: "T-1".parse().expect("an id"),
        robot_id: "R001".parse().expect("an id"),
        seq: 4,
        state: RideState::ElevatorArrived,
        held_from: None,
        instruction: Instruction::Enter,
        valid_s: seconds(5_000),
        elevator_id: Some("EL001".parse().expect("an id")),
        bank_id: None,
        fence: Some(Fence(17)),
        from: landing("1F"),
        to: landing("6F"),
        floor: Some("1F".parse().expect("a floor")),
        side: Some(Side::Front),
        queue_position: None,
        eta_s: None,
        deadline: Some(Timestamp(TEN.0 + 42_000)),
        deadline_s: seconds(60_000),
        reason: None,
    }
}

#[test]
fn ride_state_as_in_the_specification() {
    check(
        &Outgoing::RideState(arrived()),
        "robots/R001/ride/state",
        true,
        &[
            r#"{"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""source":"gateway/gw-1","order_id":"T-1","robot_id":"R001","seq":4,"#,
            r#""state":"ELEVATOR_ARRIVED","held_from":null,"instruction":"enter","valid_s":5,"#,
            r#""elevator_id":"EL001","bank_id":null,"fence":17,"#,
            r#""from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},"#,
            r#""floor":"1F","side":"front","queue_position":null,"eta_s":null,"#,
            r#""deadline":"2026-11-30T10:00:42.000Z","deadline_s":60,"reason":null}"#,
        ],
    );
}

#[test]
fn ride_state_of_a_hold_with_its_reason() {
    let held = RideView {
        state: RideState::Hold,
        held_from: Some(RideState::RobotEntered),
        instruction: Instruction::Stay,
        valid_s: None,
        bank_id: Some("A".parse().expect("an id")),
        deadline: None,
        deadline_s: seconds(2_500),
        reason: Some(Reason {
            code: ReasonCode::DoorFault,
            detail: "the front door did not close".to_owned(),
        }),
        ..arrived()
    };
    check(
        &Outgoing::RideState(held),
        "robots/R001/ride/state",
        true,
        &[
            r#"{"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
            r#""source":"gateway/gw-1","order_id":"T-1","robot_id":"R001","seq":4,"#,
            r#""state":"HOLD","held_from":"ROBOT_ENTERED","instruction":"stay","valid_s":null,"#,
            r#""elevator_id":"EL001","bank_id":"A","fence":17,"#,
            r#""from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},"#,
            r#""floor":"1F","side":"front","queue_position":null,"eta_s":null,"#,
            r#""deadline":null,"deadline_s":2.5,"#,
            r#""reason":{"code":"DOOR_FAULT","detail":"the front door did not close"}}"#,
        ],
    );
}

#[test]
fn a_ride_state_that_stands_for_no_order_is_deleted() {
    let cleared = Outgoing::RideStateCleared {
        robot: "R001".parse().expect("an id"),
    };
    check(&cleared, "robots/R001/ride/state", true, &[]);
}

#[test]
fn an_outgoing_text_is_one_line_of_at_most_256_bytes() {
    let written = |detail: String| {
        let message = reply(RideReply {
            detail: Some(detail),
            ..queued()
        });
        String::from_utf8(message.encode(&topics(), &stamp()).payload).expect("UTF-8")
    };
    assert!(written("x".repeat(256)).contains(&format!(r#""detail":"{}""#, "x".repeat(256))));
    assert!(written("x".repeat(257)).contains(&format!(r#""detail":"{}""#, "x".repeat(256))));
    // 86 times 3 bytes are 258: the last character that does not fit whole is left out.
    assert!(written("电".repeat(86)).contains(&format!(r#""detail":"{}""#, "电".repeat(85))));
    assert!(written("a\nb\u{1b}c".to_owned()).contains(r#""detail":"a\\nb\\u{1b}c""#));
    let reason = Some(Reason {
        code: ReasonCode::Busy,
        detail: "x".repeat(300),
    });
    let state = Outgoing::RideState(RideView {
        reason,
        ..arrived()
    });
    let text = String::from_utf8(state.encode(&topics(), &stamp()).payload).expect("UTF-8");
    assert!(
        text.contains(&format!(r#""detail":"{}""#, "x".repeat(256))),
        "{text}"
    );
}
