//! The example maker, byte by byte.

mod decoder;
mod golden;
mod master;
mod mistakes;

use std::sync::Arc;

use super::*;

const KESTREL: &str = include_str!("../../../configs/frames/kestrel.toml");

fn kestrel() -> Arc<FrameProfile> {
    Arc::new(FrameProfile::parse(KESTREL).unwrap())
}

/// Kestrel with other text in the place of some of it.
fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = KESTREL.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Its frames without numbers, each with the checksum that follows from that.
fn unnumbered() -> Arc<FrameProfile> {
    let text = changed(&[
        (r#""unit", "sequence", "code"]"#, r#""unit", "code"]"#),
        ("length_adds = 3", "length_adds = 2"),
    ]);
    Arc::new(FrameProfile::parse(&text).unwrap())
}

/// Bytes as they are written in manuals.
fn bytes(text: &str) -> Vec<u8> {
    let byte = |word| u8::from_str_radix(word, 16).unwrap();
    text.split_whitespace().map(byte).collect()
}

/// A frame of a unit.
fn said(profile: &FrameProfile, (unit, sequence, code): (u8, u8, u8), payload: &[u8]) -> Vec<u8> {
    let head = Head {
        unit,
        sequence,
        code,
    };
    profile.framing().encode(Way::Answer, head, payload)
}

/// At floor 2 with the door open, a robot in it, and a call upwards at floor 2.
const STATUS: [u8; 12] = [2, 2, 0, 0, 1, 5, 4, 0, 0, 0, 0, 0];
