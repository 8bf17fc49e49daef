//! What applications ask for and are told (`wire.md` section 8), by hand from the specification.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "each test looks for one kind among many"
)]

mod site;

use protocol::client::{
    Ask, AskKind, ClaimBody, ClaimReason, ClaimState, ClaimView, ClaimWhy, ClientReply,
    ClientRequest, Label, ReplyBody, SeriesBody, TurnBody,
};
use protocol::ride::ReplyResult;
use protocol::{
    ClientId, Code, Date, Decoded, Ignored, Inbound, Outgoing, Seconds, Stamp, Timestamp,
};
use serde_json::{Value, json};
use site::{deliver, deliver_retained, ignored, refusal, topics};

const TOPIC: &str = "clients/app-1/request";

/// A request with these fields beside what every request has.
fn asked(kind: &str, fields: Value) -> Value {
    let mut body = json!({ "message_id": "m-1", "timestamp": "2026-11-30T10:00:00Z",
        "type": kind, "order_id": "T-1" });
    for (name, value) in fields.as_object().expect("fields") {
        body[name] = value.clone();
    }
    body
}

fn read(body: &Value) -> ClientRequest {
    match deliver(TOPIC, body.to_string()) {
        Decoded::Message(Inbound::Client { client, request }) => {
            assert_eq!(client.as_str(), "app-1");
            *request
        }
        other => panic!("{other:?}"),
    }
}

fn refused(body: &Value) -> String {
    let refusal = refusal(TOPIC, body.to_string());
    assert_eq!(refusal.code, Code::Malformed);
    let (client, _) = refusal.client.expect("an application");
    assert_eq!(client.as_str(), "app-1");
    refusal.detail
}

#[test]
fn every_type_is_read() {
    let acquire = json!({ "pool": "robots", "resource_id": null, "owner_id": "U1",
        "labels": { "tenant": "acme", "user": null }, "lease_s": 5, "wait_s": 86_400,
        "init": true });
    let request = read(&asked("claim.acquire", acquire));
    assert_eq!(request.order_id.as_ref().map(|id| id.as_str()), Some("T-1"));
    let Ask::ClaimAcquire(wish) = request.ask else {
        panic!("{request:?}");
    };
    assert_eq!(
        (wish.pool.as_str(), wish.resource_id, wish.init),
        ("robots", None, true)
    );
    assert_eq!((wish.lease_s, wish.wait_s), (Some(5), Some(86_400)));
    assert_eq!(wish.labels.len(), 1);
    assert_eq!(wish.labels[&Label::Tenant].as_str(), "acme");

    let least = read(&asked(
        "claim.acquire",
        json!({ "pool": "robots", "owner_id": "U1" }),
    ));
    let Ask::ClaimAcquire(wish) = least.ask else {
        panic!("{least:?}");
    };
    assert_eq!((wish.lease_s, wish.wait_s, wish.init), (None, None, false));
    assert!(wish.labels.is_empty());

    let by_owner = json!({ "claim_id": "c-1", "owner_id": "U1" });
    let by_approver = json!({ "claim_id": "c-1", "approver_id": "boss" });
    for (kind, fields) in [
        (AskKind::ClaimReady, &by_owner),
        (AskKind::ClaimFailed, &by_owner),
        (AskKind::ClaimRelease, &by_owner),
        (AskKind::ClaimApprove, &by_approver),
        (AskKind::ClaimRefuse, &by_approver),
        (AskKind::SeriesNext, &json!({ "series": "AA" })),
        (
            AskKind::SeriesVoid,
            &json!({ "series": "AA", "number": 3, "reason": "scrapped" }),
        ),
        (
            AskKind::TurnTake,
            &json!({ "department": "D1", "user_id": "U1" }),
        ),
        (
            AskKind::TurnCall,
            &json!({ "department": "D1", "desk_id": "desk-1" }),
        ),
    ] {
        assert_eq!(read(&asked(kind.as_str(), fields.clone())).ask.kind(), kind);
        let mut without = asked(kind.as_str(), fields.clone());
        without
            .as_object_mut()
            .expect("an object")
            .remove("order_id");
        assert_eq!(refused(&without), "order_id is missing", "{kind}");
    }
    // A heartbeat changes nothing but a lease; an order it names is not looked at.
    let mut beat = asked("claim.heartbeat", by_owner);
    assert_eq!(read(&beat).order_id, None);
    beat.as_object_mut().expect("an object").remove("order_id");
    assert_eq!(read(&beat).ask.kind(), AskKind::ClaimHeartbeat);
}

#[test]
fn a_refusal_names_field_and_value() {
    let acquire = |field: &str, value: Value| {
        let mut body = asked(
            "claim.acquire",
            json!({ "pool": "robots", "owner_id": "U1" }),
        );
        body[field] = value;
        body
    };
    for (body, detail) in [
        (
            acquire("lease_s", json!(4)),
            "lease_s is 4, expected an integer from 5 to 3600",
        ),
        (
            acquire("lease_s", json!(3601)),
            "lease_s is 3601, expected an integer from 5 to 3600",
        ),
        (
            acquire("wait_s", json!(86_401)),
            "wait_s is 86401, expected an integer from 0 to 86400",
        ),
        (
            acquire("init", json!(1)),
            "init is 1, expected true or false",
        ),
        (
            acquire("labels", json!({ "user": 7 })),
            "labels.user is 7, expected a string",
        ),
        (acquire("owner_id", Value::Null), "owner_id is missing"),
        (
            acquire("pool", json!("a b")),
            "pool \"a b\" holds the character ' ', only A-Z a-z 0-9 _ . : - are allowed",
        ),
        (
            asked("series.next", json!({ "series": "AA", "device": [] })),
            "device is a list, expected an object",
        ),
        (
            asked(
                "series.next",
                json!({ "series": "AA", "device": { "name": 1 } }),
            ),
            "device.name is 1, expected a string",
        ),
        (
            asked(
                "series.void",
                json!({ "series": "AA", "number": 1.0, "reason": "x" }),
            ),
            "number is 1.0, expected an integer from 0 to 18446744073709551615",
        ),
        (
            asked("turn.call", json!({ "department": "D1" })),
            "desk_id is missing",
        ),
    ] {
        assert_eq!(refused(&body), detail);
    }
    let unknown = refused(&asked("claim.steal", json!({})));
    assert!(unknown.starts_with("type is \"claim.steal\", expected one of claim.acquire,"));
}

/// The reply goes to the application, under the type that it asked by, where that can be read.
#[test]
fn what_cannot_be_read_is_attributed() {
    let kind = |payload: &str| {
        let refusal = refusal(TOPIC, payload);
        let (client, kind) = refusal.client.expect("an application");
        assert_eq!(client.as_str(), "app-1");
        (
            kind,
            refusal.message_id.is_some(),
            refusal.order_id.is_some(),
        )
    };
    let whole = asked("turn.take", json!({ "department": "D1" })).to_string();
    assert_eq!(kind(&whole), (Some(AskKind::TurnTake), true, true));
    assert_eq!(
        kind(&format!("{whole} x")),
        (Some(AskKind::TurnTake), true, true)
    );
    assert_eq!(
        kind("{\"type\":\"turn.take\""),
        (Some(AskKind::TurnTake), false, false)
    );
    assert_eq!(kind("{\"type\":\"x\"}"), (None, false, false));
    assert_eq!(kind(""), (None, false, false));
    let large = refusal(TOPIC, "x".repeat(16 * 1024 + 1));
    assert_eq!(large.code, Code::TooLarge);
    assert_eq!(large.client.expect("an application").1, None);
    assert_eq!(ignored(deliver_retained(TOPIC, &whole)), Ignored::Retained);
}

/// `device` is any object of at most 2 KiB; written compact, with its keys in order, so that the
/// same attributes are the same order.
#[test]
fn a_device_is_compact_and_bounded() {
    let device = |text: &str| {
        let body = format!(
            "{{\"message_id\":\"m-1\",\"timestamp\":\"2026-11-30T10:00:00Z\",\"order_id\":\"T-1\",\
             \"type\":\"series.next\",\"series\":\"AA\",\"device\":{text}}}"
        );
        match deliver(TOPIC, body) {
            Decoded::Message(Inbound::Client { request, .. }) => Ok(request),
            Decoded::Refused(refusal) => Err(refusal.detail),
            other => panic!("{other:?}"),
        }
    };
    let text = |request: &ClientRequest| match &request.ask {
        Ask::SeriesNext(next) => next.device.clone(),
        _ => panic!("{request:?}"),
    };
    let client = ClientId::new("app-1").expect("an id");
    let one =
        device("{ \"name\": \"press\", \"b\": [1, 2.5, null], \"a\": {\"z\":-1,\"y\":true} }");
    let other = device("{\"a\":{\"y\":true,\"z\":-1},\"b\":[1,2.5,null],\"name\":\"press\"}");
    let (one, other) = (one.expect("taken"), other.expect("taken"));
    assert_eq!(
        text(&one),
        r#"{"a":{"y":true,"z":-1},"b":[1,2.5,null],"name":"press"}"#
    );
    assert_eq!(one.digest(&client), other.digest(&client));
    assert_eq!(text(&device("null").expect("taken")), "{}");
    // {"name":"..."} has 11 bytes around its text.
    let named = |bytes: usize| device(&format!("{{\"name\":\"{}\"}}", "x".repeat(bytes)));
    assert!(named(2_048 - 11).is_ok());
    assert_eq!(
        named(2_048 - 10).expect_err("too large"),
        "device is 2049 bytes long as JSON, at most 2048 are allowed"
    );
}

/// The digest covers the client and every field but `message_id` and `timestamp`.
#[test]
fn what_makes_two_requests_the_same_order() {
    let (first, second) = (ClientId::new("app-1"), ClientId::new("app-2"));
    let (first, second) = (first.expect("an id"), second.expect("an id"));
    let acquire = json!({ "pool": "robots", "owner_id": "U1", "labels": { "user": "U1" } });
    let body = asked("claim.acquire", acquire);
    let digest = read(&body).digest(&first);
    assert_ne!(read(&body).digest(&second), digest);
    let with = |field: &str, value: Value| {
        let mut changed = body.clone();
        changed[field] = value;
        read(&changed).digest(&first)
    };
    assert_eq!(with("message_id", json!("m-2")), digest);
    assert_eq!(with("timestamp", json!("2026-11-30T11:00:00Z")), digest);
    assert_eq!(with("resource_id", Value::Null), digest);
    for (field, value) in [
        ("pool", json!("others")),
        ("resource_id", json!("R001")),
        ("owner_id", json!("U2")),
        ("labels", json!({ "user": "U2" })),
        ("labels", json!({ "tenant": "U1" })),
        ("lease_s", json!(30)),
        ("wait_s", json!(0)),
        ("init", json!(true)),
    ] {
        assert_ne!(with(field, value), digest, "{field}");
    }
}

fn written(message: &Outgoing) -> Value {
    let stamp = Stamp {
        message_id: "gw-7".parse().expect("an id"),
        timestamp: Timestamp::parse("2026-11-30T10:00:01Z").expect("a moment"),
        source: "gw-1".parse().expect("an id"),
    };
    let envelope = message.encode(&topics(), &stamp);
    assert_eq!(envelope.topic, "hallcall/v1/demo/clients/app-1/reply");
    assert_eq!((envelope.retain, envelope.qos), (false, 1));
    serde_json::from_slice(&envelope.payload).expect("JSON")
}

fn reply(kind: Option<AskKind>, result: ReplyResult, body: ReplyBody) -> Outgoing {
    Outgoing::ClientReply {
        client: "app-1".parse().expect("an id"),
        reply: Box::new(ClientReply {
            kind,
            received_at: Timestamp::parse("2026-11-30T10:00:00.500Z").expect("a moment"),
            in_reply_to: "m-1".parse().ok(),
            order_id: "T-1".parse().ok(),
            result,
            code: None,
            detail: None,
            retry_after_s: None,
            body,
        }),
    }
}

/// Every named field is written, null where there is none.
#[test]
fn replies_have_the_fields_of_what_was_asked_for() {
    let head = |kind: &str, result: &str, more: Value| {
        let mut body = json!({ "type": kind, "message_id": "gw-7",
            "timestamp": "2026-11-30T10:00:01.000Z", "received_at": "2026-11-30T10:00:00.500Z",
            "source": "gateway/gw-1", "in_reply_to": "m-1", "order_id": "T-1", "result": result,
            "code": null, "detail": null, "retry_after_s": null });
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        body
    };
    let number = ReplyBody::Series(SeriesBody::of(&"AA".parse().expect("an id"), 1));
    assert_eq!(
        written(&reply(
            Some(AskKind::SeriesNext),
            ReplyResult::Accepted,
            number
        )),
        head(
            "series.next.reply",
            "accepted",
            json!({ "series": "AA", "number": 1, "id": "AA|1" })
        )
    );
    let nothing = ReplyBody::empty(Some(AskKind::SeriesVoid));
    assert_eq!(
        written(&reply(
            Some(AskKind::SeriesVoid),
            ReplyResult::Rejected,
            nothing
        )),
        head(
            "series.void.reply",
            "rejected",
            json!({ "series": null, "number": null, "id": null })
        )
    );
    let turn = ReplyBody::Turn(TurnBody {
        date: Some(Date(20_787)),
        number: Some(4),
        ahead: Some(3),
        user_id: None,
    });
    // 20,787 days after 1970-01-01.
    assert_eq!(
        written(&reply(
            Some(AskKind::TurnTake),
            ReplyResult::Duplicate,
            turn
        )),
        head(
            "turn.take.reply",
            "duplicate",
            json!({ "date": "2026-11-30", "number": 4, "ahead": 3, "user_id": null })
        )
    );
    let claim = ReplyBody::Claim(ClaimBody {
        claim_id: "c-1".parse().ok(),
        resource_id: "R001".parse().ok(),
        state: Some(ClaimState::Ready),
        expires_at: Timestamp::parse("2026-11-30T10:00:30Z").ok(),
        expires_in_s: Some(Seconds::from_ms(30_000)),
        queue_position: None,
    });
    assert_eq!(
        written(&reply(
            Some(AskKind::ClaimAcquire),
            ReplyResult::Accepted,
            claim
        )),
        head(
            "claim.acquire.reply",
            "accepted",
            json!({ "claim_id": "c-1", "resource_id": "R001", "state": "READY",
                "expires_at": "2026-11-30T10:00:30.000Z", "expires_in_s": 30,
                "queue_position": null })
        )
    );
    assert_eq!(
        written(&reply(None, ReplyResult::Rejected, ReplyBody::empty(None))),
        head("client.reply", "rejected", json!({}))
    );
}

/// `{request type}.reply` for every type.
#[test]
fn a_reply_is_named_after_its_request() {
    for kind in AskKind::ALL {
        let body = ReplyBody::empty(Some(*kind));
        let said = written(&reply(Some(*kind), ReplyResult::Rejected, body));
        assert_eq!(said["type"], format!("{kind}.reply"));
    }
}

#[test]
fn a_claim_that_changed_is_told() {
    let view = ClaimView {
        claim_id: "c-1".parse().expect("an id"),
        order_id: "T-1".parse().expect("an id"),
        resource_id: "R001".parse().ok(),
        state: ClaimState::Quarantine,
        expires_at: None,
        expires_in_s: None,
        queue_position: None,
        reason: Some(ClaimWhy {
            code: ClaimReason::LeaseEnded,
            detail: "U1 was not heard for 30 s".to_owned(),
        }),
    };
    let said = written(&Outgoing::ClaimState {
        client: "app-1".parse().expect("an id"),
        view: Box::new(view),
    });
    assert_eq!(
        said,
        json!({ "type": "claim.state", "message_id": "gw-7",
            "timestamp": "2026-11-30T10:00:01.000Z", "source": "gateway/gw-1",
            "claim_id": "c-1", "order_id": "T-1", "resource_id": "R001", "state": "QUARANTINE",
            "expires_at": null, "expires_in_s": null, "queue_position": null,
            "reason": { "code": "LEASE_ENDED", "detail": "U1 was not heard for 30 s" } })
    );
}
