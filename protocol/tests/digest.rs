//! What makes two requests the same order (`wire.md` section 3, Idempotency).

mod site;

use protocol::robot::{Digest, RideRequest};
use protocol::{RobotId, RobotMessage};
use site::{REQUEST, said};

fn request(fields: &str) -> RideRequest {
    let payload = format!(
        r#"{{"message_id":"m-1","timestamp":"2026-11-30T10:00:00Z","order_id":"T-1",{fields}}}"#
    );
    match said(REQUEST, payload) {
        RobotMessage::Request(request) => request,
        other @ (RobotMessage::Event(_)
        | RobotMessage::Cancel(_)
        | RobotMessage::Status(_)
        | RobotMessage::Connection(_)) => panic!("{other:?}"),
    }
}

fn digest(fields: &str) -> Digest {
    request(fields).digest(&RobotId::new("R001").expect("an id"))
}

const FROM_TO: &str = r#""from":{"floor":"1F"},"to":{"floor":"6F"}"#;

fn with(more: &str) -> Digest {
    digest(&format!("{FROM_TO}{more}"))
}

#[test]
fn what_is_the_same_order() {
    let plain = with("");
    for same in [
        // Null, absent and the default are the same.
        r#","priority":5"#,
        r#","priority":null"#,
        r#","elevators":[]"#,
        r#","elevators":null"#,
        // Not covered.
        r#","at_door":true"#,
        r#","at_door":false"#,
        r#","eta_s":20"#,
        r#","expires_at":"2026-11-30T11:00:00Z""#,
        r#","dry_run":true"#,
        r#","anything":{"else":1}"#,
    ] {
        assert_eq!(with(same), plain, "{same}");
    }
    let null_sides = r#""from":{"floor":"1F","side":null},"to":{"floor":"6F","side":null}"#;
    assert_eq!(digest(null_sides), plain);
    // The order of fields is none of the content.
    assert_eq!(
        digest(r#""to":{"floor":"6F"},"from":{"floor":"1F"}"#),
        plain
    );
}

#[test]
fn message_id_time_stamp_and_order_id_are_not_covered() {
    let robot = RobotId::new("R001").expect("an id");
    let again = RideRequest {
        message_id: "m-2".parse().expect("an id"),
        timestamp: protocol::Timestamp(1),
        order_id: "T-2".parse().expect("an id"),
        ..request(FROM_TO)
    };
    assert_eq!(again.digest(&robot), with(""));
}

#[test]
fn elevators_are_a_set() {
    let two = with(r#","elevators":["EL001","EL002"]"#);
    assert_eq!(with(r#","elevators":["EL002","EL001"]"#), two);
    assert_eq!(with(r#","elevators":["EL002","EL001","EL002"]"#), two);
    assert_ne!(with(r#","elevators":["EL001"]"#), two);
    assert_ne!(with(r#","elevators":["EL001","EL002","EL003"]"#), two);
}

#[test]
fn what_is_another_order() {
    let mut digests = vec![
        with(""),
        with(r#","priority":6"#),
        with(r#","priority":0"#),
        with(r#","elevators":["EL001"]"#),
        with(r#","elevators":["EL002"]"#),
        digest(r#""from":{"floor":"6F"},"to":{"floor":"1F"}"#),
        digest(r#""from":{"floor":"2F"},"to":{"floor":"6F"}"#),
        digest(r#""from":{"floor":"1F"},"to":{"floor":"5F"}"#),
        // A side that was sent is another content than one that was left out.
        digest(r#""from":{"floor":"1F","side":"front"},"to":{"floor":"6F"}"#),
        digest(r#""from":{"floor":"1F","side":"rear"},"to":{"floor":"6F"}"#),
        digest(r#""from":{"floor":"1F"},"to":{"floor":"6F","side":"front"}"#),
        digest(r#""from":{"floor":"1F"},"to":{"floor":"6F","side":"rear"}"#),
        request(FROM_TO).digest(&RobotId::new("R002").expect("an id")),
    ];
    let count = digests.len();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

/// `printf 'R001\n1F\n\n6F\nfront\n5\nEL001\nEL002\n' | sha256sum`: the digest is kept in the
/// ledger, so that it must not change from version to version.
#[test]
fn the_digest_is_a_sha_256_over_lines() {
    let digest = digest(
        r#""from":{"floor":"1F"},"to":{"floor":"6F","side":"front"},"elevators":["EL002","EL001"]"#,
    );
    let hex: String = digest.0.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "9f65cff3e338a92b9a22df216e4b62d3");
}
