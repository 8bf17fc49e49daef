//! What the gateway writes, byte for byte (`wire.md` sections 1 to 4 and 6).

mod devices;
mod elevators;
mod operations;
mod rides;
#[path = "../site/mod.rs"]
mod site;

use protocol::Outgoing;
use site::{stamp, topics};

/// Encodes a message; checks its topic, its retain flag and its text, which comes in pieces.
fn check(message: &Outgoing, topic: &str, retain: bool, lines: &[&str]) {
    let envelope = message.encode(&topics(), &stamp());
    assert_eq!(
        String::from_utf8(envelope.payload).expect("UTF-8"),
        lines.concat()
    );
    assert_eq!(envelope.topic, format!("hallcall/v1/demo/{topic}"));
    assert_eq!(envelope.retain, retain);
    assert_eq!(envelope.qos, 1);
}
