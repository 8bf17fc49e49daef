//! What applications ask of rentals, and what devices say (`wire.md` section 8).

mod site;

use protocol::client::{Ask, AskKind, TokenHash};
use protocol::device::{DeviceEvent, DeviceEventKind, DeviceWord};
use protocol::{Ignored, Inbound};
use site::{deliver_retained, ignored, inbound, malformed, refusal};

const APP: &str = "clients/app-1/request";
const DEVICE: &str = "devices/DEV_001/event";
const HEAD: &str = r#""message_id":"m-1","timestamp":"2026-11-30T10:00:00Z""#;

fn request(kind: &str, more: &str) -> String {
    format!(r#"{{{HEAD},"type":"{kind}","order_id":"T-1"{more}}}"#)
}

fn asked(kind: &str, more: &str) -> Ask {
    match inbound(APP, request(kind, more)) {
        Inbound::Client { request, .. } => request.ask,
        other @ (Inbound::Robot { .. }
        | Inbound::Device { .. }
        | Inbound::Controller { .. }
        | Inbound::Gateway { .. }
        | Inbound::OwnRide { .. }
        | Inbound::OwnElevator { .. }) => panic!("{other:?}"),
    }
}

fn said(more: &str) -> DeviceEvent {
    match inbound(DEVICE, format!("{{{HEAD}{more}}}")) {
        Inbound::Device { device, event } => {
            assert_eq!(device.as_str(), "DEV_001");
            event
        }
        other @ (Inbound::Robot { .. }
        | Inbound::Client { .. }
        | Inbound::Controller { .. }
        | Inbound::Gateway { .. }
        | Inbound::OwnRide { .. }
        | Inbound::OwnElevator { .. }) => panic!("{other:?}"),
    }
}

#[test]
fn rentals_are_asked_for() {
    let Ask::RentalReserve(ask) = asked(
        "rental.reserve",
        r#","device_id":"D1","user_id":"U1","hold_s":1"#,
    ) else {
        panic!("a reservation")
    };
    assert_eq!((ask.device_id.as_str(), ask.hold_s), ("D1", Some(1)));
    let more = r#","device_id":"D1","user_id":"U1","rental_id":"r1","token":"secret""#;
    let Ask::RentalStart(ask) = asked("rental.start", more) else {
        panic!("a start")
    };
    assert_eq!(ask.token, Some(TokenHash::of("secret")));
    let Ask::RentalStart(ask) = asked("rental.start", r#","device_id":"D1","user_id":"U1""#) else {
        panic!("a start")
    };
    assert_eq!((ask.rental_id, ask.token), (None, None));
    let ends = asked("rental.end", r#","rental_id":"r1","user_id":"U1""#);
    assert_eq!(ends.kind(), AskKind::RentalEnd);
    let gives_up = asked("rental.cancel", r#","rental_id":"r1","token":"secret""#);
    assert_eq!(gives_up.kind(), AskKind::RentalCancel);
}

#[test]
fn what_is_missing_or_out_of_range_is_named() {
    for (kind, more, word) in [
        ("rental.reserve", r#","user_id":"U1""#, "device_id"),
        (
            "rental.reserve",
            r#","device_id":"D1","user_id":"U1","hold_s":0"#,
            "hold_s",
        ),
        (
            "rental.reserve",
            r#","device_id":"D1","user_id":"U1","hold_s":3601"#,
            "hold_s",
        ),
        ("rental.start", r#","device_id":"D1""#, "user_id"),
        ("rental.end", r#","rental_id":"r1""#, "token"),
        ("rental.cancel", r#","rental_id":"r1""#, "token"),
    ] {
        let detail = malformed(APP, request(kind, more));
        assert!(detail.contains(word), "{kind}: {detail}");
    }
    for (more, word) in [
        (r#","event":"state","boot_id":"b1","seq":1"#, "device_state"),
        (
            r#","event":"state","seq":1,"device_state":"STOPPED""#,
            "boot_id",
        ),
        (r#","event":"done","boot_id":"b1""#, "seq"),
        (r#","event":"went","boot_id":"b1","seq":1"#, "event"),
        (
            r#","event":"state","boot_id":"b1","seq":1,"device_state":"IDLE""#,
            "device_state",
        ),
    ] {
        let detail = malformed(DEVICE, format!("{{{HEAD}{more}}}"));
        assert!(detail.contains(word), "{detail}");
    }
}

/// T-RENT-18: neither a refusal nor `Debug` shows a token or where a device is.
#[test]
fn nobody_is_shown_a_token_or_a_place() {
    let long = "s3cr3t".repeat(40);
    for token in [
        format!("\"{long}\""),
        "731731".to_owned(),
        "\"\"".to_owned(),
    ] {
        let more = format!(r#","device_id":"D1","user_id":"U1","token":{token}"#);
        let detail = malformed(APP, request("rental.start", &more));
        assert!(detail.contains("token"), "{detail}");
        assert!(!detail.contains("s3cr3t") && !detail.contains("731731"));
    }
    let ask = asked(
        "rental.start",
        r#","device_id":"D1","user_id":"U1","token":"s3cr3t""#,
    );
    assert!(!format!("{ask:?}").contains("s3cr3t"));
    let event = said(
        r#","event":"state","boot_id":"b1","seq":1,"device_state":"RUNNING","detail":"at 31.23041,121.47370","lat":31.23041"#,
    );
    assert!(!format!("{event:?}").contains("31.23"));
}

#[test]
fn a_device_says_what_it_did_and_how_it_stands() {
    let event = said(
        r#","event":"done","boot_id":"b1","seq":7,"command_id":"c-1","order_id":"T-1","device_state":"RUNNING""#,
    );
    assert_eq!(event.event, DeviceEventKind::Done);
    assert_eq!((event.boot_id.as_str(), event.seq), ("b1", 7));
    assert_eq!(event.device_state, Some(DeviceWord::Running));
    assert!(event.command_id.is_some() && event.order_id.is_some());
    let old = r#"{"event":"state","boot_id":"b1","seq":1,"device_state":"STOPPED"}"#;
    assert_eq!(ignored(deliver_retained(DEVICE, old)), Ignored::Retained);
    assert!(
        refusal(DEVICE, "{").robot.is_none(),
        "nobody there is answered"
    );
}
