//! Alarms, the site and the gateway's presence.

use protocol::ops::{
    Alarm, GatewayConnection, Presence, Severity, SiteElevator, SiteFloor, SiteView, Suspension,
    SuspensionCode,
};
use protocol::robot::ConnectionState;
use protocol::{AlarmCode, FloorLabel, Outgoing, Seconds, Side};

use crate::check;
use crate::site::TEN;

fn alarm() -> Alarm {
    Alarm {
        alarm_id: "al-1".to_owned(),
        severity: Severity::Critical,
        code: AlarmCode::UnexpectedOccupant,
        elevator_id: Some("EL001".parse().expect("an id")),
        order_id: None,
        raised_at: TEN,
        cleared_at: None,
        detail: "a robot may be in EL001".to_owned(),
    }
}

#[test]
fn alarm_and_alarms() {
    let body = concat!(
        r#""alarm_id":"al-1","severity":"critical","code":"UNEXPECTED_OCCUPANT","#,
        r#""elevator_id":"EL001","order_id":null,"raised_at":"2026-11-30T10:00:00.000Z","#,
        r#""cleared_at":null,"detail":"a robot may be in EL001"}"#,
    );
    let head = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#
        )
    };
    check(
        &Outgoing::Alarm(alarm()),
        "ops/alarm",
        false,
        &[&head("ops.alarm"), body],
    );
    check(
        &Outgoing::Alarms(vec![alarm(), alarm()]),
        "ops/alarms",
        true,
        &[
            &head("ops.alarms"),
            r#""alarms":[{"#,
            body,
            ",{",
            body,
            "]}",
        ],
    );
    check(
        &Outgoing::Alarms(Vec::new()),
        "ops/alarms",
        true,
        &[&head("ops.alarms"), r#""alarms":[]}"#],
    );
}

#[test]
fn site_view() {
    let floors: [FloorLabel; 2] = ["1F", "6F"].map(|label| label.parse().expect("a floor"));
    let view = SiteView {
        versions: vec!["v1".to_owned()],
        gateway: "gw-1".parse().expect("an id"),
        suspended: None,
        lease_s: Seconds::from_ms(30_000),
        status_s: Seconds::from_ms(10_000),
        floors: vec![SiteFloor {
            label: floors[0].clone(),
            index: 0,
            sides: vec![Side::Front, Side::Rear],
        }],
        elevators: vec![SiteElevator {
            id: "EL001".parse().expect("an id"),
            bank_id: None,
            zone: "main".parse().expect("an id"),
            floors: floors.to_vec(),
            presence: Presence::None,
            hold_max_s: Seconds::from_ms(10_000),
        }],
    };
    let head = concat!(
        r#"{"type":"site","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","#,
        r#""source":"gateway/gw-1","versions":["v1"],"gateway":"gw-1","#,
    );
    let tail = concat!(
        r#""lease_s":30,"status_s":10,"#,
        r#""floors":[{"label":"1F","index":0,"sides":["front","rear"]}],"#,
        r#""elevators":[{"id":"EL001","bank_id":null,"zone":"main","floors":["1F","6F"],"#,
        r#""presence":"none","hold_max_s":10}]}"#,
    );
    check(
        &Outgoing::Site(view.clone()),
        "site",
        true,
        &[head, r#""suspended":null,"#, tail],
    );
    let suspended = Suspension {
        code: SuspensionCode::FireMode,
        zones: vec!["main".parse().expect("an id")],
        since: TEN,
    };
    check(
        &Outgoing::Site(SiteView {
            suspended: Some(suspended),
            ..view
        }),
        "site",
        true,
        &[
            head,
            r#""suspended":{"code":"FIRE_MODE","zones":["main"],"#,
            r#""since":"2026-11-30T10:00:00.000Z"},"#,
            tail,
        ],
    );
}

#[test]
fn gateway_connection() {
    let connection = GatewayConnection {
        connection_state: ConnectionState::ConnectionBroken,
        instance: "i-1".parse().expect("an id"),
    };
    check(
        &Outgoing::GatewayConnection("gw-1".parse().expect("an id"), connection),
        "gateways/gw-1/connection",
        true,
        &[
            r#"{"type":"gateway.connection","message_id":"g-1","#,
            r#""timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","#,
            r#""connection_state":"CONNECTIONBROKEN","instance":"i-1"}"#,
        ],
    );
}
