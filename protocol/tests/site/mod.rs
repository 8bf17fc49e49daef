//! A site to speak at: `hallcall/v1/demo`, with robot R001, elevator EL001 and gateway gw-1.

// Each test binary uses a part of this.
#![allow(dead_code)]

use protocol::{
    Code, Decoded, Ignored, Inbound, Refusal, RobotMessage, SiteId, Stamp, Timestamp, Topics,
    decode,
};

pub(crate) const REQUEST: &str = "robots/R001/ride/request";
pub(crate) const EVENT: &str = "robots/R001/ride/event";
pub(crate) const CANCEL: &str = "robots/R001/ride/cancel";
pub(crate) const STATUS: &str = "robots/R001/status";
pub(crate) const CONNECTION: &str = "robots/R001/connection";
pub(crate) const CONTROLLER: &str = "elevators/EL001/event";

/// 2026-11-30T10:00:00Z, by `date -u -d 2026-11-30T10:00:00Z +%s`.
pub(crate) const TEN: Timestamp = Timestamp(1_796_032_800_000);

pub(crate) fn topics() -> Topics {
    Topics::new("hallcall/v1", &SiteId::new("demo").expect("an id")).expect("a root")
}

pub(crate) fn stamp() -> Stamp {
    Stamp {
        message_id: "g-1".parse().expect("an id"),
        timestamp: TEN,
        source: "gw-1".parse().expect("an id"),
    }
}

/// Delivers a payload on a topic below the base, without the retain flag.
pub(crate) fn deliver(topic: &str, payload: impl AsRef<[u8]>) -> Decoded {
    decode(
        &topics(),
        &format!("hallcall/v1/demo/{topic}"),
        payload.as_ref(),
        false,
    )
}

/// The same with the retain flag.
pub(crate) fn deliver_retained(topic: &str, payload: impl AsRef<[u8]>) -> Decoded {
    decode(
        &topics(),
        &format!("hallcall/v1/demo/{topic}"),
        payload.as_ref(),
        true,
    )
}

pub(crate) fn inbound(topic: &str, payload: impl AsRef<[u8]>) -> Inbound {
    match deliver(topic, payload) {
        Decoded::Message(inbound) => inbound,
        Decoded::Refused(refusal) => panic!("refused: {refusal}"),
        Decoded::Ignored(why) => panic!("ignored: {why:?}"),
    }
}

/// What robot R001 said.
pub(crate) fn said(topic: &str, payload: impl AsRef<[u8]>) -> RobotMessage {
    match inbound(topic, payload) {
        Inbound::Robot { robot, message } => {
            assert_eq!(robot.as_str(), "R001");
            message
        }
        Inbound::Controller { .. }
        | Inbound::Client { .. }
        | Inbound::Device { .. }
        | Inbound::Gateway { .. }
        | Inbound::OwnRide { .. }
        | Inbound::OwnElevator { .. } => panic!("no robot said that"),
    }
}

pub(crate) fn refusal(topic: &str, payload: impl AsRef<[u8]>) -> Refusal {
    match deliver(topic, payload) {
        Decoded::Refused(refusal) => {
            assert!(
                refusal.detail.len() <= 256,
                "{} bytes",
                refusal.detail.len()
            );
            assert!(
                !refusal.detail.contains(char::is_control),
                "{:?}",
                refusal.detail
            );
            refusal
        }
        Decoded::Message(inbound) => panic!("taken: {inbound:?}"),
        Decoded::Ignored(why) => panic!("ignored: {why:?}"),
    }
}

/// The sentence of a `MALFORMED`.
pub(crate) fn malformed(topic: &str, payload: impl AsRef<[u8]>) -> String {
    let refusal = refusal(topic, payload);
    assert_eq!(refusal.code, Code::Malformed);
    refusal.detail
}

pub(crate) fn ignored(decoded: Decoded) -> Ignored {
    match decoded {
        Decoded::Ignored(why) => why,
        Decoded::Message(inbound) => panic!("taken: {inbound:?}"),
        Decoded::Refused(refusal) => panic!("refused: {refusal}"),
    }
}
