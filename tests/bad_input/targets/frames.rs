//! Bytes on a serial line on which a maker's own frames go.
//!
//! The first byte of an input says which shape the frames have (modulo 4); the rest is what comes
//! over the line.

use std::fmt::Write as _;
use std::sync::Arc;

use adapters::rs485::{Decoder, FrameProfile, Head, Way};

/// The example, whose changes below are the other shapes.
const KESTREL: &str = include_str!("../../../configs/frames/kestrel.toml");
/// What is changed for each shape.
const SHAPES: [&[(&str, &str)]; 4] = [
    &[],
    &[("# escape = ", "escape = ")],
    &[
        (
            "[\"length\", \"unit\", \"sequence\", \"code\"]",
            "[\"unit\", \"code\"]",
        ),
        ("length_adds = 3", ""),
    ],
    &[
        (
            "kind = \"crc16_ccitt\", init = 0xFFFF, order = \"big\"",
            "kind = \"sum8\"",
        ),
        ("end = [0x0D]  ", ""),
    ],
];

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let [which, heard @ ..] = data else {
        return String::new();
    };
    let mut text = KESTREL.to_owned();
    for (from, to) in SHAPES[usize::from(which % 4)] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let profile = FrameProfile::parse(&text).expect("a good profile");
    let mut decoder = Decoder::new(Arc::clone(profile.framing()), profile.payloads());
    let mut log = String::new();
    for (at, byte) in heard.iter().enumerate() {
        let Some(frame) = decoder.feed(*byte) else {
            continue;
        };
        let known = profile.payloads().get(&frame.code).copied();
        assert_eq!(known, Some(frame.payload.len()), "{frame:?}");
        let head = Head {
            unit: frame.unit,
            sequence: frame.sequence.unwrap_or(0),
            code: frame.code,
        };
        let again = profile.framing().encode(Way::Answer, head, &frame.payload);
        assert!(heard[..=at].ends_with(&again), "{frame:?} did not come");
        let verdict = profile.judge(&profile.status(), &frame);
        let _ = writeln!(
            log,
            "{at}: unit {} 0x{:02X} {verdict:?}",
            frame.unit, frame.code
        );
    }
    log
}
