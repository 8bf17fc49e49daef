//! Commands to devices, their states, and what applications are told of rentals.

use protocol::client::{
    AskKind, ClientReply, RentalBody, RentalReason, RentalState, RentalView, RentalWhy, ReplyBody,
    TokenKey,
};
use protocol::device::{DeviceAction, DeviceCommand, DeviceKey, DeviceState, DeviceView};
use protocol::elevator::Health;
use protocol::ride::ReplyResult;
use protocol::{Fence, Outgoing, Seconds, Timestamp};

use crate::check;
use crate::site::TEN;

/// By `printf 'DEV_001\nT-1\n19a-7\nstart\n42\n3\n2026-11-30T10:00:30.000Z' | openssl dgst -sha256
/// -hmac 'a key of the device'`, and the same for a query without an order.
const SIGNED_START: &str = "481495162d09d1c0768ab280cb5173c01939ee807d8ea4c9bfbd0c56efef390c";
const TOKEN: &str = "597abacf9e7f4c2e3d1d441a2e7a02847b1ecf57";
const SIGNED_QUERY: &str = "083dfbddb89867855f1c173cae72109c236c9ef6e12555754b5bc24423540580";

fn head(kind: &str) -> String {
    format!(
        r#"{{"type":"{kind}","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#
    )
}

fn command(action: DeviceAction, id: &str, order: Option<&str>) -> Outgoing {
    let command = DeviceCommand {
        device_id: "DEV_001".parse().expect("an id"),
        command_id: id.parse().expect("an id"),
        order_id: order.map(|order| order.parse().expect("an id")),
        sequence: 42,
        fence: Fence(3),
        command: action,
        expires_at: Timestamp(TEN.0 + 30_000),
        expires_in_ms: 29_500,
    };
    let signature = DeviceKey::new(b"a key of the device".to_vec()).sign(&command);
    Outgoing::DeviceCommand {
        command: Box::new(command),
        signature,
    }
}

/// T-RENT-17: what is signed covers device, order, command, sequence, fence and expiry.
#[test]
fn a_command_is_signed_and_never_retained() {
    for (message, lines) in [
        (
            command(DeviceAction::Start, "19a-7", Some("T-1")),
            [
                r#""command_id":"19a-7","order_id":"T-1","sequence":42,"fence":3,"command":"start","#,
                SIGNED_START,
            ],
        ),
        (
            command(DeviceAction::Query, "19a-8", None),
            [
                r#""command_id":"19a-8","order_id":null,"sequence":42,"fence":3,"command":"query","#,
                SIGNED_QUERY,
            ],
        ),
    ] {
        let [body, signature] = lines;
        let rest = format!(
            r#""expires_at":"2026-11-30T10:00:30.000Z","expires_in_s":29.5,"signature":"{signature}"}}"#
        );
        check(
            &message,
            "devices/DEV_001/command",
            false,
            &[&head("device.command"), body, &rest],
        );
    }
}

#[test]
fn a_device_state_is_retained() {
    let view = DeviceView {
        device_id: "DEV_001".parse().expect("an id"),
        state: DeviceState::Renting,
        version: 2,
        fence: Fence(3),
        health: Health::Ok,
        observed_at: None,
    };
    let body = r#""device_id":"DEV_001","state":"RENTING","version":2,"fence":3,"health":"ok","observed_at":null}"#;
    let message = Outgoing::DeviceState(Box::new(view));
    let topic = "devices/DEV_001/state";
    check(&message, topic, true, &[&head("device.state"), body]);
}

#[test]
fn a_rental_state_goes_to_its_application() {
    let message = Outgoing::RentalState {
        client: "app-1".parse().expect("an id"),
        view: Box::new(RentalView {
            rental_id: "r1-1".parse().expect("an id"),
            order_id: "T-1".parse().expect("an id"),
            device_id: "DEV_001".parse().expect("an id"),
            state: RentalState::Cancelled,
            metered_s: Seconds::from_ms(0),
            refunded: true,
            reason: Some(RentalWhy {
                code: RentalReason::DeviceSilent,
                detail: "DEV_001 was told 4 times".to_owned(),
            }),
        }),
    };
    let body = concat!(
        r#""rental_id":"r1-1","order_id":"T-1","device_id":"DEV_001","state":"CANCELLED","#,
        r#""metered_s":0,"refunded":true,"reason":{"code":"DEVICE_SILENT","detail":"DEV_001 was told 4 times"}}"#,
    );
    let lines = [&head("rental.state"), body];
    check(&message, "clients/app-1/reply", false, &lines);
}

/// The token is on the wire, and nowhere else: neither in `Debug` nor in what a journal holds.
#[test]
fn a_reply_brings_the_token_and_shows_it_to_nobody_else() {
    let rental_id = "r1-1".parse().expect("an id");
    let (user, device) = ("U1".parse().expect("an id"), "DEV_001".parse());
    let key = TokenKey::new([7; 32]);
    let token = key.token(&rental_id, &user, &device.expect("an id"));
    let body = ReplyBody::Rental(RentalBody {
        rental_id: Some(rental_id),
        token: Some(token),
        state: Some(RentalState::Reserved),
        expires_at: Some(Timestamp(TEN.0 + 300_000)),
        expires_in_s: Some(Seconds::from_ms(300_000)),
        metered_s: None,
    });
    let reply = ClientReply {
        kind: Some(AskKind::RentalReserve),
        received_at: TEN,
        in_reply_to: Some("m-1".parse().expect("an id")),
        order_id: Some("T-1".parse().expect("an id")),
        result: ReplyResult::Accepted,
        code: None,
        detail: None,
        retry_after_s: None,
        body: body.clone(),
    };
    let message = Outgoing::ClientReply {
        client: "app-1".parse().expect("an id"),
        reply: Box::new(reply),
    };
    // By `printf 'r1-1\nU1\nDEV_001' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707...07`,
    // the first 40 digits.
    let token = TOKEN;
    let rest = format!(
        concat!(
            r#""received_at":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","in_reply_to":"m-1","#,
            r#""order_id":"T-1","result":"accepted","code":null,"detail":null,"retry_after_s":null,"#,
            r#""rental_id":"r1-1","token":"{}","state":"RESERVED","#,
            r#""expires_at":"2026-11-30T10:05:00.000Z","expires_in_s":300,"metered_s":null}}"#,
        ),
        token
    );
    let head = r#"{"type":"rental.reserve.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#;
    check(&message, "clients/app-1/reply", false, &[head, &rest]);
    let stored = serde_json::to_string(&body).expect("it is written");
    for shown in [format!("{message:?}"), stored] {
        assert!(!shown.contains(token), "{shown}");
    }
}
